"""Requests `rating`, `yes_no` and `multiple_choice`, and how they are answered."""

from __future__ import annotations

import asyncio
import math
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dialeval.config.models import METHODS
from dialeval.corpora.clusters import split
from dialeval.corpora.items import Item
from dialeval.criteria import DIMENSIONS, SHIPPED, Level
from dialeval.engines.embedded.chatbots import Ngram
from dialeval.engines.embedded.engine import EmbeddedEngine
from dialeval.engines.embedded.interfaces import LETTERS
from dialeval.engines.embedded.judge import Judge
from dialeval.engines.embedded.learning import Learned
from dialeval.engines.requests import AnswerFailure, Dialogue, Kind, Request, Response
from dialeval.protocols.item_prompts import subject_of
from dialeval.protocols.scores import expectation
from dialeval.protocols.written_scores import parse_scores

RATING = re.compile(r"([a-z]+ - [1-5]\.\d\d\n)*[a-z]+ - [1-5]\.\d\d")
OPTIONS = ("It is in the hall.", "Leek, I think.", "No.", "We leave at nine.")


def _rating(dialogue: Dialogue, level: Level, labels: tuple[str, ...] | None = None) -> Request:
    labels = DIMENSIONS[level] if labels is None else labels
    return Request("r", "rating", "chat", (), labels=labels, subject=(dialogue, (level,)))


def _yes_no(dialogue: Dialogue, level: str, dimension: str) -> Request:
    return Request("r", "yes_no", "choice", (), labels=("Yes", "No"), subject=(dialogue, (level, dimension)))


def _choice(dialogue: Dialogue, options: tuple[str, ...], kind: Kind, **more: Any) -> Request:
    if kind == "choice":
        more.setdefault("labels", tuple(LETTERS[: len(options)]))
    return Request("r", "multiple_choice", kind, (), subject=(dialogue, options), **more)


def _ask(learned: Learned, *requests: Request) -> list[Response]:
    async def table() -> list[Response | AnswerFailure]:
        numbered: Any = enumerate(requests)
        store: Any = None  # which is the caller's
        return [outcome async for _, outcome in EmbeddedEngine(learned, identity="x").answer_all(numbered, store)]

    outcomes = asyncio.run(table())
    for outcome in outcomes:
        if isinstance(outcome, AnswerFailure):
            raise outcome
    return outcomes  # type: ignore[return-value]


def _read(response: Response) -> dict[str, float]:
    assert RATING.fullmatch(response.text)
    return {name: float(value) for name, value in (line.split(" - ") for line in response.text.split("\n"))}


@pytest.mark.parametrize("name", ["forest", "selection", "random", "length", "overlap", "perplexity"])
@pytest.mark.parametrize("level", ["turn", "dialogue"])
def test_ratings_and_yes_no_say_the_same(
    raters: dict[str, Learned], english: list[Dialogue], name: str, level: Level
) -> None:
    for dialogue in (english[0], english[1][:2], english[2][:1]):
        rated, *asked = _ask(
            raters[name],
            _rating(dialogue, level),
            *(_yes_no(dialogue, level, dimension) for dimension in DIMENSIONS[level]),
        )
        values = _read(rated)
        assert tuple(values) == DIMENSIONS[level]
        for dimension, response in zip(DIMENSIONS[level], asked, strict=True):
            logprobs = response.label_logprobs
            assert logprobs is not None
            assert set(logprobs) == {"Yes", "No"}
            yes = math.exp(logprobs["Yes"])
            assert yes + math.exp(logprobs["No"]) == pytest.approx(1)
            assert 1 + 4 * yes == pytest.approx(values[dimension], abs=0.0101)
            assert response.label_mass == 1
            assert response.text == ("Yes" if yes >= 0.5 else "No")


def test_dimensions_are_answered_in_the_order_of_the_request(forest: Learned, english: list[Dialogue]) -> None:
    whole = _read(_ask(forest, _rating(english[0], "turn"))[0])
    some = _rating(english[0], "turn", ("overall", "relevance"))
    assert list(_read(_ask(forest, some)[0]).items()) == [(name, whole[name]) for name in ("overall", "relevance")]


def test_the_level_follows_from_the_subject(forest: Learned, english: list[Dialogue]) -> None:
    turn, dialogue = _ask(forest, *(_rating(english[0], level, ("overall",)) for level in DIMENSIONS))
    assert turn.text != dialogue.text


def test_planned_requests_are_answered_and_read(forest: Learned, english: list[Dialogue]) -> None:
    """As the protocol plans and parses them; who speaks is in the subject and changes nothing."""
    utterances = english[0]
    item = Item("c", "1", "en", "turn", "1", ("human", "chatbot") * (len(utterances) // 2), utterances)
    requests = [
        replace(request, subject=subject_of(item, (), *request.subject[1][1:]))
        for request in (
            _rating(utterances, "turn"),
            *(_yes_no(utterances, "turn", name) for name in DIMENSIONS["turn"]),
        )
    ]
    rated, *asked = _ask(forest, *requests)
    values = {n: said.value for n, said in parse_scores(rated.text, [SHIPPED[n] for n in DIMENSIONS["turn"]]).items()}
    assert values == _read(_ask(forest, _rating(utterances, "turn"))[0])
    for dimension, response in zip(DIMENSIONS["turn"], asked, strict=True):
        yes = expectation(response.label_logprobs or {}, {"Yes": 1.0, "No": 0.0})
        assert yes is not None
        assert values[dimension] == pytest.approx(1 + 4 * yes, abs=0.0101)


def test_an_item_is_judged_once_for_all_its_dimensions(
    forest: Learned, english: list[Dialogue], monkeypatch: pytest.MonkeyPatch
) -> None:
    n_rated: list[int] = []
    rate = Judge.rate

    def counted(self: Judge, dialogues: list[Dialogue], level: Level) -> object:
        n_rated.append(len(dialogues))
        return rate(self, dialogues, level)

    monkeypatch.setattr(Judge, "rate", counted)
    requests = [_yes_no(dialogue, "turn", name) for dialogue in english[:20] for name in DIMENSIONS["turn"]]
    _ask(forest, *requests, *(_rating(dialogue, "turn") for dialogue in english[:20]))
    assert sum(n_rated) == 20
    assert len(n_rated) <= 5


def _items(dialogues: list[Dialogue]) -> list[tuple[Dialogue, tuple[str, ...], int]]:
    """Return dialogues, four options, and the place of the true one; the others are from the same fold."""
    items = []
    rng = np.random.default_rng(5)
    for part in split(dialogues):
        said = [utterance for dialogue in part for utterance in dialogue]
        for dialogue in part:
            turn, place = int(rng.integers(2, len(dialogue))), int(rng.integers(4))
            options = [said[int(number)] for number in rng.integers(len(said), size=4)]
            options[place] = dialogue[turn]
            items.append((dialogue[:turn], tuple(options), place))
    return items


@pytest.mark.parametrize(("name", "least"), [("forest", 0.38), ("retrieval", 0.32)])
def test_the_true_continuation_is_chosen_more_often_than_by_chance(
    forest: Learned, chatbots: dict[str, Learned], english: list[Dialogue], name: str, least: float
) -> None:
    """Of 100 items, by chance 25 with a standard error of 4."""
    items = _items(english)
    learned = forest if name == "forest" else chatbots[name]
    answers = _ask(learned, *(_choice(dialogue, options, "chat") for dialogue, options, _ in items))
    right = [answer.text == f"Answer: {LETTERS[place]}" for answer, (_, _, place) in zip(answers, items, strict=True)]
    assert np.mean(right) > least


@pytest.mark.parametrize("name", ["forest", "retrieval", "ngram", "random", "generic"])
def test_the_ways_of_asking_agree(forest: Learned, chatbots: dict[str, Learned], name: str) -> None:
    learned = forest if name == "forest" else chatbots[name]
    dialogue = ("Have you seen my umbrella?",)
    letter, label, *options = _ask(
        learned,
        _choice(dialogue, OPTIONS, "chat"),
        _choice(dialogue, OPTIONS, "choice"),
        *(_choice(dialogue, OPTIONS, "loglikelihood", continuation=f" {option}") for option in OPTIONS),
    )
    assert re.fullmatch(r"Answer: [A-D]", letter.text)
    assert label.label_logprobs is not None
    assert list(label.label_logprobs) == list("ABCD")
    assert sum(map(math.exp, label.label_logprobs.values())) == pytest.approx(1)
    assert label.text == letter.text[-1]
    each = [option.logprob / option.n_tokens for option in options if option.logprob and option.n_tokens]
    assert LETTERS[int(np.argmax(each))] == label.text
    if name != "ngram":
        assert sum(map(math.exp, each)) == pytest.approx(1)
        assert [option.n_tokens for option in options] == [1] * 4


def test_only_the_text_in_its_place_matters_to_the_judge(forest: Learned) -> None:
    """Rotating the options rotates the answer; the stock replier stays with the first."""
    turned = (*OPTIONS[1:], OPTIONS[0])
    asked = [_choice(("Have you seen my umbrella?",), options, "chat") for options in (OPTIONS, turned)]
    there, back = (LETTERS.index(answer.text[-1]) for answer in _ask(forest, *asked))
    assert OPTIONS[there] == turned[back]


def test_stock_replies_take_the_first_option(chatbots: dict[str, Learned]) -> None:
    turned = [OPTIONS[place:] + OPTIONS[:place] for place in range(4)]
    answers = _ask(chatbots["generic"], *(_choice(("Hello.",), options, "chat") for options in turned))
    assert {answer.text for answer in answers} == {"Answer: A"}


def test_random_choices_depend_on_the_options_and_are_spread(chatbots: dict[str, Learned]) -> None:
    asked = [_choice((f"Number {number}.",), OPTIONS, "chat") for number in range(200)]
    letters = [answer.text[-1] for answer in _ask(chatbots["random"], *asked)]
    assert letters == [answer.text[-1] for answer in _ask(chatbots["random"], *asked)]
    assert all(25 <= letters.count(letter) <= 75 for letter in "ABCD")


def test_the_ngram_model_says_how_likely_its_words_are() -> None:
    """One pair was learned: (`x y`, `yes`).

    P(yes) = .4 + .6 (.4 + .6 * 5/6) = .94, as the topic makes yes five times likelier than the end;
    P(end) = .4 + .6 (.4 + .6 * 1/6) = .70; of both, .95, and .05 over a vocabulary of 5.
    """
    bot = Ngram([("x y", "yes")], random_seed=0)
    logprob, n = bot.log_probability(["x y"], "yes")
    assert n == 2
    assert logprob == pytest.approx(math.log(0.95 * 0.94 + 0.01) + math.log(0.95 * 0.70 + 0.01))
    unheard, n = bot.log_probability(["x y"], "no")
    assert n == 2
    assert unheard < logprob
    assert np.isfinite(unheard)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (_rating(("a",), "turn", ()), "names no dimension"),
        (_rating(("a",), "dialogue", ("coherense",)), "did you mean 'coherence'?"),
        (replace(_rating(("a",), "turn"), kind="choice"), "'rating'; request chat"),
        (replace(_rating(("a",), "turn"), subject=(("a",),)), "at least one utterance, and a level"),
        (_rating((), "turn"), "at least one utterance"),
        (_yes_no(("a",), "turn", "coherence"), "unknown dimension 'coherence' at turn level"),
        (_yes_no(("a",), "turns", "overall"), "unknown level 'turns'; did you mean 'turn'?"),
        (_yes_no((), "turn", "overall"), "at least one utterance"),
        (Request("r", "yes_no", "choice", (), labels=("A", "B"), subject=(("a",), ("turn", "overall"))), "has: A, B"),
        (_choice(("a",), ("b",), "chat"), "2 to 26 options"),
        (_choice((), OPTIONS, "chat"), "at least one utterance"),
        (_choice(("a",), OPTIONS, "choice", labels=("A",)), "1 labels for 4 options"),
        (_choice(("a",), OPTIONS, "loglikelihood", continuation="What?"), "not one of its options: 'What?'"),
        (Request("r", "arena", "chat", (), subject=(("a", "b"),)), "must be about 2 dialogues"),
        (Request("r", "unieval", "chat", (), subject=((),)), "at least one utterance"),
        (Request("r", "ranking", "chat", (), subject=(("a", "b"),)), "cannot answer 'ranking'"),
        (Request("r", "unieval", "choice", (), subject=(("a",),)), "'choice' to 'unieval'; request chat"),
    ],
)
def test_what_cannot_be_answered_is_refused_in_words(forest: Learned, asked: Request, message: str) -> None:
    with pytest.raises(AnswerFailure, match=re.escape(message)):
        _ask(forest, asked)


@pytest.mark.parametrize("name", list(METHODS))
def test_a_method_answers_what_it_serves_and_nothing_else(
    chatbots: dict[str, Learned], raters: dict[str, Learned], name: str
) -> None:
    learned = (chatbots | raters)[name]
    dialogue = ("Have you seen my umbrella?", "No.")
    requests = [
        Request("r", "selfchat", "chat", (), subject=(dialogue,)),
        Request("r", "unieval", "chat", (), subject=(dialogue,)),
        Request("r", "arena", "chat", (), subject=(dialogue, dialogue)),
        Request("r", "gteval", "chat", (), subject=(dialogue, dialogue)),
        _rating(dialogue, "turn"),
        _yes_no(dialogue, "dialogue", "overall"),
        _choice(dialogue, OPTIONS, "chat"),
    ]
    for request in requests:
        if request.protocol in METHODS[name].serves:
            assert _ask(learned, request)[0].text
        else:
            with pytest.raises(AnswerFailure, match=f"'{name}' cannot answer '{request.protocol}'; it can"):
                _ask(learned, request)
