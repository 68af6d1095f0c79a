"""Who may be one of the best judges in an ensemble, and which judges are one model under several names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dialeval.config.ensembles import scores_items
from dialeval.config.groups import grouped, unknown_in_group
from dialeval.config.mistakes import Mistake

if TYPE_CHECKING:
    from dialeval.config.whole import Config

FIELD = "metaeval.ensemble_pool"


def pool_of(config: Config) -> list[str] | None:
    """Returns the judges that may be among the best, tags replaced by their models; None for all."""
    pool = config.metaeval.ensemble_pool if config.metaeval else None
    return None if pool is None else grouped(config, pool)


def one_model(config: Config) -> dict[str, str]:
    """Returns, of judges that are one model under several names, the first of these names."""
    first: dict[tuple[str | None, ...], str] = {}
    names: dict[str, list[str]] = {}
    for name, model in config.models.items():
        known_as = getattr(model, "model", None)
        if known_as is None or model.learns_from:
            continue
        told = (getattr(model, field, None) for field in ("base_url", "revision", "lora_path"))
        key = (model.engine, known_as, *(None if value is None else str(value) for value in told))
        names.setdefault(first.setdefault(key, name), []).append(name)
    return {name: known for known, several in names.items() if len(several) > 1 for name in several}


def unfit_pool(config: Config) -> Iterator[Mistake]:
    """Yields mistakes where the pool cannot be what is meant."""
    metaeval = config.metaeval
    if metaeval is None or metaeval.ensemble_pool is None:
        return
    scores = metaeval.score_files
    found: list[Mistake] = []
    for name in metaeval.ensemble_pool:
        if name in config.ensembles:
            words = f"'{name}' is an ensemble, and none is a member of another; name its members, or a tag of theirs"
            found.append(Mistake(FIELD, words, (f"ensembles.{name}",)))
        elif name in config.models and not scores_items(config, name):
            words = f"'{name}' scores no rated items; let it judge under rating or yes_no, or take it out of the pool"
            found.append(Mistake(FIELD, words, (f"models.{name}", "judges", "protocols")))
    unknown = unknown_in_group(config, metaeval.ensemble_pool, [*scores, *config.ensembles])
    found += [Mistake(FIELD, words, ("models", "metaeval.score_files", "ensembles")) for _, words in unknown]
    yield from found
    if found:
        return
    known = one_model(config)
    members = {known.get(name, name) for name in pool_of(config) or () if scores_items(config, name)}
    if len(members) < metaeval.ensemble_size:
        there = f"{len(members)} of them score" if len(members) != 1 else "1 of them scores"
        words = (
            f"an ensemble of the best takes {metaeval.ensemble_size} models, and {there} rated items "
            f"({', '.join(sorted(members)) or 'nobody'}); name more, or set metaeval.ensemble_size"
        )
        yield Mistake(FIELD, words, ("metaeval.ensemble_size", "models", "judges", "protocols"))
