"""Tools of the page in a browser: groups of columns, filters, downloads, colours, notes, orders and differences."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import metaeval_example as rated
import pytest
import report_example as example
from drawn_figures import all_tables, plot
from report_browser import AXE, Browser

from dialeval.figures.plot import save_plot
from dialeval.report.about import About
from dialeval.report.inputs import Figure, ReportInputs
from dialeval.report.page import build_report
from dialeval.tables.files import write_csv

READY = "document.querySelector('.bubble')"
NAMES = ["<script>alert(1)</script>", "\N{RIGHT-TO-LEFT OVERRIDE}tac", "\N{PARROT}" * 40]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> ReportInputs:
    svg = tmp_path_factory.mktemp("figure") / "means.svg"
    save_plot(plot("measures/means", all_tables(NAMES)), svg, svg.with_suffix(".pdf"))
    drawn = Figure("Mean <scores>", "Mean and 95% interval. n = 9.", svg.read_text(encoding="utf-8"))
    counts: dict[str, Any] = {"requests": 1234, "model_calls": 1234, "cached": 0, "input_tokens": 9, "output_tokens": 3}
    paid: dict[str, Any] = {"reasoning_tokens": None, "cost": 0.5, "spent": None, "failures": "", "remarks": ""}
    rows = ({"model": "clerk", "protocol": "arena", "seconds": 1.0} | counts | paid,)
    return example.inputs(
        tables={**example.inputs().tables, **rated.tables()},
        rated=rated.sample(),
        figures=(drawn,),
        about=About("0.1.0", "2026-01-01", usage=rows),
    )


BESIDE = "document.querySelectorAll('.dialogue').length === 2"
LISTED = "[...document.querySelectorAll('#case-list strong')].map(e => e.textContent)"


@pytest.fixture(scope="module")
def address(run: ReportInputs, written: Callable[[str], str]) -> str:
    return written(build_report(run))


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Browser]:
    browser.look(1200, 900)
    browser.open(address, until=READY)
    yield browser
    browser.evaluate("localStorage.clear()")
    assert browser.complaints() == []


def texts(page: Browser, selector: str) -> list[str]:
    found: list[str] = page.evaluate(
        f"[...document.querySelectorAll({selector!r})].filter(e => e.checkVisibility()).map(e => e.textContent)"
    )
    return found


def saved(downloads: Path, name: str, page: Browser) -> str:
    page.wait_for_file(downloads / name)
    return (downloads / name).read_text(encoding="utf-8")


# ---- Tables ----


def test_every_leaderboard_shows_at_most_seven_columns_and_opens_the_others_by_keyboard(page: Browser) -> None:
    boards = page.evaluate("[...document.querySelectorAll('.board table')].map(e => e.id)")
    assert len(boards) > 2
    for board in boards:
        assert len(texts(page, f"#{board} thead th")) <= 7
    before = texts(page, "#board-1 thead th")
    page.evaluate("document.querySelector('.board .opens-1').focus()")
    page.press(" ")
    after = texts(page, "#board-1 thead th")
    assert after[: len(before) - 1] == before[:-1]
    assert "Arena Bradley-Terry at N\u00a0=\u00a04" in set(after) - set(before)


@pytest.mark.parametrize("width", [400, 1000, 1600])
def test_nothing_is_cut(page: Browser, width: int) -> None:
    page.look(width, 900)
    cut = (
        "[...document.querySelectorAll('main *')].filter(e => e.checkVisibility() && !e.closest('#case-list, pre')"
        " && !['svg', 'rect', 'line'].includes(e.tagName) && e.matches('.scroll, .card, figure, .tools, .board')"
        " && e.scrollWidth > e.clientWidth + 1).map(e => e.getAttribute('aria-label') || e.className)"
    )
    assert page.evaluate(cut) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate("document.querySelector('#models span').textContent = 'x'.repeat(200)")  # a name without a space
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    broken = (
        "[...document.querySelectorAll('.board thead button, #about thead th')].filter(e => e.checkVisibility()"
        " && !/\\s/.test(e.textContent) && e.getClientRects().length > 1).map(e => e.textContent)"
    )
    assert page.evaluate(broken) == []


def test_a_table_is_downloaded_as_its_csv_file_from_the_page_alone(
    page: Browser, downloads: Path, run: ReportInputs, tmp_path: Path
) -> None:
    page.evaluate("document.getElementById('table-unieval-pass_rates').open = true")
    page.wait("document.querySelector('#table-unieval-pass_rates .download')")
    page.click("#table-unieval-pass_rates .download")
    write_csv(tmp_path / "file.csv", run.tables["unieval/pass_rates"])
    assert saved(downloads, "unieval-pass_rates.csv", page) == (tmp_path / "file.csv").read_text(encoding="utf-8")


def test_a_leaderboard_is_downloaded_with_all_digits(page: Browser, downloads: Path) -> None:
    page.click(".board .download")
    rows: list[dict[str, Any]] = list(csv.DictReader(io.StringIO(saved(downloads, "board-1.csv", page))))
    (one,) = [row for row in rows if (row["model"], row["measure"]) == ("able", "UniEval pass rate at N = 16")]
    assert (one["estimate"], one["n"]) == (repr(2 / 3), "3")
    assert {row["measure"] for row in rows} >= {"Arena Elo at N = 4", "Tokens per utterance"}


def test_tables_that_are_not_shown_and_the_usage_are_downloaded(
    page: Browser, downloads: Path, run: ReportInputs, tmp_path: Path
) -> None:
    page.click("[data-table=table-metaeval-matrices] .download")
    write_csv(tmp_path / "file.csv", run.tables["metaeval/matrices"])
    assert saved(downloads, "metaeval-matrices.csv", page) == (tmp_path / "file.csv").read_text(encoding="utf-8")
    page.evaluate("document.querySelector('details:has([data-table=table-usage])').open = true")
    page.click("[data-table=table-usage] .download")
    (row,) = csv.DictReader(io.StringIO(saved(downloads, "usage.csv", page)))
    assert (row["model"], row["requests"], row["cost"]) == ("clerk", "1234", "0.5")


def test_a_figure_is_downloaded_as_it_was_drawn(page: Browser, downloads: Path, run: ReportInputs) -> None:
    page.click("figure .download")
    assert (
        saved(downloads, "figure-botchat-Mean _scores_.svg", page) == run.figures[0].svg
    )  # the browser replaces < and >


def test_rows_are_filtered_by_their_text_and_stay_so_when_sorted(page: Browser) -> None:
    page.evaluate("document.getElementById('table-metaeval-correlations').open = true")
    field = "#table-metaeval-correlations .filter input"
    page.wait(f"document.querySelector({field!r})")
    page.evaluate(
        f"(() => {{ const e = document.querySelector({field!r}); e.value = 'FOREST';"
        "e.dispatchEvent(new Event('input', {bubbles: true})); })()"
    )
    page.wait("document.querySelector('#table-metaeval-correlations .filtered').textContent")
    rows = "#table-metaeval-correlations tbody tr:not([aria-hidden])"
    assert all("forest" in text for text in texts(page, rows))
    page.evaluate("document.querySelector('#table-metaeval-correlations thead button').click()")
    page.evaluate("new Promise(done => setTimeout(done, 50))")
    found = texts(page, rows)
    assert found
    assert all("forest" in text for text in found)


def test_a_link_to_a_table_is_copied(page: Browser) -> None:
    page.click(".board .copy-link")
    page.wait("document.getElementById('announcement').textContent === 'Copied'")
    assert page.evaluate("location.hash") == "#board-1"


# ---- Colours ----


def test_the_readers_colours_stay_after_a_reload(page: Browser, address: str) -> None:
    colour = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(colour)
    page.choose("theme", "dark")
    dark = page.evaluate(colour)
    assert dark != light
    page.open(address, until=READY)
    assert page.evaluate(colour) == dark
    page.look(1200, 900, dark=True)
    page.choose("theme", "light")
    assert page.evaluate(colour) == light
    page.choose("theme", "")
    assert page.evaluate(colour) == dark


# ---- Cases ----


def test_flags_and_notes_stay_in_the_browser_and_are_exported(page: Browser, address: str, downloads: Path) -> None:
    page.evaluate("document.getElementById('case-title').focus()")
    page.press("f")
    page.evaluate("document.getElementById('note').focus()")
    page.press(*"odd <b>")
    page.press("f")  # in the note, a letter is a letter
    page.open(f"{address}#cases=dialogues&case=MT-2", until=READY)
    assert page.evaluate("document.getElementById('flag').getAttribute('aria-pressed')") == "false"
    page.click("#only-flagged")
    page.wait(f"JSON.stringify({LISTED}) === '[\"MT-1\"]'")
    page.wait("document.getElementById('note').value === 'odd <b>f'")
    page.click("#export-notes")
    content = json.loads(saved(downloads, "notes.json", page))
    note = {"kind": "dialogues", "group": "selfchat", "case": "MT-1", "flag": True, "note": "odd <b>f"}
    assert content["notes"] == [note]
    assert content["run"] == "weak, able by clerk · results · A run of <two> & more"


def test_the_note_of_a_case_never_goes_to_another(page: Browser, address: str) -> None:
    page.open(f"{address}#cases=dialogues&case=MT-1", until=READY)
    page.evaluate("document.getElementById('note').focus()")
    page.press(*"odd ")
    assert page.evaluate("document.getElementById('note').value") == "odd "  # the space may have a word after it
    page.evaluate("location.hash = '#cases=dialogues&case=MT-2'")
    page.wait("document.getElementById('case-title').textContent === 'Seed MT-2'")
    assert page.evaluate("document.getElementById('note').value") == ""
    page.evaluate("history.back()")
    page.wait("document.getElementById('note').value === 'odd'")


def test_a_note_of_another_window_is_shown_and_not_overwritten(page: Browser, address: str) -> None:
    page.open(f"{address}#cases=dialogues&case=MT-1", until=READY)
    page.evaluate(
        "(() => { const key = `dialeval-notes/${document.title}`;"
        "const note = {kind: 'dialogues', group: 'selfchat', case: 'MT-1', flag: true, note: 'theirs'};"
        "localStorage.setItem(key, JSON.stringify({'dialogues/selfchat/MT-1': note}));"
        "window.dispatchEvent(new StorageEvent('storage', {key})); })()"
    )
    assert page.evaluate("document.getElementById('note').value") == "theirs"
    assert page.evaluate("document.getElementById('flag').getAttribute('aria-pressed')") == "true"
    assert page.evaluate("document.querySelector('#case-list .muted').textContent").startswith("⚑")


def test_without_a_case_there_is_nothing_to_flag(page: Browser, address: str) -> None:
    page.open(
        f"{address}#cases=dialogues&q=no+such+words",
        until="document.getElementById('case-title')?.textContent === 'No case'",
    )
    assert page.evaluate("document.getElementById('note').disabled && document.getElementById('flag').disabled")
    page.evaluate("location.hash = '#cases=dialogues&case=MT-1'")
    page.wait("document.getElementById('case-title').textContent === 'Seed MT-1'")
    assert page.evaluate("!document.getElementById('note').disabled && !document.getElementById('models').hidden")


def test_cases_are_sorted_by_what_differs_and_the_address_has_it(page: Browser, address: str) -> None:
    options = page.evaluate("[...document.querySelectorAll('#order option')].map(e => e.textContent)")
    assert options == ["order in the run", "length, highest first", "length, lowest first"]  # all scores are equal
    page.choose("order", "length.down")
    page.wait("location.hash.includes('by=length.down')")
    longest = page.evaluate(LISTED)
    page.choose("order", "length.up")
    page.wait("location.hash.includes('by=length.up')")
    assert page.evaluate(LISTED) == longest[::-1]
    page.open(f"{address}#cases=dialogues&by=length.down", until=READY)
    page.wait(f"JSON.stringify({LISTED}) === {json.dumps(json.dumps(longest, separators=(',', ':')))}")
    assert page.evaluate("document.getElementById('order').value") == "length.down"


def test_two_answers_are_compared_word_by_word(page: Browser, address: str) -> None:
    page.open(
        f"{address}#cases=dialogues&case=MT-10&models=able,weak",
        until="document.querySelectorAll('.dialogue').length === 2",
    )
    page.click("#show-differences input")
    page.wait("document.querySelector('#columns ins')")
    last = ".dialogue:nth-child(2) .bubble:nth-child(4) "
    assert (texts(page, f"{last}del"), texts(page, f"{last}ins")) == (["It was"], ["Lovely"])
    page.evaluate("document.querySelectorAll('#models input')[0].click()")  # a third dialogue
    page.wait("document.querySelectorAll('.dialogue').length === 3")
    assert texts(page, "#columns ins") == []


def test_a_figure_shows_its_values_by_the_keyboard_and_under_the_pointer(page: Browser) -> None:
    page.evaluate("document.querySelector('.plot').focus()")
    page.press("ArrowRight")
    [by_key] = texts(page, ".plot-value")
    assert re.search(r": \d\.\d{3} \[\d\.\d{3}, \d\.\d{3}\]$", by_key)
    assert page.evaluate("document.getElementById('announcement').textContent") == by_key
    page.press("ArrowLeft")  # around to the last
    [last] = texts(page, ".plot-value")
    assert last != by_key
    page.press("Escape")
    assert texts(page, ".plot-value") == []
    x, y = page.evaluate(
        "(() => { document.querySelector('.plot').scrollIntoView({block: 'center'});"
        "const {x, y, width, height} = document.querySelector('.values path').getBoundingClientRect();"
        "return [x + width / 2, y + height / 2]; })()"
    )
    page.command("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
    assert texts(page, ".plot-value") == [by_key]
    page.command("Input.dispatchMouseEvent", type="mouseMoved", x=2, y=2)
    assert texts(page, ".plot-value") == []
    assert texts(page, "figcaption strong") == ["Mean <scores>."]
    assert "n = 9" in texts(page, "figcaption")[0]


def test_a_wide_figure_keeps_its_size_on_a_phone_and_scrolls_to_the_value_that_is_read(page: Browser) -> None:
    page.look(400, 900)
    page.evaluate("document.querySelector('figure').classList.add('wide')")
    plot = "document.querySelector('.plot')"
    assert page.evaluate(f"{plot}.scrollWidth > 1.5 * {plot}.clientWidth")
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    page.evaluate(f"{plot}.focus()")
    page.press("ArrowLeft")  # the last value
    inside = "(e => e.left >= -1 && e.right <= 401)(document.querySelector({}).getBoundingClientRect())"
    assert page.evaluate(inside.format("'.values .here'"))
    assert page.evaluate(inside.format("'.plot-value'"))


def test_values_lie_on_the_marks_at_every_width(page: Browser) -> None:
    for width in (400, 1000, 1600):
        page.look(width, 900)
        page.evaluate("document.querySelector('figure').classList.toggle('wide')")
        gap = page.evaluate(
            "(() => { const image = document.querySelector('.plot img'), svg = document.querySelector('.values');"
            "const a = image.getBoundingClientRect(), b = svg.getBoundingClientRect(), s = getComputedStyle(image);"
            "const pad = parseFloat(s.paddingLeft) + parseFloat(s.borderLeftWidth);"
            "return Math.max(Math.abs(b.x - a.x - pad), Math.abs(b.y - a.y - pad),"
            "Math.abs(b.width - a.width + 2 * pad), Math.abs(b.height - a.height + 2 * pad)); })()"
        )
        assert gap < 1


@pytest.mark.skipif(AXE is None, reason="axe-core-python is not installed")
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_with_all_groups_open_and_a_difference(page: Browser, address: str, theme: str) -> None:
    page.choose("theme", theme)
    page.open(
        f"{address}#cases=dialogues&case=MT-10&models=able,weak",
        until="document.querySelectorAll('.dialogue').length === 2",
    )
    page.evaluate(
        "document.querySelectorAll('.tools input[type=checkbox], #show-differences input').forEach(e => e.click())"
    )
    page.evaluate("document.getElementById('flag').click()")
    page.wait("document.querySelector('#columns ins')")
    assert page.barriers(colours_alone=theme == "dark") == []
