"""What is said of planned requests before they are asked."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from dialeval.config import OpenAIModel, Protocol
from dialeval.config.protocol_settings import Adaptive
from dialeval.engines.requests import Message, Request, Response
from dialeval.engines.store import ResponseStore
from dialeval.errors import UserError
from dialeval.measures.adaptive_rounds import COLUMNS, Rounds, schedule
from dialeval.planning.estimates import Estimate
from dialeval.planning.judging_estimates import LIKELY, AdaptiveRequests, estimate_planned
from dialeval.planning.known_models import Assumption, KnownModel, Range, known_model
from dialeval.protocols.planned_requests import Planned, request_from_row
from dialeval.protocols.questions import Question
from dialeval.tables.dialogues import REQUESTS
from dialeval.tables.files import TableWriter, read_table


@pytest.mark.parametrize(
    ("form", "kind", "words"),
    [
        ("pair", "chat", "a choice and a reason"),
        ("scale", "chat", "a line for each"),
        ("probability", "choice", "one token"),
    ],
)
def test_a_protocol_of_ones_own_is_answered_as_its_form_is(tmp_path: Path, form: str, kind: str, words: str) -> None:
    request = Request("better/1", form, kind, (Message("user", "Which?"),), labels=("Yes", "No"))  # type: ignore[arg-type]
    with TableWriter(tmp_path / "requests", REQUESTS) as table:
        table.write_all([Planned(request).to_row()])
    model = known_model("gpt", OpenAIModel(engine="openai", model="gpt"), {})
    (estimate,) = estimate_planned([model], "better", tmp_path / "requests", tmp_path / "store")
    assert words in estimate.assumed.source


# What is still to be asked of pairs in rounds: at least the next, at most the full design, nothing when settled.

N_CASES, BLOCK = 60, 10
FULL = 3 * 2 * N_CASES
FIRST = 3 * 2 * BLOCK
ASSUMED = Assumption(Range(1, 2, 3, 4), "a test")


def question(**adaptive: Any) -> Question:
    protocol = Protocol.model_validate(
        {"form": "pair", "data": {"source": "talks"}, "template": "pair.j2", "adaptive": {"block": BLOCK} | adaptive}
    )
    return Question("duel", protocol)


def model() -> KnownModel:
    return known_model("gpt", OpenAIModel(engine="openai", model="gpt", base_url="http://127.0.0.1:1/v1"), {})


def requests(folder: Path) -> Path:
    rows = [
        Planned(
            Request(f"{case}/{left}/{right}", "pair", "chat", (Message("user", f"{case:03} {left} {right}"),)),
            case_id=f"case-{case}",
            left=left,
            right=right,
        ).to_row()
        for case in range(N_CASES)
        for pair in combinations("abc", 2)
        for left, right in (pair, pair[::-1])
    ]
    with TableWriter(folder / "duel.parquet", REQUESTS) as table:
        table.write_all(rows)
    return folder / "duel.parquet"


def answered(folder: Path, n_rounds: float, **adaptive: Any) -> int:
    """Store what a judge says who finds a better than the others, for so many rounds; return how much is stored."""
    path, options = folder / "duel.parquet", Adaptive(block=BLOCK, **adaptive)
    rows = read_table(path, REQUESTS).to_pylist()
    rounds = Rounds(schedule(read_table(path, REQUESTS, COLUMNS), BLOCK), options)
    known, count = model(), 0
    with ResponseStore(folder / "store", identity=known.identity or "", name="gpt", protocol="pair") as store:
        while n_rounds > 0 and len(places := rounds.begin()):
            for place in places[: int(len(places) * n_rounds) if n_rounds < 1 else None].tolist():
                request, row = request_from_row(rows[place]), rows[place]
                text = "A" if row["left"] == "a" else "B" if row["right"] == "a" else "Tie"
                store.append(known.key(request), Response(f"Choice: {text}", completion_tokens=3))
                rounds.hear(place, {"A": "left", "B": "right", "Tie": "tie"}[text], failed=False)
                count += 1
            if n_rounds < 1:
                break
            rounds.end()
            n_rounds -= 1
    return count


def estimated(folder: Path, **adaptive: Any) -> Estimate:
    (found,) = estimate_planned([model()], "pair", folder / "duel.parquet", folder / "store", question(**adaptive))
    return found


def test_with_nothing_stored_it_is_the_first_round_at_least_and_all_at_most(tmp_path: Path) -> None:
    requests(tmp_path)
    found = estimated(tmp_path)
    (whole,) = estimate_planned([model()], "pair", tmp_path / "duel.parquet", tmp_path / "store")
    assert (found.requests, found.uncached, found.surely_uncached) == (FULL, FULL, FIRST)
    share = FIRST / FULL
    likely = share + LIKELY["per_comparison"] * (1 - share)
    assert found.prompts.low == pytest.approx(whole.prompts.low * share)
    assert found.prompts.expected == pytest.approx(whole.prompts.expected * likely)
    assert found.prompts[2:] == pytest.approx(whole.prompts[2:])
    assert found.answers.expected == pytest.approx(whole.answers.expected * likely)
    assert found.answers.low == pytest.approx(whole.answers.low * share)
    assert found.answers.most == pytest.approx(whole.answers.most)
    assert f"sequential pairs: {FIRST} in the next round, then at most {FULL - FIRST}" in found.notes[0]


@pytest.mark.parametrize("n_rounds", [1, 2, 5])
def test_after_some_rounds_what_is_settled_is_not_counted(tmp_path: Path, n_rounds: int) -> None:
    requests(tmp_path)
    stored = answered(tmp_path, n_rounds)
    found = estimated(tmp_path)
    # after the second round only b and c, who are equal, are asked about
    still = 3 if n_rounds == 1 else 1
    assert found.surely_uncached == still * 2 * BLOCK
    assert found.uncached == still * 2 * (N_CASES - n_rounds * BLOCK)
    assert found.requests == stored + found.uncached
    assert found.answer.expected == 3


def test_in_the_middle_of_a_round_its_rest_is_certain(tmp_path: Path) -> None:
    requests(tmp_path)
    stored = answered(tmp_path, 0.5)
    found = estimated(tmp_path)
    assert (found.surely_uncached, found.uncached) == (FIRST - stored, FULL - stored)


def test_when_all_pairs_are_settled_or_ended_no_request_is_open(tmp_path: Path) -> None:
    requests(tmp_path)
    stored = answered(tmp_path, 99)
    found = estimated(tmp_path)
    assert stored == 2 * 2 * 2 * BLOCK + 2 * N_CASES
    assert (found.uncached, found.requests, found.notes) == (0, stored, [])
    assert found.answers == Range()


def test_the_limit_of_requests_is_the_most(tmp_path: Path) -> None:
    requests(tmp_path)
    found = estimated(tmp_path, requests=100)
    assert (found.surely_uncached, found.uncached, found.requests) == (FIRST, 100, 100)
    with pytest.raises(UserError, match=f"the first round needs {FIRST}"):
        estimated(tmp_path, requests=FIRST - 1)


def test_dialogues_that_are_not_there_yet_have_the_first_round_s_share() -> None:
    known = model()
    estimate = Estimate(known, "duel", 20, ASSUMED)
    adaptive = question().protocol.adaptive
    assert adaptive is not None
    pairs = AdaptiveRequests(estimate, question())
    pairs.to_come(200, Range(100, 200, 300, 400))
    pairs.to_come(100, Range(50, 100, 150, 200))
    pairs.count(N_CASES)
    assert (estimate.requests, estimate.uncached) == (300, 300)
    assert estimate.prompts.low == pytest.approx(150 / 6)
    assert estimate.prompts.expected == pytest.approx(300 * (1 / 6 + LIKELY["per_comparison"] * 5 / 6))
    assert estimate.prompts[2:] == (450, 600)
    limited = AdaptiveRequests(estimate := Estimate(known, "duel", 20, ASSUMED), question(requests=150))
    limited.to_come(300, Range(100, 200, 300, 400))
    limited.count(N_CASES)
    assert (estimate.requests, estimate.uncached) == (150, 150)
    assert estimate.prompts.most == 200
