"""Human labels in the configuration: their folder, their protocols, and checks of both."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from dialeval.config.criteria import SCORING
from dialeval.config.protocol_settings import PERTURBED, RATED, SELFCHAT, Protocol
from dialeval.config.section import MAY_HAVE_LINES, Count, Integer, Mistake, Name, Number, Section
from dialeval.criteria import DIMENSIONS, LEVELS, Level
from dialeval.errors import nearest
from dialeval.prompts.rendering import template_folders

if TYPE_CHECKING:
    from dialeval.config.configuration import Config


_FILE = re.compile(r".*\.(md|txt|html?|pdf|docx)", re.IGNORECASE)
QuestionText = Annotated[str, Field(min_length=1, max_length=2_000)]


class Labels(Section):
    """Human labels of the dialogues that judges score (see docs/labels.md)."""

    path: Path = Field(
        description=(
            "Folder of human labels, with exports of the labelling page and files of other tools; relative to the "
            "folder of the run, or absolute. DialEval stores the record of the sample there."
        )
    )
    protocols: list[Name] | None = Field(
        None,
        min_length=1,
        description="Protocols with human labels; null: all about systems' dialogues, except form annotate.",
    )
    n: Count = Field(
        50,
        description="Size of the sample for each protocol: number of dialogues, and of responses, per system; for "
        "pairs, number of pairs in all.",
    )
    sampling_design: Literal["random", "cases", "score", "uncertainty", "active"] = Field(
        "random",
        description=(
            "random: items at random. cases: all systems' dialogues on random cases. score: evenly over the judge's "
            "scores. uncertainty: half of the sample at random, half where the judge is least certain. active: "
            "inclusion "
            "probabilities that are half uniform, half proportional to the judge's predicted error."
        ),
    )
    questions: dict[Name, QuestionText | dict[Name, QuestionText]] = Field(
        {},
        description=(
            "For a protocol with your own template: protocol -> question for annotators. With several criteria: "
            "protocol -> {criterion: question} (see docs/labels.md)."
        ),
    )
    guidelines: Annotated[str, Field(max_length=20_000), MAY_HAVE_LINES] = Field(
        "", description="Guidelines for annotators in Markdown, which the labelling page shows beside the questions."
    )
    judge: Name | None = Field(
        None,
        description=(
            "Judge whose scores the sampling designs `score`, `uncertainty` and `active` use; null: the first judge "
            "of the protocol (for `active`, all its judges)."
        ),
    )
    annotators: list[Name] = Field(
        ["annotator-1"], min_length=1, description="Names of the annotators. Each gets a labelling page."
    )
    annotators_per_item: Annotated[Integer, Field(ge=1)] | None = Field(
        None, description="Number of annotators who label each dialogue or pair; null: all."
    )
    target: Literal["new_cases", "given_cases"] = Field(
        "new_cases",
        description=(
            "Target population of intervals: new_cases (new cases of the same kind) or given_cases (the cases "
            "of this run; narrower intervals)."
        ),
    )
    panel: Literal["mean", "dawid_skene"] | None = Field(
        "mean",
        description="Combination of several judges: mean, or dawid_skene if some judges may be bad; null: no "
        "combination.",
    )
    confidence: Annotated[Number, Field(gt=0, lt=1)] = Field(0.95, description="Confidence of the intervals.")
    price: Annotated[Number, Field(ge=0)] | None = Field(
        None, description="Price of one label, in the currency of the models' prices, for `estimate`."
    )
    simulated: list[Name] = Field([], description="Simulated annotators; every table marks them.")


# Labelled protocols

BY_JUDGE = ("score", "uncertainty", "active")
"""Sampling designs that use the judge's scores."""
TEMPLATES_OF_ITEMS: dict[str, tuple[str, ...]] = {
    "scale": ("rating_turn.j2", "rating_dialogue.j2", "rating_criteria.j2"),
    "probability": ("yes_no_turn.j2", "yes_no_dialogue.j2", "yes_no_question.j2"),
}
"""By what a form asks about items where its protocol names no template."""
RESPONSES = "-responses"
"""Behind a protocol's name: its sheets about responses, where it asks about whole dialogues too."""


def labelled_protocols(config: Config) -> dict[str, Protocol]:
    """Return the protocols that people label under, in the order of the configuration; none without labels."""
    if config.labels is None:
        return {}
    named = config.labels.protocols
    return {
        name: protocol
        for name, protocol in config.resolved_protocols().items()
        if _can_be_labelled(config, protocol) and (protocol.judges if named is None else name in named)
    }


def labelled_sheets(config: Config) -> dict[str, tuple[str, Level]]:
    """Return protocol and level (turn or dialogue) of each annotators' sheet, by the sheet's name."""
    sheets: dict[str, tuple[str, Level]] = {}
    for name, protocol in labelled_protocols(config).items():
        levels = _levels(config, name, protocol)
        for level in levels:
            sheets[f"{name}{RESPONSES}" if len(levels) > 1 and level == "turn" else name] = (name, level)
    return sheets


def models_before_labels(config: Config) -> list[str]:
    """Return the models whose responses the sample needs: chatbots, and judges of the sampling design."""
    labels, found = config.labels, labelled_protocols(config)
    names: list[str | None] = []
    if any(SELFCHAT in protocol.data.source for protocol in found.values()):
        names += [*config.chatbots, config.selfchat.partner]
    if labels and labels.sampling_design in BY_JUDGE:
        judges = [judges_to_draw_by(config, name) for name in found]
        names += [labels.judge] if labels.judge else [one for names_of in judges for one in names_of]
    members = [one for name in names for one in config.ensembles.get(name or "", [name])]
    return list(dict.fromkeys(name for name in members if name in config.models))


def judges_to_draw_by(config: Config, protocol: str) -> list[str]:
    """Return the judges whose scores decide which items are drawn; none under a design that uses no judge."""
    labels = config.labels
    if labels is None or labels.sampling_design not in BY_JUDGE:
        return []
    if labels.judge:
        return [labels.judge]
    every = config.judges_of(protocol) if labels.sampling_design == "active" else []
    return every or config.judging(protocol)[:1]


def unfit_labels(config: Config) -> Iterator[Mistake]:
    """Yield mistakes in the section `labels`."""
    labels = config.labels
    if labels is None:
        return
    yield from _protocols(config, labels)
    yield from _by(config, labels)
    yield from _annotators(labels)
    if _FILE.fullmatch(labels.guidelines.strip()):
        words = f"'{labels.guidelines.strip():.80}' is the name of a file; write the text itself after `guidelines: |`"
        yield Mistake("labels.guidelines", words, ())
    yield from _names_of_files(config, labels)
    yield from _path(config, labels.path)


def _can_be_labelled(config: Config, protocol: Protocol) -> bool:
    return protocol.form != "annotate" and _about_systems(config, protocol)


def _about_systems(config: Config, protocol: Protocol) -> bool:
    rated = {RATED, PERTURBED, *config.rated_corpora}
    return not rated.issuperset(protocol.data.source)


def _levels(config: Config, name: str, protocol: Protocol) -> list[Level]:
    """Return the levels of a protocol's questions; for the papers' criteria, the dialogue."""
    criteria = config.criteria_of(name)
    if protocol.form in ("pair", "locate") or not criteria:
        return ["dialogue"]
    found = {"turn" if one.level == "turn" else "dialogue" for one in criteria}
    return [level for level in LEVELS if level in found]


def _protocols(config: Config, labels: Labels) -> Iterator[Mistake]:
    known = {name: one for name, one in config.resolved_protocols().items() if _can_be_labelled(config, one)}
    related = ("protocols",)
    for name in labels.protocols or ():
        found = config.resolved_protocols().get(name)
        if found and found.form == "annotate":
            words = (
                f"protocol {name} has form annotate, for which DialEval makes no labelling page; label under a "
                f"protocol of form locate with these criteria"
            )
            yield Mistake("labels.protocols", words, (f"protocols.{name}",))
        elif found and name not in known:
            words = f"protocol {name} judges only rated or perturbed items, which no system wrote; remove it"
            yield Mistake("labels.protocols", words, (f"protocols.{name}",))
        elif name not in known:
            words = f"'{name}' is not a protocol of this configuration about systems' dialogues; {nearest(name, known)}"
            yield Mistake("labels.protocols", words, related)
    if not labels.protocols and not labelled_protocols(config):
        words = (
            "no judge scores systems' dialogues, so there is nothing to label; name chatbots or transcripts, judges, "
            "and a protocol about them, or remove this section"
        )
        yield Mistake("labels", words, ("protocols", "judges", "chatbots", "transcripts"))
    yield from _questions(config, labels)


def _questions(config: Config, labels: Labels) -> Iterator[Mistake]:
    """Yield questions to annotators that are out of place, and own templates whose question they do not see."""
    own = labelled_protocols(config)
    for name, question in labels.questions.items():
        field, protocol = f"labels.questions.{name}", own.get(name)
        related = ("protocols", "labels.protocols", "prompts")
        if protocol is None:
            words = f"annotators cannot label under '{name}'; {nearest(name, own)}"
            yield Mistake("labels.questions", words, related)
            continue
        criteria = criteria_for_annotators(config, name, protocol)
        if criteria and not has_own_template(config, protocol):
            words = (
                f"protocol {name} has no template of yours, so annotators see the questions of its criteria; write "
                f"these questions under criteria"
            )
            yield Mistake("labels.questions", words, related)
        elif isinstance(question, str) and len(criteria) > 1:
            words = (
                f"this is a single question, and {name} has the criteria {', '.join(criteria)}; write "
                "{criterion: question}"
            )
            yield Mistake(field, words, related)
        elif isinstance(question, dict):
            for criterion in question:
                if not criteria:
                    yield Mistake(field, f"protocol {name} has no criteria; write one text", related)
                elif criterion not in criteria:
                    words = f"protocol {name} does not have the criterion '{criterion}'; {nearest(criterion, criteria)}"
                    yield Mistake(field, words, (*related, f"criteria.{criterion}"))
    for name, protocol in own.items():
        missing = not labels.questions.get(name) and not criteria_for_annotators(config, name, protocol)
        if missing and has_own_template(config, protocol):
            yield missing_question(name, protocol, [])


def criteria_for_annotators(config: Config, name: str, protocol: Protocol) -> list[str]:
    """Return the names of the criteria that annotators may label under a protocol."""
    named = [one.name for one in config.criteria_of(name)]
    papers = dict.fromkeys(one for level in LEVELS for one in DIMENSIONS[level])
    return named or ([*papers] if protocol.form in SCORING else [])


def annotator_question(questions: str | dict[str, str], criterion: str) -> str:
    """Return the question of `labels.questions` on a criterion; empty if there is none."""
    return questions if isinstance(questions, str) else questions.get(criterion, "")


def has_own_template(config: Config, protocol: Protocol) -> bool:
    """Return whether a protocol asks by a template of the user's, of a name of its own or in place of a shipped one."""
    folder = config.prompts.directory
    names = [protocol.template] if protocol.template else TEMPLATES_OF_ITEMS.get(protocol.form, ())
    for name in names:
        ours = {_content(one / name) for one in template_folders(None, config.prompts.set)} - {None}
        own = _content(folder.expanduser() / name) if folder else None
        if not ours or (own is not None and own not in ours):
            return True
    return False


def _content(path: Path) -> bytes | None:
    """Return the content of a file; None if it is missing or cannot be read."""
    try:
        return path.read_bytes()
    except OSError:  # another check tells what is wrong with the folder
        return None


def missing_question(name: str, protocol: Protocol, criteria: Collection[str]) -> Mistake:
    """Return the mistake of an own template whose question annotators do not see."""
    template = f"its own template {protocol.template}" if protocol.template else "a template of prompts.directory"
    instead, example = "words of ours", "'Which assistant helps the customer more?'"
    if criteria:
        instead = f"the questions of {', '.join(criteria)}, which that template does not contain"
        example = "'...'" if len(criteria) == 1 else f"{{{', '.join(f'{one}: ...' for one in criteria)}}}"
    words = (
        f"protocol {name} uses {template} for judges, and annotators would see {instead}. Labels cannot correct "
        f"scores of another question; write the annotators' question, such as questions: {{{name}: {example}"
        "}"
    )
    return Mistake("labels.questions", words, ("protocols", "prompts", f"protocols.{name}"))


def _by(config: Config, labels: Labels) -> Iterator[Mistake]:
    """Yield mistakes in sampling designs that need a score or certainty that the judge does not give."""
    if labels.sampling_design not in BY_JUDGE:
        if labels.judge is not None:
            words = (
                f"sampling_design {labels.sampling_design} uses no judge; remove it, or set labels.sampling_design: "
                "active"
            )
            yield Mistake("labels.judge", words, ("labels.sampling_design",))
        return
    own = labelled_protocols(config)
    judging = {name: config.judging(name) for name, one in own.items()}
    if strange := [name for name, judges in judging.items() if labels.judge and labels.judge not in judges]:
        known = set.intersection(*map(set, judging.values()))
        words = f"'{labels.judge}' is not a judge of {', '.join(strange)}; {nearest(labels.judge or '', known)}"
        yield Mistake("labels.judge", words, ("protocols", "judges", "labels.protocols"))
    for name, protocol in own.items():
        related = (f"protocols.{name}", "judges", "labels.protocols")
        if not judging[name]:
            words = (
                f"{labels.sampling_design} needs a judge, and protocol {name} has none; name judges, or set "
                "sampling_design: random"
            )
            yield Mistake("labels.sampling_design", words, related)
        unsure = {
            "probability": True,
            "pair": protocol.both_orders or protocol.repeats > 1,
        }.get(protocol.form, protocol.repeats > 1)
        several = labels.sampling_design == "active" and len(judges_to_draw_by(config, name)) > 1
        if labels.sampling_design in ("uncertainty", "active") and not (unsure or several):
            words = (
                f"one response under {name} (form {protocol.form}) does not show how certain the judge is; set its "
                "repeats above 1 (with a temperature), remove it from labels.protocols, or set sampling_design: random"
            )
            yield Mistake("labels.sampling_design", words, related)


def _annotators(labels: Labels) -> Iterator[Mistake]:
    seen: dict[str, str] = {}
    for name in labels.annotators:
        other = seen.setdefault(_folded(name), name)
        if other != name:
            words = f"'{other}' and '{name}' differ only in case, and some file systems ignore case; rename one"
            yield Mistake("labels.annotators", words)
    n, per_item = len(labels.annotators), labels.annotators_per_item
    if per_item is not None and per_item > n:
        words = f"{per_item} is more than the number of annotators, {n}; name more under labels.annotators, or lower it"
        yield Mistake("labels.annotators_per_item", words, ("labels.annotators",))
    for name in labels.simulated:
        if name not in labels.annotators:
            words = f"'{name}' is not one of labels.annotators; {nearest(name, labels.annotators)}"
            yield Mistake("labels.simulated", words, ("labels.annotators",))


def _names_of_files(config: Config, labels: Labels) -> Iterator[Mistake]:
    """Yield sheets that would be files of one name, which people put into one folder."""
    files: dict[str, str] = {}
    own = labelled_protocols(config)
    for name, protocol in own.items():
        if f"{name}{RESPONSES}" in own and len(_levels(config, name, protocol)) > 1:
            words = f"'{name}{RESPONSES}' names the responses of protocol {name} too; rename one of the two protocols"
            yield Mistake(f"protocols.{name}{RESPONSES}", words, (f"protocols.{name}",))
    for sheet in labelled_sheets(config):
        for annotator in {_folded(name): name for name in labels.annotators}.values():
            related = f"protocol {sheet} and annotator {annotator}"
            other = files.setdefault(_folded(f"{sheet}-{annotator}"), related)
            if other != related:
                words = f"files of {other} and of {related} would have the same name; rename an annotator"
                yield Mistake("labels.annotators", words, ("protocols",))


def _path(config: Config, path: Path) -> Iterator[Mistake]:
    folder, results, store = (one.expanduser().absolute() for one in (path, config.results_dir, config.store_dir))
    for field, other in (("results_dir", results), ("store_dir", store)):
        if folder.is_relative_to(other):
            words = (
                f"{path} is inside {field}, which may be deleted and remade. Labels cannot be remade: give them "
                f"their own folder, such as labels"
            )
            yield Mistake("labels.path", words, (field,))
    try:
        blocked = folder.exists() and not folder.is_dir()
    except OSError:  # too long a name
        blocked = True
    if blocked:
        yield Mistake("labels.path", f"{path} is a file, or cannot be opened; name the folder of the labels")


def _folded(name: str) -> str:
    return unicodedata.normalize("NFKC", name).casefold()
