"""Transcripts and one's own protocols on the page: boards of their own, trust beside criteria, and every judgement."""

from __future__ import annotations

import dataclasses
import re

import pytest
import report_example as example
import transcripts_report as mine

from dialeval.html_pages import unpack
from dialeval.report.archive import Archive, build_archive
from dialeval.report.leaderboard import build_boards
from dialeval.report.page import build_report
from dialeval.report.summary import summarise
from dialeval.tables.dialogues import JUDGEMENTS
from dialeval.tables.files import empty_table, to_table
from dialeval.tables.measures import JUDGE_DIFFERENCES, RATINGS, VARIANCE_COMPONENTS
from dialeval.tables.metaeval import ITEMS, JUDGE_VALIDITY

PLENTY = 10_000_000


def ids(page: str) -> list[str]:
    return re.findall(r'<section[^>]* id="([^"]+)"', page)


def test_a_run_of_transcripts_alone_has_its_own_part_with_board_tables_and_dialogues() -> None:
    page = build_report(mine.inputs())
    assert ids(page) == ["overview", "of-support", "of-support-leaderboard", "of-support-tables", "cases"]
    assert "Which system of support is best?" in page
    assert "v2 is best, according to judge clerk: first by helpful Elo (1020.0) and felt (empathy) (6.500)." in page
    assert "5 dialogues of 2 systems." in page
    assert "dialogues are in results/items/*.parquet." in page
    assert "chatbot" not in re.sub(r"<script.*?</script>", "", page, flags=re.S)


def test_a_rating_that_comparisons_do_not_limit_is_given_with_the_penalty_and_says_so() -> None:
    run = mine.inputs()
    rows = run.tables["helpful/ratings"].to_pylist()
    firth = {"bradley_terry_penalised": 1312.0, "bradley_terry_penalised_ci_low": 1190.0}
    rows[0] |= {"bradley_terry": None, **firth, "bradley_terry_penalised_ci_high": 1490.0}
    tables = {**run.tables, "helpful/ratings": to_table(RATINGS, rows)}
    inputs = dataclasses.replace(run, tables=tables)
    details = summarise(inputs, build_boards(inputs)[0]).details
    system = rows[0]["system"]
    assert (
        f"helpful: some ratings are not identifiable. With Firth's penalty they are {system} 1312.0 (1190.0–1490.0)."
    ) in details
    assert not any("Firth" in words for words in summarise(run, build_boards(run)[0]).details)


def test_what_more_cases_and_judges_would_add_is_said_and_tabulated() -> None:
    run = mine.inputs()
    about = {"measure": "mean", "criterion": "empathy", "n_judges": 3, "n_repeats": 2.0, "n": 90, "n_clusters": 5}
    widths = {"a judge": 0.4, "a judge, twice the cases": 0.28, "a judge, twice the repeats": 0.39}
    components = [
        *(about | {"statistic": "half-width", "component": name, "estimate": one} for name, one in widths.items()),
        about | {"statistic": "variance", "component": "system x case", "estimate": 0.3, "share": 0.5},
    ]
    family = {"table": "means", "measure": "mean", "scope": "empathy", "n": 5, "n_clusters": 5, "family_size": 1}
    pair = {"system": "v2", "opponent": "v1", "n_judges": 3, "difference": 0.5, "p": 0.01, "p_holm": 0.01}
    few = {"scope": "tact", "n_judges": 2, "note": "not identifiable: 2 judges answered"}
    tables = {
        **run.tables,
        "felt/variance_components": to_table(VARIANCE_COMPONENTS, components),
        "felt/judge_differences": to_table(JUDGE_DIFFERENCES, [family | pair, family | few]),
    }
    inputs = dataclasses.replace(run, tables=tables)
    details = summarise(inputs, build_boards(inputs)[0]).details
    assert (
        "felt (mean, empathy): the interval of a difference between two systems is ±0.400 on average (one judge). "
        "It would be ±0.280 with twice the cases and ±0.390 with twice the repeats."
    ) in details
    assert "felt: significant over a population of judges (Holm): 1 of 1 difference." in details
    page = build_report(inputs)
    assert "felt: Where the uncertainty comes from" in page
    assert "felt: Differences over a population of judges" in page


def test_a_criterion_is_a_column_with_the_trust_in_its_judge_beside_it() -> None:
    (board,) = build_boards(mine.inputs())
    assert [measure.label for measure in board.measures] == ["helpful Elo", "helpful Bradley-Terry", "felt (empathy)"]
    assert board.models == ("v2", "v1")
    assert board.unparsed["v1"] == (("helpful", 0), ("felt", 1))
    words = board.measures[2].words
    assert words == "Validity of clerk on empathy is not known: no corpus of this run is rated on this criterion"
    assert words in build_report(mine.inputs())


def test_what_is_unknown_of_several_criteria_for_one_reason_is_reported_once() -> None:
    (board,) = build_boards(mine.inputs())
    felt = board.measures[2]
    tact, wit = (
        dataclasses.replace(
            felt, criterion=name, words=felt.words.replace("empathy", name).replace("no corpus", corpus)
        )
        for name, corpus in (("tact", "no corpus"), ("wit", "no other corpus"))
    )
    known = dataclasses.replace(felt, criterion="ease", words="Validity of clerk on ease: by 0.5")
    said = summarise(mine.inputs(), dataclasses.replace(board, measures=(*board.measures, tact, wit, known))).details
    assert said[:3] == (
        "Validity of clerk on empathy and tact is not known: no corpus of this run is rated on this criterion.",
        "Validity of clerk on wit is not known: no other corpus of this run is rated on this criterion.",
        "Validity of clerk on ease: by 0.5.",
    )


def test_known_trust_says_with_whom_on_what_and_how_surely() -> None:
    known = {"judge": "clerk", "criterion": "empathy", "method": "rating", "level": "dialogue", "rater_kind": "human"}
    known |= {"pearson": 0.41, "ci_low": 0.3, "ci_high": 0.52, "n": 375, "corpora": "fed"}
    run = mine.inputs()
    (board,) = build_boards(
        dataclasses.replace(run, tables={**run.tables, "felt/judge_validity": to_table(JUDGE_VALIDITY, [known])})
    )
    assert board.measures[2].words == (
        "Validity of clerk on empathy: its scores (Rating, dialogue level) of 375 rated items of fed "
        "have a Pearson correlation of 0.410 (0.300–0.520) with human ratings"
    )


def test_beside_chatbots_each_source_has_its_part_and_its_board() -> None:
    run = mine.beside_chatbots()
    page = build_report(run)
    assert [name for name in ids(page) if name.count("-") == name.startswith("of-")] == [
        "overview", "botchat", "of-support", "cases", "papers",
    ]  # fmt: skip
    chats, support = build_boards(run)
    assert chats.models == ("able", "weak", "human")
    assert support.models == ("v2", "v1")
    assert "1 of 11 verdicts" in " ".join(summarise(run, chats).details)
    assert "1 of 6 verdicts" in " ".join(summarise(run, support).details)


@pytest.fixture(scope="module")
def archive() -> Archive:
    return build_archive(mine.beside_chatbots(), PLENTY)


def test_cases_of_transcripts_follow_the_seeds_and_dialogues_without_a_case_stand_alone(archive: Archive) -> None:
    index = unpack(archive.index)
    assert index["ids"] == ["MT-1", "MT-2", "MT-10", "refund", "login", "c1"]
    assert index["source"] == [0, 0, 0, 1, 1, 1]
    assert [source["noun"] for source in index["sources"]] == ["seed", "case"]
    assert [[index["models"][place] for place in of_source] for of_source in index["systems"]] == [
        ["human", "weak", "able"], ["v1", "v2"],
    ]  # fmt: skip
    refund = unpack(archive.dialogues[3])
    assert [index["models"][place] for place in refund["models"]] == ["v1", "v2", "v2"]
    assert refund["speakers_of"][1] == ["customer", "agent", "customer"]
    assert [[place, before, kind] for place, before, kind, _ in refund["hidden_messages"]] == [
        [1, 0, "system"], [1, 1, "tool_call"], [1, 3, "tool_result"],
    ]  # fmt: skip


def test_what_judges_were_shown_among_the_utterances_is_not_shown_twice() -> None:
    said = ["[system prompt] You are a support agent.", "Where is my money?", "In the post.", "Thanks."]
    rows = [mine.item("a2", "v2", "refund", *said)]
    run = dataclasses.replace(mine.inputs(), transcripts={"support": to_table(ITEMS, rows)})
    (piece,) = map(unpack, build_archive(run, PLENTY).dialogues)
    assert [[before, kind] for _, before, kind, _ in piece["hidden_messages"]] == [[2, "tool_call"], [4, "tool_result"]]


def test_judgements_lie_by_their_case_with_criterion_value_and_the_dialogue_that_they_are_about(
    archive: Archive,
) -> None:
    piece = unpack(archive.judgements[3])
    text = [*piece["strings"], None]
    rows = {
        (text[protocol], text[criterion], dialogue): (value, text[scale], text[reason])
        for protocol, criterion, dialogue, value, scale, reason in zip(
            *(piece[name] for name in ("protocol", "criterion", "dialogue", "value", "scale", "reason")), strict=True
        )
        if text[protocol] != "helpful"
    }
    assert rows == {
        ("felt", "empathy", 0): (2.0, "1–7", "Cold."),
        ("felt", "empathy", 2): (6.5, "1–7", None),
        ("faults", "refusal", 0): (None, None, None),
    }
    alone = unpack(archive.judgements[5])
    assert [unpack(archive.index)["models"][left] for left in alone["left"]] == ["v2"]
    assert unpack(archive.judgements[0])["strings"].count("felt") == 0


def test_each_source_keeps_its_first_cases_when_room_is_short(archive: Archive) -> None:
    lines = [len(a) + len(b) + 2 for a, b in zip(archive.dialogues, archive.judgements, strict=True)]
    budget = len(archive.index) + 2 * max(lines)
    kept = unpack(build_archive(mine.beside_chatbots(), budget).index)
    assert {0, 1} == set(kept["source"])
    assert 2 <= len(kept["ids"]) < 6


def test_dialogues_without_verdicts_are_readable() -> None:
    page = build_report(dataclasses.replace(mine.inputs(), verdicts=empty_table(JUDGEMENTS), tables={}, protocols=()))
    assert ids(page) == ["of-support", "cases"]


def test_no_transcript_at_all_and_hostile_names_do_no_harm() -> None:
    run = mine.inputs()
    none = {"support": empty_table(ITEMS)}
    build_report(dataclasses.replace(run, transcripts=none, verdicts=empty_table(JUDGEMENTS)))
    rows = [{**row, "system": example.HOSTILE, "case_id": example.HOSTILE} for row in mine.ITEM_ROWS]
    page = build_report(dataclasses.replace(run, transcripts={"support": to_table(ITEMS, rows)}))
    assert "<script>alert(1)" not in page
