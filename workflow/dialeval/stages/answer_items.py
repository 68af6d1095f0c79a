"""Answers requests about items (`rating`, `yes_no`): what does not fit a judge's window loses its oldest utterances."""

from __future__ import annotations

from pathlib import Path

from dialeval.criteria import LEVELS, with_own
from dialeval.engines.request import Engine, Request
from dialeval.forms.item_prompts import ByLevel, shortened
from dialeval.prompts.rendering import Templates
from dialeval.stages import answer as whole


class Settings(whole.Settings):
    """The same, and the protocol's own template."""

    template: str | None = None


def stage(
    settings: Settings,
    requests: Path,
    learned: list[Path],
    store: Path,
    responses: Path,
    usage: Path,
    templates: Templates,
) -> None:
    """Writes the table `responses`, in the order of the requests, and a record of the usage."""
    criteria, own = with_own(settings.criteria), settings.template
    names: ByLevel | None = dict.fromkeys(LEVELS, own) if own else None

    def shorten(request: Request, engine: Engine) -> tuple[Request, int]:
        return shortened(request, templates, engine, criteria, names)

    whole.answer(settings, requests, learned, store, responses, usage, shorten)
