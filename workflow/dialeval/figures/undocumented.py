"""Matplotlib without pages of help, in a job that draws: whoever imports this first has it loaded so.

For everything that can be drawn, Matplotlib writes a page of help as it is imported: an eighth of the start of a job,
and nobody opens them there. Where Matplotlib is loaded already, nothing is done.
"""

from __future__ import annotations

from typing import Any

import matplotlib.artist


def _no_help(artist: Any) -> str:
    return ""


_help, matplotlib.artist.kwdoc = matplotlib.artist.kwdoc, _no_help
try:
    import matplotlib.figure
finally:
    matplotlib.artist.kwdoc = _help
