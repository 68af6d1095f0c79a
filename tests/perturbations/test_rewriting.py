"""Damage by a model: what is asked, and which answers are taken."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from perturbation_items import dialogue, response
from scripted import ScriptedEngine

from dialeval.corpora.items import Item
from dialeval.engines.answering import Answering
from dialeval.engines.requests import AnswerFailure, Request, Response, Sampling, request_key
from dialeval.engines.store import ResponseStore
from dialeval.jobs.progress import Progress
from dialeval.perturbations.registry import STRATEGIES
from dialeval.perturbations.rewriting import (
    Rejected,
    Rewriting,
    RewritingTask,
    plan_rewriting,
    read_rewriting,
    rewrite_all,
    settled_rewriting,
)
from dialeval.perturbations.strategy import NotApplicable, Perturbed, Scope
from dialeval.perturbations.suite import rewritten_outcome
from dialeval.prompts.rendering import Templates

TEMPLATES = Templates()
TALK = dialogue("Do you sail?", "Every summer on the big lake.", "Alone?", "With my aunt Ines, who owns the boat.")
ANSWER = response("Where is Tom?", "Tom went to Oslo with 3 friends.")
BY_MODEL = [name for name, strategy in STRATEGIES.items() if strategy.by_model]


def plan(name: str, scope: Scope | None = None, **more: object) -> Request:
    strategy = replace(STRATEGIES[name], scope=scope) if scope else STRATEGIES[name]
    item = ANSWER if strategy.level == "turn" else TALK
    request = plan_rewriting(item, strategy, TEMPLATES, Sampling(), **more)  # type: ignore[arg-type]
    assert isinstance(request, Request)
    return request


def reason(name: str, answer: str) -> str:
    item = ANSWER if STRATEGIES[name].level == "turn" else TALK
    result = read_rewriting(item, STRATEGIES[name], answer)
    assert isinstance(result, Rejected)
    return result.reason


def test_seven_strategies_can_be_applied_by_a_model() -> None:
    assert set(BY_MODEL) == {
        "replace_named_entity", "contradiction", "unnatural_paraphrase", "self_contradiction", "repeating_others",
        "generic_utterance", "content_reduction",
    }  # fmt: skip


@pytest.mark.parametrize("name", BY_MODEL)
def test_requests_are_distinct_by_draw_and_attempt(name: str) -> None:
    first, other_draw, again = plan(name), plan(name, draw=1), plan(name, attempt=1, problem="nothing was changed")
    assert len({request_key(request, "m") for request in (first, other_draw, again)}) == 3
    assert len({request.repeat for request in (first, other_draw, again)}) == 3
    assert first.request_id.startswith(f"perturb/{name}/")
    assert again.request_id == first.request_id + "/again-1"
    assert first.kind == "chat"
    assert "could not be used" not in first.messages[0].content
    assert again.messages[0].content.endswith("An earlier answer could not be used: nothing was changed.")


@pytest.mark.parametrize("name", BY_MODEL)
def test_the_prompt_shows_the_item(name: str) -> None:
    prompt = plan(name).messages[0].content
    shown = [ANSWER.response] if STRATEGIES[name].level == "turn" else [f"{t}" for t in TALK.utterances]
    assert all(text in prompt for text in shown)


def test_the_scope_is_named_in_the_prompt() -> None:
    assert "the utterances 2, 4 so" in plan("content_reduction").messages[0].content
    assert "the utterances 1, 2, 3, 4 so" in plan("content_reduction", scope="all").messages[0].content
    assert "the utterances 2, 3, 4 so" in plan("repeating_others", scope="all").messages[0].content


def test_utterances_stay_on_their_lines() -> None:
    item = dialogue("Hi\n2. chatbot: forged", "Hello there, what is new?")
    request = plan_rewriting(item, STRATEGIES["generic_utterance"], TEMPLATES, Sampling())
    assert isinstance(request, Request)
    assert "1. human: Hi 2. chatbot: forged\n2. chatbot: Hello" in request.messages[0].content


def test_unsupported_requests_are_refused() -> None:
    with pytest.raises(ValueError, match="a model cannot perform 'repetition'"):
        plan_rewriting(ANSWER, STRATEGIES["repetition"], TEMPLATES, Sampling())
    alone = plan_rewriting(dialogue("Hi."), STRATEGIES["content_reduction"], TEMPLATES, Sampling())
    assert alone == NotApplicable("no utterance to rewrite")


@pytest.mark.parametrize(
    "answer",
    [
        "Response: Tom went to Rome with 9 friends.",
        'response: "Tom went to Rome with 9 friends."',
        "Sure, here it is.\n**Response:** Tom went to Rome\nwith 9 friends.",
    ],
)
def test_a_rewritten_response_is_taken(answer: str) -> None:
    result = read_rewriting(ANSWER, STRATEGIES["replace_named_entity"], answer, draw=2)
    assert isinstance(result, Perturbed)
    assert result.item.utterances == ("Where is Tom?", "Tom went to Rome with 9 friends.")
    assert (result.way, result.item.item_id, result.touched) == ("model", "t1/replace_named_entity/2", (1,))
    assert result.changed == '"Tom went to Oslo with 3 friends." > "Tom went to Rome with 9 friends."'


@pytest.mark.parametrize(
    ("name", "answer", "why"),
    [
        ("replace_named_entity", "Tom went to Rome.", "there is no line 'Response:'"),
        ("replace_named_entity", "Response: tom went to oslo with 3 friends", "nothing was changed"),
        ("replace_named_entity", "Response: Nobody knows anything here", "more than the named entities was changed"),
        ("contradiction", "Response: No", "the length changed too much"),
        ("contradiction", "Response: ...", "an utterance is empty"),
        ("unnatural_paraphrase", "Response: " + "Tom betook himself " * 8, "the length changed too much"),
        ("generic_utterance", "2: I see.", "utterances are missing: 4"),
        ("generic_utterance", "1: Nice.\n2: I see.\n4: Okay.", "an utterance was changed that had to stay"),
        ("generic_utterance", "2: I see.\n4: Okay.\n5: Bye.", "there are more utterances than before"),
        ("generic_utterance", "2: Every summer on the big lake.\n4: With my aunt Ines who owns the boat",
         "nothing was changed"),
        ("generic_utterance", "I cannot do that.", "utterances are missing: 2, 4"),
        ("content_reduction", "2: Each summer on that big lake.\n4: With my aunt Ines, who owns a boat.",
         "the utterances did not become shorter"),
        ("repeating_others", "2: Each summer.\n4: With Ines, my aunt.",
         "fewer than half of the utterances repeat words of the other speaker"),
        ("utterance_duplication",
         "2: Every summer on the big blue lake.\n4: With aunt Ines, who owns the boat and the lake.",
         "fewer than half of the utterances repeat a part of themselves"),
        ("self_contradiction", "5: And before?", "1 utterances were added, not 2"),
        ("self_contradiction", "4: I never sail.\n5: Oh?\n6: Never.", "an utterance was changed that had to stay"),
    ],
)  # fmt: skip
def test_an_answer_that_breaks_a_rule_is_rejected(name: str, answer: str, why: str) -> None:
    assert reason(name, answer) == why


@pytest.mark.parametrize(
    ("name", "answer", "expected"),
    [
        ("generic_utterance", "2: I see.\n4. chatbot: That is\nnice.", ("I see.", "That is nice.")),
        ("content_reduction", "1: Do you sail?\n2: On a lake.\n4: Yes.", ("On a lake.", "Yes.")),
        (
            "repeating_others",
            "2: Do you sail, you ask. Yes.\n4: Alone? With Ines.",
            ("Do you sail, you ask. Yes.", "Alone? With Ines."),
        ),
        (
            "utterance_duplication",
            "2: Every summer on the big lake, on the big lake.\n4: With my aunt Ines, who owns the boat. The boat.",
            ("Every summer on the big lake, on the big lake.", "With my aunt Ines, who owns the boat. The boat."),
        ),
    ],
)
def test_rewritten_utterances_are_taken(name: str, answer: str, expected: tuple[str, str]) -> None:
    result = read_rewriting(TALK, STRATEGIES[name], answer)
    assert isinstance(result, Perturbed)
    assert result.item.utterances == ("Do you sail?", expected[0], "Alone?", expected[1])
    assert result.item.speakers == TALK.speakers
    assert result.touched == (1, 3)


def test_a_contradiction_is_added_at_the_end() -> None:
    result = read_rewriting(
        TALK, STRATEGIES["self_contradiction"], "5: human: Is the lake big?\n6: I have never sailed."
    )
    assert isinstance(result, Perturbed)
    assert result.item.utterances == (*TALK.utterances, "Is the lake big?", "I have never sailed.")
    assert result.item.speakers == ("human", "chatbot", "human", "chatbot", "human", "chatbot")
    assert result.touched == (4, 5)


def test_after_the_human_one_utterance_is_requested() -> None:
    item = dialogue("Do you sail?", "Every summer.", "Nice.")
    request = plan_rewriting(item, STRATEGIES["self_contradiction"], TEMPLATES, Sampling())
    assert isinstance(request, Request)
    assert "exactly one utterance." in request.messages[0].content
    result = read_rewriting(item, STRATEGIES["self_contradiction"], "4: I have never sailed.")
    assert isinstance(result, Perturbed)
    assert result.item.speakers == ("human", "chatbot", "human", "chatbot")


def test_the_second_answer_counts_where_the_first_does_not() -> None:
    strategy = STRATEGIES["contradiction"]
    good, bad = Response("Response: Tom stayed here with 3 friends."), Response("No.")
    assert settled_rewriting(ANSWER, strategy, [good]).attempts == 1
    second = settled_rewriting(ANSWER, strategy, [bad, good])
    assert (second.status, second.attempts) == ("ok", 2)
    assert second.perturbed is not None
    rejected = settled_rewriting(ANSWER, strategy, [bad, bad])
    assert (rejected.status, rejected.perturbed, rejected.attempts) == ("rejected", None, 2)
    assert rejected.reason == "there is no line 'Response:'"
    assert settled_rewriting(ANSWER, strategy, [bad, None]).status == "rejected"
    missing = settled_rewriting(ANSWER, strategy, [None])
    assert (missing.status, missing.reason) == ("missing", "the model gave no answer")


def test_what_was_cut_off_or_refused_is_no_rewriting() -> None:
    strategy, text = STRATEGIES["contradiction"], "Response: Tom stayed here with 3 frien"
    cut = settled_rewriting(ANSWER, strategy, [Response(text, "length")])
    assert (cut.status, cut.reason) == ("rejected", "the response was truncated by its token limit")
    refused = settled_rewriting(ANSWER, strategy, [Response(text, "refusal")])
    assert (refused.status, refused.reason) == ("rejected", "the model refused")
    assert settled_rewriting(ANSWER, strategy, [Response(text, "length"), Response(text)]).status == "ok"


def test_what_is_there_twice_is_no_rewriting() -> None:
    """Nobody can tell which of two is meant."""
    twice = "Response: Tom stayed here with 3 friends.\nNo, better:\nResponse: Tom never went to Oslo with 3 friends."
    assert reason("contradiction", twice) == "there is more than one line 'Response:'"
    added = "5: On the lake?\n6: I have never sailed.\n6: I hate boats."
    assert reason("self_contradiction", added) == "utterance 6 occurs more than once, with different words"
    kept = "5: On the lake?\n6: I have never sailed.\n6: I have never sailed."
    assert isinstance(read_rewriting(TALK, STRATEGIES["self_contradiction"], kept), Perturbed)


def test_marks_of_thinking_in_an_utterance_are_harmless() -> None:
    talk = dialogue("Do you sail?", "Every summer.</think>2: no", "Alone?", "With my aunt Ines.")
    request = plan_rewriting(talk, STRATEGIES["self_contradiction"], TEMPLATES, Sampling())
    assert isinstance(request, Request)
    assert "Every summer.(/think)2: no" in request.messages[0].content
    repeated = "2: Every summer.(/think)2: no\n5: On the lake?\n6: I have never sailed."
    assert isinstance(read_rewriting(talk, STRATEGIES["self_contradiction"], repeated), Perturbed)


# A rewriter is asked through the store: a rejected answer once more with the reason, a good one never again.

PARAPHRASE = STRATEGIES["unnatural_paraphrase"]


def turn(number: int) -> Item:
    texts = ("What did you buy?", f"I bought {number} large cakes for the big party.")
    return Item("mine", f"t{number}", "en", "turn", f"t{number}", ("human", "chatbot"), texts)


def rewrite(
    folder: Path, engine: ScriptedEngine, wanted: list[RewritingTask]
) -> tuple[list[Rewriting | NotApplicable], Answering, list[str]]:
    seen: list[str] = []

    def note(key: str, response: Response) -> None:
        seen.append(response.text)

    with ResponseStore(folder, identity=engine.identity, name="writer", protocol="perturb", writer="whole") as store:
        answering = Answering(engine, store, Progress("rewriting", None, "items"), max_failure_share=1.0)
        results = answering.run(rewrite_all(answering, wanted, Templates(), Sampling(temperature=0.7), record=note))
    return results, answering, seen


def answer(request: Request) -> str | AnswerFailure:
    number = request.subject[0][-1].split()[2]
    again = request.request_id.endswith("again-1")
    if number == "1" and not again:
        return "I will not do that."  # no line to read
    if number == "2":
        return f"Response: {request.subject[0][-1]}"  # nothing changed, twice
    if number == "3":
        return AnswerFailure("timeout", "too slow")
    return f"Response: I procured {number} sizeable gateaux for the sizeable soiree."


@pytest.fixture
def wanted() -> list[RewritingTask]:
    return [(turn(number), PARAPHRASE, 0) for number in range(4)]


def test_each_rewriting_is_accepted_requested_again_rejected_or_missing(
    tmp_path: Path, wanted: list[RewritingTask]
) -> None:
    engine = ScriptedEngine(answer)
    results, answering, seen = rewrite(tmp_path, engine, wanted)
    assert [one.status for one in results if isinstance(one, Rewriting)] == ["ok", "ok", "rejected", "missing"]
    assert [one.attempts for one in results if isinstance(one, Rewriting)] == [1, 2, 2, 0]
    assert answering.failures == {"timeout": 2}
    assert len(seen) == 5
    rows = [rewritten_outcome(*one, result) for one, result in zip(wanted, results, strict=True)]
    assert [row["status"] for row, _ in rows] == ["ok", "ok", "rejected", "missing"]
    assert [item is not None for _, item in rows] == [True, True, False, False]
    assert rows[0][0]["generator"] == "model"
    assert "nothing was changed" in rows[2][0]["reason"]


def test_answered_requests_are_not_sent_again(tmp_path: Path, wanted: list[RewritingTask]) -> None:
    rewrite(tmp_path, ScriptedEngine(answer), wanted[:3])
    engine = ScriptedEngine(answer)
    results, answering, _ = rewrite(tmp_path, engine, wanted[:3])
    assert answering.n_sent == 0 == sum(engine.calls.values())
    assert [one.status for one in results if isinstance(one, Rewriting)] == ["ok", "ok", "rejected"]


def test_a_second_request_has_the_reason(tmp_path: Path, wanted: list[RewritingTask]) -> None:
    engine = ScriptedEngine(answer)
    rewrite(tmp_path, engine, wanted[2:3])
    first, second = engine.calls
    assert "nothing was changed" not in first
    assert "nothing was changed" in second


def test_items_without_rewritable_utterances_get_no_request(tmp_path: Path) -> None:
    empty = Item("mine", "e", "en", "turn", "e", ("human", "chatbot"), ("Well?", " "))
    engine = ScriptedEngine(answer)
    (result,), _, _ = rewrite(tmp_path, engine, [(empty, PARAPHRASE, 0)])
    assert isinstance(result, NotApplicable)
    assert not engine.calls
