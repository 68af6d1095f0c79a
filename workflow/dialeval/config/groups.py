"""Groups of models: those of one kind, chat or base, and those that carry a tag."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING

from dialeval.config.mistakes import Mistake
from dialeval.errors import nearest

if TYPE_CHECKING:
    from dialeval.config.whole import Config


def kinds(config: Config) -> dict[str, str]:
    """Returns the kind, chat or base, of every model that says it."""
    return {name: model.kind for name, model in config.models.items() if model.kind}


def tagged(config: Config) -> dict[str, list[str]]:
    """Returns every tag with its models, both in the configuration's order."""
    tags = dict.fromkeys(tag for model in config.models.values() for tag in model.tags)
    return {tag: [name for name, model in config.models.items() if tag in model.tags] for tag in tags}


def grouped(config: Config, named: Iterable[str]) -> list[str]:
    """Returns names with each tag among them replaced by its models, every name once and in the order given."""
    tags = tagged(config)
    return list(dict.fromkeys(name for entry in named for name in tags.get(entry, [entry])))


def unknown_in_group(config: Config, named: Iterable[str], others: Iterable[str] = ()) -> Iterator[tuple[str, str]]:
    """Yields what is neither a tag nor a model of the configuration, nor among `others`, and words about it."""
    known = [*tagged(config), *config.models, *others]
    for entry in named:
        if entry not in known:
            yield entry, f"'{entry}' is neither a model of this configuration nor a tag of any; {nearest(entry, known)}"


def unfit_tags(config: Config) -> Iterator[Mistake]:
    """Yields mistakes where a tag could be read as something else."""
    scores = config.metaeval.score_files if config.metaeval else {}
    sections: dict[str, Collection[str]] = {
        "models": config.models,
        "ensembles": config.ensembles,
        "metaeval.score_files": scores,
    }
    for name, model in config.models.items():
        for tag in model.tags:
            for section, taken in sections.items():
                if tag in taken:
                    words = f"'{tag}' is a name under {section}, too, and a tag stands for several; choose another tag"
                    yield Mistake(f"models.{name}.tags", words, (f"{section}.{tag}",))
