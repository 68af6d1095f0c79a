"""Damaged items and test items as cases of the page: what changed, what was answered, and what can be filtered by."""

from __future__ import annotations

from typing import Any

import items_example as items
import pytest
import report_example as example
from page_links import cases_at, links_in

from dialeval.html_pages import unpack
from dialeval.report.examined_items import case_shelves
from dialeval.report.inputs import ReportInputs
from dialeval.report.item_cases import PER_LINE, Case, CaseDescription, CaseShelf, Group
from dialeval.report.packing import Prompts
from dialeval.report.page import build_report
from dialeval.report.rated_cases import NO_SCORE, NOT_NOTICED, NOTICED, outcome

Row = dict[str, Any]


def run(**other: Any) -> ReportInputs:
    tables = {**example.inputs().tables, "robustness/robustness": items.robustness()}
    fields = {
        "perturbed": items.perturbed(),
        "examined": items.examined(),
        "exchange_source": items.exchange_source(),
        "tables": tables,
    }
    return example.inputs(**{**fields, **other})


@pytest.fixture(scope="module")
def kinds() -> dict[str, CaseShelf]:
    return {kind.kind: kind for kind in case_shelves(run())}


def cases(kind: CaseShelf) -> dict[str, list[Row]]:
    """Return the blocks of every case by its id."""
    names = [name for group in unpack(kind.index)["groups"] for name in group["ids"]]
    shown = [case["blocks"] for line in kind.lines for case in unpack(line)]
    return dict(zip(names, shown, strict=True))


def rows(kind: CaseShelf) -> dict[tuple[str, ...], list[str]]:
    """Return the ids of the cases that have a combination of facets."""
    index = unpack(kind.index)
    names = [name for group in index["groups"] for name in group["ids"]]
    return {
        tuple(
            facet["values"][value] if value >= 0 else "" for facet, value in zip(index["facets"], row, strict=False)
        ): [names[place] for place in row[-1]]
        for row in index["rows"]
    }


def block(blocks: list[Row], kind: str) -> Row:
    (found,) = [one for one in blocks if one["type"] == kind]
    return found


def sent(kind: CaseShelf, place: int, prompt: int) -> list[tuple[str, str]]:
    piece = unpack(kind.prompts[place // PER_LINE])
    return [(role, "".join(piece["strings"][line] for line in lines)) for role, lines in piece["prompts"][prompt]]


def test_case_types_are_in_the_order_of_the_parts(kinds: dict[str, CaseShelf]) -> None:
    assert list(kinds) == ["perturbed", "choices"]
    assert kinds["perturbed"].words == "10 of 10 perturbed items, at most 12 of each perturbation, randomly drawn"


def test_of_many_damaged_items_some_are_drawn_the_same_whatever_else_is_there() -> None:
    few, many = ({*items.perturbed(n).pairs["item_id"].to_pylist()} for n in (20, 21))
    assert len(few) == len(many) == 12
    assert len(few - many) <= 1
    (kind,) = case_shelves(run(perturbed=items.perturbed(20), examined=None))
    assert kind.words.startswith("12 of 20 perturbed items")


def test_a_damaged_item_shows_what_was_changed_and_by_how_much_scores_fell(kinds: dict[str, CaseShelf]) -> None:
    first = cases(kinds["perturbed"])["made/en/d/0"]
    said = block(first, "bubbles")
    assert said["utterances"][0] == items.BEFORE[0]
    assert "".join(text for mark, text in said["utterances"][1] if mark != "-") == example.HOSTILE
    assert said["marked"] == [1]
    table = block(first, "table")
    assert table["columns"] == ["before", "after", "fall"]
    ((name, _, (before, now, fall)),) = table["rows"]
    assert name == "clerk (rating), specificity"
    assert (before[0], now[0], fall) == (5.0, 3.0, [0.5, -1, "of 1", "noticed, threshold 0.25"])


def test_cards_of_both_items_stand_side_by_side(kinds: dict[str, CaseShelf]) -> None:
    by_id = cases(kinds["perturbed"])
    place = list(by_id).index("made/en/d/1")
    cards = block(by_id["made/en/d/1"], "cards")["cards"]
    assert [card["order"] for card in cards] == ["before", "after"]
    assert len({card["pair"] for card in cards}) == 1
    prompts = [sent(kinds["perturbed"], place, card["prompt"]) for card in cards]
    assert prompts == [[("user", "Rate this.\nd")], [("user", "Rate this.\nd/1")]]


def test_damage_is_noticed_only_beyond_the_threshold() -> None:
    assert outcome(1.0, 0.5, 0.25) == NOTICED
    assert outcome(1.0, 0.75, 0.25) == NOT_NOTICED
    assert outcome(0.5, 1.0, 0.25) == NOT_NOTICED
    assert outcome(None, 0.5, 0.25) == outcome(0.5, None, 0.25) == NO_SCORE


def test_items_are_found_by_judge_criterion_and_whether_damage_was_noticed(kinds: dict[str, CaseShelf]) -> None:
    found = rows(kinds["perturbed"])
    assert found["clerk (rating)", "specificity", NOTICED] == ["made/en/d/0"]
    assert found["clerk (rating)", "specificity", NOT_NOTICED] == ["made/en/d/1"]
    assert found["clerk (rating)", "specificity", NO_SCORE] == [f"made/en/d/{place}" for place in range(2, 10)]


def test_a_test_item_shows_its_options_who_chose_them_and_the_models_answers(kinds: dict[str, CaseShelf]) -> None:
    (blocks,) = cases(kinds["choices"]).values()
    (task,) = unpack(kinds["choices"].index)["groups"]
    assert (task["name"], task["title"]) == ("SF", "Slot Filling (SF)")
    assert task["words"].startswith("Probes correctness")
    options = block(blocks, "options")
    assert options["title"] == items.QUESTION
    assert options["options"] == [
        {"letter": "A", "text": "six", "right": True, "chosen": ["able (letter)"]},
        {"letter": "B", "text": example.ODD, "right": False, "chosen": []},
    ]
    words = [one["text"] for one in blocks if one["type"] == "words"]
    assert words == ["slot: time; speaker 1's personality: brisk", "The writer's reason for A: It is said."]
    right, turned, unread = block(blocks, "cards")["cards"]
    assert (right["title"], right["verdict"], right["badge"], right["answer"]) == (
        "able (letter)", "A: right", "won", "A",
    )  # fmt: skip
    assert turned["title"] == "able (letter), options rotated by 1"
    assert turned["verdict"] == "A: wrong, B is right"
    assert (unread["badge"], unread["verdict"]) == ("none", "no answer could be parsed")
    assert unread["answer"] == f"six: -2.5 nats over 2 tokens\n{example.ODD}: -5 nats over 2 tokens"
    assert sent(kinds["choices"], 0, turned["prompt"]) == [("user", "Turned 1")]


def test_test_items_are_found_by_model_answer_and_domain(kinds: dict[str, CaseShelf]) -> None:
    assert set(rows(kinds["choices"])) == {
        ("able (letter)", "right", "Shops"),
        ("able (letter)", "wrong", "Shops"),
        ("weak (perplexity)", "not read", "Shops"),
    }


def test_the_page_holds_the_items_and_cells_lead_to_them() -> None:
    page = build_report(run())
    assert 'id="perturbed-lines"' in page
    assert 'id="choices-prompts"' in page
    assert "alert(1)" not in page
    for link in links_in(page):
        cases_at(page, link)  # raises where a name is unknown
    assert "cases=perturbed&of=dullness&judge=clerk%20%28rating%29&criterion=specificity" in links_in(page)


def made(n: int, size: int) -> list[Group]:
    def blocks(place: int) -> Any:
        def of(prompts: Prompts) -> list[Row]:
            return [{"type": "words", "text": "".join(chr(33 + (place * 7 + at * at) % 90) for at in range(size))}]

        return of

    numbered = [
        Case(str(place), "", "", frozenset({("a" if place % 2 else "b", "")}), blocks(place)) for place in range(n)
    ]
    return [Group("g", "", tuple(numbered), n)]


MADE = CaseDescription("made", "Made", ("items", "group"), {"odd": "odd", "none": "none"}, 64)


@pytest.mark.parametrize("budget", [400, 2_000, 10_000, 10**6])
def test_fewer_cases_are_kept_where_room_is_short(budget: int) -> None:
    kind = MADE.packed(example.inputs(), made(64, 300), budget)
    assert kind is not None
    kept = len(unpack(kind.index)["groups"][0]["ids"])
    assert kept == sum(len(unpack(line)) for line in kind.lines)
    assert kept == 1 or kind.size <= budget
    assert MADE.packed(example.inputs(), made(64, 300), 10**6).words.startswith("64 of 64 items")  # type: ignore[union-attr]


def test_facets_name_the_cases_that_have_them() -> None:
    kind = MADE.packed(example.inputs(), made(4, 1), 10**6)
    assert kind is not None
    assert rows(kind) == {("a", ""): ["1", "3"], ("b", ""): ["0", "2"]}
    assert MADE.packed(example.inputs(), [Group("g", "", (), 0)], 10**6) is None
