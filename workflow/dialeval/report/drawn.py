"""Figures on the page: those that show something as images, of the others the sentence that says why not."""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Iterable
from dataclasses import dataclass

from dialeval.report.inputs import Figure

_DESCRIPTION = re.compile("<dc:description>(.*?)</dc:description>", re.DOTALL)


@dataclass(frozen=True)
class FigureOnPage:
    """A figure as an image that needs no file, and the address that it has on the page."""

    title: str
    caption: str
    image: str
    address: str


def why_empty(figure: Figure) -> str:
    """Returns the sentence that an SVG has as its description where there was nothing to draw; else nothing."""
    found = _DESCRIPTION.search(figure.svg)
    return html.unescape(found[1]) if found else ""


def on_page(figures: Iterable[Figure]) -> tuple[FigureOnPage, ...]:
    """Embeds the figures that show something as images: their ids and styles stay their own, nothing in them can run.

    An image follows the page's colours, light or dark, by itself.
    """
    return tuple(
        FigureOnPage(figure.title, figure.caption, _image(figure), address_of(figure))
        for figure in figures
        if not why_empty(figure)
    )


def not_drawn(figures: Iterable[Figure]) -> tuple[tuple[str, str], ...]:
    """Returns title and reason of the figures that have nothing to show."""
    return tuple((figure.title, why) for figure in figures if (why := why_empty(figure)))


def address_of(figure: Figure) -> str:
    """Returns the address of a figure on the page."""
    return f"figure-{figure.name.replace('/', '-')}"


def _image(figure: Figure) -> str:
    return "data:image/svg+xml;base64," + base64.b64encode(figure.svg.encode()).decode("ascii")
