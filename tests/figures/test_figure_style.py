"""The common look: colours, names broken into lines, and files that are the same bytes every time."""

import matplotlib
import pytest

from dialeval.figures import style
from dialeval.figures.style import (
    PAGE_WIDTH,
    model_colours,
    readable_on,
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


def test_the_settings_are_ours_on_top_of_matplotlibs_own() -> None:
    import matplotlib.style

    with matplotlib.style.context(["default", dict(style._SETTINGS)]):
        wanted = dict(matplotlib.rcParams)

    with matplotlib.rc_context({"axes.grid": True, "lines.linewidth": 7.0}):
        inside = styled(lambda: dict(matplotlib.rcParams))()

    assert inside == wanted
    assert inside["lines.linewidth"] == 1.0


def test_a_long_sentence_stays_on_the_page() -> None:
    figure = sentence_figure("There is nothing to show because " + "no dialogue was judged, " * 12)
    box = figure.texts[0].get_window_extent()
    assert box.x0 >= 0
    assert box.x1 <= PAGE_WIDTH * figure.dpi
