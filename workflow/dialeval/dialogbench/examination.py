"""The examination of a model: questions, order of options, and the parsed letter.

Three methods:

- `letter`: a chat model writes the letter of an option;
- `choice`: the probabilities of the letters as the first token of a chat model's answer;
- `perplexity`: the log-probability of each option's text after the dialogue, for base models, gives two answers: per
  token, as in the paper (`perplexity`), and in total (`perplexity_total`), which favours short options.

A chat model sees the dialogue as its own chat with the user, speaker 1, as in the paper (`history`), or in one message
(`text`).

A letter counts where it is clearly an option: alone, marked (`B.`, `(B)`, `**B**`), or declared (`The answer is B`,
`选B`). Declarations count more than mentions, so that an answer may repeat the options. An article, a letter inside a
word, a letter called wrong, and an answer with two options are no choice.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple

import numpy as np

from dialeval.dialogbench.briefs import item_subject
from dialeval.dialogbench.items import LETTERS, TestItem
from dialeval.dialogbench.tasks import task_of
from dialeval.engines.requests import Message, Request, Sampling
from dialeval.prompts.rendering import Templates, without_marks
from dialeval.protocols.planned_requests import Planned
from dialeval.protocols.verdicts import is_complete, own_words, plain_text, status_of, text_to_read, was_cut

Method = Literal["letter", "choice", "perplexity"]
Presentation = Literal["history", "text"]
METHODS: tuple[Method, ...] = ("letter", "choice", "perplexity")
PROTOCOL = "multiple_choice"
"""The protocol in requests, by which embedded models answer from the subject."""
SAMPLING = Sampling(temperature=0.0, max_tokens=256)
"""The paper's."""
_QUESTION = {"en": "dialogbench_question_en.j2", "zh": "dialogbench_question_zh.j2"}
_PERPLEXITY = {"en": "dialogbench_perplexity_en.j2", "zh": "dialogbench_perplexity_zh.j2"}


def plan(
    items: Iterable[TestItem],
    method: Method,
    templates: Templates,
    sampling: Sampling = SAMPLING,
    *,
    circular: bool = False,
    presentation: Presentation = "history",
) -> Iterator[Planned]:
    """Yield the requests of an examination.

    `case_id` is the item's id and `left` its task. The request id ends in the rotation and, under `perplexity`, the
    option: `dialogbench/letter/en/KRG-7/2`, `dialogbench/perplexity/en/KRG-7/0/3`.

    Args:
        items: the items, with options in the order of the prompt.
        circular: whether every rotation of the options is a request; not under `perplexity`.
        presentation: how a chat model sees the dialogue.
    """
    for item in items:
        if method == "perplexity":
            yield from _plan_perplexity(item, templates, sampling)
            continue
        for rotation, rotated in enumerate(rotations(item) if circular else (item,)):
            request = Request(
                request_id=f"dialogbench/{method}/{item.language}/{item.item_id}/{rotation}",
                protocol=PROTOCOL,
                kind="chat" if method == "letter" else "choice",
                messages=_messages(rotated, templates, presentation),
                sampling=sampling,
                labels=rotated.letters if method == "choice" else (),
                subject=item_subject(rotated),
            )
            yield Planned(request, item.item_id, item.task, n_utterances=len(item.utterances))


def parse_all(
    model: str,
    method: Method,
    items: Mapping[str, TestItem],
    answered: Iterable[tuple[Mapping[str, Any], Mapping[str, Any]]],
) -> Iterator[dict[str, Any]]:
    """Yield the rows of all answers of one model.

    Args:
        items: the items of one language by item id.
        answered: each row of `requests` with its row of `responses`, in the order of the plan.
    """
    waiting: list[Mapping[str, Any]] = []
    for request, answer in answered:
        rotation, option = place_of(request["request_id"], method)
        item = items[request["case_id"]]
        waiting.append(answer)
        if option is None or option == len(item.options) - 1:
            yield from parse(model, method, item, rotation, waiting)
            waiting = []


def parse(
    model: str, method: Method, item: TestItem, rotation: int, answers: Sequence[Mapping[str, Any]]
) -> Iterator[dict[str, Any]]:
    """Yield the rows of answers to one item in one rotation: one, or two under `perplexity`.

    Args:
        item: the item as planned, not rotated.
        answers: its row of `responses`; under `perplexity` one for each option, in their order.
    """
    shown = rotations(item)[rotation]
    if method == "perplexity":
        for name, choice in _likeliest(shown, answers):
            yield _row(model, name, shown, rotation, choice, _joint_status(answers, readable=choice is not None))
        return
    answer = answers[0]
    choice = mass = None
    if answer["status"] == "ok":
        if method == "letter":
            choice = read_letter(text_to_read(answer), shown.options, cut=was_cut(answer))
        else:
            choice, mass = _most_probable(dict(answer["label_logprobs"] or {}), shown.letters), answer["label_mass"]
    status = status_of(answer["status"], answer["finish_reason"], readable=choice is not None, mass=mass)
    yield _row(model, method, shown, rotation, choice if status == "ok" else None, status)


def place_of(request_id: str, method: Method) -> tuple[int, int | None]:
    """Return the rotation that a request id names, and the option under `perplexity`."""
    parts = request_id.rsplit("/", 2)
    return (int(parts[1]), int(parts[2])) if method == "perplexity" else (int(parts[2]), None)


def _plan_perplexity(item: TestItem, templates: Templates, sampling: Sampling) -> Iterator[Planned]:
    prompt = templates.render(
        _PERPLEXITY[item.language],
        dialogue=render_utterances(item.utterances, item.language),
        extras=extras_of(item),
        question=question_of(item),
        answer=_in(item.language, _CUES.get(item.task, _ANSWER)),  # before an option whose probability is asked
    )
    for option, text in enumerate(item.options):
        request = Request(
            request_id=f"dialogbench/perplexity/{item.language}/{item.item_id}/0/{option}",
            protocol=PROTOCOL,
            kind="loglikelihood",
            messages=(Message("user", prompt),),
            sampling=sampling,
            continuation=text if item.language == "zh" else f" {text}",
            subject=item_subject(item),
        )
        yield Planned(request, item.item_id, item.task, n_utterances=len(item.utterances))


def _messages(item: TestItem, templates: Templates, presentation: Presentation) -> tuple[Message, ...]:
    """Return the dialogue and the question as messages; two of the user's in a row become one."""
    as_text = presentation == "text"
    question = templates.render(
        _QUESTION[item.language],
        dialogue=render_utterances(item.utterances, item.language) if as_text else "",
        extras=extras_of(item),
        question=question_of(item),
        options=render_options(item.options),
    )
    if as_text:
        return (Message("user", question),)
    messages = [
        Message(("user", "assistant")[turn % 2], without_marks(text)) for turn, text in enumerate(item.utterances)
    ]
    if messages and messages[-1].role == "user":
        question = f"{messages.pop().content}\n\n{question}"
    return (*messages, Message("user", question))


def _likeliest(item: TestItem, answers: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str | None]]:
    """Yield the option of highest log-probability per token and in total; None if an option has none, or for a tie."""
    scored = len(answers) == len(item.options) and all(
        answer["status"] == "ok" and answer["logprob"] is not None and answer["n_tokens"] for answer in answers
    )
    for name, per_token in (("perplexity", True), ("perplexity_total", False)):
        scores = {
            letter: answer["logprob"] / (answer["n_tokens"] if per_token else 1)
            for letter, answer in zip(item.letters, answers if scored else (), strict=scored)
        }
        yield name, _most_probable(scores, item.letters)


def _most_probable(scores: Mapping[str, float], letters: Sequence[str]) -> str | None:
    """Return the letter with the highest score; None if there is none or more than one."""
    seen = {letter: scores[letter] for letter in letters if scores.get(letter) is not None}
    best = max(seen.values(), default=None)
    first = [letter for letter, score in seen.items() if score == best]
    return first[0] if len(first) == 1 else None


def _row(model: str, method: str, item: TestItem, rotation: int, choice: str | None, status: str) -> dict[str, Any]:
    return {
        "model": model,
        "method": method,
        "item_id": item.item_id,
        "task": item.task,
        "domain": item.domain,
        "language": item.language,
        "rotation": rotation,
        "n_options": len(item.options),
        "label": item.label,
        "choice": choice,
        "correct": choice == item.label,
        "status": status,
    }


def _joint_status(answers: Sequence[Mapping[str, Any]], *, readable: bool) -> str:
    failed = [answer["status"] for answer in answers if answer["status"] != "ok"]
    too_long = any(answer["finish_reason"] == "length" for answer in answers)
    return status_of(failed[0] if failed else "ok", "length" if too_long else "stop", readable=readable)


# The text of an item: its question, further fields, its options and the cue to answer.


def question_of(item: TestItem) -> str:
    """Return the item's own question, or the one that its task asks of every dialogue."""
    return without_marks(item.question) or _in(item.language, _QUESTIONS[item.task])


def extras_of(item: TestItem) -> list[tuple[str, str]]:
    """Return name and text of the parts that are shown beside the dialogue."""
    return [(_in(item.language, _EXTRAS[name]), without_marks(item.extra[name])) for name in task_of(item.task).shown]


def render_utterances(utterances: Sequence[str], language: str) -> str:
    """Return a dialogue with one line per utterance, each with its speaker."""
    name, colon = ("说话人", "：") if language == "zh" else ("Speaker ", ": ")
    return "\n".join(f"{name}{place % 2 + 1}{colon}{_one_line(text)}" for place, text in enumerate(utterances))


def render_options(options: Sequence[str]) -> str:
    """Return options with one line each, behind their letters."""
    return "\n".join(f"{letter}. {_one_line(text)}" for letter, text in zip(LETTERS, options, strict=False))


_QUESTIONS: dict[str, tuple[str, str]] = {
    "KRG": ("Which reply of speaker 2 agrees with the background knowledge?", "说话人2的哪个回复与背景知识一致？"),
    "CRG": ("Which reply of speaker 2 rests on correct common sense?", "说话人2的哪个回复所依据的常识是正确的？"),
    "DI": (
        "The next utterance of speaker 1 is missing; speaker 2's reply to it is known. Which one is missing?",
        "说话人1接下来的一句话缺失了，说话人2对它的应答已知。缺失的是哪一句？",
    ),
    "MRG": ("Which reply of speaker 2 carries on the conversation best?", "说话人2的哪个回复与上文衔接得最好？"),
    "PRG": ("Which reply suits speaker 2's personality best?", "哪个回复最符合说话人2的性格？"),
    "RC": ("How are the two speakers related to each other?", "两位说话人是什么关系？"),
    "NLI": ("How does the hypothesis stand to what is said in the conversation?", "假设与对话内容是什么关系？"),
    "DS": ("Which is the best summary of the conversation?", "哪个是这段对话最好的摘要？"),
    "OD": ("Is anything in the conversation offensive?", "对话中有没有冒犯性的话？"),
}
_EXTRAS: dict[str, tuple[str, str]] = {
    "knowledge": ("Background knowledge", "背景知识"),
    "persona": ("Speaker 2's personality", "说话人2的性格"),
    "hypothesis": ("Hypothesis", "假设"),
    "response": ("Speaker 2's reply", "说话人2的应答"),
}
_CUES: dict[str, tuple[str, str]] = {
    **dict.fromkeys(("KRG", "CRG", "MRG", "PRG"), ("Speaker 2", "说话人2")),
    "DI": ("Speaker 1", "说话人1"),
    "DS": ("Summary", "摘要"),
    "RC": ("Relation", "关系"),
    "OD": ("The conversation is", "这段对话"),
}
_ANSWER = ("Answer", "答案")


def _in(language: str, words: tuple[str, str]) -> str:
    return words[language == "zh"]


def _one_line(text: str) -> str:
    return without_marks(" ".join(text.split()))


# The chosen letter in an answer


def read_letter(text: str, options: Sequence[str], *, cut: bool = False) -> str | None:
    """Return the letter of the option that an answer chooses, or None where it chooses none or more than one.

    Args:
        text: the answer; a reasoning part (`<think>...</think>`) at its beginning is ignored.
        options: the options in the order of the prompt.
        cut: whether the answer was cut off, so that a letter at its end may begin a word.
    """
    plain = _LONG_RUN.sub(r"\1", own_words(plain_text(text)).lstrip()).rstrip()
    if "~~" in plain:
        return None
    declared = list(_named(plain, _DECLARATIONS, options, cut=cut))
    chosen = [one for one in declared if not one.denied]
    denied = {one.letter for one in declared if one.denied}
    if not chosen:
        chosen = list(_named(plain, _MENTIONS, options, cut=cut))
        denied |= {one.letter for one in chosen if one.denied}
    if not chosen:
        return None if cut or denied else _by_text(plain, options)
    found = {one.letter for one in chosen} | set(_answered(plain, options))
    letter = found.pop()
    clear = not found and letter not in denied and all(one.clear for one in chosen)
    return letter if clear and letter in LETTERS[: len(options)] else None


_OPEN, _CLOSE = r"[\s*_`\"'“”‘’(\[{<【「$]*", r"[\s*_`\"'“”‘’)\]}>】」$.,;:!。,、]*"
_NOT_INSIDE = r"(?![A-Za-z0-9'’+#&/-])"
_REASON = r"(?:because|since|as|for|is|which|due|given)"
_NO_ARTICLE = rf"(?![ \t]+(?-i:(?!(?:{_REASON}|or|and)\b)[a-z]))"
_NO_PAIR = (
    r"(?!\W{0,4}\s*(?:and(?:\s+also)?|or|&|/|\||,|\+|->|→|vs\.?|和|或|、|与|及|还是)\s*(?:maybe\s+)?\W{0,3}(?-i:[A-H])\b)"
    r"(?![ \t]+(?-i:[A-H])(?![A-Za-z'’]))"
)
_MARKED = rf"{_OPEN}(?P<letter>[B-H]|A{_NO_ARTICLE}){_NOT_INSIDE}{_NO_PAIR}"
_MARKED_ZH = rf"{_OPEN}(?P<letter>[A-H])(?![A-Za-z]){_NO_PAIR}"
_LONG_RUN = re.compile(r"(?<![\W_])([\W_]{40})[\W_]+")
"""Long runs of marks and blanks, at which the patterns would backtrack."""
_NOUN = (
    r"(?:(?:final|correct|right|best|most\s+\w+|my|the)\s+){0,6}(?:answer|option|choice|response|reply|letter|summary)"
)
_BEST = r"(?:the\s+)?(?:most|best|better|correct|right)\b"
_DECLARATIONS = (
    re.compile(
        rf"\b{_NOUN}[\"'*_`]*\s*(?:is|would\s+be|should\s+be|must\s+be|:|=)+\s*(?:\b(?:option|choice|letter)\b)?{_MARKED}",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\b(?:i\s+(?:would\s+)?(?:choose|pick|select|go\s+with))\s+(?:\b(?:option|choice|letter)\b)?{_MARKED}",
        re.IGNORECASE,
    ),
    re.compile(rf"\b(?:option|choice)\s*{_MARKED}\s*(?:is|seems|would\s+be)\s+{_BEST}", re.IGNORECASE),
    re.compile(rf"(?<![A-Za-z'’])(?P<letter>[A-H])[*_`)\]\"]{{0,3}}\s+(?:is|seems|would\s+be)\s+{_BEST}"),
    re.compile(
        rf"^{_OPEN}(?:option|choice|选项)?\s*:?{_OPEN}(?P<letter>[A-Ha-h]){_CLOSE}$", re.IGNORECASE | re.MULTILINE
    ),
    re.compile(r"\\boxed\{\s*(?:\\text\{)?\s*(?P<letter>[A-H])\s*\}"),
    re.compile(rf"答案[\s】\]*]*(?:是|为|应为|应该是|选|选择|:)*\s*(?:选项)?{_MARKED_ZH}"),
    re.compile(rf"(?<![可备待])(?:应选|应该选|选择|我选|选)(?:项)?\s*{_MARKED_ZH}"),
    re.compile(r"(?<![A-Za-z])(?P<letter>[A-H])\s*(?:选项)?(?:是|为)?(?:正确|最合适|最恰当|最符合|最连贯)(?!吗)"),
)
_MENTIONS = (
    re.compile(
        r"^[\s*_`>\"-]*[(\[【]?(?P<letter>[A-H])(?:\*\*)?"
        r"(?:[):、。\]】](?!\s*[A-H](?![A-Za-z]))|\.(?=[\s*]|[^\x00-\x7f]|$)|,(?=\s+(?:because|since|as)\b|因为))",
        re.MULTILINE,
    ),
    re.compile(r"^[\s*_`>\"-]*(?:option|choice|选项)\s*(?P<letter>[A-H])\b", re.IGNORECASE | re.MULTILINE),
    re.compile(r"[(\[【](?P<letter>[A-H])[)\]】]"),
    re.compile(r"\*\*\(?(?P<letter>[A-H])\)?[.):]?\*\*"),
)
_CLAUSE_END = re.compile(r"[.!?\n。！？；;,:]|\b(?:so|therefore|thus|hence|then|but|and)\b", re.IGNORECASE)
_DENIED_BEFORE = re.compile(
    r"\b(?:not|never|no|neither|nor|wrong|incorrect|worst|least|bad|false|cannot|unlikely|except|than|out|avoid|against)\b"
    r"|n['’]t\b|\b(?:eliminat|reject|exclud|doubt)\w*|[不别没非勿错]|无法|排除",
    re.IGNORECASE,
)
_PAIRED = re.compile(r"(?<![A-Za-z])[A-H]\s*(?:[、,/和与或及]|还是|\b(?:and|or)\b)\s*$")
_SURE = re.compile(r"\b(?:no|without|beyond)\s+(?:a\s+)?doubt\b|\bnot\s+only\b", re.IGNORECASE)
_WRONG = (
    r"wrong|incorrect|false|tempting|distract\w*|unlikely|unsuitable|inappropriate|irrelevant|implausible|contradict\w*|worst"
    r"|worse|misleading|questionable|doubtful|nonsens\w*|bad|fails?|ruled\s+out|eliminated|excluded|off[\s-]topic"
)
_VERB = (
    r"(?:is|was|are|seems?|looks?|sounds?|appears?|feels?|would|could|can|does|do|did|may|might|cannot|must|should|has|will"
    r"|contradicts?|fails?)"
)
_DENIED_AFTER = re.compile(
    rf"[\s*_`\"')\]:(-]*(?:{_WRONG})\b|[\s*_`\"')\]:-]*\b{_VERB}(?:n['’]t)?\b[^.!?\n]*\b(?:{_WRONG})\b"
    rf"|[\s*_`\"')\]:-]*\b{_VERB}(?:n['’]t\b|\s+(?!(?:the\s+)?(?:best|better|correct|right|most)\b)[^.!?\n]*\b(?:not|never|no)\b)"
    rf"|[\s*_`\"')\]:-]*\bcannot\b|[\s*_`\"')\]:(-]*(?:选项|项)?(?:是|为|也|都|并|很|太|明显|显然)*(?:不|错|没|非|有误)",
    re.IGNORECASE,
)
_GROUNDS = re.compile(r"\b(?:because|since|as|while|whereas|unlike|given|due)\b|因为", re.IGNORECASE)
_OPEN_QUESTION = re.compile(
    r"[^.!?\n。！？;；]*\?|[\s*_`\"'”’)\]}]*(?:,?\s*(?:maybe|perhaps|possibly|or)\b|吗)", re.IGNORECASE
)
_SENTENCE_END = re.compile(r"[.!?\n。！？;；]")
_LISTED = re.compile(r"^[\s*_`>\"-]*[(\[【]?(?P<letter>[A-H])(?:[):、\]】]|\.(?=[\s*]))(?P<text>[^\n]*)$", re.MULTILINE)
_ALONE = re.compile(rf"(?<![A-Za-z0-9'’])(?:[B-H]|A{_NO_ARTICLE})(?![A-Za-z0-9'’])")
_WORD = re.compile(r"[A-Za-z'’]+|[\u4e00-\u9fff]+")
_OF_ANSWERS = re.compile(
    r"answer|option|choice|letter|response|reply|is|it|it's|its|the|my|final|best|correct|right|most|i|i'd|would|choose|pick"
    r"|select|go|with|be|must|should|that's|so|think|or|and|also|maybe|perhaps|possibly|either|both|no|wait|actually|rather"
    r"|instead|hmm+|then|on|reflection|second|thoughts?|correction|sorry|oh|well|to|vs|mean|make|that|say",
    re.IGNORECASE,
)
_OF_ANSWERS_ZH = re.compile(
    "(?:正确答案|答案|选项|选择|应该|应|选|是|为|我|或者|或|和|与|及|还是|项|不对|更正|抱歉|等等|其实|而是|改为|吧|也|最终|不(?=$))+"
)
_ANSWER_BEFORE = re.compile(r"^.*?\b(?:answer|option|choice)\s*(?:is|:)+|^答案\s*(?:是|为|:)*", re.IGNORECASE)
_EDGES = " \t\n.,;:!?*_`\"'“”‘’()[]{}<>。,、"
_NEAR, _FAR = 60, 300
"""Characters before and after a letter that are searched for a denial."""


def _named(plain: str, patterns: Iterable[re.Pattern[str]], options: Sequence[str], *, cut: bool) -> Iterable[_Named]:
    for pattern in patterns:
        for match in pattern.finditer(plain):
            letter, start, end = match["letter"].upper(), match.start("letter"), match.end("letter")
            near = plain[max(0, start - _NEAR) : start]
            before = _CLAUSE_END.split(_SURE.sub("", near).rstrip(" \t:*_`\"'(["))[-1]
            behind = plain[end : end + _FAR]
            denied = _DENIED_BEFORE.search(before) or _DENIED_AFTER.match(_GROUNDS.split(behind, maxsplit=1)[0])
            others = {_folded(text) for place, text in zip(LETTERS, options, strict=False) if place != letter}
            is_other = _folded(behind.partition("\n")[0]) in others - {""}
            alone = not is_other and not _PAIRED.search(near)
            clear = alone and not _OPEN_QUESTION.match(behind) and is_complete(plain, end, cut=cut)
            yield _Named(letter, denied is not None, clear)


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().strip(_EDGES).split())


class _Named(NamedTuple):
    """A letter that an answer names.

    Attributes:
        letter: the letter.
        denied: whether the answer calls it wrong.
        clear: whether it is no question, no other option's text follows it, and more words would not change it.
    """

    letter: str
    denied: bool
    clear: bool


def _by_text(plain: str, options: Sequence[str]) -> str | None:
    """Return the letter of the option whose text is all of the answer, or all after `Answer:`."""
    answers = {_folded(plain), _folded(_ANSWER_BEFORE.sub("", plain, count=1))}
    matching = [letter for letter, option in zip(LETTERS, options, strict=False) if _folded(option) in answers]
    return matching[0] if len(matching) == 1 else None


def _answered(plain: str, options: Sequence[str]) -> Iterator[str]:
    """Yield the letters in sentences that hold nothing but letters and words that give an answer or change it."""
    texts = dict(zip(LETTERS, map(_folded, options), strict=False))
    declared = [found.start() for pattern in _DECLARATIONS for found in pattern.finditer(plain)]
    repeated_until = max(declared, default=len(plain))  # after its answer, a response may change it

    def kept(listed: re.Match[str]) -> str:
        """Return a line that begins with an option's letter; empty if the option's text or a remark on it follows."""
        line, text = listed[0], _folded(listed["text"])
        if text and text == texts.get(listed["letter"]) and listed.start() < repeated_until:
            return ""
        is_answer = all(map(_is_of_answers, _WORD.findall(_ALONE.sub(" ", line))))
        return line if is_answer or any(pattern.search(line) for pattern in _DECLARATIONS) else ""

    for sentence in _SENTENCE_END.split(_LISTED.sub(kept, plain)):
        letters = _ALONE.findall(sentence)
        if letters and all(map(_is_of_answers, _WORD.findall(_ALONE.sub(" ", sentence)))):
            yield from letters


def _is_of_answers(word: str) -> bool:
    plain = word.replace("’", "'")
    return _OF_ANSWERS.fullmatch(plain) is not None or _OF_ANSWERS_ZH.fullmatch(plain) is not None


# The position of the right option: drawn at random, or every position in turn (DialogBench 3.4, position bias).


def shuffled(item: TestItem, random_seed: int) -> TestItem:
    """Return the item with its options in an order that depends on random seed and item name only."""
    name = f"{random_seed}\0position\0{item.language}\0{item.item_id}"
    digest = hashlib.sha256(name.encode()).digest()
    order = np.random.default_rng(int.from_bytes(digest[:8], "big")).permutation(len(item.options))
    return _reordered(item, [int(place) for place in order])


def rotations(item: TestItem) -> tuple[TestItem, ...]:
    """Return the item with its options rotated by 0, 1, ... places, so that each option has each place once."""
    n = len(item.options)
    return tuple(_reordered(item, [(place - shift) % n for place in range(n)]) for shift in range(n))


def _reordered(item: TestItem, order: Sequence[int]) -> TestItem:
    """Return the item with option `order[place]` at each place."""
    options = tuple(item.options[place] for place in order)
    return replace(item, options=options, label=LETTERS[list(order).index(item.right)])
