"""The style of all figures, and saving them: the same bytes every time, colours that follow those of a dark page."""

from __future__ import annotations

import shutil
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import matplotlib
import pandas as pd
import pytest
from drawn_figures import all_tables, plot
from matplotlib import font_manager
from matplotlib.figure import Figure
from report_browser import PROGRAM, Browser

from dialeval.errors import UserError
from dialeval.figures.plot import Missing, Plot, save_plot
from dialeval.figures.registry import text_of
from dialeval.figures.style import (
    COLUMN,
    CORRELATION,
    ON_DARK,
    PERCENT,
    POINTS,
    ink_on,
    per,
    styled,
    system_marks,
    text_width,
    wrapped,
)

LONG = "my-lab.dialogue-model-with-a-long-name-v1.5"
NOTHING = Missing("No judge's <dialogues> & nothing else.")


@pytest.fixture(scope="module")
def example() -> Plot:
    return plot("botchat/figure6_gteval", all_tables(["a", "b"]))


def saved(found: Plot | Missing, folder: Path, name: str = "f") -> bytes:
    save_plot(found, folder / f"{name}.svg", folder / f"{name}.pdf")
    return (folder / f"{name}.svg").read_bytes() + (folder / f"{name}.pdf").read_bytes()


def test_a_systems_mark_depends_on_the_roster_alone_and_others_follow() -> None:
    roster = ["b", "human", "a", "c"]
    marks = system_marks(roster)
    assert marks == system_marks(["c", "b", "a"])
    assert system_marks(roster, ["a", "x"]) == {**marks, "x": system_marks([*roster, "x"])["x"]}


def test_fourteen_systems_and_people_have_marks_of_their_own() -> None:
    marks = system_marks([*(f"system-{place:02}" for place in range(14)), "human"])
    assert len(set(marks.values())) == 15


@pytest.mark.parametrize(("colour", "text"), [((1.0, 1.0, 0.3), "#000000"), ((0.0, 0.4, 0.7), "#FFFFFF")])
def test_text_on_a_colour_has_contrast(colour: tuple[float, float, float], text: str) -> None:
    assert ink_on(colour) == text


@pytest.mark.parametrize("name", ["", "short", LONG, "x" * 80, "-" * 40, "a_" + "b" * 50])
def test_a_wrapped_name_keeps_every_character_and_its_width(name: str) -> None:
    lines = wrapped(name, 1.2).split("\n")
    assert "".join(lines) == name
    assert max(map(text_width, lines)) <= 1.2


def test_a_name_is_broken_after_punctuation() -> None:
    assert wrapped("my-lab.dialogue-model", 1.1) == "my-lab.\ndialogue-model"


@pytest.mark.parametrize(
    ("unit", "value", "text"),
    [(PERCENT, 0.456, "46"), (CORRELATION, 0.4, "0.40"), (CORRELATION, -0.126, "−0.13"), (CORRELATION, -0.004, "0.00"),
     (POINTS, 1234.5, "1,234"), (PERCENT, float("nan"), "–")],
)  # fmt: skip
def test_numbers_are_written_as_in_papers(unit, value: float, text: str) -> None:  # type: ignore[no-untyped-def]
    assert unit.text(value) == text


def test_counts_are_one_number_or_a_range() -> None:
    assert per(pd.Series([250, 250]), "dialogue", "system") == "n = 250 dialogues per system"
    assert per(pd.Series([1, 1500, None]), "item", "judge") == "n = 1 to 1,500 items per judge"


def test_styling_leaves_the_settings_around_it_alone() -> None:
    before = dict(matplotlib.rcParams)

    @styled
    def inside() -> bool:
        return bool(matplotlib.rcParams["text.parse_math"])

    assert inside() is False
    assert dict(matplotlib.rcParams) == before


def test_the_settings_around_a_figure_do_not_change_it(example: Plot, tmp_path: Path) -> None:
    plain = saved(example, tmp_path)
    with matplotlib.rc_context({"font.size": 20, "lines.linewidth": 9, "svg.hashsalt": "other", "pdf.fonttype": 3}):
        assert saved(example, tmp_path) == plain


def test_another_font_of_the_same_name_does_not_change_a_figure(
    example: Plot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A list of fonts that Matplotlib has kept may begin with a machine's own, and may lack those that come with it."""
    plain = saved(example, tmp_path)
    fonts = font_manager.fontManager
    serif = Path(matplotlib.get_data_path(), "fonts", "ttf", "DejaVuSerif.ttf")
    machines = shutil.copy(serif, tmp_path / "DejaVuSans.ttf")
    kept = list(fonts.ttflist)
    for shipped in (kept, []):
        fonts.addfont(machines)  # forgets what was found before
        monkeypatch.setattr(fonts, "ttflist", [replace(fonts.ttflist[-1], name="DejaVu Sans"), *shipped])
        assert fonts.findfont("DejaVu Sans").path == str(machines)
        assert saved(example, tmp_path) == plain


def test_saving_twice_gives_the_same_bytes_and_nothing_else(tmp_path: Path) -> None:
    contents = [saved(NOTHING, tmp_path / f"{number}") for number in range(2)]
    assert all(one == two for one, two in pairwise(contents))
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == ["f.pdf", "f.pdf", "f.svg", "f.svg"]


def test_files_hold_no_date_embed_their_fonts_and_have_title_and_caption(example: Plot, tmp_path: Path) -> None:
    content = saved(example, tmp_path)
    assert b"dc:date" not in content
    assert b"CreationDate" not in content
    assert b"FontFile2" in content
    assert text_of((tmp_path / "f.svg").read_text(), "f") == (example.title, example.text, False)
    assert example.title.encode() in (tmp_path / "f.pdf").read_bytes()


def test_a_missing_figure_holds_its_reason_on_a_column(tmp_path: Path) -> None:
    saved(NOTHING, tmp_path)
    svg = (tmp_path / "f.svg").read_text()
    assert text_of(svg, "by_language") == ("by language", NOTHING.reason, True)
    assert f'width="{72 * COLUMN:g}pt"' in svg


def test_a_place_that_cannot_be_written_is_a_users_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(UserError, match="cannot be written"):
        save_plot(NOTHING, tmp_path / "file" / "f.svg", tmp_path / "f.pdf")


def test_a_figure_is_laid_out_once_and_drawn_once_for_each_format(
    example: Plot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = []
    draw = Figure.draw

    def counted(self: Figure, renderer: object) -> None:
        drawn.append(type(renderer).__name__)
        draw(self, renderer)

    monkeypatch.setattr(Figure, "draw", counted)
    saved(example, tmp_path)
    assert len(drawn) == 3


def test_the_ground_is_transparent_and_text_and_lines_have_dark_colours_too(example: Plot, tmp_path: Path) -> None:
    saved(example, tmp_path)
    svg = (tmp_path / "f.svg").read_text()
    style, _, drawing = svg.partition("</style>")
    for light in list(ON_DARK)[:3]:
        assert ON_DARK[light] in style
        assert light.lower() in drawing


@pytest.mark.skipif(PROGRAM is None, reason="no chromium or chrome on the PATH")
def test_a_browser_turns_text_light_on_a_dark_page_but_not_that_on_a_colour(example: Plot, tmp_path: Path) -> None:
    saved(example, tmp_path)

    def colour(words: str) -> str:
        found = f"[...document.querySelectorAll('text')].find(e => e.textContent.includes({words!r}))"
        return str(browser.evaluate(f"getComputedStyle({found}).fill"))

    with Browser() as browser:
        for dark, axis in ((False, "rgb(26, 26, 26)"), (True, "rgb(230, 231, 233)")):
            browser.look(700, 300, dark=dark)
            browser.open((tmp_path / "f.svg").as_uri(), until="document.querySelector('text')")
            assert colour("Comparisons") == axis
            assert colour("48") == "rgb(0, 0, 0)"
