"""Every number leads to its cases: the addresses that cells carry."""

from __future__ import annotations

from functools import partial
from typing import Any
from urllib.parse import parse_qsl

import pytest
import report_example as example
import transcripts_report as mine
from page_links import cases_at, links_in

from dialeval.report.board import of_answers, of_chats, of_perturbation, of_ratings, of_systems, of_unparsed, to_cases
from dialeval.report.html_tables import table_grids
from dialeval.report.inputs import EvaluatedProtocol, ReportInputs
from dialeval.report.page import build_report
from dialeval.tables.dialogues import JUDGEMENTS
from dialeval.tables.files import to_table
from dialeval.tables.schema import scope


def fields(address: str) -> dict[str, str]:
    return dict(parse_qsl(address))


def test_an_address_names_kind_group_case_and_facets_and_nothing_empty() -> None:
    address = to_cases("dialogues", "selfchat", system="able", judge="", models=("able", "weak"))
    assert address == "cases=dialogues&of=selfchat&system=able&models=able,weak"


@pytest.mark.parametrize("name", ["a&b=c,d#e", "مرحبا", "你好 %41", "</script>"])
def test_any_name_comes_back_from_the_address(name: str) -> None:
    address = to_cases("rated", name, case=name)
    assert fields(address) == {"cases": "rated", "of": name, "case": name}
    assert "<" not in address
    assert "#" not in address


ARENA = partial(of_systems, EvaluatedProtocol("arena", "pair", ("selfchat",), ("win_rates",), (8, 16)))
UNIEVAL = partial(of_systems, EvaluatedProtocol("unieval", "locate", ("selfchat",), ("pass_rates",)))
READ_AT = partial(of_systems, EvaluatedProtocol("unieval", "locate", ("selfchat",), ("pass_rates",), at=(4, 8)))
FAILURES = partial(of_systems, EvaluatedProtocol("failures", "annotate", ("support",), ("rates", "examples")))
ABLE = {"judge": "clerk", "system": "able"}
OF_ABLE = {"cases": "dialogues", "of": "selfchat", "system": "able", "judge": "clerk"}
CLERK = {"judge": "clerk", "method": "rating", "corpus": "made", "dimension": "coherence"}
LETTER = {"model": "able", "method": "letter", "scope": "task", "name": "KRG"}
OF_LETTER = {"cases": "choices", "model": "able (letter)"}


@pytest.mark.parametrize(
    ("address_of", "row", "expected"),
    [
        # a comparison leads to both systems at their length; a difference is of all their comparisons
        (ARENA, ABLE | {"opponent": "weak", "n_utterances": 16, "criterion": None},
         OF_ABLE | {"opponent": "weak", "models": "able,weak", "protocol": "arena/16"}),
        (ARENA, ABLE | {"opponent": "weak", "scope": "N = 8"},
         OF_ABLE | {"models": "able,weak", "protocol": "arena/8"}),
        # a rank leads to the length that its scope names, a bias to all that the judge compared
        (ARENA, ABLE | {"scope": scope({"n_utterances": 16})}, OF_ABLE | {"protocol": "arena/16"}),
        (ARENA, ABLE | {"scope": "all"}, OF_ABLE),
        (ARENA, {"judge": "clerk", "n_utterances": 8},
         {"cases": "dialogues", "of": "selfchat", "judge": "clerk", "protocol": "arena/8"}),
        # lengths are named where the protocol has several, or answers about whole dialogues are read at them
        (UNIEVAL, ABLE | {"n_utterances": 4}, OF_ABLE | {"protocol": "unieval"}),
        (READ_AT, ABLE | {"n_utterances": 8}, OF_ABLE | {"protocol": "unieval/8"}),
        (READ_AT, ABLE | {"scope": scope({"n_utterances": 8})}, OF_ABLE | {"protocol": "unieval/8"}),
        (READ_AT, ABLE | {"n_utterances": 6}, OF_ABLE | {"protocol": "unieval"}),
        (READ_AT, ABLE | {"n_utterances": None}, OF_ABLE | {"protocol": "unieval"}),
        # an annotation leads to its own cases, an example to its own dialogue
        (FAILURES, {"judge": "rules", "criterion": "lists", "system": "bot"},
         {"cases": "dialogues", "of": "support", "system": "bot", "judge": "rules", "protocol": "failures: lists"}),
        (FAILURES, {"criterion": "lists", "system": "bot", "case_id": "c-1"},
         {"cases": "dialogues", "of": "support", "system": "bot", "case": "c-1", "protocol": "failures: lists"}),
        # items lead to the judge or model with its method; a difference to the first of two
        (of_ratings, CLERK, {"cases": "rated", "of": "made", "judge": "clerk (rating)", "criterion": "coherence"}),
        (of_ratings, CLERK | {"dimension": "average"}, {"cases": "rated", "of": "made", "judge": "clerk (rating)"}),
        (of_ratings, {"judge": "clerk", "method": "rating", "other_judge": "random", "other_method": "yes_no"},
         {"cases": "rated", "judge": "clerk (rating)"}),
        (of_perturbation, CLERK | {"perturbation": "order_shuffle"},
         {"cases": "perturbed", "of": "order_shuffle", "judge": "clerk (rating)", "criterion": "coherence"}),
        (of_perturbation, {"system": "a (letter)", "opponent": "b (letter)"},
         {"cases": "perturbed", "judge": "a (letter)"}),
        (of_answers, LETTER, OF_LETTER | {"of": "KRG"}),
        (of_answers, LETTER | {"scope": "overall", "domain": "mean"}, OF_LETTER),
        (of_answers, {"system": "able (letter)", "opponent": "weak (letter)"}, OF_LETTER),
        # a count leads to all that is counted; rows about no single judge or system lead nowhere
        (of_ratings, {"corpus": "made"}, {"cases": "rated", "of": "made"}),
        (of_perturbation, {"perturbation": "dullness", "n_pairs": 3}, {"cases": "perturbed", "of": "dullness"}),
        (ARENA, {"measure": "unparsed"}, {}),
        (of_chats, {"turn": 1}, {}),
        (of_ratings, {"n": 1}, {}),
        (of_perturbation, {"perturbation": "order_shuffle", "n_pairs": 0}, {}),
        (of_answers, {}, {}),
        (of_answers, LETTER | {"method": "published"}, {}),
    ],
)  # fmt: skip
def test_a_row_leads_to_its_cases(address_of: Any, row: dict[str, Any], expected: dict[str, str]) -> None:
    assert fields(address_of(row)) == expected


def test_unread_verdicts_on_several_sources_are_not_sought_in_the_first_alone() -> None:
    assert fields(of_unparsed(("support",), "able", "clerk"))["of"] == "support"
    assert "of" not in fields(of_unparsed(("support", "sales"), "able", "clerk"))
    assert of_unparsed((), "able", "clerk") == ""


def test_leaderboards_and_tables_carry_the_addresses() -> None:
    run = example.inputs()
    board = example.first_grid(run)
    able = next(row for row in board.rows if row.model == "able")
    labels = [column.label for column in board.columns[1:]]
    of = dict(zip(labels, able.cells, strict=True))
    rates = fields(of["UniEval pass rate at N\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}16"].link)
    assert (rates["protocol"], rates["system"], rates["judge"]) == ("unieval", "able", "clerk")
    assert fields(of["Tokens per utterance"].link) == {"cases": "dialogues", "of": "selfchat", "models": "able"}

    grid = next(one for one in table_grids(run) if one.name == "table-gteval-win_rates")
    linked = {cell.link for row in grid.rows for cell in row.cells if cell.link}
    assert {fields(link)["models"] for link in linked} == {"able,human", "weak,human"}


def test_unread_verdicts_lead_to_the_dialogues_they_are_about() -> None:
    run = example.inputs()
    board = example.first_grid(run)
    weak = next(row for row in board.rows if row.model == "weak")
    assert fields(weak.cells[-1].link)["outcome"] == "none"


@pytest.mark.parametrize("run", [example.inputs(), mine.inputs(), mine.beside_chatbots()])
def test_what_a_page_links_to_is_on_it(run: ReportInputs) -> None:
    page = build_report(run)
    links = links_in(page)
    assert links
    for link in links:
        cases_at(page, link)  # raises where a name is unknown


def test_a_win_rate_leads_to_the_comparisons_with_its_opponent_alone() -> None:
    said = [
        example.verdict("arena", "MT-1", "able", "weak", choice="Conversation 1", outcome="left"),
        example.verdict("arena", "MT-2", "able", "human", choice="Conversation 1", outcome="left"),
        example.verdict("arena", "MT-10", "human", "able", choice="Conversation 1", outcome="left"),
    ]
    page = build_report(example.inputs(verdicts=to_table(JUDGEMENTS, said)))
    found = {
        (opponent, outcome): cases_at(
            page, to_cases("dialogues", system="able", opponent=opponent, outcome=outcome, protocol="arena/4")
        )
        for opponent in ("weak", "human")
        for outcome in ("won", "lost")
    }
    assert found == {
        ("weak", "won"): ["MT-1"], ("weak", "lost"): [], ("human", "won"): ["MT-2"], ("human", "lost"): ["MT-10"]
    }  # fmt: skip


def test_a_cell_leads_to_its_own_cases() -> None:
    page = build_report(example.inputs())
    arena = to_cases("dialogues", "selfchat", system="able", protocol="arena/4", judge="clerk")
    assert arena in links_in(page)
    assert cases_at(page, arena) == ["MT-1"]
    unread = to_cases("dialogues", "selfchat", system="weak", outcome="none", judge="clerk")
    assert cases_at(page, unread) == ["MT-1"]
