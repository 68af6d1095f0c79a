"""Matplotlib loaded without its pages of help; imported before all else that draws.

For everything that can be drawn, Matplotlib writes a page of help as it is imported: an eighth of the start of a job,
and nobody opens them there. Where Matplotlib is loaded already, nothing is done.
"""

from __future__ import annotations

from typing import Any

import matplotlib.artist


class _SaysLittle(matplotlib.artist.ArtistInspector):
    """Finds nothing that a page of help would say, and tells other names of the same by how their own page begins."""

    @staticmethod
    def is_alias(method: Any) -> bool:
        return (method.__doc__ or "").startswith("Alias for ")

    def get_setters(self) -> list[str]:
        return []

    def pprint_setters(self, prop: Any = None, leadingspace: int = 2) -> Any:
        return []

    def pprint_setters_rest(self, prop: Any = None, leadingspace: int = 4) -> Any:
        return []  # asked where a matplotlibrc has docstring.hardcopy


_inspector = matplotlib.artist.ArtistInspector
matplotlib.artist.ArtistInspector = _SaysLittle  # type: ignore[misc]
try:
    import matplotlib.figure
finally:
    matplotlib.artist.ArtistInspector = _inspector  # type: ignore[misc]
