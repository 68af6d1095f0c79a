"""The protocols of a run as the report tells of them: what each is called, and what it asked about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from dialeval.schemas.judgements import Form

TITLES: Mapping[str, str] = MappingProxyType(
    {
        "unieval": "UniEval",
        "arena": "Arena",
        "gteval": "GTEval",
        "rating": "Rating",
        "yes_no": "Yes or no",
        "failures": "Failures",
    }
)
"""How papers call their protocols; any other is called by its name."""


@dataclass(frozen=True)
class AskedProtocol:
    """One protocol of a run.

    Attributes:
        name: as the configuration calls it; `<name>/<measure>` are its tables.
        form: of its questions.
        sources: where the dialogues come from that it is about.
        measures: what is made of the answers.
        lengths: what dialogues were cut to, each asked about; empty where each was asked about once.
        at: lengths at which the answers about whole dialogues are read, of a judge that looks for an AI.
    """

    name: str
    form: Form
    sources: tuple[str, ...]
    measures: tuple[str, ...]
    lengths: tuple[int, ...] = ()
    at: tuple[int, ...] = ()

    @property
    def title(self) -> str:
        """What the page calls it."""
        return title_of(self.name)


def title_of(protocol: str) -> str:
    """Returns what the page calls a protocol."""
    return TITLES.get(protocol, protocol)
