"""What a design can show, as it is printed, and what a case more costs."""

from __future__ import annotations

from typing import Any

import pytest

from dialeval.aggregation.planning.people import NEVER_BY_SEEDS
from dialeval.engines.prices import Prices
from dialeval.engines.request import Response
from dialeval.estimation.assumptions import Assumption
from dialeval.estimation.cases import cost_of_case
from dialeval.estimation.estimates import Estimate
from dialeval.estimation.known_models import Counting, KnownModel
from dialeval.estimation.planning_words import planning_in_words
from dialeval.estimation.ranges import Range


def row(**about: Any) -> dict[str, Any]:
    judge = {"protocol": "felt", "criterion": "empathy", "n_utterances": 16, "judge": "clerk", "measure": "mean"}
    judge |= {"what": "judge", "n_systems": 3, "n_seeds": 1200, "n_labels": 0, "smallest_difference": 0.3124}
    judge |= {"smallest_difference_holm": 0.378} | {
        "half_width": 0.2,
        "seeds_to_halve": 3600,
        "labels_to_halve": None,
        "cost_of_seeds": None,
    }
    return {**judge, "cost_of_labels": None, "cheaper": None, "basis": "assumptions", "note": "assumed: much", **about}


def test_a_judges_row_says_what_is_found_and_how_many_cases_more_halve_the_interval() -> None:
    lines = planning_in_words([row(), row(protocol="arena", criterion=None, measure="rating", note=None)]).splitlines()
    assert lines[1:] == [
        "felt mean (empathy, N = 16), clerk: 0.31 (0.38 with Holm over 3 pairs; 1,200 cases; interval ±0.2; from "
        "assumptions); 3,600 cases more would halve it",
        "arena rating (N = 16), clerk: 0.31 (0.38 with Holm over 3 pairs; 1,200 cases; interval ±0.2; from "
        "assumptions); 3,600 cases more would halve it",
        "felt mean (empathy, N = 16), clerk: assumed: much",
    ]


def test_a_row_on_people_names_labels_and_what_is_cheaper() -> None:
    people = row(what="people", n_labels=150, labels_to_halve=400, cost_of_labels=200.0, cost_of_seeds=1234.5)
    people |= {"cheaper": "labels", "note": None, "smallest_difference": 44.4, "half_width": 30.1}
    people |= {"n_systems": 2, "smallest_difference_holm": 44.4}  # one pair, so nothing to correct for
    assert planning_in_words([people]).splitlines()[1] == (
        "felt mean (empathy, N = 16), people with clerk: 44 (150 labels, 1,200 cases; interval ±30; from assumptions); "
        "3,600 cases more (about 1,234.50) or 400 labels more (about 200.00) would halve it, labels being cheaper"
    )


def test_criteria_of_which_the_same_is_said_share_a_line() -> None:
    rows = [row(criterion=name, n_utterances=None, note=NEVER_BY_SEEDS) for name in ("empathy", "tact")]
    lines = planning_in_words([*rows, row(criterion="wit", n_utterances=None, half_width=0.9, note=None)]).splitlines()
    assert [line.partition(":")[0] for line in lines[1:]] == [
        "felt mean (empathy, tact), clerk",
        "felt mean (wit), clerk",
    ]


def test_what_cannot_be_said_is_said_to_be_so() -> None:
    unknown = row(
        smallest_difference=None, smallest_difference_holm=None, half_width=None, seeds_to_halve=None, note="one; two"
    )
    people = [row(what="people", seeds_to_halve=None, protocol=name, note="one; three") for name in ("felt", "seen")]
    text = planning_in_words([unknown, *people])
    assert "clerk: nothing can be said; nothing is known that would halve it" in text
    assert "; neither cases nor labels alone would halve it, but four times as many of both" in text
    assert text.endswith("all: one\nfelt mean (empathy, N = 16), clerk: two\npeople: three")
    assert planning_in_words([]) == ""


def estimate(name: str, protocol: str, requests: int, *, stored: int) -> Estimate:
    model = KnownModel(name, "{}", False, None, len, Counting("words"))
    found = Estimate(model, protocol, 100, Assumption(Range(10, 20, 30), "guessed"), requests=requests)
    found.count_unasked(requests - stored, Range(0, 50, 0, 0).times(requests - stored), sure=True)
    for _ in range(stored):
        found.count_answer(Response("x", prompt_tokens=70, completion_tokens=20))
    return found


def test_a_case_more_costs_what_is_asked_about_it_and_what_is_said_on_it() -> None:
    estimates = [
        estimate("clerk", "arena", 40, stored=20),
        estimate("clerk", "gteval", 40, stored=0),
        estimate("bot", "selfchat", 80, stored=0),
        estimate("free", "arena", 40, stored=0),
    ]
    prices = {"clerk": Prices(price_input=1e6, price_output=0.0), "bot": Prices(price_input=0.0, price_output=1e6)}
    found = cost_of_case(estimates, prices, {"clerk"}, "arena", 10, talks=False)
    assert found == {"clerk": pytest.approx(60.0 * 4), "free": None}
    talked = cost_of_case(estimates, prices, {"clerk", "bot"}, "arena", 10, talks=True)
    assert talked["clerk"] == pytest.approx(60.0 * 4 + 2 * 20.0 * 8)  # the chats at twice the prices of batches
    assert talked["free"] == pytest.approx(2 * 20.0 * 8)


def test_without_a_request_there_is_no_price_of_one() -> None:
    nothing = estimate("clerk", "arena", 0, stored=0)
    assert cost_of_case([nothing], {"clerk": Prices(price_input=1, price_output=1)}, (), "arena", 5, talks=False) == {
        "clerk": None
    }
