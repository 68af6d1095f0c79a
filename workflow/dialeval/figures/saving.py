"""Saving figures: the same bytes every time, and colours that follow the page's where it is dark."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

import matplotlib
from fontTools.subset import Options  # type: ignore[import-untyped]
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from dialeval.figures.style import BLACK, BLUE, GREY, LIGHT_GREY, SentenceFigure, styled
from dialeval.tables import replacing

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
