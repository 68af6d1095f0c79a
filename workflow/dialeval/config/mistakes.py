"""What can be wrong between the parts of a configuration, and what several checks of that have in common."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from dialeval.errors import nearest

if TYPE_CHECKING:
    from dialeval.config.whole import Config


class Mistake(NamedTuple):
    """What is wrong with a configuration whose fields are all right by themselves.

    Attributes:
        field: where it shows.
        words: what is wrong and what would be right.
        about: fields that it depends on besides; a mistake in one of them can be the cause.
    """

    field: str
    words: str
    about: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.field}: {self.words}"


class Mistakes(ValueError):
    """All mistakes of a configuration that are between its parts."""

    def __init__(self, found: Iterable[Mistake]) -> None:
        self.found = tuple(found)
        super().__init__("; ".join(map(str, self.found)))


def unknown(field: str, names: Iterable[str], known: Collection[str], kind: str, *sections: str) -> Iterator[Mistake]:
    """Yields names in a field that mean nothing.

    Args:
        field: where they stand.
        names: what stands there.
        known: the names that would be right.
        kind: what they are names of.
        sections: where such names are defined.
    """
    for name in names:
        if name not in known:
            words = f"'{name}' is not a {kind} of this configuration; {nearest(name, known)}"
            yield Mistake(field, words, tuple(f"{section}.{name}" for section in sections))


def differing_in_case(field: str, names: Iterable[str]) -> Iterator[Mistake]:
    """Yields names in a field that some disks would take for one file."""
    folded: dict[str, str] = {}
    for name in names:
        other = folded.setdefault(name.lower(), name)
        if other != name:
            words = f"'{other}' and '{name}' differ only in case, as files on some disks may not; rename one"
            yield Mistake(field, words)


def writers(config: Config) -> dict[str, list[str]]:
    """Returns the models that are to write or to choose among options, by the field that names them."""
    partner, robustness = config.selfchat.partner, config.robustness
    return {
        "chatbots": config.chatbots,
        "selfchat.partner": [partner] if partner else [],
        "robustness.rewriter": [robustness.rewriter] if robustness and robustness.rewriter else [],
        **(config.dialogbench.models() if config.dialogbench else {}),
    }


def judges_by_field(config: Config) -> dict[str, list[str]]:
    """Returns the judges that the configuration names, by the field that names them."""
    own = {f"protocols.{name}.judges": own_judges(config, name) for name in config.resolved_protocols()}
    return {"judges": config.judges, **own}


def own_judges(config: Config, protocol: str) -> list[str]:
    """Returns the judges that a protocol names itself."""
    return getattr(getattr(config.protocols, protocol, None), "judges", None) or []


def judges_field(config: Config, protocol: str) -> str:
    """Returns the field that names the judges of a protocol."""
    return f"protocols.{protocol}.judges" if own_judges(config, protocol) else "judges"
