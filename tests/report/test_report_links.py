"""Every number leads to its cases: the addresses that cells carry."""

from __future__ import annotations

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

ARENA = EvaluatedProtocol("arena", "pair", ("selfchat",), ("win_rates",), (8, 16))


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


def test_rows_of_a_comparison_lead_to_both_systems_at_their_length() -> None:
    row = {"judge": "clerk", "system": "able", "opponent": "weak", "n_utterances": 16, "criterion": None}
    expected = {"cases": "dialogues", "of": "selfchat", "system": "able", "protocol": "arena/16", "judge": "clerk"}
    assert fields(of_systems(ARENA, row)) == expected | {"opponent": "weak", "models": "able,weak"}
    compared = {"judge": "clerk", "system": "able", "opponent": "weak", "scope": scope({"n_utterances": 16})}
    assert fields(of_systems(ARENA, compared)) == expected | {"models": "able,weak"}  # by all their comparisons


def test_places_lead_to_the_length_that_their_scope_names() -> None:
    for n in (8, 16):
        row = {"judge": "clerk", "system": "able", "scope": scope({"n_utterances": n})}
        assert fields(of_systems(ARENA, row))["protocol"] == f"arena/{n}"
    assert "protocol" not in fields(of_systems(ARENA, {"judge": "clerk", "system": "able", "scope": "all"}))


def test_lengths_are_named_only_where_the_protocol_has_several() -> None:
    unieval = EvaluatedProtocol("unieval", "locate", ("selfchat",), ("pass_rates",))
    assert fields(of_systems(unieval, {"system": "able", "n_utterances": 4}))["protocol"] == "unieval"


def test_lengths_at_which_whole_dialogues_are_read_are_named() -> None:
    unieval = EvaluatedProtocol("unieval", "locate", ("selfchat",), ("pass_rates",), at=(4, 8))
    row = {"judge": "clerk", "system": "able"}
    for n, name in ((4, "unieval/4"), (8, "unieval/8"), (6, "unieval"), (None, "unieval")):
        assert fields(of_systems(unieval, {**row, "n_utterances": n}))["protocol"] == name
    assert fields(of_systems(unieval, {**row, "scope": scope({"n_utterances": 8})}))["protocol"] == "unieval/8"


def test_annotated_failures_link_to_their_own_cases() -> None:
    marks = EvaluatedProtocol("failures", "annotate", ("support",), ("rates",))
    row = {"judge": "rules", "criterion": "bad_tool_use", "system": "bot"}
    assert fields(of_systems(marks, row))["protocol"] == "failures: bad_tool_use"


def test_rows_about_no_single_judge_or_system_lead_nowhere() -> None:
    assert of_systems(ARENA, {"measure": "unparsed"}) == of_chats({"turn": 1}) == ""
    assert (
        of_ratings({"n": 1}) == of_perturbation({"perturbation": "order_shuffle", "n_pairs": 0}) == of_answers({}) == ""
    )
    assert of_unparsed((), "able", "clerk") == ""


def test_unread_verdicts_on_several_sources_are_not_sought_in_the_first_alone() -> None:
    assert fields(of_unparsed(("support",), "able", "clerk"))["of"] == "support"
    assert "of" not in fields(of_unparsed(("support", "sales"), "able", "clerk"))


def test_rows_about_items_lead_to_the_judge_with_its_method() -> None:
    about = {"judge": "clerk", "method": "rating", "corpus": "made", "dimension": "coherence"}
    assert fields(of_ratings(about)) == {"cases": "rated", "of": "made", "judge": "clerk (rating)"} | {
        "criterion": "coherence"
    }
    assert "criterion" not in fields(of_ratings(about | {"dimension": "average"}))
    assert fields(of_perturbation(about | {"perturbation": "order_shuffle"}))["of"] == "order_shuffle"
    answered = {"model": "able", "method": "letter", "scope": "task", "name": "KRG"}
    assert fields(of_answers(answered)) == {"cases": "choices", "of": "KRG", "model": "able (letter)"}
    assert "of" not in fields(of_answers(answered | {"scope": "overall"}))
    assert "domain" not in fields(of_answers(answered | {"domain": "mean"}))
    assert of_answers(answered | {"method": "published"}) == ""


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


def test_differences_lead_to_both_and_bias_to_all_that_a_judge_compared() -> None:
    row = {"judge": "clerk", "system": "able", "opponent": "weak", "scope": "N = 8"}
    assert fields(of_systems(ARENA, row))["models"] == "able,weak"
    assert fields(of_systems(ARENA, row))["protocol"] == "arena/8"
    assert "system" not in fields(of_systems(ARENA, {"judge": "clerk", "n_utterances": 8}))
    judges = {"judge": "clerk", "method": "rating", "other_judge": "random", "other_method": "yes_no"}
    assert fields(of_ratings(judges))["judge"] == "clerk (rating)"
    both = {"system": "able (letter)", "opponent": "weak (letter)"}
    assert (fields(of_perturbation(both))["judge"], fields(of_answers(both))["model"]) == (
        "able (letter)",
        "able (letter)",
    )


def test_counts_lead_to_all_that_is_counted() -> None:
    assert of_ratings({"corpus": "made"}) == "cases=rated&of=made"
    assert of_perturbation({"perturbation": "order_shuffle", "n_pairs": 3}) == "cases=perturbed&of=order_shuffle"


def test_an_example_of_a_failure_leads_to_its_own_dialogue() -> None:
    marks = EvaluatedProtocol("failures", "annotate", ("support",), ("examples",))
    row = {"criterion": "bad_tool_use", "system": "bot", "case_id": "c-1"}
    assert fields(of_systems(marks, row))["case"] == "c-1"


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
