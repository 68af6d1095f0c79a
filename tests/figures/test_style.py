"""Saved figures: the same bytes every time, each part drawn once, and colours that follow a dark page's."""

from __future__ import annotations

import shutil
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import matplotlib
import pytest
from matplotlib import font_manager
from matplotlib.figure import Figure
from report_browser import PROGRAM, Browser

from dialeval.errors import UserError
from dialeval.figures.style import (
    BLACK,
    BLUE,
    GREY,
    LIGHT_GREY,
    ON_DARK,
    new_figure,
    readable_on,
    save_figure,
    sentence_figure,
    styled,
)
from dialeval.report.inputs import Figure as ReportFigure
from dialeval.report.page import not_drawn, on_page


@styled
def example() -> Figure:
    """A figure with a title, words on a light ground, and a grey line."""
    figure = new_figure(2.0)
    panel = figure.subplots()
    panel.plot([1, 2], [3, 4], color=GREY)
    panel.set_title("heading")
    panel.axvspan(1.2, 1.4, color="#F0E442")
    panel.text(1.3, 3.5, "on yellow", color=readable_on("#F0E442"))
    return figure


def test_the_settings_around_a_figure_do_not_change_it(tmp_path: Path) -> None:
    @styled
    def drawn() -> Figure:
        figure = new_figure(2.0)
        figure.subplots().plot([1, 2], [3, 4])
        return figure

    def bytes_of(name: str) -> bytes:
        figure = drawn()
        save_figure(figure, tmp_path / f"{name}.svg", tmp_path / f"{name}.pdf")
        return (tmp_path / f"{name}.svg").read_bytes() + (tmp_path / f"{name}.pdf").read_bytes()

    plain = bytes_of("plain")
    with matplotlib.rc_context({"font.size": 20, "lines.linewidth": 9, "svg.hashsalt": "other", "pdf.fonttype": 3}):
        assert bytes_of("other") == plain


def test_another_font_of_the_same_name_does_not_change_a_figure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A list of fonts that Matplotlib has kept may begin with a machine's own, and may lack those that come with it."""

    def pdf(name: str) -> bytes:
        save_figure(example(), tmp_path / f"{name}.svg", tmp_path / f"{name}.pdf")
        return (tmp_path / f"{name}.pdf").read_bytes()

    plain = pdf("plain")
    fonts = font_manager.fontManager
    serif = Path(matplotlib.get_data_path(), "fonts", "ttf", "DejaVuSerif.ttf")
    machines = shutil.copy(serif, tmp_path / "DejaVuSans.ttf")
    kept = list(fonts.ttflist)
    for name, shipped in (("first", kept), ("alone", [])):
        fonts.addfont(machines)  # forgets what was found before
        monkeypatch.setattr(fonts, "ttflist", [replace(fonts.ttflist[-1], name="DejaVu Sans"), *shipped])
        assert fonts.findfont("DejaVu Sans").path == str(machines)
        assert pdf(name) == plain


def test_saving_twice_gives_the_same_bytes_and_nothing_else(tmp_path: Path) -> None:
    figure = sentence_figure("Nothing was judged.")
    paths = [(tmp_path / f"{i}" / "f.svg", tmp_path / f"{i}" / "f.pdf") for i in range(2)]
    for svg, pdf in paths:
        save_figure(figure, svg, pdf)
    for one, two in pairwise(paths):
        assert [path.read_bytes() for path in one] == [path.read_bytes() for path in two]
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == ["f.pdf", "f.pdf", "f.svg", "f.svg"]


def test_files_hold_no_date_and_embed_their_fonts(tmp_path: Path) -> None:
    svg, pdf = tmp_path / "f.svg", tmp_path / "f.pdf"
    save_figure(sentence_figure("Nothing was judged."), svg, pdf)
    assert b"dc:date" not in svg.read_bytes()
    assert b"CreationDate" not in pdf.read_bytes()
    assert b"FontFile2" in pdf.read_bytes()


def test_a_place_that_cannot_be_written_is_a_users_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(UserError, match="cannot be written"):
        save_figure(sentence_figure("Nothing."), tmp_path / "file" / "f.svg", tmp_path / "f.pdf")


def test_a_figure_is_laid_out_once_and_drawn_once_for_each_format(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = []
    draw = Figure.draw

    def counted(self: Figure, renderer: object) -> None:
        drawn.append(type(renderer).__name__)
        draw(self, renderer)

    monkeypatch.setattr(Figure, "draw", counted)
    save_figure(example(), tmp_path / "f.svg", tmp_path / "f.pdf")
    assert len(drawn) == 3


def test_the_ground_is_transparent_and_words_and_lines_have_dark_colours_too(tmp_path: Path) -> None:
    save_figure(example(), tmp_path / "f.svg", tmp_path / "f.pdf")
    svg = (tmp_path / "f.svg").read_text()
    assert "#ffffff" not in svg
    style, _, drawing = svg.partition("</style>")
    for light in (BLACK, GREY):
        assert ON_DARK[light] in style
        assert light.lower() in drawing
    assert set(ON_DARK) == {BLACK, GREY, LIGHT_GREY, BLUE}


@pytest.mark.skipif(PROGRAM is None, reason="no chromium or chrome on the PATH")
def test_a_browser_turns_words_light_on_a_dark_page_but_not_those_on_a_colour(tmp_path: Path) -> None:
    save_figure(example(), tmp_path / "f.svg", tmp_path / "f.pdf")

    def colour(words: str) -> str:
        found = f"[...document.querySelectorAll('text')].find(e => e.textContent.includes({words!r}))"
        return str(browser.evaluate(f"getComputedStyle({found}).fill"))

    with Browser() as browser:
        for dark, heading in ((False, "rgb(26, 26, 26)"), (True, "rgb(230, 231, 233)")):
            browser.look(700, 300, dark=dark)
            browser.open((tmp_path / "f.svg").as_uri(), until="document.querySelector('text')")
            assert colour("heading") == heading
            assert colour("on yellow") == "rgb(0, 0, 0)"


def test_the_report_says_in_words_why_a_figure_shows_nothing(tmp_path: Path) -> None:
    for name, figure in (("drawn", example()), ("empty", sentence_figure("Nobody's <dialogues> & nothing else."))):
        save_figure(figure, tmp_path / f"{name}.svg", tmp_path / f"{name}.pdf")
    figures = [ReportFigure(name, "", (tmp_path / f"{name}.svg").read_text()) for name in ("drawn", "empty")]
    assert [figure.title for figure in on_page(figures)] == ["drawn"]
    assert not_drawn(figures) == (("empty", "Nobody's <dialogues> & nothing else."),)
