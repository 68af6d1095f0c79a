"""Verdicts become BotChat's tables: known answers by hand, and every degenerate case in words."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from judgement_rows import frame as verdicts
from judgement_rows import pair
from judgement_rows import seen as uni
from scipy.stats import beta

from dialeval.config import Elo
from dialeval.corpora import botchat
from dialeval.corpora.dialogues import seed_table, utterance_table
from dialeval.engines.cl100k import Tokenizer, cl100k_tokenizer
from dialeval.measures.corpora import length_summary, utterance_tokens
from dialeval.measures.design import Design
from dialeval.measures.differences import ranks
from dialeval.measures.ratings import ratings, win_rates
from dialeval.measures.scores import pass_rates, pass_rates_at_gt_length
from dialeval.tables.dialogues import GENERATED, SEEDS, UTTERANCES
from dialeval.tables.files import empty_table, to_table
from dialeval.tables.measures import DIFFERENCES, PASS_RATES, PASS_RATES_AT_GT_LENGTH, RATINGS, WIN_RATES

QUICK = Elo(shuffles=50, repeats=2, resamples=50)
WORDS = Tokenizer("words", lambda texts: [len(text.split()) for text in texts])


def design(*systems: str, protocol: str = "p", **more: Any) -> Design:
    return Design(protocol=protocol, judges=["j"], systems=list(systems), elo=QUICK, **more)


def arena_win_rates(frame: pd.DataFrame, *systems: str) -> pa.Table:
    return to_table(WIN_RATES, win_rates(frame, design(*systems, lengths=[8])))


def gteval_rates(frame: pd.DataFrame, *systems: str) -> pa.Table:
    return to_table(WIN_RATES, win_rates(frame, design(*systems, protocol="gteval", reference="human")))


def rows(table: pa.Table, *columns: str) -> list[tuple[Any, ...]]:
    return [tuple(row[column] for column in columns) for row in table.to_pylist()]


def test_unieval_pass_rates_by_hand() -> None:
    frame = verdicts([
        uni(1, "bot", "No"), uni(2, "bot", "Yes", 9), uni(3, "bot", "Yes", 8), uni(4, "bot", None),
        uni(1, "human", "No", n=5), uni(2, "human", "Yes", 3, n=8),
    ])  # fmt: skip
    table = to_table(PASS_RATES, pass_rates(frame, design("human", "bot", lengths=[4, 8, 16])))
    assert rows(table, "n_utterances", "system", "estimate", "n", "n_unparsed") == [
        (4, "human", 0.5, 2, 0), (4, "bot", 0.75, 4, 1),
        (8, "human", 0.0, 1, 0), (8, "bot", 0.5, 4, 1),
        (16, "human", None, 0, 0), (16, "bot", 0.25, 4, 1),
    ]  # fmt: skip
    low, high = rows(table, "ci_low", "ci_high")[
        3
    ]  # 2 of 4: Jeffreys' interval, of 4 (1.96 / 3.182)^2 = 1.517 dialogues
    assert (low, high) == pytest.approx(beta(0.7586 + 0.5, 0.7586 + 0.5).ppf([0.025, 0.975]), abs=1e-3)
    assert rows(table, "n_clusters", "design_effect", "n_effective")[3] == (4, 1.0, 4.0)
    assert rows(table, "n_clusters", "ci_low", "note")[2] == (1, None, "a single cluster gives no interval")


def test_unieval_at_the_human_length_by_hand() -> None:
    frame = verdicts([
        uni(1, "bot", "Yes", 6), uni(2, "bot", "Yes", 6), uni(3, "bot", "No"), uni(1, "human", "No", n=5),
    ])  # fmt: skip
    table = to_table(
        PASS_RATES_AT_GT_LENGTH, pass_rates_at_gt_length(frame, design("human", "bot"), {"s1": 5, "s2": 6})
    )
    assert rows(table, "system", "estimate", "n") == [("human", 1.0, 1), ("bot", 0.5, 2)]


def test_arena_win_rates_by_hand() -> None:
    frame = verdicts([
        pair(1, "a", "b", "left"), pair(1, "b", "a", "right"), pair(2, "a", "b", "tie"), pair(2, "b", "a", None),
    ])  # fmt: skip
    table = arena_win_rates(frame, "a", "b")
    assert rows(table, "system", "opponent", "win", "tie", "lose", "unparsed", "n") == [
        ("a", "b", 0.5, 0.25, 0.0, 0.25, 4),
        ("b", "a", 0.0, 0.25, 0.5, 0.25, 4),
    ]


def test_gteval_by_hand() -> None:
    frame = verdicts([
        pair(1, "a", "human", "left"), pair(1, "human", "a", "left"), pair(2, "a", "human", "tie"),
        pair(2, "human", "a", None), pair(1, "human", "b", "right"),
    ])  # fmt: skip
    table = gteval_rates(frame, "a", "b")
    assert rows(table, "system", "win", "tie", "lose", "unparsed", "win_or_tie", "n") == [
        ("a", 0.25, 0.25, 0.25, 0.25, 0.5, 4),
        ("b", 1.0, 0.0, 0.0, 0.0, 1.0, 1),
    ]


def test_gteval_of_the_published_counts_gives_the_papers_rates(real_data: Path) -> None:
    counts = pd.read_csv(real_data / "botchat" / "gteval_counts.csv")
    counts = counts[counts["model"] != "GT"]
    rows_of = []
    for row in counts.itertuples():
        outcomes = ["win"] * row.win + ["tie"] * (row.both + row.neither) + ["lose"] * row.lose
        for number, outcome in enumerate(outcomes):
            first = number % 2 == 0
            side = {"win": "left" if first else "right", "lose": "right" if first else "left", "tie": "tie"}[outcome]
            names = (row.model, "human") if first else ("human", row.model)
            rows_of.append(pair(number // 2, *names, side))
    table = gteval_rates(verdicts(rows_of), *counts["model"])
    for (model, rate, published), expected in zip(
        rows(table, "system", "win_or_tie", "published"), counts["notbad_pct"], strict=True
    ):
        assert round(100 * rate, 1) == expected, model
        assert published == pytest.approx(expected / 100), model


def arena(frame: pd.DataFrame, *models: str) -> list[dict[str, Any]]:
    seeds = set(frame["case_id"])
    words = {(model, seed): [10 + hash_of(model, seed)] * 8 for model in models for seed in seeds}
    return to_table(RATINGS, ratings(frame, design(*models, lengths=[8]), words).ratings).to_pylist()


def hash_of(*names: str) -> int:
    """A length that depends on seed and model, for no reason."""
    return sum(map(ord, "".join(names))) * 7 % 13


def test_the_better_model_is_rated_higher_and_unparsed_verdicts_do_not_count() -> None:
    frame = verdicts(
        [pair(s, "a", "b", "left" if s % 4 else "right") for s in range(40)]
        + [pair(s, "b", "a", "right" if s % 3 else "left") for s in range(40)]
        + [pair(s, "a", "b", None) for s in range(40, 50)]
    )
    best, other = arena(frame, "b", "a")
    assert (best["system"], other["system"]) == ("a", "b")
    assert best["estimate"] > other["estimate"]
    assert best["ci_low"] <= best["estimate"] <= best["ci_high"]
    assert best["estimate"] + other["estimate"] == pytest.approx(2000, abs=1)
    assert (best["n"], best["n_unparsed"]) == (80, 10)
    assert best["p_above_next"] > 0.9


@pytest.mark.parametrize(("repeats", "shown"), [(1, False), (2, False), (4, False), (5, True)])
def test_the_spread_over_repeats_is_shown_where_there_are_enough_to_tell_it(repeats: int, shown: bool) -> None:
    frame = verdicts([pair(s, "a", "b", "left" if s % 3 else "right") for s in range(30)])
    about = design("a", "b", lengths=[8]).model_copy(update={"elo": QUICK.model_copy(update={"repeats": repeats})})
    for row in to_table(RATINGS, ratings(frame, about, {}).ratings).to_pylist():
        assert (row["elo_sd"] is not None) == shown


def test_a_model_alone_has_no_rating_and_says_why() -> None:
    (row,) = arena(verdicts([]), "a")
    assert (row["estimate"], row["ci_low"], row["bradley_terry"], row["n"]) == (None, None, None, 0)
    assert row["note"]
    assert arena_win_rates(verdicts([]), "a").num_rows == 0


def test_a_judge_without_parsed_answers_has_no_ratings() -> None:
    frame = verdicts([pair(s, "a", "b", None) for s in range(10)])
    for row in arena(frame, "a", "b"):
        assert (row["estimate"], row["n"], row["n_unparsed"]) == (None, 0, 10)
        assert row["note"]
    (first, _) = arena_win_rates(frame, "a", "b").to_pylist()
    assert (first["win"], first["tie"], first["lose"], first["unparsed"]) == (0, 0, 0, 1)
    uni_frame = verdicts([uni(s, "bot", None) for s in range(5)])
    unread = to_table(PASS_RATES, pass_rates(uni_frame, design("human", "bot", lengths=[8])))
    assert rows(unread, "system", "estimate", "n_unparsed") == [
        ("human", None, 0), ("bot", 0.0, 5),
    ]  # fmt: skip


def test_all_ties_rate_everyone_the_same() -> None:
    frame = verdicts([pair(s, *names, "tie") for s in range(20) for names in (("a", "b"), ("b", "a"))])
    for row in arena(frame, "a", "b"):
        assert row["estimate"] == pytest.approx(1000, abs=1e-6)
        assert row["bradley_terry"] == pytest.approx(1000, abs=1e-6)


RATED = ("estimate", "bradley_terry", "bradley_terry_length_controlled", "davidson")


def test_a_model_that_never_wins_has_no_rating_and_says_why() -> None:
    games = ((("a", "b"), "left"), (("b", "a"), "right"))
    frame = verdicts([pair(s, *names, side) for s in range(20) for names, side in games])
    best, worst = arena(frame, "a", "b")
    assert (best["system"], worst["system"]) == ("a", "b"), "in the order of shares won"
    for row in (best, worst):
        assert {row[column] for column in (*RATED, "ci_low", "ci_high", "elo_sd", "p_above_next")} == {None}
    assert "not identifiable (undefeated)" in best["note"]
    assert "not identifiable (never scores)" in worst["note"]
    lead = best["bradley_terry_penalised"] - worst["bradley_terry_penalised"]
    assert lead == pytest.approx(400 * math.log10(40.5 / 0.5), abs=1e-3)  # half a win more for each of 40
    assert 1000 < best["bradley_terry_penalised_ci_low"] < best["bradley_terry_penalised_ci_high"] < 3000


def among(*outcomes: tuple[str, str, str]) -> pd.DataFrame:
    """The same verdicts on forty seeds: left, right and who wins, by turns where several are given with commas."""
    return verdicts(
        [
            pair(s, left, right, winners.split(",")[s % len(winners.split(","))])
            for s in range(40)
            for left, right, winners in outcomes
        ]
    )


def rated_and_compared(frame: pd.DataFrame, *systems: str) -> tuple[dict[str, Any], dict[tuple[str, ...], Any]]:
    found = ratings(frame, design(*systems, lengths=[8]), {})
    compared = to_table(DIFFERENCES, found.differences).to_pylist()
    return (
        {row["system"]: row for row in to_table(RATINGS, found.ratings).to_pylist()},
        {(row["measure"], row["system"], row["opponent"]): row for row in compared},
    )


def test_all_ratings_of_a_table_average_the_same_over_those_that_are_rated() -> None:
    """a wins all; b, c and d score against each other."""
    frame = among(
        ("a", "b", "left"), ("a", "c", "left"), ("d", "a", "right"),
        ("b", "c", "left,left,right"), ("c", "d", "left,left,right"), ("b", "d", "left,left,left,right"),
    )  # fmt: skip
    found, compared = rated_and_compared(frame, "a", "b", "c", "d")
    assert list(found) == ["a", "b", "c", "d"]
    assert {found["a"][column] for column in RATED} == {None}
    for column in ("estimate", "bradley_terry", "davidson"):
        assert np.mean([found[system][column] for system in "bcd"]) == pytest.approx(1000.0, abs=1e-6)
    assert found["b"]["ci_low"] < found["b"]["estimate"] < found["b"]["ci_high"]
    assert compared["bradley_terry", "a", "b"]["difference"] is None
    assert "not identifiable" in compared["bradley_terry", "a", "b"]["note"]
    assert compared["elo", "b", "c"]["p"] is not None
    assert ranks([*compared.values()], 0.95) == [], "b is not first: a is better"


def test_two_groups_of_which_one_always_wins_are_compared_within() -> None:
    frame = among(
        ("a", "b", "left,right,tie"), ("c", "d", "left,left,right"),
        ("a", "c", "left"), ("a", "d", "left"), ("b", "c", "left"), ("b", "d", "left"),
    )  # fmt: skip
    found, compared = rated_and_compared(frame, "a", "b", "c", "d")
    assert {row[column] for row in found.values() for column in RATED} == {None}
    assert all("not identifiable (separated)" in row["note"] for row in found.values())
    for first, second in (("a", "b"), ("c", "d")):
        row = compared["bradley_terry", first, second]
        assert row["ci_low"] < row["difference"] < row["ci_high"]
        assert row["note"] is None
    assert compared["bradley_terry", "b", "c"]["difference"] is None


def test_systems_that_never_met_have_no_distance() -> None:
    frame = among(("a", "b", "left,left,right"), ("b", "c", "left,right"), ("d", "e", "left,left,right"))
    found, compared = rated_and_compared(frame, "a", "b", "c", "d", "e", "f")
    assert {system for system, row in found.items() if row["bradley_terry"] is not None} == {"a", "b", "c"}
    assert all("not identifiable (not connected)" in found[system]["note"] for system in "de")
    assert found["f"]["note"] == "no comparison"
    names = list(found)
    for upper, lower in itertools.pairwise(names[:-1]):  # the last has no comparison
        together = {upper, lower} <= {"a", "b", "c"}
        assert (found[upper]["p_above_next"] is not None) == together
        assert together or "p_above_next is missing" in found[upper]["note"]
    assert compared["bradley_terry", "d", "e"]["p"] is not None
    assert compared["bradley_terry", "a", "d"]["difference"] is None


def test_a_system_with_ties_alone_is_rated() -> None:
    found, _ = rated_and_compared(among(("a", "b", "tie"), ("b", "c", "left,right,left")), "a", "b", "c")
    assert found["a"]["bradley_terry"] == pytest.approx(found["b"]["bradley_terry"], abs=1e-3)


def test_no_rating_depends_on_the_order_in_which_systems_are_written() -> None:
    """In another order a seed's comparisons are judged in another one, too."""
    frame = among(("a", "b", "left,left,right"), ("b", "c", "tie,right"), ("c", "a", "left,right,right,tie"))
    shuffled = frame.sample(frac=1.0, random_state=1).sort_values("case_id", key=lambda case: case.str[1:].astype(int))
    first, again = (
        ratings(judged, design(*systems, lengths=[8]), {}) for judged, systems in ((frame, "abc"), (shuffled, "cab"))
    )
    assert to_table(RATINGS, first.ratings) == to_table(RATINGS, again.ratings)
    assert to_table(DIFFERENCES, first.differences) == to_table(DIFFERENCES, again.differences)


def test_elo_of_who_has_hardly_met_anybody_has_no_interval_test_or_place() -> None:
    """a wins most of its games against all, but has few; the others' are many."""
    often = among(("b", "c", "left,left,right"), ("c", "d", "left,left,right"), ("b", "d", "left,left,left,right"))
    seldom = verdicts([pair(s, "a", "bcd"[s % 3], "right" if s == 5 else "left") for s in range(12)])
    found, compared = rated_and_compared(pd.concat([often, seldom], ignore_index=True), "a", "b", "c", "d")
    assert next(iter(found)) == "a", "in the order of Bradley-Terry"
    assert found["a"]["estimate"] is not None
    assert (found["a"]["ci_low"], found["a"]["ci_high"]) == (None, None)
    assert "12 comparisons are too few, so Elo depends on the initial rating" in found["a"]["note"]
    row = compared["elo", "a", "b"]
    assert (row["difference"], row["ci_low"], row["p"], row["p_holm"]) == (None, None, None, None)
    assert "too few comparisons, so Elo depends on" in row["note"]
    assert compared["bradley_terry", "a", "b"]["p"] is not None
    assert compared["elo", "b", "d"]["p"] is not None
    placed = [(row["measure"], row["system"]) for row in ranks([*compared.values()], 0.95)]
    assert placed == [("bradley_terry", system) for system in "abcd"]


def test_a_judge_without_verdicts_has_rows_without_rates() -> None:
    assert rows(gteval_rates(verdicts([]), "a"), "judge", "system", "win", "n") == [("j", "a", None, 0)]


def test_lengths_count_what_was_written() -> None:
    human = to_table(UTTERANCES, [
        {"corpus": "c", "dialogue_id": d, "turn": t, "speaker": "A", "text": "w " * n, "language": "en"}
        for d, lengths in (("s1", (2, 4, 6)), ("unused", (9, 9))) for t, n in enumerate(lengths)
    ])  # fmt: skip
    seeds = to_table(SEEDS, [{
        "seed_id": "s1", "corpus": "c", "language": "en", "utterances": [], "n_human": 3, "for_arena": False,
        "for_gteval": False,
    }])  # fmt: skip
    generated = to_table(GENERATED, [
        {
            "chatbot": "GPT-4", "seed_id": "s1", "turn": t, "origin": o, "text": "w " * n, "dropped": 0,
            "finish_reason": "",
        }
        for t, (o, n) in enumerate([("seed", 2), ("seed", 4), ("model", 10), ("model", 20)])
    ])  # fmt: skip
    tokens = utterance_tokens(human, seeds, generated, WORDS)
    summary = length_summary(tokens)
    assert rows(summary, "model", "mean", "median", "max", "n", "tokenizer", "published_mean") == [
        ("human", 4.0, 4.0, 6, 3, "words", None),
        ("GPT-4", 15.0, 15.0, 20, 2, "words", 30.5),
    ]


def test_human_lengths_of_mutual_are_the_papers(real_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(real_data / "tiktoken"))
    tokenizer = cl100k_tokenizer()
    assert tokenizer.name == "cl100k_base"
    human = utterance_table("m", botchat.read_botchat_workbook(real_data / "botchat" / "MuTual_test.xlsx", "en"))
    seeds = seed_table(human, arena_min_utterances=4, limit=None)
    (row,) = length_summary(utterance_tokens(human, seeds, empty_table(GENERATED), tokenizer)).to_pylist()
    assert (row["n"], round(row["mean"], 4)) == (2389, 17.2143)


def test_a_rating_that_resamples_set_no_limit_says_so() -> None:
    """c wins twelve of thirteen, so a third of the resamples has no loss of it."""
    games = [pair(n, "a", "b", "left" if n % 2 else "right") for n in range(40)]
    games += [pair(n, "c", "a" if n % 2 else "b", "left") for n in range(12)] + [pair(12, "c", "a", "right")]
    elo = Elo(shuffles=50, repeats=2, resamples=200)
    words = {(model, f"s{seed}"): [10] * 8 for model in "abc" for seed in range(40)}
    about = design("a", "b", "c", lengths=[8]).model_copy(update={"elo": elo})
    found = {
        row["system"]: row for row in to_table(RATINGS, ratings(verdicts(games), about, words).ratings).to_pylist()
    }
    assert found["c"]["bradley_terry_ci_high"] is None
    assert found["c"]["bradley_terry_ci_low"] is not None
    assert "Bradley-Terry: no upper limit, " in found["c"]["note"]
    assert found["a"]["bradley_terry_ci_high"] < 1500
    assert (found["a"]["n_clusters"], found["c"]["n_clusters"]) == (40, 13)
    assert found["a"]["n_effective"] > 0
