"""A rewriter is asked through the store: a rejected answer once more with the reason, a good one never again."""

from __future__ import annotations

from pathlib import Path

import pytest
from scripted import ScriptedEngine

from dialeval.corpora.items import Item
from dialeval.engines.answering import Answering
from dialeval.engines.request import AnswerFailure, Request, Response, Sampling
from dialeval.engines.store import ResponseStore
from dialeval.perturbations.asking import Wanted, rewrite_all
from dialeval.perturbations.item_damage import NotApplicable
from dialeval.perturbations.registry import STRATEGIES
from dialeval.perturbations.rewriting import Rewriting
from dialeval.perturbations.suite import rewritten_outcome
from dialeval.progress import Progress
from dialeval.prompts.rendering import Templates

PARAPHRASE = STRATEGIES["unnatural_paraphrase"]


def turn(number: int) -> Item:
    texts = ("What did you buy?", f"I bought {number} large cakes for the big party.")
    return Item("mine", f"t{number}", "en", "turn", f"t{number}", ("human", "chatbot"), texts)


def rewrite(
    folder: Path, engine: ScriptedEngine, wanted: list[Wanted]
) -> tuple[list[Rewriting | NotApplicable], Answering, list[str]]:
    seen: list[str] = []

    def note(key: str, response: Response) -> None:
        seen.append(response.text)

    with ResponseStore(folder, identity=engine.identity, name="writer", protocol="perturb", writer="whole") as store:
        answering = Answering(engine, store, Progress("rewriting", None, "items"), max_failure_share=1.0)
        results = answering.run(rewrite_all(answering, wanted, Templates(), Sampling(temperature=0.7), seen=note))
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
def wanted() -> list[Wanted]:
    return [(turn(number), PARAPHRASE, 0) for number in range(4)]


def test_each_rewriting_is_accepted_asked_again_rejected_or_missing(tmp_path: Path, wanted: list[Wanted]) -> None:
    engine = ScriptedEngine(answer)
    results, answering, seen = rewrite(tmp_path, engine, wanted)
    assert [one.status for one in results if isinstance(one, Rewriting)] == ["ok", "ok", "rejected", "missing"]
    assert [one.attempts for one in results if isinstance(one, Rewriting)] == [1, 2, 2, 0]
    assert answering.failures == {"timeout": 2}
    assert len(seen) == 5
    rows = [rewritten_outcome(*one, result) for one, result in zip(wanted, results, strict=True)]
    assert [row["status"] for row, _ in rows] == ["ok", "ok", "rejected", "missing"]
    assert [item is not None for _, item in rows] == [True, True, False, False]
    assert rows[0][0]["way"] == "model"
    assert "nothing was changed" in rows[2][0]["reason"]


def test_what_was_answered_is_not_asked_again(tmp_path: Path, wanted: list[Wanted]) -> None:
    rewrite(tmp_path, ScriptedEngine(answer), wanted[:3])
    engine = ScriptedEngine(answer)
    results, answering, _ = rewrite(tmp_path, engine, wanted[:3])
    assert answering.asked == 0 == sum(engine.calls.values())
    assert [one.status for one in results if isinstance(one, Rewriting)] == ["ok", "ok", "rejected"]


def test_the_reason_is_told_when_asking_again(tmp_path: Path, wanted: list[Wanted]) -> None:
    engine = ScriptedEngine(answer)
    rewrite(tmp_path, engine, wanted[2:3])
    first, second = engine.calls
    assert "nothing was changed" not in first
    assert "nothing was changed" in second


def test_what_has_nothing_to_rewrite_is_not_asked(tmp_path: Path) -> None:
    empty = Item("mine", "e", "en", "turn", "e", ("human", "chatbot"), ("Well?", " "))
    engine = ScriptedEngine(answer)
    (result,), _, _ = rewrite(tmp_path, engine, [(empty, PARAPHRASE, 0)])
    assert isinstance(result, NotApplicable)
    assert not engine.calls
