"""The common look: colours, names broken into lines, and files that are the same bytes every time."""

from itertools import pairwise
from pathlib import Path

import matplotlib
import pytest
from matplotlib.figure import Figure

from dialeval.errors import UserError
from dialeval.figures.style import (
    PAGE_WIDTH,
    model_colours,
    new_figure,
    readable_on,
    save_figure,
    sentence_figure,
    styled,
    wrapped,
)


def test_a_models_colour_depends_on_the_names_alone() -> None:
    colours = model_colours(["b", "human", "a", "c"])
    assert colours == model_colours(["c", "b", "a"])
    assert colours["a"] == "#0072b2"
    assert colours["human"] == "#666666"


def test_twenty_one_models_have_colours_of_their_own() -> None:
    models = [f"model-{i:02}" for i in range(21)]
    assert len(set(model_colours([*models, "human"]).values())) == 22


@pytest.mark.parametrize(("colour", "text"), [("#F0E442", "#000000"), ("#0072B2", "#FFFFFF"), ((1, 1, 1), "#000000")])
def test_text_on_a_colour_is_readable(colour: object, text: str) -> None:
    assert readable_on(colour) == text


@pytest.mark.parametrize(
    "name", ["", "short", "my-lab.dialogue-model-with-a-long-name-v1.5", "x" * 80, "-" * 40, "a_" + "b" * 50]
)
def test_a_wrapped_name_keeps_every_character(name: str) -> None:
    lines = wrapped(name, 20).split("\n")
    assert "".join(lines) == name
    assert max(map(len, lines)) <= 20


def test_a_name_is_broken_after_punctuation() -> None:
    assert wrapped("my-lab.dialogue-model", 18) == "my-lab.dialogue-\nmodel"


def test_styling_leaves_the_settings_around_it_alone() -> None:
    before = dict(matplotlib.rcParams)

    @styled
    def inside() -> bool:
        return bool(matplotlib.rcParams["text.parse_math"])

    assert inside() is False
    assert dict(matplotlib.rcParams) == before


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


def test_a_long_sentence_stays_on_the_page() -> None:
    figure = sentence_figure("There is nothing to show because " + "no dialogue was judged, " * 12)
    box = figure.texts[0].get_window_extent()
    assert box.x0 >= 0
    assert box.x1 <= PAGE_WIDTH * figure.dpi
