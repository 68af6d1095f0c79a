"""Ensembles of judges, their possible members, and groups of models."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING

from dialeval.config.criteria import SCORING
from dialeval.config.models import PublishedModel
from dialeval.config.protocol_settings import PERTURBED, RATED, Protocol
from dialeval.config.protocols import asks
from dialeval.config.section import Mistake
from dialeval.config.trained_judges import learned_by
from dialeval.errors import nearest

if TYPE_CHECKING:
    from dialeval.config.configuration import Config


MIXED = "ensemble"
"""Method of an ensemble whose members are scored by different protocols."""
FILE = "file"
"""Method of ready scores."""


def unfit_ensembles(config: Config) -> Iterator[Mistake]:
    """Yield mistakes in the named ensembles."""
    if config.ensembles and MIXED in config.protocols.own:
        words = f"'{MIXED}' is the method of ensembles in the tables; choose another name"
        yield Mistake(f"protocols.{MIXED}", words, ("ensembles",))
    for name, members in config.ensembles.items():
        field, related = f"ensembles.{name}", tuple(f"models.{member}" for member in members)
        for section, taken in (("models", [*config.models]), ("metaeval.score_files", [*config.score_files])):
            for other in taken:
                if other.lower() == name.lower():
                    yield Mistake(field, f"'{other}' is also a name under {section}; rename the ensemble")
        first = min(other for other in config.ensembles if other.lower() == name.lower())
        if first != name:
            yield Mistake(
                field, f"'{first}' and '{name}' differ only in case, and some file systems ignore case; rename one"
            )
        if name == "human":
            yield Mistake(field, "'human' is the name of the human annotators in the tables; rename the ensemble")
        if len(members) < 2:
            yield Mistake(field, f"a mean needs at least 2 members, and there are {len(members)}; name another judge")
            continue
        found = [*_unfit_members(config, field, members)]
        yield from found
        if not found and (mistake := _disjoint_training(config, members)):
            yield Mistake(field, mistake, ("training", *related))
        elif not found and not members_by_method(config, name):
            words = (
                f"its members share no protocol ({_criteria_by_member(config, members)}); give them a protocol of form "
                "scale or probability in common, or protocols about the same rated corpora"
            )
            yield Mistake(field, words, ("protocols", "judges", *related))


def members_by_method(config: Config, ensemble: str) -> dict[str, dict[str, list[str]]]:
    """Return the methods by which an ensemble judges; for each the members' own, the first before the others.

    Under every protocol under which all of its members judge it is their mean there; ready scores count as given under
    each that is about rated items. Where there is none, the members meet on rated and perturbed items, each with its
    scores under one protocol: a probability if it has one, else a number.
    """
    members = config.ensembles[ensemble]
    ways = {name: _ways(config, name) for name in members}
    models = [name for name in members if ways[name] != [FILE]]
    common = [way for way in ways[models[0]] if all(way in ways[name] for name in models)] if models else []
    if len(models) < len(members):
        common = [way for way in common if _rated_corpora(config, config.resolved_protocols()[way])]
    if common:
        return {way: {name: [way] if name in models else [FILE] for name in members} for way in common}
    on_items = {name: _ways_on_items(config, name) for name in members}
    shared = [_items(config, found) for found in on_items.values()]
    return {MIXED: on_items} if shared and set.intersection(*shared) else {}


def _unfit_members(config: Config, field: str, members: list[str]) -> Iterator[Mistake]:
    for member in members:
        related = (f"models.{member}", "judges", "protocols", "metaeval")
        if member in config.ensembles and member not in (*config.models, *config.score_files):
            words = f"'{member}' is itself an ensemble, so its members would count twice; name its members instead"
            yield Mistake(field, words, (f"ensembles.{member}",))
        elif member not in config.models and member not in config.score_files:
            known = [name for name in (*config.models, *config.score_files) if name not in members]
            words = (
                f"'{member}' is neither a model nor a file of scores of this configuration; {nearest(member, known)}"
            )
            yield Mistake(field, words, (f"models.{member}", f"metaeval.score_files.{member}"))
        elif isinstance(config.models.get(member), PublishedModel):
            words = (
                f"'{member}' is a published model, which has verdicts and no scores; put its scores under "
                "metaeval.score_files, or remove it"
            )
            yield Mistake(field, words, related)
        elif not _ways(config, member):
            words = (
                f"'{member}' has no scores; name it under judges, with yes_no or rating or a protocol of form scale "
                "or probability, or remove it"
            )
            yield Mistake(field, words, related)


def _disjoint_training(config: Config, members: list[str]) -> str:
    """Return a message if trained members score no common criterion; '' if they do."""
    known = {name: learned for name in members if (learned := learned_by(config, name)) is not None}
    if not known or set.intersection(*known.values()):
        return ""
    each = [
        f"{name} learns {', '.join(f'{criterion} of a {level}' for level, criterion in sorted(learned))}"
        for name, learned in known.items()
    ]
    return (
        f"its members have no scores in common ({'; '.join(each)}); use members that learn the same criteria at one "
        "level, or add one under training"
    )


def _ways(config: Config, member: str) -> list[str]:
    """Return the protocols under which a member gives scores, or that it is a file of them."""
    if member in config.score_files:
        return [FILE]
    return [
        name
        for name, protocol in config.resolved_protocols().items()
        if protocol.form in SCORING and asks(config, protocol) and member in (protocol.judges or ())
    ]


def scores_items(config: Config, member: str) -> bool:
    """Return whether a judge, or a file of ready scores, gives scores of rated corpora."""
    return any(way == FILE or _rated_corpora(config, config.resolved_protocols()[way]) for way in _ways(config, member))


def _ways_on_items(config: Config, member: str) -> list[str]:
    """Return those of a member's ways that judge rated or perturbed items, probabilities first."""
    if (ways := _ways(config, member)) == [FILE]:
        return ways
    protocols = config.resolved_protocols()
    found = [way for way in ways if _items(config, [way])]
    return sorted(found, key=lambda way: protocols[way].form != "probability")


def _items(config: Config, ways: list[str]) -> set[str]:
    """Return the sources of items (rated corpora, perturbed items) that are scored by some methods."""
    found: set[str] = set()
    for way in ways:
        if way == FILE:
            found.update(config.rated_corpora)
        else:
            protocol = config.resolved_protocols()[way]
            found |= _rated_corpora(config, protocol)
            found |= {PERTURBED} & {*protocol.data.source} if config.robustness else set()
    return found


def _rated_corpora(config: Config, protocol: Protocol) -> set[str]:
    """Return the rated corpora that a protocol is about."""
    every = set(config.rated_corpora)
    return every if RATED in protocol.data.source else every & {*protocol.data.source}


def _criteria_by_member(config: Config, members: list[str]) -> str:
    return "; ".join(f"{name} under {', '.join(_ways(config, name))}" for name in members)


# Candidates for the best ensemble

FIELD = "metaeval.ensemble_pool"


def unfit_pool(config: Config) -> Iterator[Mistake]:
    """Yield mistakes in `metaeval.ensemble_pool`."""
    metaeval = config.metaeval
    if metaeval is None or metaeval.ensemble_pool is None:
        return
    scores = metaeval.score_files
    found: list[Mistake] = []
    for name in metaeval.ensemble_pool:
        if name in config.ensembles:
            words = (
                f"'{name}' is an ensemble, and an ensemble cannot be a member; name its members, or one of their tags"
            )
            found.append(Mistake(FIELD, words, (f"ensembles.{name}",)))
        elif name in config.models and not scores_items(config, name):
            words = f"'{name}' scores no rated items; let it judge under rating or yes_no, or remove it from the pool"
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
            f"the ensemble of the best judges needs {metaeval.ensemble_size} models, and {there} rated items "
            f"({', '.join(sorted(members)) or 'none'}); name more models, or set metaeval.ensemble_size"
        )
        yield Mistake(FIELD, words, ("metaeval.ensemble_size", "models", "judges", "protocols"))


def pool_of(config: Config) -> list[str] | None:
    """Return the judges that may be among the best, tags replaced by their models; None for all."""
    pool = config.metaeval.ensemble_pool if config.metaeval else None
    return None if pool is None else grouped(config, pool)


def one_model(config: Config) -> dict[str, str]:
    """Return, of judges that are one model under several names, the first of these names."""
    first: dict[tuple[str | None, ...], str] = {}
    names: dict[str, list[str]] = {}
    for name, model in config.models.items():
        known_as = getattr(model, "model", None)
        if known_as is None or model.learns_from:
            continue
        differing = (getattr(model, field, None) for field in ("base_url", "revision", "lora_path"))
        key = (model.engine, known_as, *(None if value is None else str(value) for value in differing))
        names.setdefault(first.setdefault(key, name), []).append(name)
    return {name: known for known, several in names.items() if len(several) > 1 for name in several}


# Groups of models


def model_types(config: Config) -> dict[str, str]:
    """Return the type, chat or base, of every model that names one."""
    return {name: model.kind for name, model in config.models.items() if model.kind}


def tagged(config: Config) -> dict[str, list[str]]:
    """Return every tag with its models, both in the configuration's order."""
    tags = dict.fromkeys(tag for model in config.models.values() for tag in model.tags)
    return {tag: [name for name, model in config.models.items() if tag in model.tags] for tag in tags}


def grouped(config: Config, named: Iterable[str]) -> list[str]:
    """Return names with each tag among them replaced by its models, every name once and in the order given."""
    tags = tagged(config)
    return list(dict.fromkeys(name for entry in named for name in tags.get(entry, [entry])))


def unknown_in_group(config: Config, named: Iterable[str], others: Iterable[str] = ()) -> Iterator[tuple[str, str]]:
    """Yield names that are neither a tag, a model of the configuration nor in `others`, with a message."""
    known = [*tagged(config), *config.models, *others]
    for entry in named:
        if entry not in known:
            yield entry, f"'{entry}' is neither a model of this configuration nor a tag of any; {nearest(entry, known)}"


def unfit_tags(config: Config) -> Iterator[Mistake]:
    """Yield mistakes where a tag could be read as something else."""
    sections: dict[str, Collection[str]] = {
        "models": config.models,
        "ensembles": config.ensembles,
        "metaeval.score_files": config.score_files,
    }
    for name, model in config.models.items():
        for tag in model.tags:
            for section, taken in sections.items():
                if tag in taken:
                    words = f"'{tag}' is both a tag and a name under {section}; choose another tag"
                    yield Mistake(f"models.{name}.tags", words, (f"{section}.{tag}",))
