"""Where the tables of requests and responses of a run lie, for whoever looks up what was sent and answered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from pydantic import BaseModel

from dialeval.engines.prices import Prices
from dialeval.report.asked import Asked, in_files
from dialeval.schemas.shared import REQUESTS, RESPONSES


class Answering(Prices):
    """How one model was asked, and what its tokens cost.

    Attributes:
        shards: by protocol, in how many parts its answers lie.
        again: protocols under which it was asked again what could not be read.
        merges: whether it takes no system message.
        from_texts: whether it answers from the texts alone, as embedded models do.
        published: whether its answers were taken over from others.
    """

    shards: dict[str, int]
    again: tuple[str, ...] = ()
    merges: bool = False
    from_texts: bool = False
    published: bool = False


class Answers(BaseModel, defer_build=True):
    """What was asked in a run.

    Attributes:
        models: by name.
        together: cascades, with the judges whose answers theirs are, the one that is heard first in front.
    """

    models: dict[str, Answering] = {}
    together: dict[str, tuple[str, ...]] = {}

    def protocols(self) -> list[str]:
        """Returns the protocols under which anything was asked."""
        return sorted({protocol for model in self.models.values() for protocol in model.shards})


def asked_in(results: Path, answers: Answers) -> Asked:
    """Returns what looks up requests and responses in a folder of results."""
    models = answers.models
    of_model = {
        name: in_files(_responses(results, name, model), RESPONSES) for name, model in models.items() if model.shards
    }
    return Asked(
        in_files([results / "requests" / f"{protocol}.parquet" for protocol in answers.protocols()], REQUESTS),
        of_model,
        {
            name: in_files(
                [results / f"requests/again/{name}/{protocol}.parquet" for protocol in model.again], REQUESTS
            )
            for name, model in models.items()
            if model.again
        },
        {
            name: Prices(price_input=model.price_input, price_output=model.price_output)
            for name, model in models.items()
        },
        answers.together,
        _named(models, "merges"),
        _named(models, "from_texts"),
        _named(models, "published"),
    )


def _responses(results: Path, name: str, model: Answering) -> list[Path]:
    folder = results / "responses"
    parts = [
        folder / name / protocol / f"{shard}-of-{shards}.parquet"
        for protocol, shards in model.shards.items()
        for shard in range(1, shards + 1)
    ]
    return [*parts, *(folder / "again" / name / f"{protocol}.parquet" for protocol in model.again)]


def _named(models: Mapping[str, Answering], trait: str) -> frozenset[str]:
    named: Iterable[str] = (name for name, model in models.items() if getattr(model, trait))
    return frozenset(named)
