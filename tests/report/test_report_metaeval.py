"""The page's part on meta-evaluation: its leaderboards, tables, figures and items, alone and beside BotChat's."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import metaeval_example as rated
import pyarrow as pa
import pytest
import report_example as example
from report_browser import Browser

from dialeval.html_pages import unpack
from dialeval.report.examined_items import case_shelves
from dialeval.report.html_tables import board_grid, table_grids
from dialeval.report.inputs import PARTS, ReportInputs
from dialeval.report.item_cases import CaseShelf, chosen_items
from dialeval.report.judge_leaderboard import judge_boards
from dialeval.report.page import build_report
from dialeval.report.rated_cases import sample_rated
from dialeval.tables.files import empty_table, to_table
from dialeval.tables.metaeval import CORRELATIONS, JUDGE_PAIRS, RATINGS
from dialeval.tables.robustness import ROBUSTNESS


def inputs(**other: object) -> ReportInputs:
    """Meta-evaluation alone, without a chatbot."""
    fields: dict[str, Any] = {
        "title": "A run",
        "chatbots": (),
        "judges": (),
        "tables": rated.tables(),
        "figures": (rated.figure(),),
        "embedded": frozenset({"forest", "length"}),
        "baselines": frozenset({"length"}),
        "rated": rated.sample(),
    }
    return ReportInputs(**{**fields, **other})


def both() -> ReportInputs:
    """BotChat and meta-evaluation."""
    botchat = example.inputs()
    return example.inputs(
        tables={**botchat.tables, **rated.tables()}, figures=(*botchat.figures, rated.figure()), rated=rated.sample()
    )


def cases(run: ReportInputs) -> CaseShelf:
    (found,) = case_shelves(run)
    return found


def ids(page: str) -> list[str]:
    return re.findall(r'<section (?:class="part" )?id="([^"]+)"', page)


def test_a_part_without_anything_to_show_is_not_on_the_page() -> None:
    assert ids(build_report(inputs())) == [
        "overview", "metaeval", "metaeval-leaderboard", "metaeval-figures", "metaeval-tables", "cases", "papers",
    ]  # fmt: skip
    assert ids(build_report(example.inputs())) == [
        "overview", "botchat", "botchat-leaderboard", "botchat-figures", "botchat-tables", "cases", "papers",
    ]  # fmt: skip


def test_parts_stand_one_after_the_other_with_their_own_figures_and_tables() -> None:
    page = build_report(both())
    assert [name for name in ids(page) if "-" not in name] == ["overview", "botchat", "metaeval", "cases", "papers"]
    assert len(set(ids(page))) == len(ids(page))
    second = page.index('id="metaeval"')
    assert page.index("Pass &lt;rates&gt;") < second < page.index('alt="Judges"')
    assert page.index('id="table-gteval-win_rates"') < second < page.index('id="table-metaeval-correlations"')


def test_a_new_part_needs_only_its_tables() -> None:
    page = build_report(inputs(tables={"robustness/robustness": empty_table(ROBUSTNESS)}, figures=(), rated=None))
    assert ids(page) == ["robustness", "robustness-tables"]
    assert PARTS["robustness"].title in page
    assert [both().part_of(folder) for folder in ("metaeval", "arena", "elsewhere")] == ["metaeval", "botchat", None]


def test_a_board_per_benchmark_and_level_with_judges_best_first() -> None:
    many, one = judge_boards(inputs())
    assert many.title == "many, turn level (mean over 2 languages; human ratings)"
    assert [measure.label for measure in one.board.measures] == [*rated.DIALOGUE, "average"]
    assert one.board.models == ("gpt-x (rating)", "forest (yes_no)", "length (yes_no)", "gpt-4 (annotation)")
    assert one.tags == {
        "gpt-x (rating)": (),
        "forest (yes_no)": ("embedded",),
        "length (yes_no)": ("baseline",),
        "gpt-4 (annotation)": ("came with the corpus",),
    }
    assert one.summary.answer == "gpt-x (rating) agrees best with human ratings: r = 0.800 on average."
    words = " ".join(one.summary.basis)
    assert "forest (yes_no) is an embedded model" in words
    assert "length (yes_no) is a baseline" in words
    assert "Each number is the mean of 2 correlations." in words
    assert "Numbers are Pearson’s r" in words


def test_a_boards_cells_hold_interval_and_published_number() -> None:
    _, one = judge_boards(inputs())
    grid = board_grid("x", one)
    cell = grid.rows[0].cells[0]
    assert (cell.text, cell.sort, cell.details) == ("0.800", "0.8", ("0.750–0.850", "paper 0.500"))
    assert grid.columns[1].sorted_by
    assert grid.rows[1].tags == ("embedded",)


def paired(*p_values: tuple[str, float, float], judges: Sequence[str] = ("gpt-x", "forest")) -> pa.Table:
    """Paired tests of two judges on corpora of the dialogues: corpus, difference, p after Holm's correction."""
    about = {"benchmark": "one", "level": "dialogue", "language": "en", "dimension": "overall", "rated": "overall"}
    about |= {"rater_kind": "human", "family_size": 6, "n": 40, "n_clusters": 40}
    methods = {"gpt-x": "rating", "forest": "yes_no"}
    one, other = judges
    about |= {"judge": one, "method": methods[one], "other_judge": other, "other_method": methods[other]}
    rows = [about | {"corpus": name, "difference": apart, "p_holm": p} for name, apart, p in p_values]
    return to_table(JUDGE_PAIRS, [*rows, rows[0] | {"benchmark": "many", "p_holm": 0.001, "difference": -0.3}])


def compared(pairs: pa.Table) -> str:
    _, one = judge_boards(inputs(tables={"metaeval/averages": rated.averages(), "metaeval/judge_pairs": pairs}))
    return one.summary.basis[0]


def test_the_order_of_judges_is_settled_by_paired_tests_and_not_by_intervals() -> None:
    apart = "do not differ significantly"
    first, second = "gpt-x (rating)", "forest (yes_no)"
    assert (
        compared(paired(("x", 0.2, 0.01))) == f"{first} agrees significantly better than {second} (paired test, Holm)."
    )
    assert compared(paired(("x", 0.2, 0.3))) == (f"{first} and {second} {apart} (paired test, Holm).")
    assert compared(paired(("x", 0.2, 0.3), ("y", -0.1, 0.9))) == (
        f"{first} and {second} {apart} on any of 2 pairs of corpus and dimension (paired test, Holm)."
    )
    turned = paired(("x", -0.2, 0.01), ("y", -0.2, 0.02), judges=("forest", "gpt-x"))
    assert compared(turned) == (
        f"{first} agrees significantly better than {second} on each of 2 pairs of corpus and dimension "
        "(paired test, Holm)."
    )
    assert compared(paired(("x", 0.2, 0.01), ("y", -0.2, 0.04), ("z", 0.1, 0.5))) == (
        f"Paired tests (Holm) on 3 pairs of corpus and dimension: {first} agrees significantly better than {second} "
        "on 1 and significantly worse on 1. On 1, they do not differ significantly."
    )


def test_judges_that_no_test_compares_have_no_settled_order() -> None:
    _, one = judge_boards(inputs())
    assert one.summary.basis[0] == (
        "No paired test compares gpt-x (rating) and forest (yes_no), so their order is not settled."
    )


def test_a_leader_whose_interval_holds_none_is_no_good_judge() -> None:
    weak = rated.averages().to_pandas()
    weak[["pearson", "pearson_ci_low", "pearson_ci_high"]] -= 0.79
    _, one = judge_boards(inputs(tables={"metaeval/averages": pa.Table.from_pandas(weak, preserve_index=False)}))
    assert one.summary.answer == (
        "No judge clearly agrees with the ratings: gpt-x (rating) is first with r = 0.010 (-0.040 to 0.060) on average."
    )


def test_what_is_known_by_construction_is_never_called_people() -> None:
    built = {"metaeval/correlations": rated.correlations(kind="construction")}
    (board,) = judge_boards(inputs(tables=built))
    assert "people" not in board.title + board.summary.answer
    assert "the severity of perturbations" in board.summary.answer


def test_intervals_stand_in_the_cell_of_their_number_and_columns_are_explained() -> None:
    grids = {grid.title: grid for grid in table_grids(inputs())}
    averages = grids["Averages"]
    labels = [column.label for column in averages.columns]
    assert "pearson ci low" not in labels
    assert "published pearson" not in labels
    cell = averages.rows[-1].cells[labels.index("pearson")]
    assert cell.details == ("0.300–0.400",)
    assert averages.columns[labels.index("raters")].words.startswith("human: human ratings only")
    assert "Correlations between dimensions, between languages and between judges" not in grids


def test_tables_stand_in_the_order_of_their_descriptions_and_long_ones_are_named() -> None:
    page = build_report(inputs())
    assert re.findall(r'id="table-metaeval-([a-z_]+)"', page) == [
        "averages", "correlations", "model_ensemble", "annotator_agreement", "repeat_agreement", "ceilings",
    ]  # fmt: skip
    assert f"({len(rated.matrices())} rows): <code>results/tables/metaeval/matrices.csv</code>" in page


def test_the_same_items_are_chosen_whatever_else_is_there() -> None:
    names = [f"t-{place:02}" for place in range(40)]
    few = chosen_items("small-talk", names, 5, 7)
    assert len(few) == 5
    assert few < chosen_items("small-talk", [*reversed(names), *names], 10, 7)
    assert chosen_items("small-talk", [*few, "t-99"], 6, 7) == {*few, "t-99"}
    assert chosen_items("small-talk", names, 5, 8) != few
    assert chosen_items("other", names, 5, 7) != few


def test_a_sample_holds_every_language_rating_and_score_of_its_items() -> None:
    sample = rated.sample(n=3)
    chosen = set(sample.items["item_id"].to_pylist())
    assert (len(chosen), len(sample.items), len(sample.ratings), len(sample.scores)) == (3, 6, 6, 18)
    assert set(sample.ratings["item_id"].to_pylist()) == set(sample.scores["item_id"].to_pylist()) == chosen
    assert sample.n_items == {"small-talk": 40}


def test_an_item_shows_texts_ratings_and_the_mean_of_a_judges_repeats() -> None:
    sample = sample_rated([rated.items()], [rated.ratings()], [rated.scores()], n=40)
    run = inputs(rated=sample, baselines=frozenset({"length"}))
    (index,) = unpack(cases(run).index)["groups"]
    assert (index["name"], index["words"]) == ("small-talk", "turn; 30 of 40")
    english, table, chinese, _ = unpack(cases(run).lines[0])[0]["blocks"]
    assert (english["version"], chinese["version"], english["marked"]) == ("en", "zh", [1])
    assert index["first"][0] == english["utterances"][1]
    assert table["columns"] == ["overall"]
    people, judge, baseline = table["rows"]
    assert people == ["people", "", [[1.5, 750, "0–2", "mean of 2"]]]
    assert judge == ["gpt-x (rating)", "", [[3.0, 500, "1–5", "mean of 2"]]]
    assert baseline == ["length (yes_no)", "baseline", [[0.25, 250, "0–1", ""]]]


def test_a_score_that_could_not_be_read_says_so() -> None:
    lost = rated.scores(40).slice(39 * 6)  # the scores of the last item
    only = pa.Table.from_pylist(
        [row | {"value": None, "status": "refused"} for row in lost.to_pylist()], schema=lost.schema
    )
    sample = sample_rated([rated.items().slice(39, 1)], [empty_table(RATINGS)], [lost])
    ((_, _, ((value, _, _, words),)), _) = unpack(cases(inputs(rated=sample)).lines[0])[0]["blocks"][1]["rows"]
    assert (value, words) == (2.0, "unparsed")
    sample = sample_rated([rated.items().slice(39, 1)], [empty_table(RATINGS)], [only])
    ((_, _, (cell,)), _) = unpack(cases(inputs(rated=sample)).lines[0])[0]["blocks"][1]["rows"]
    assert cell == [None, -1, "1–5", "refused"]


def test_items_give_way_where_the_page_has_no_room() -> None:
    assert "30 of 40 rated items, at most 30 of each corpus" in cases(inputs()).words
    size = cases(inputs()).size
    fewer = cases(inputs(max_bytes=2 * size))
    assert fewer.size <= 2 * size // 3
    assert re.match(r"(15|7|3|1) of 40 rated items", fewer.words)
    assert "1 of 40 rated items" in cases(inputs(max_bytes=10)).words


def test_texts_of_items_cannot_become_markup() -> None:
    hostile = sample_rated([rated.items(1)], [rated.ratings(1)], [rated.scores(1)])
    page = build_report(inputs(rated=hostile))
    assert "alert(1)" not in page
    (group,) = re.findall(r'<script type="text/plain" id="rated-lines">(.*?)</script>', page, re.DOTALL)
    assert unpack(group)[0]["blocks"][0]["utterances"][0] == rated.HOSTILE


def test_a_corpus_without_scores_is_shown() -> None:
    sample = sample_rated([rated.items(2)], [empty_table(RATINGS)], [])
    page = build_report(inputs(rated=sample, tables={"metaeval/correlations": to_table(CORRELATIONS, [])}))
    assert "2 of 2 rated items" in page


@pytest.fixture(scope="module")
def address(written: Callable[[str], str]) -> str:
    few = sample_rated([rated.items(3)], [rated.ratings(3)], [rated.scores(3)])
    return written(build_report(inputs(rated=few)))


def test_an_address_leads_to_an_item_and_a_click_to_its_translation(browser: Browser, address: str) -> None:
    browser.open(
        f"{address}#cases=rated&of=small-talk&case=t-00",
        until="document.querySelector('#case-title')?.textContent === 'Item t-00'",
    )
    assert browser.complaints() == []
    assert browser.texts("#piece-left p") == [rated.HOSTILE, "answer 0 (en)"]
    assert browser.texts("#piece-left .is-marked p") == ["answer 0 (en)"]
    assert browser.texts("#piece-right tbody th") == ["people", "gpt-x (rating)", "length (yes_no) baseline"]
    assert browser.texts("#piece-right .value") == ["1.5", "3", "0.25"]
    browser.evaluate("document.querySelectorAll('#versions button')[1].click()")
    browser.wait("document.querySelector('.is-marked p').textContent === 'answer 0 (zh)'")
    browser.evaluate("document.querySelector('#next').click()")
    browser.wait("location.hash === '#cases=rated&case=t-01&version=zh'")
    browser.wait("document.querySelectorAll('#piece-left p')[1].textContent === 'answer 1 (zh)'")


def test_boards_of_judges_sort(browser: Browser, address: str) -> None:
    browser.open(address, until="document.querySelector('#piece-right td')")
    browser.evaluate("document.querySelectorAll('#metaeval-board-2 thead button')[1].click()")
    assert browser.texts("#metaeval-board-2 tbody th span:first-child")[0] == "gpt-4 (annotation)"


def test_a_board_by_people_says_how_high_a_judge_could_come() -> None:
    turn, dialogue = judge_boards(inputs())
    beyond = "0.850 (0.800–0.870) on overall of small-talk."
    sentence = f"Raters differ, so no judge can be expected to agree with them beyond {beyond}"
    assert sentence in dialogue.summary.basis
    assert not any("Raters differ" in words for words in turn.summary.basis)
    tables = rated.tables()
    del tables["metaeval/ceilings"]
    assert not any(
        "Raters differ" in words for board in judge_boards(inputs(tables=tables)) for words in board.summary.basis
    )


def test_leaderboards_say_how_far_judges_agree_with_themselves() -> None:
    words = "Over repeats, judges agree with themselves by a mean correlation of"
    said = {
        board.title.split(",")[1].strip().split(" ")[0]: " ".join(board.summary.basis)
        for board in judge_boards(inputs())
    }
    assert f"{words} 0.700 for gpt-x (rating), lowest on overall of small-talk (0.500)." in said["dialogue"]
    assert f"{words} 0.900 for gpt-x (rating)." in said["turn"]
    without = {name: table for name, table in rated.tables().items() if name != "metaeval/repeat_agreement"}
    assert not any(
        "agree with themselves" in " ".join(board.summary.basis) for board in judge_boards(inputs(tables=without))
    )
