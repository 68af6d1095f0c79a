"""Parts that every HTML page of the project shares: packed data, colours, elements and the content policy."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from collections.abc import Iterable
from importlib import resources
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup, escape

from dialeval.errors import RIGHT_TO_LEFT, visible

_ORDERING = re.compile("[\u202a-\u202e\u2066-\u2069]")
_RUN = re.compile(rf"{RIGHT_TO_LEFT}(?:[\s\d_./-]+{RIGHT_TO_LEFT})*")


def pack(content: Any) -> str:
    """Return content as base64 of a zlib stream of compact JSON; the same content always gives the same text.

    No character of it can mean anything to an HTML parser.
    """
    plain = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return base64.b64encode(zlib.compress(plain.encode("utf-8", "surrogatepass"), 6)).decode("ascii")


def unpack(packed: str) -> Any:
    """Return the value that `pack` packed, with lists for tuples."""
    return json.loads(zlib.decompress(base64.b64decode(packed)))


def templates(folder: str) -> Environment:
    """Return the environment of a page's templates: every value is escaped, and one that is missing is an error.

    Characters that would turn the writing direction of what follows around are written out, as names may have them.

    Args:
        folder: of the templates, below the package `dialeval`.
    """
    environment = Environment(
        loader=FunctionLoader(lambda name: _source(f"{folder}/{name}")),
        undefined=StrictUndefined,
        autoescape=True,
        finalize=_in_order,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["isolated"] = isolated
    return environment


def isolated(sentence: str) -> Markup:
    """Return a sentence of a page as markup in which names in Arabic or Hebrew letters move no number beside them."""
    return Markup(_RUN.sub(r"<bdi>\g<0></bdi>", str(escape(_in_order(sentence)))))


def _in_order(value: Any) -> Any:
    """Return a value without characters that reorder the text around it; DialEval's markup is unchanged."""
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    return _ORDERING.sub(lambda found: visible(found[0]), value)


def page_head(styles: Iterable[str], scripts: Iterable[str] = ()) -> dict[str, Any]:
    """Return `style`, `scripts` and `policy` of a page's template.

    The style begins with the colours, light and dark; the first script makes and finds elements. The content security
    policy allows them by their hash, embedded images, and no more.

    Args:
        styles, scripts: paths below the package `dialeval`; without scripts the page has none.
    """
    style = "".join(map(_source, ("html_pages.css", *styles)))
    texts = [_source(name) for name in scripts]
    texts = [_source("html_pages.js"), *texts] if texts else []
    hashes = " ".join(map(_source_hash, texts))
    policy = (
        f"default-src 'none'; script-src {hashes}; style-src {_source_hash(style)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    return {"style": Markup(style), "scripts": [Markup(text) for text in texts], "policy": policy}


def _source_hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _source(path: str) -> str:
    return resources.files("dialeval").joinpath(path).read_text(encoding="utf-8")
