"""One style for all figures, and saving them the same every time."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, wraps
from pathlib import Path
from types import MappingProxyType
from typing import Any, ParamSpec, TypeVar

import matplotlib
from fontTools.subset import Options  # type: ignore[import-untyped]
from matplotlib import font_manager
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure

from dialeval.tables.files import HUMAN
from dialeval.whole_files import replacing

# One look for all figures: fonts, sizes, colours, and figures that say why there is nothing to draw.

PAGE_WIDTH = 6.9
"""Width of every figure, in inches: the text width of an A4 or letter page."""

BLACK, GREY, LIGHT_GREY = "#1A1A1A", "#666666", "#D9D9D9"
"""Words and lines, what is secondary, and grounds: each has another colour on a dark page (`saving.ON_DARK`)."""

ON_LIGHT_COLOUR, ON_DARK_COLOUR = "#000000", "#FFFFFF"
"""Words on a coloured ground, which stay as they are on every page."""

ORANGE, SKY, GREEN, YELLOW, BLUE, VERMILLION, PURPLE = (
    "#E69F00", "#56B4E9", "#009E73", "#F0E442", "#0072B2", "#D55E00", "#CC79A7",
)  # fmt: skip
"""The palette of Okabe and Ito, which people with any kind of colour blindness can tell apart."""

SMALL, TINY = 7.0, 6.0
"""Sizes of secondary text, in points."""

_MODEL_HUES = (BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILLION, YELLOW)
_MIXES = ((0.0, "#FFFFFF"), (0.45, "#FFFFFF"), (0.4, "#000000"))
_SETTINGS: Mapping[str, Any] = MappingProxyType(
    {
        "font.family": "sans-serif",
        "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial"],
        "font.size": 8.0,
        "axes.titlesize": 8.0,
        "axes.labelsize": 8.0,
        "xtick.labelsize": 7.5,
        "ytick.labelsize": 7.5,
        "legend.fontsize": 7.5,
        "figure.titlesize": 9.0,
        "figure.dpi": 100.0,
        "savefig.dpi": 150.0,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.axisbelow": True,
        "axes.linewidth": 0.6,
        "axes.edgecolor": GREY,
        "axes.facecolor": "none",
        "axes.labelcolor": BLACK,
        "figure.facecolor": "none",
        "text.color": BLACK,
        "xtick.color": BLACK,
        "ytick.color": BLACK,
        "xtick.major.width": 0.6,
        "ytick.major.width": 0.6,
        "grid.color": LIGHT_GREY,
        "grid.linewidth": 0.5,
        "hatch.linewidth": 0.5,
        "lines.linewidth": 1.0,
        "errorbar.capsize": 1.5,
        "legend.frameon": False,
        "text.parse_math": False,
        "text.hinting": "none",  # text then has the same proportions at every resolution
        "figure.constrained_layout.w_pad": 0.07,
        "figure.constrained_layout.h_pad": 0.06,
        "svg.fonttype": "none",
        "svg.hashsalt": "dialeval",
        "pdf.fonttype": 42,
    }
)

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


def styled(draw: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """Makes a function draw in this style, whatever the settings around it, which stay as they are."""

    @wraps(draw)
    def drawn(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Result:
        _prefer_shipped_fonts()
        with matplotlib.rc_context(_all_settings()):
            return draw(*args, **kwargs)

    return drawn


@cache
def _all_settings() -> dict[Any, Any]:
    """Returns these settings and Matplotlib's own for the rest, but for the backend, which is the process's.

    `matplotlib.style` has the same as "default", and reads thirty files of other styles when it is imported.
    """
    usual = {name: value for name, value in matplotlib.rcParamsDefault.items() if not name.startswith("backend")}
    return usual | dict(_SETTINGS)


def _prefer_shipped_fonts() -> None:
    """Has the fonts that come with Matplotlib found before a machine's, so that a figure has the same bytes everywhere.

    They stand first in every list of fonts that Matplotlib makes, but it keeps the list for all environments of a user,
    and makes it anew, without them, where it draws while an environment is taken away.
    """
    fonts = font_manager.fontManager
    shipped = Path(matplotlib.get_data_path(), "fonts", "ttf")
    if fonts.ttflist and Path(fonts.ttflist[0].fname).parent == shipped:
        return
    others, fonts.ttflist = fonts.ttflist, []
    for path in sorted(shipped.glob("DejaVuSans*.ttf")):
        fonts.addfont(path)
    fonts.ttflist += others


def new_figure(height: float) -> Figure:
    """Returns an empty figure of the page's width that makes room for its labels.

    Args:
        height: in inches.
    """
    figure = Figure(figsize=(PAGE_WIDTH, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


class SentenceFigure(Figure):
    """A figure that only says why there is nothing to draw."""

    sentence = ""


@styled
def sentence_figure(sentence: str) -> SentenceFigure:
    """Returns a figure that says in one sentence why there is nothing to draw."""
    lines = textwrap.wrap(sentence, 95)
    figure = SentenceFigure(figsize=(PAGE_WIDTH, 0.3 + 0.15 * len(lines)))
    FigureCanvasAgg(figure)
    figure.sentence = sentence
    figure.text(0.5, 0.5, "\n".join(lines), ha="center", va="center", color=GREY)
    return figure


def model_colours(models: Iterable[str]) -> dict[str, str]:
    """Returns a colour for each model, by the order of their names; the human dialogues are grey.

    Up to seven models have the hues of the palette; more have lighter and darker ones of the same, and past
    twenty-one the colours repeat.
    """
    colours = {HUMAN: GREY}
    for index, model in enumerate(sorted(set(models) - {HUMAN})):
        share, other = _MIXES[index // len(_MODEL_HUES) % len(_MIXES)]
        colours[model] = mixed(_MODEL_HUES[index % len(_MODEL_HUES)], other, share)
    return colours


def mixed(colour: str, other: str, share: float) -> str:
    """Returns a colour mixed with a share, in 0..1, of another."""
    (r, g, b), (other_r, other_g, other_b) = to_rgb(colour), to_rgb(other)
    return to_hex(
        ((1 - share) * r + share * other_r, (1 - share) * g + share * other_g, (1 - share) * b + share * other_b)
    )


def readable_on(colour: Any) -> str:
    """Returns black or white, whichever reads better on a colour."""
    red, green, blue = to_rgb(colour)
    return ON_LIGHT_COLOUR if 0.299 * red + 0.587 * green + 0.114 * blue > 0.5 else ON_DARK_COLOUR


def wrapped(name: str, width: int) -> str:
    """Returns a name broken into lines of at most `width` characters, after punctuation where there is any."""
    lines = []
    while len(name) > width:
        cut = max((name.rfind(mark, 0, width) + 1 for mark in "-_.+/: "), default=0)
        cut = cut if cut > width // 2 else width
        lines.append(name[:cut])
        name = name[cut:]
    return "\n".join([*lines, name])


# Saving figures: the same bytes every time, and colours that follow the page's where it is dark.

ON_DARK: Mapping[str, str] = MappingProxyType(
    {BLACK: "#e6e7e9", GREY: "#a2a8b1", LIGHT_GREY: "#3a3f47", BLUE: "#2f8fd3"}
)
"""Colour on a light page -> on a dark one. Programs that know of no dark pages leave the first as they are."""
_SHAPING = ("GDEF", "GPOS", "GSUB", "kern")
"""Tables of a font by which text is shaped before it is drawn. In a PDF every glyph has its place already."""


@styled
def save_figure(figure: Figure, svg_path: Path, pdf_path: Path) -> None:
    """Writes a figure as SVG (text stays text) and as PDF (fonts embedded), each whole or not at all.

    The same figure gives the same bytes: neither file holds a date or a random identifier. The ground is transparent.
    The SVG of a figure that only says why there is nothing to draw has the sentence as its description.

    Raises:
        UserError: a file cannot be written.
    """
    # the page is laid out once; `savefig` would draw everything twice more for each format
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    figure.dpi = matplotlib.rcParams["savefig.dpi"]
    described = {"Description": figure.sentence} if isinstance(figure, SentenceFigure) else {}
    text = io.StringIO()
    FigureCanvasSVG(figure).print_svg(text, metadata={"Date": None, **described})  # type: ignore[no-untyped-call]
    with replacing(svg_path) as temporary:
        temporary.write_text(_with_dark_colours(text.getvalue()), encoding="utf-8")
    figure.dpi = matplotlib.rcParams["savefig.dpi"]
    with replacing(pdf_path) as temporary, _fonts_without_shaping():
        FigureCanvasPdf(figure).print_pdf(temporary, metadata={"CreationDate": None})  # type: ignore[no-untyped-call]
    figure.dpi = matplotlib.rcParams["figure.dpi"]
    FigureCanvasAgg(figure)


@contextmanager
def _fonts_without_shaping() -> Iterator[None]:
    """Has Matplotlib embed what a PDF reads of a font: to cut the other tables down is half of a figure's time."""
    usual = Options._drop_tables_default
    Options._drop_tables_default = [*usual, *_SHAPING]
    try:
        yield
    finally:
        Options._drop_tables_default = usual


def _with_dark_colours(svg: str) -> str:
    """Adds a style to an SVG by which the colours of words, lines and grounds change on a dark page."""
    rules = "".join(
        f'[style*="{what}: {light.lower()}"]{{{what}:{dark}!important}}'
        for light, dark in ON_DARK.items()
        for what in ("fill", "stroke")
    )
    return svg.replace("</style>", f"@media (prefers-color-scheme: dark){{{rules}}}</style>", 1)
