"""Writes a sheet as one HTML file: its style, its scripts, and its texts packed."""

from __future__ import annotations

from importlib import resources

from markupsafe import Markup

from dialeval.labels.page.content import content
from dialeval.labels.sheet import Sheet
from dialeval.pages.self_contained import content_policy, elements, pack, palette, templates

TEMPLATE = "labelling.html.j2"
STYLE = "labelling.css"
SCRIPTS = ("controls.js", "sheet.js", "kept.js", "dialogues.js", "questions.js", "shown.js", "files.js", "keys.js")
"""In the order in which they run; the last one starts the page."""


def page_html(sheet: Sheet) -> str:
    """Returns the page of one annotator as the text of one HTML file.

    The same sheet always gives the same text. What the page holds of a dialogue is what `sheet` says of it, no more.
    """
    style, scripts = palette() + _source(STYLE), [elements(), *map(_source, SCRIPTS)]
    return (
        templates(_source)
        .get_template(TEMPLATE)
        .render(
            sheet=sheet,
            policy=content_policy(style, scripts),
            style=Markup(style),
            scripts=[Markup(script) for script in scripts],
            packed=pack(content(sheet)),
        )
    )


def _source(name: str) -> str:
    """Returns a file of this package."""
    return resources.files("dialeval.labels.page").joinpath(name).read_text(encoding="utf-8")
