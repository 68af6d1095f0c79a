"""The page as text: whole, inert, the same every time, and honest about what it lacks."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
import report_example as example
from page_links import packed_tables

from dialeval.html_pages import unpack
from dialeval.report.inputs import Figure, ReportInputs
from dialeval.report.page import SCRIPTS, build_report
from dialeval.tables.dialogues import GENERATED, JUDGEMENTS
from dialeval.tables.files import empty_table, to_table
from dialeval.tables.measures import PASS_RATES, RATINGS


class Page(HTMLParser):
    """What an HTML parser sees: tags with attributes, and the text inside script elements."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self._in_script = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag == "script":
            self.scripts.append("")
        self._in_script = tag == "script"

    def handle_endtag(self, tag: str) -> None:
        self._in_script = False

    def handle_data(self, data: str) -> None:
        if self._in_script:
            self.scripts[-1] += data


@pytest.fixture(scope="module")
def page() -> str:
    return build_report(example.inputs())


def test_the_same_inputs_give_the_same_bytes(page: str) -> None:
    assert build_report(example.inputs()) == page


def test_dialogues_cannot_become_markup(page: str) -> None:
    assert "alert(1)" not in page
    plain = build_report(example.inputs(verdicts=empty_table(JUDGEMENTS), generated=empty_table(GENERATED)))
    tags, of_plain = ([tag for tag, _ in Page(one).tags if tag != "li"] for one in (page, plain))  # "li": a sentence
    assert tags == of_plain
    (index,) = re.findall(r'<script type="text/plain" id="archive-dialogues">(.*?)</script>', page, re.DOTALL)
    assert example.HOSTILE in unpack(index.split("\n")[0])["strings"]


def test_names_titles_and_notes_are_escaped() -> None:
    hostile = example.HOSTILE
    rates = to_table(PASS_RATES, [example._rate(hostile, 4, 0.5)])
    elo = to_table(RATINGS, [example._rating(hostile, 1000.0, note=hostile)])
    strange = build_report(
        example.inputs(
            title=hostile,
            chatbots=(hostile,),
            tables={"unieval/pass_rates": rates, "arena/ratings": elo},
            embedded=frozenset({hostile}),
            figures=(Figure(hostile, hostile, hostile),),
            results_dir=hostile,
        )
    )
    parsed = Page(strange)
    assert not [script for script in parsed.scripts if "alert" in script]
    tables = packed_tables(strange)
    n_csv = len(tables) + 1  # tables and the leaderboard
    assert len(parsed.scripts) == 5 + len(tables) + n_csv + 1 + len(SCRIPTS)
    assert len(tables) == 2
    for table in tables.values():
        assert not Page(table).scripts
        assert "&lt;script&gt;alert(1)" in table
    assert "&lt;/script&gt;&lt;script&gt;alert(1)" in strange


def test_names_do_not_turn_the_words_around_them() -> None:
    turning, arabic = "\u202eevil\u2066", "\u200fمرحبا\u061c"
    rates = to_table(PASS_RATES, [example._rate(name, 4, 0.5) for name in (turning, arabic)])
    page = build_report(
        example.inputs(title=turning, chatbots=(turning, arabic), tables={"unieval/pass_rates": rates}, figures=())
    )
    texts = [page, *packed_tables(page).values()]
    assert not any(mark in text for text in texts for mark in turning if not mark.isalpha())
    assert any(r"\u202eevil\u2066" in text for text in texts)
    assert any(arabic in text for text in texts)


def test_nothing_is_fetched_from_anywhere(page: str) -> None:
    parsed = Page(page)
    addresses = [
        value or ""
        for tag, attributes in parsed.tags
        for name, value in attributes.items()
        if name in {"src", "href", "srcset", "action", "data", "poster"}
    ]
    assert addresses
    assert all(address.startswith(("#", "data:")) for address in addresses), addresses
    assert "url(" not in page
    assert "@import" not in page
    policy = next(a["content"] for t, a in parsed.tags if t == "meta" and "http-equiv" in a)
    assert policy is not None
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy


def test_no_attribute_needs_what_the_policy_refuses(page: str) -> None:
    names = {name for _, attributes in Page(page).tags for name in attributes}
    assert "style" not in names
    assert not [name for name in names if name.startswith("on")]


def test_figures_are_images_of_their_own(page: str) -> None:
    (figure,) = [attributes for tag, attributes in Page(page).tags if tag == "img"]
    assert (figure["src"] or "").startswith("data:image/svg+xml;base64,")
    assert figure["alt"] == "Pass <rates>"
    assert "What &amp; why." in page


def test_a_name_from_right_to_left_moves_no_number_of_a_sentence() -> None:
    figure = Figure("Means", "First: \u0646\u0638\u0627\u0645 \u0628: 3.167, <b>.", "<svg/>")
    page = build_report(example.inputs(figures=(figure,)))
    assert "First: <bdi>\u0646\u0638\u0627\u0645 \u0628</bdi>: 3.167, &lt;b&gt;." in page
    answers = [attributes for _, attributes in Page(page).tags if attributes.get("class") == "answer"]
    assert answers
    assert not [one for one in answers if "dir" in one]  # sentences are English whatever they begin with


def test_a_figure_without_anything_to_show_is_a_line_and_no_image() -> None:
    missing = Figure("Who wins", "No pairs & no wins.", "<svg/>", is_missing=True)
    page = build_report(example.inputs(figures=(missing,)))
    assert not [tag for tag, _ in Page(page).tags if tag == "img"]
    assert "<li>Not drawn: Who wins. No pairs &amp; no wins.</li>" in page


def test_a_table_without_rows_is_a_line_and_not_opened() -> None:
    run = example.inputs()
    tables = dict(run.tables) | {"arena/ratings": empty_table(RATINGS)}
    page = build_report(example.inputs(tables=tables))
    assert "Tables without rows in this run: arena: Ratings." in page
    assert 'id="table-arena-ratings"' not in page
    assert "Without a row in this run" not in build_report(run)


def test_the_leaderboard_sorts_by_whole_numbers_and_marks_people(page: str) -> None:
    start = page.index('id="board-1"')
    board = page[start : page.index("</table>", start)]
    keys = re.findall(r'<td class="number[^"]*"( data-sort="([^"]*)")?>', board)
    assert "0.6666666666666666" in [key for _, key in keys]
    assert "" in [key for _, key in keys]  # Elo of the human dialogues
    assert board.count('class="human"') == 1
    assert board.count('aria-sort="descending"') == 1
    assert 'title="loses all"' in board


def test_a_page_over_its_size_keeps_the_first_seeds_and_says_so(page: str) -> None:
    size = len(page.encode())
    smaller = build_report(example.inputs(max_bytes=size))
    assert len(smaller.encode()) <= size
    assert re.search("Only the dialogues of the first (1 seed|2 seeds) of 3 are in this page", smaller)
    assert "results/dialogues/*.parquet" in smaller
    assert "Only the dialogues" not in page
    bare = build_report(example.inputs(max_bytes=10))
    assert "Only the dialogues of the first 0 seeds of 3" in bare


def test_only_unieval_ran() -> None:
    inputs = example.inputs()
    tables = {name: table for name, table in inputs.tables.items() if "unieval" in name}
    page = build_report(example.inputs(tables=tables))
    assert "able comes first: 66.7% by UniEval pass rate at" in page
    assert "Arena Elo" not in page
    assert "GTEval win" not in page


def test_no_judge_ran() -> None:
    inputs = example.inputs()
    lengths = {"botchat/utterance_lengths": inputs.tables["botchat/utterance_lengths"]}
    page = build_report(
        example.inputs(judges=(), verdicts=empty_table(JUDGEMENTS), tables=lengths, exchange_source=None, figures=())
    )
    assert "No judge ran, so there is no ranking" in page
    assert "Tokens per utterance" in page
    assert 'id="botchat-figures"' not in page


def test_nothing_ran() -> None:
    assert "0 chatbots on 0 seeds" in build_report(ReportInputs("A run", (), ()))


def test_a_judge_without_parsed_answers_ranks_no_system() -> None:
    tables = {"unieval/pass_rates": to_table(PASS_RATES, [example._rate("able", 16, None, n_unparsed=3)])}
    assert "clerk gives no ranking" in build_report(example.inputs(tables=tables))


def test_a_part_names_the_papers_to_cite_for_it() -> None:
    page = build_report(example.inputs())
    assert "To cite for this part: BotChat" in page
    assert "@inproceedings{duan2024botchat," in page
    assert "arXiv:2310.13650" in page
    assert "ou2024dialogbench" not in page
