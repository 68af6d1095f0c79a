"""One style for all figures: sizes, font, colours, units, counts in words; and saving with the same bytes."""

from __future__ import annotations

import io
import math
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, wraps
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, ParamSpec, TypeVar

import matplotlib
import pandas as pd
from fontTools import subset  # type: ignore[import-untyped]
from matplotlib import font_manager
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.ft2font import LoadFlags
from matplotlib.patches import Rectangle
from matplotlib.text import Text

from dialeval.paths import replacing
from dialeval.tables.files import HUMAN

COLUMN, PAGE = 3.35, 6.9
"""Widths of a figure, in inches: one column of a paper, or its page. A figure is drawn at the size of its print."""

FONT_SIZE = 8.0
"""Size of all text, in points, the smallest in any figure."""

LINE_HEIGHT = 1.25 * FONT_SIZE / 72
"""Height of a line of text, in inches."""

BLACK, GREY, LIGHT_GREY = "#1A1A1A", "#666666", "#D9D9D9"
"""Text, secondary text, and guides. The SVG has other colours for them on a dark page (`ON_DARK`)."""

CI = "95% confidence interval"
"""What a bar is, unless the configuration has another confidence level."""

_HUES = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7A4EA8")
_MARKERS = "os^vD<>"
_SETTINGS: Mapping[str, Any] = MappingProxyType(
    {
        "font.family": "sans-serif", "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial"], "font.size": FONT_SIZE,
        "axes.titlesize": FONT_SIZE, "axes.titleweight": "bold", "axes.labelsize": FONT_SIZE,
        "xtick.labelsize": FONT_SIZE, "ytick.labelsize": FONT_SIZE, "legend.fontsize": FONT_SIZE,
        "figure.dpi": 100.0, "savefig.dpi": 150.0, "figure.facecolor": "none", "axes.facecolor": "none",
        "axes.spines.top": False, "axes.spines.right": False, "axes.axisbelow": True, "axes.linewidth": 0.6,
        "axes.edgecolor": GREY, "axes.labelcolor": BLACK, "text.color": BLACK, "xtick.color": BLACK,
        "ytick.color": BLACK, "xtick.major.width": 0.6, "ytick.major.width": 0.6, "xtick.major.size": 2.5,
        "grid.color": LIGHT_GREY, "grid.linewidth": 0.4, "ytick.major.size": 2.5, "lines.linewidth": 1.0,
        "legend.frameon": False, "text.parse_math": False,
        "text.hinting": "none", "svg.fonttype": "none", "svg.hashsalt": "dialeval", "pdf.fonttype": 42,
    }
)  # fmt: skip
_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


class Unit(NamedTuple):
    """How numbers of one kind are written.

    Attributes:
        factor: of the table's number.
        digits: after the point.
        symbol: in the axis label, in brackets.
    """

    factor: float = 1.0
    digits: int = 2
    symbol: str = ""

    def text(self, value: float) -> str:
        """Return a number as text, with a minus sign instead of a hyphen; a dash if it is not available."""
        if math.isnan(value):
            return "–"
        text = f"{self.factor * value:,.{self.digits}f}"
        return (text[1:] if float(text.replace(",", "")) == 0 and text[0] == "-" else text).replace(
            "-", "\N{MINUS SIGN}"
        )

    def exact(self, row: Any) -> str:
        """Return the estimate of a row with its interval, if any, and one more digit: `72.3% [66.1, 77.0]`."""
        unit = self._replace(digits=self.digits + 1)
        low, high = interval_of(row)
        interval = f" [{unit.text(low)}, {unit.text(high)}]" if _has_interval(row) else ""
        published = getattr(row, "published", None)
        printed = f", published {unit.text(published)}" if pd.notna(published) else ""
        return unit.text(row.estimate) + "%" * (self.symbol == "%") + interval + printed

    def tick(self, value: float) -> str:
        """Return a number as a tick label, with no more digits than it needs."""
        return f"{self.factor * value:,.10g}".replace("-", "\N{MINUS SIGN}")

    def label(self, quantity: str) -> str:
        """Return the label of an axis: the quantity and its unit."""
        return f"{quantity} ({self.symbol})" if self.symbol else quantity


PERCENT, CORRELATION, POINTS = Unit(100.0, 0, "%"), Unit(1.0, 2), Unit(1.0, 0)


class Mark(NamedTuple):
    """Colour, marker and line of one system or series; any one of them identifies it among seven."""

    colour: str = _HUES[0]
    marker: str = "o"
    filled: bool = True
    dashes: str | tuple[int, tuple[float, ...]] = "-"
    edge: str = ""

    def arguments(self, size: float = 4.0) -> dict[str, Any]:
        """Return the arguments that draw the marker; a hollow one is white inside."""
        inside = self.colour if self.filled else "#FFFFFF"
        size = 1.9 * size if self.marker == "|" else size
        return {"marker": self.marker, "markersize": size, "color": self.colour, "markerfacecolor": inside,
                "markeredgecolor": self.edge or self.colour, "markeredgewidth": 0.9}  # fmt: skip


SINGLE = Mark()
PUBLISHED = Mark(BLACK, "d", filled=False)
"""Of numbers that a paper prints."""


def system_marks(roster: Iterable[str], shown: Iterable[str] = ()) -> dict[str, Mark]:
    """Return the mark of every system: the same in all figures that get the same roster.

    Systems 1 to 7 have a hue and a marker each; 8 to 14 have the same, hollow and dashed. Later ones repeat.
    Human dialogues are black.

    Args:
        roster: the systems of the configuration.
        shown: those of the figure; the ones that the roster lacks, such as systems of transcript files, follow it.
    """
    known = sorted(set(roster) - {HUMAN})
    names = [*known, *sorted(set(shown) - {HUMAN, *known})]
    found = {HUMAN: Mark(BLACK, "o", True, (0, (1.0, 1.2)))}
    for number, name in enumerate(names):
        place, hollow = number % len(_HUES), number // len(_HUES) % 2
        found[name] = Mark(_HUES[place], _MARKERS[place], not hollow, (0, (4.0, 1.5)) if hollow else "-")
    return found


def series_marks(names: Iterable[str]) -> dict[str, Mark]:
    """Return the mark of each series of a panel, in the order given."""
    return {name: Mark(_HUES[n % 7], _MARKERS[n % 7], n // 7 % 2 == 0) for n, name in enumerate(names)}


def shade(share: float) -> tuple[float, float, float]:
    """Return a colour from white (0) to dark blue (1), with steadily falling lightness, also in greyscale."""
    red, green, blue, _ = matplotlib.colormaps["Blues"](0.85 * min(max(share, 0.0), 1.0))
    return red, green, blue


def diverging(share: float) -> tuple[float, float, float]:
    """Return a colour from orange (-1) over white (0) to blue (1)."""
    end = to_rgb("#08519C" if share > 0 else "#B35806")
    red, green, blue = (1 - min(abs(share), 1.0) * (1 - part) for part in end)
    return red, green, blue


def ink_on(colour: tuple[float, float, float]) -> str:
    """Return black or white, whichever has more contrast on a colour."""
    red, green, blue = colour
    return "#000000" if 0.299 * red + 0.587 * green + 0.114 * blue > 0.55 else "#FFFFFF"


def per(counts: pd.Series, noun: str, unit: str) -> str:
    """Return how many observations are behind each number: `250 dialogues per system`, `23 to 250 dialogues...`."""
    known = counts.dropna()
    low, high = (int(known.min()), int(known.max())) if len(known) else (0, 0)
    nouns = noun if high == 1 else f"{noun}s"
    return f"n = {low:,} {nouns} per {unit}" if low == high else f"n = {low:,} to {high:,} {nouns} per {unit}"


PUBLISHED_WORDS = "Diamonds are published numbers"


def published_note(table: pd.DataFrame) -> str:
    """Return the note of a caption on published numbers; empty without any."""
    return f". {PUBLISHED_WORDS}" if "published" in table and table["published"].notna().any() else ""


@cache
def wrapped(text: str, width: float, weight: str = "normal") -> str:
    """Return a text in as few lines of at most a width in inches as possible, of about the same length."""
    broken = _broken(text, width, weight)
    for share in (0.5, 0.6, 0.7, 0.8, 0.9):
        even = _broken(text, share * width, weight)
        if even.count("\n") == broken.count("\n") and all(line[-1] in "-_+/:,. " for line in even.split("\n")[:-1]):
            return "\n".join(line.rstrip() for line in even.split("\n"))
    return "\n".join(line.rstrip() for line in broken.split("\n"))


def _broken(text: str, width: float, weight: str) -> str:
    """Return a text in lines that are filled one after the other, broken after blanks or else punctuation."""
    lines = []
    while text_width(text, weight) > width:
        fits = next(n for n in range(len(text) - 1, 0, -1) if n == 1 or text_width(text[:n].rstrip(), weight) <= width)
        cuts = (text.rfind(" ", 0, fits + 1) + 1, max(text.rfind(mark, 0, fits) + 1 for mark in "-_+/:,."), fits)
        cut = next(cut for cut in cuts if cut > fits // 3)
        lines.append(text[:cut])
        text = text[cut:]
    return "\n".join([*lines, text])


@cache
def text_width(text: str, weight: str = "normal") -> float:
    """Return the width of the longest line of a text, in inches."""
    font = _font(weight)
    font.set_size(FONT_SIZE, 72)
    widths: list[float] = []
    for line in text.split("\n"):
        with _without_glyph_warnings():
            font.set_text(line, 0.0, flags=LoadFlags.NO_HINTING)
        widths.append(font.get_width_height()[0] / 64 / 72)
    return max(widths)


@cache
def _font(weight: str) -> Any:
    name = "DejaVuSans-Bold.ttf" if weight == "bold" else "DejaVuSans.ttf"
    return font_manager.get_font(str(Path(matplotlib.get_data_path(), "fonts", "ttf", name)))


def styled(draw: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """Make a function draw in this style, independent of global settings."""

    @wraps(draw)
    def wrapper(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Result:
        _prefer_shipped_fonts()
        usual: dict[Any, Any] = {
            name: value for name, value in matplotlib.rcParamsDefault.items() if not name.startswith("backend")
        }
        with matplotlib.rc_context(usual | dict(_SETTINGS)), _without_glyph_warnings():
            return draw(*args, **kwargs)

    return wrapper


@contextmanager
def _without_glyph_warnings() -> Iterator[None]:
    """Silence Matplotlib's warning for each character that the font lacks, at each draw; `save_figure` returns them."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        yield


def _prefer_shipped_fonts() -> None:
    """Put Matplotlib's own fonts before the machine's in its list, so that a figure has the same bytes everywhere.

    Matplotlib keeps one list for all environments of a user, which can lack the fonts of this one.
    """
    fonts = font_manager.fontManager
    shipped = Path(matplotlib.get_data_path(), "fonts", "ttf")
    if fonts.ttflist and Path(fonts.ttflist[0].fname).parent == shipped:
        return
    others, fonts.ttflist = fonts.ttflist, []
    for path in sorted(shipped.glob("DejaVuSans*.ttf")):
        fonts.addfont(path)
    fonts.ttflist += others


ON_DARK: Mapping[str, str] = MappingProxyType(
    {BLACK: "#e6e7e9", GREY: "#a2a8b1", LIGHT_GREY: "#3a3f47", _HUES[0]: "#2f8fd3"}
)
"""Colour on a light page -> on a dark one, for programs that know dark pages."""
_SHAPING = ("GDEF", "GPOS", "GSUB", "kern")
"""Tables of a font for shaping text, which a PDF does not need: every glyph has its place already."""


def interval_of(row: Any) -> tuple[float, float]:
    """Return `ci_low` and `ci_high` of a row with an estimate; twice the estimate if it has no interval."""
    return (row.ci_low, row.ci_high) if _has_interval(row) else (row.estimate, row.estimate)


def _has_interval(row: Any) -> bool:
    return all(pd.notna(getattr(row, end, None)) for end in ("ci_low", "ci_high"))


_VALUE = "value of "
_VALUE_IN_SVG = re.compile(rf'<g id="{_VALUE}([^"]*)">\s*<path d="([^"]*)"[^>]*/>\s*</g>')


def add_value(axes: Axes, text: str, x: tuple[float, float], y: tuple[float, float]) -> None:
    """Give a place of a panel a text, which a browser shows under the pointer.

    Args:
        axes: the panel's.
        text: the value with its name and interval.
        x, y: ends of the place, in units of the axes; what is outside the axes is cut off.
    """
    left, right = (min(max(end, min(axes.get_xlim())), max(axes.get_xlim())) for end in x)
    bottom, top = (min(max(end, min(axes.get_ylim())), max(axes.get_ylim())) for end in y)
    place = _Value(
        (left, bottom), right - left, top - bottom, alpha=0.0, linewidth=0, clip_on=False, zorder=9, gid=_VALUE + text
    )
    axes.add_artist(place)


class _Value(Rectangle):
    """The place of a value in a figure: transparent, and in the SVG alone."""


@styled
def save_figure(
    figure: Figure, svg_path: Path, pdf_path: Path, title: str, description: str, keyword: str = ""
) -> set[str]:
    """Write a figure as SVG (text stays text) and as PDF (fonts embedded), each written completely or not at all.

    The same figure gives the same bytes: neither file holds a date or a random identifier. The ground is transparent.
    Title, description and keyword are in the metadata.

    Returns:
        texts with characters that the font lacks, such as Chinese names: the PDF has boxes in their place.

    Raises:
        UserError: a file cannot be written.
    """
    # the page is laid out once; `savefig` would draw everything twice more for each format
    figure.draw_without_rendering()
    figure.dpi = matplotlib.rcParams["savefig.dpi"]
    described: dict[str, Any] = {"Title": title, "Description": description, "Keywords": [keyword] if keyword else None}
    text = io.StringIO()
    FigureCanvasSVG(figure).print_svg(text, metadata={"Date": None, **described})  # type: ignore[no-untyped-call]
    svg = _VALUE_IN_SVG.sub(r'<g class="value"><title>\1</title><path d="\2" style="opacity: 0"/></g>', text.getvalue())
    with replacing(svg_path) as temporary:
        temporary.write_text(_with_dark_colours(svg), encoding="utf-8")
    for place in figure.findobj(_Value):
        place.set_visible(False)
    figure.dpi = matplotlib.rcParams["savefig.dpi"]
    metadata = {"CreationDate": None, "Title": title, "Subject": description}
    with replacing(pdf_path) as temporary, _fonts_without_shaping():
        FigureCanvasPdf(figure).print_pdf(temporary, metadata=metadata)  # type: ignore[no-untyped-call]
    figure.dpi = matplotlib.rcParams["figure.dpi"]
    FigureCanvasAgg(figure)
    known = _font("normal").get_charmap()
    texts = {text.get_text().replace("\n", "") for text in figure.findobj(Text) if isinstance(text, Text)}
    return {text for text in texts if any(ord(character) not in known for character in text)}


@contextmanager
def _fonts_without_shaping() -> Iterator[None]:
    """Make Matplotlib embed only the font tables that a PDF needs: to read the others takes half of a figure's time."""
    usual = subset.load_font

    def load(*args: Any, **options: Any) -> Any:
        font = usual(*args, **options)
        for table in _SHAPING:
            if table in font:
                del font[table]
        return font

    subset.load_font = load
    try:
        yield
    finally:
        subset.load_font = usual


def _with_dark_colours(svg: str) -> str:
    """Add a style to an SVG by which the colours of text, lines and grounds change on a dark page."""
    rules = "".join(
        f'[style*="{what}: {light.lower()}"]{{{what}:{dark}!important}}'
        for light, dark in ON_DARK.items()
        for what in ("fill", "stroke")
    )
    return svg.replace("</style>", f"@media (prefers-color-scheme: dark){{{rules}}}</style>", 1)
