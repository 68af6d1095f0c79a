"""Under which protocols people label, and what of that does not fit the rest of the configuration."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from dialeval.config.labels import Labels
from dialeval.config.mistakes import Mistake
from dialeval.config.protocol import DAMAGED, RATED, SELFCHAT, Protocol
from dialeval.criteria import LEVELS, Level
from dialeval.errors import nearest

if TYPE_CHECKING:
    from dialeval.config.whole import Config

RESPONSES = "-responses"
"""Behind a protocol's name: its sheets about responses, where it asks about whole dialogues too."""


def labelled_protocols(config: Config) -> dict[str, Protocol]:
    """Returns the protocols that people label under, in the order of the configuration; none without labels."""
    if config.labels is None:
        return {}
    named = config.labels.protocols
    return {
        name: protocol
        for name, protocol in config.resolved_protocols().items()
        if _can_be_labelled(config, protocol) and (protocol.judges if named is None else name in named)
    }


def labelled_sheets(config: Config) -> dict[str, tuple[str, Level]]:
    """Returns what annotators are given a sheet of, by its name: a protocol, and whether responses or dialogues."""
    sheets: dict[str, tuple[str, Level]] = {}
    for name, protocol in labelled_protocols(config).items():
        levels = _levels(config, name, protocol)
        for level in levels:
            sheets[f"{name}{RESPONSES}" if len(levels) > 1 and level == "turn" else name] = (name, level)
    return sheets


def asked_to_label(config: Config) -> list[str]:
    """Returns the models that must answer before anything can be labelled: who talks, and by whose scores is drawn."""
    labels, found = config.labels, labelled_protocols(config)
    names: list[str | None] = []
    if any(SELFCHAT in protocol.of.source for protocol in found.values()):
        names += [*config.chatbots, config.selfchat.partner]
    if labels and labels.by in ("score", "uncertainty"):
        judges = [config.judges_of(name) for name in found]
        names += [labels.judge] if labels.judge else [of[0] for of in judges if of]
    members = [one for name in names for one in config.ensembles.get(name or "", [name])]
    return list(dict.fromkeys(name for name in members if name in config.models))


def unfit_labels(config: Config) -> Iterator[Mistake]:
    """Yields what does not fit together about people's labels."""
    labels = config.labels
    if labels is None:
        return
    yield from _protocols(config, labels)
    yield from _by(config, labels)
    yield from _annotators(labels)
    yield from _names_of_files(config, labels)
    yield from _path(config, labels.path)


def _about_systems(config: Config, protocol: Protocol) -> bool:
    rated = {RATED, DAMAGED, *(config.metaeval.corpora if config.metaeval else ())}
    return not rated.issuperset(protocol.of.source)


def _can_be_labelled(config: Config, protocol: Protocol) -> bool:
    return protocol.form != "mark" and _about_systems(config, protocol)


def _levels(config: Config, name: str, protocol: Protocol) -> list[Level]:
    """Returns what a protocol asks about; the papers' own criteria are those of whole dialogues."""
    criteria = config.criteria_of(name)
    if protocol.form in ("pair", "detect") or not criteria:
        return ["dialogue"]
    found = {"turn" if one.level == "turn" else "dialogue" for one in criteria}
    return [level for level in LEVELS if level in found]


def _protocols(config: Config, labels: Labels) -> Iterator[Mistake]:
    known = {name: one for name, one in config.resolved_protocols().items() if _can_be_labelled(config, one)}
    about = ("protocols",)
    for name in labels.protocols or ():
        found = config.resolved_protocols().get(name)
        if found and found.form == "mark":
            words = (
                f"protocol {name} asks for several places of several kinds, for which there is no sheet; label by "
                "a protocol of form detect with these criteria"
            )
            yield Mistake("labels.protocols", words, (f"protocols.{name}",))
        elif found and name not in known:
            words = f"protocol {name} is about rated or damaged items alone, which are no system's; take it out"
            yield Mistake("labels.protocols", words, (f"protocols.{name}",))
        elif name not in known:
            words = f"'{name}' is no protocol of this configuration about systems' dialogues; {nearest(name, known)}"
            yield Mistake("labels.protocols", words, about)
    if not labels.protocols and not labelled_protocols(config):
        words = (
            "no judge is asked about systems' dialogues, so that there is nothing to label; name chatbots or "
            "transcripts, judges, and a protocol about them, or take this section out"
        )
        yield Mistake("labels", words, ("protocols", "judges", "chatbots", "transcripts"))
    for name in labels.questions:
        protocol = labelled_protocols(config).get(name)
        if protocol is None:
            words = f"nobody labels under '{name}'; {nearest(name, labelled_protocols(config))}"
            yield Mistake("labels.questions", words, ("protocols", "labels.protocols"))
        elif protocol.criteria or protocol.form in ("scale", "probability"):
            words = f"protocol {name} asks about criteria, whose own words people are shown; write them under criteria"
            yield Mistake("labels.questions", words, (f"protocols.{name}",))


def _by(config: Config, labels: Labels) -> Iterator[Mistake]:
    """Yields draws that go by what a judge does not say."""
    if labels.by not in ("score", "uncertainty"):
        if labels.judge is not None:
            words = f"a draw by {labels.by} goes by no judge; take it out, or set labels.by: score or uncertainty"
            yield Mistake("labels.judge", words, ("labels.by",))
        return
    own = labelled_protocols(config)
    judging = {name: config.judging(name) for name, one in own.items()}
    if strange := [name for name, judges in judging.items() if labels.judge and labels.judge not in judges]:
        known = {judge for judges in judging.values() for judge in judges}
        words = f"'{labels.judge}' does not judge under {', '.join(strange)}; {nearest(labels.judge or '', known)}"
        yield Mistake("labels.judge", words, ("protocols", "judges", "labels.protocols"))
    for name, protocol in own.items():
        about = (f"protocols.{name}", "judges", "labels.protocols")
        if not judging[name]:
            words = f"a draw by {labels.by} needs a judge, and {name} has none; name judges, or draw at random"
            yield Mistake("labels.by", words, about)
        unsure = {
            "probability": True,
            "pair": protocol.both_orders or protocol.repeats > 1,
        }.get(protocol.form, protocol.repeats > 1)
        if labels.by == "uncertainty" and not unsure:
            words = (
                f"a judge that is asked once under {name} (form {protocol.form}) does not show how sure it is; set its "
                "repeats above 1 (with a temperature), leave it out of labels.protocols, or draw at random"
            )
            yield Mistake("labels.by", words, about)


def _annotators(labels: Labels) -> Iterator[Mistake]:
    seen: dict[str, str] = {}
    for name in labels.annotators:
        other = seen.setdefault(_folded(name), name)
        if other != name:
            words = f"'{other}' and '{name}' differ only in case, as files on some disks may not; rename one"
            yield Mistake("labels.annotators", words)
    if labels.each is not None and labels.each > len(labels.annotators):
        words = f"{labels.each} are to label each, and there are {len(labels.annotators)} annotators; name more of them"
        yield Mistake("labels.each", words, ("labels.annotators",))
    for name in labels.simulated:
        if name not in labels.annotators:
            words = f"'{name}' is none of labels.annotators; {nearest(name, labels.annotators)}"
            yield Mistake("labels.simulated", words, ("labels.annotators",))


def _names_of_files(config: Config, labels: Labels) -> Iterator[Mistake]:
    """Yields sheets that would be files of one name, which people put into one folder."""
    files: dict[str, str] = {}
    own = labelled_protocols(config)
    for name, protocol in own.items():
        if f"{name}{RESPONSES}" in own and len(_levels(config, name, protocol)) > 1:
            words = f"'{name}{RESPONSES}' names the responses of protocol {name} too; rename one of the two protocols"
            yield Mistake(f"protocols.{name}{RESPONSES}", words, (f"protocols.{name}",))
    for sheet in labelled_sheets(config):
        for annotator in {_folded(name): name for name in labels.annotators}.values():
            told = f"protocol {sheet} and annotator {annotator}"
            other = files.setdefault(_folded(f"{sheet}-{annotator}"), told)
            if other != told:
                words = f"files of {other} and of {told} would have one name; rename an annotator"
                yield Mistake("labels.annotators", words, ("protocols",))


def _path(config: Config, path: Path) -> Iterator[Mistake]:
    folder, results, store = (one.expanduser().absolute() for one in (path, config.results_dir, config.store_dir))
    for field, other in (("results_dir", results), ("store_dir", store)):
        if folder.is_relative_to(other):
            words = (
                f"{path} lies in {field}, which may be deleted and made anew; labels cannot: give them a folder of "
                "their own, such as labels"
            )
            yield Mistake("labels.path", words, (field,))
    try:
        blocked = folder.exists() and not folder.is_dir()
    except OSError:  # too long a name
        blocked = True
    if blocked:
        yield Mistake("labels.path", f"{path} is a file or cannot be had; name the folder that labels lie in")


def _folded(name: str) -> str:
    return unicodedata.normalize("NFKC", name).casefold()
