"""Published dialogues and answers in place of a model's own.

Published answers meet the requests planned here by seed, models shown and, in Arena, N. What does not fit is refused,
or counted in words that the stage prints.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from dialeval.corpora.botchat import IDENTICAL, PublishedAnswer, PublishedDialogue, Shown, conversation
from dialeval.corpora.dialogues import SEED_LENGTH
from dialeval.corpora.text_files import listed
from dialeval.engines.requests import Dialogue, Response, valid_unicode
from dialeval.errors import UserError
from dialeval.protocols.selfchat import Turn
from dialeval.tables.files import HUMAN

Key = tuple[Shown, int | None]
"""Whom an answer is about, and the N of Arena; other protocols have one answer whatever the length."""
# as the authors read their files; verdicts are read by the protocols' own parsers
_YES = re.compile(r"^Choice: *Yes\b", re.MULTILINE)
_INDEX = re.compile(r"\bIndex: *\d")


def turns(
    seeds: Mapping[str, Dialogue],
    dialogues: Mapping[str, PublishedDialogue],
    *,
    n_utterances: int,
    only_some_seeds: bool,
    source: str,
    notes: Counter[str],
) -> dict[str, list[Turn]]:
    """Return a model's published utterances after each seed, as turns of self-chat.

    Args:
        seeds: the two utterances of every seed.
        dialogues: the published dialogues, which begin with their seed.
        n_utterances: length that dialogues are cut to, the seed included.
        only_some_seeds: whether `seeds` leaves out seeds of its corpus, so that dialogues may be about others.
        source: name of their file, for messages.
        notes: counts what is worth a word.

    Raises:
        UserError: a dialogue is about no seed of ours or begins with other words than its seed.
    """
    for seed_id, dialogue in dialogues.items():
        if seed_id not in seeds and not only_some_seeds:
            raise UserError(
                f"{dialogue.place}: '{seed_id:.60}' is not among the {len(seeds)} seeds, such as "
                f"{', '.join(list(seeds)[:3])}; seeds.corpus must be the corpus that the published dialogues continue"
            )
    found: dict[str, list[Turn]] = {}
    for seed_id, seed in seeds.items():
        if seed_id not in dialogues:
            notes["seeds without a published dialogue"] += 1
            continue
        utterances = dialogues[seed_id].utterances
        _check_seed(seed_id, seed, dialogues[seed_id], notes)
        if len(utterances) <= SEED_LENGTH:
            notes["dialogues that end with their seed, left out"] += 1
            continue
        notes[f"dialogues shorter than {n_utterances} utterances"] += len(utterances) < n_utterances
        notes["empty utterances"] += utterances[:n_utterances].count("")
        answers = [Response(text, "") for text in utterances[SEED_LENGTH:n_utterances]]
        found[seed_id] = [Turn(answer.text, answer, 0) for answer in answers]
    if not found:
        raise UserError(
            f"{source}: no seed has a published dialogue; seeds.corpus must be the corpus that the published "
            f"dialogues continue"
        )
    return found


def responses(
    planned: Iterable[Mapping[str, Any]], answers: Mapping[Key, PublishedAnswer], source: str, notes: Counter[str]
) -> Iterator[dict[str, Any]]:
    """Yield the rows of the table `responses`, in the order of the requests.

    A request without a published answer is `missing`. So is one where the file says `EM`, identical texts: such pairs
    are not planned, as the authors drop them, so the file contradicts the dialogues, and no verdict may be guessed.

    Args:
        planned: rows of `requests`.
        answers: the published answers.
        source: name of their file, for messages.
        notes: counts what is worth a word.

    Raises:
        UserError: after the last row: a chatbot without any answer, which is one under another name.
    """
    used: set[Key] = set()
    answered_about: dict[str, bool] = {}
    for row in planned:
        shown = Shown(row["case_id"], row["left"], row["right"])
        key = (shown, row["n_utterances"] if row["protocol"] == "arena" else None)
        answer = answers.get(key)
        for model in shown[1:]:
            if model is not None:
                answered_about[model] = answered_about.get(model, False) or answer is not None
        if answer is not None:
            used.add(key)
        yield _response(row, answer, notes)
    _check_names(answered_about, answers, source)
    for key, answer in answers.items():
        if key in used:
            continue
        if not {*key[0][1:]} - {None} <= set(answered_about):
            notes["responses on models that are not chatbots of this run"] += 1
        elif answer.text.strip() == IDENTICAL:
            notes["pairs of identical texts, left out as by the authors"] += 1
        else:
            notes["responses on pairs that this run does not compare"] += 1


def _response(row: Mapping[str, Any], answer: PublishedAnswer | None, notes: Counter[str]) -> dict[str, Any]:
    """Return one row of the table `responses`."""
    text = valid_unicode(answer.text.strip()) if answer else ""
    identical = text == IDENTICAL
    if answer is None or not text:
        notes["requests without a published response: missing"] += 1
    elif identical:
        notes[f"pairs that are identical in the file ({IDENTICAL}) and differ in this run: missing"] += 1
    else:
        notes["responses on another text than the dialogue of this run"] += not _same_texts(row["subject"], answer)
        if row["protocol"] == "unieval" and _yes_without_index(text):
            notes["responses 'Choice: Yes' without an index: unparsed here; the authors count them as passed"] += 1
    answered = bool(text) and not identical
    return {
        "request_id": row["request_id"],
        "key": "",
        "status": "ok" if answered else "missing",
        "text": text if answered else "",
        "reasoning": "",
        "finish_reason": IDENTICAL if identical else "",
    }


def _check_seed(seed_id: str, seed: Dialogue, dialogue: PublishedDialogue, notes: Counter[str]) -> None:
    """Refuse a dialogue that begins with other words than its seed; case and punctuation are no words."""
    beginning = dialogue.utterances[:SEED_LENGTH]
    if _without_blanks(beginning) == _without_blanks(seed):
        return
    if _letters(beginning) != _letters(seed):
        raise UserError(
            f"{dialogue.place}: the dialogue begins with {' / '.join(beginning)!r:.120}, but seed '{seed_id:.60}' is "
            f"{' / '.join(seed)!r:.120}; seeds.corpus must be the corpus that the published dialogues continue"
        )
    notes["seeds that differ in case or punctuation; this run's are shown"] += 1


def _check_names(answered_about: Mapping[str, bool], answers: Mapping[Key, PublishedAnswer], source: str) -> None:
    """Refuse a file of responses without any about one of the chatbots."""
    in_file = {model for shown, _ in answers for model in shown[1:] if model is not None}
    for model, answered in answered_about.items():
        if not answered and model != HUMAN:
            others = listed(sorted(in_file - set(answered_about) - {HUMAN}))
            raise UserError(
                f"{source}: no response is about the chatbot '{model}'; other names in the file: {others}; map one "
                f"of them with `names: {{NAME_IN_THE_FILE: {model}}}`, or remove the chatbot"
            )


def _same_texts(subject: Iterable[Iterable[str]], answer: PublishedAnswer) -> bool:
    """Return whether the published conversations are a request's dialogues; of pairs, their beginnings count."""
    if not answer.conversations:
        return True
    pair = len(answer.conversations) > 1
    for dialogue, cell in zip(subject, answer.conversations, strict=True):
        ours = _without_blanks(dialogue)
        theirs = _without_blanks(conversation(cell, answer.place))
        if ours != (theirs[: len(ours)] if pair else theirs):
            return False
    return True


def _yes_without_index(text: str) -> bool:
    return _YES.search(text) is not None and _INDEX.search(text) is None


def _without_blanks(utterances: Iterable[str]) -> list[str]:
    """Return utterances with each run of blanks as one blank."""
    return [" ".join(text.split()) for text in utterances]


def _letters(utterances: Iterable[str]) -> list[str]:
    """Return the letters and digits of utterances in one case."""
    return ["".join(char for char in text.casefold() if char.isalnum()) for text in utterances]
