"""Which engines can answer on this installation; asked before any job runs, so it imports none of them."""

from __future__ import annotations

from dialeval.config import Model

ANSWERING_ENGINES = ("embedded",)


def unavailable(model: Model) -> str | None:
    """Returns why a model's engine cannot answer on this installation, or None if it can."""
    if model.engine in ANSWERING_ENGINES:
        return None
    return (
        f"engine '{model.engine}' cannot answer in this version of dialeval, only {', '.join(ANSWERING_ENGINES)} can; "
        "use an embedded model, or a version with that engine"
    )
