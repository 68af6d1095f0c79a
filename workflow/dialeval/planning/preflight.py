"""Checks before a run: mistakes of the configuration, and sections that a target needs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from dialeval.config.configuration import Config
from dialeval.config.corpora import COMPLETION_TEMPLATE
from dialeval.config.files import DEFAULT, shown
from dialeval.config.labels import (
    annotator_question,
    criteria_for_annotators,
    has_own_template,
    labelled_protocols,
    missing_question,
    models_before_labels,
)
from dialeval.config.loading import load_config
from dialeval.config.section import Mistake
from dialeval.corpora.dialogues import read_scenarios
from dialeval.corpora.robustness_sets import check_sets
from dialeval.corpora.transcripts.items import Options, TranscriptItems, read_items
from dialeval.criteria import SHIPPED as PAPERS
from dialeval.engines.availability import unavailable
from dialeval.errors import UserError, nearest
from dialeval.jobs import lifecycle
from dialeval.labels.spreadsheets import READ, passed_over
from dialeval.languages import language
from dialeval.perturbations.registry import find_strategy
from dialeval.perturbations.rewriting import TEMPLATES as REWRITTEN
from dialeval.perturbations.wordnet import wordnet_folder
from dialeval.prompts.rendering import Templates, template_folders, with_references
from dialeval.protocols.forms import asks_in_words_of, unfit_template
from dialeval.protocols.pair import by_case, refuse_strangers
from dialeval.protocols.questions import Question
from dialeval.training.pairs import chosen_perturbations
from dialeval.translation.quality import unfit_translation_templates

_NO_TARGETS = frozenset({
    "-d", "--directory", "--profile", "--workflow-profile", "--configfile", "--configfiles", "-O", "--omit-from",
})  # fmt: skip
"""Snakemake's options whose value may be called as a target is."""
_RENAMED_TEMPLATES = {"mark.j2": "annotate.j2", "detect.j2": "locate.j2", "ask_again.j2": "retry_unparsed.j2"}


def checked_config(
    raw: Mapping[str, Any],
    given: Sequence[Path],
    *,
    asks: bool,
    reads: bool,
    own_environments: bool,
    labelling: bool = False,
) -> Config:
    """Return the configuration of a run that can begin.

    Args:
        raw: what the files and the command line say together.
        given: the configuration files that the run names; they stand alone.
        asks: whether models get requests, so that engines must be at hand.
        reads: whether files are read, so that they must be there.
        own_environments: whether jobs run in environments that are made for them.
        labelling: whether nothing but what people label is wanted, for which most judges get no requests.

    Raises:
        UserError: one message with every mistake.
    """
    checks: list[Callable[[Config], Iterator[Mistake]]] = [
        _unknown_strategies,
        _unknown_perturbations,
        _unknown_languages,
        _unwritable,
    ]
    if reads:
        checks += [
            _unfit_templates,
            _renamed_templates,
            _missing_questions,
            _unfit_translation_templates,
            _unfit_completion_template,
            _incomplete_sets,
            _unreadable_scenarios,
            _no_wordnet,
        ]
    if asks:
        models_of = models_before_labels if labelling else Config.models_in_use
        checks.append(partial(_unavailable_models, requested=models_of, own_environments=own_environments))
    source = f" in {', '.join(map(shown, given))}" if given else ""
    try:
        return load_config(raw, files_are_there=reads, further=checks, source=source).in_order()
    except UserError as error:
        lacks = given and "this field is needed and missing" in str(error)
        alone = f"\n  (a file given with --configfile replaces {DEFAULT})" if lacks else ""
        raise UserError(f"{error}{alone}") from None


def unused_templates(config: Config) -> list[str]:
    """Return a notice of each template of `prompts.directory` that no prompt of this configuration uses."""
    return [
        f"{path} has no effect: it does not replace a shipped template, and no protocol uses it; {likely}"
        for path, likely in _unused_templates(config).items()
    ]


def unread_labels(config: Config) -> list[str]:
    """Return a notice of the files and folders in the folder of the labels that DialEval does not read."""
    folder = config.labels.path.expanduser() if config.labels else None
    others = passed_over(folder) if folder else []
    return [f"not read in {folder}: {', '.join(others)}; label files end in {', '.join(READ)}"] if others else []


def _unused_templates(config: Config) -> dict[Path, str]:
    """Return the templates that no prompt uses, each with the name that was likely meant."""
    folder = config.prompts.directory.expanduser() if config.prompts.directory else None
    if folder is None or not folder.is_dir():
        return {}
    shipped = {path.name for one in template_folders(None, "papers") for path in one.glob("*.j2")}
    known = {one.template for one in config.resolved_protocols().values() if one.template} | shipped
    used = with_references(known, [folder])
    unused = sorted(path for path in folder.glob("*.j2") if path.name not in used)
    return {path: _RENAMED_TEMPLATES.get(path.name) or nearest(path.name, known) for path in unused}


def _unknown_strategies(config: Config) -> Iterator[Mistake]:
    for field, names in config.strategies_named().items():
        for name in names:
            try:
                strategy = find_strategy(name)
            except UserError as error:
                yield Mistake(field, str(error))
                continue
            if field == "robustness.rewritten" and name not in REWRITTEN:
                yield Mistake(field, f"a rewriter cannot make '{name}'; it can make {', '.join(sorted(REWRITTEN))}")
            criterion = config.criteria.get(field.split(".")[1]) if field.startswith("criteria.") else None
            if criterion and criterion.level not in (None, strategy.level):
                words = f"'{name}' perturbs a {strategy.level}, and the criterion is of level {criterion.level}"
                yield Mistake(field, f"{words}; remove the perturbation, or the criterion's level")


def _unknown_perturbations(config: Config) -> Iterator[Mistake]:
    for name, section in config.training.items():
        criteria = [one for one in section.criteria or () if one in config.known_criteria()]
        try:
            chosen_perturbations(criteria or None, section.perturbations, section.level, config.sensitivities())
        except UserError as error:
            yield Mistake(f"training.{name}", str(error), (f"training.{name}.criteria", "criteria"))


def _unknown_languages(config: Config) -> Iterator[Mistake]:
    for name, settings in config.translate.items():
        for field, codes in (("into", settings.into), ("source", [settings.source])):
            for code in codes:
                try:
                    language(code)
                except UserError as error:
                    yield Mistake(f"translate.{name}.{field}", str(error))


def _unwritable(config: Config) -> Iterator[Mistake]:
    try:
        lifecycle.check_writable(config.results_dir)
    except UserError as error:
        yield Mistake("results_dir", str(error))


def _unfit_templates(config: Config) -> Iterator[Mistake]:
    """Yield templates, the user's or replacements of shipped ones, that lack a part of their protocol."""
    templates, known = Templates(config.prompts.directory, config.prompts.set), set(config.known_criteria())
    for name, protocol in config.resolved_protocols().items():
        own = name in config.protocols.own
        if not known.issuperset(protocol.criteria) or not (own or (config.prompts.directory and protocol.template)):
            continue
        question = Question(name, protocol, not own, tuple(config.criteria_of(name)))
        field, related = f"protocols.{name}.template", ("prompts.directory", f"protocols.{name}", "criteria")
        try:
            for words in dict.fromkeys(unfit_template(question, templates)):
                yield Mistake(field, f"{protocol.template}: {words}", related)
        except UserError as error:
            where = config.prompts.directory or "prompts.directory, which is not set"
            yield Mistake(field, f"{error} (looked for in {where})", related)


def _renamed_templates(config: Config) -> Iterator[Mistake]:
    """Yield templates that bear an earlier name of a shipped template and that no protocol names."""
    for path, new in _unused_templates(config).items():
        if path.name in _RENAMED_TEMPLATES:
            yield Mistake(
                "prompts.directory", f"{path} has no effect: its prompt is {new} now; rename the file to {new}"
            )


def _missing_questions(config: Config) -> Iterator[Mistake]:
    """Yield own templates that word a criterion otherwise than the annotators' question."""
    labels = config.labels
    known = {**PAPERS, **{one.name: one for one in config.own_criteria(config.criteria)}}
    templates = Templates(config.prompts.directory, config.prompts.set)
    for name, protocol in labelled_protocols(config).items() if labels else ():
        questions = labels.questions.get(name, {}) if labels else {}
        names = criteria_for_annotators(config, name, protocol)
        criteria = [known[one] for one in names if one in known and not annotator_question(questions, one)]
        if not criteria or not has_own_template(config, protocol):
            continue
        question = Question(name, protocol, name not in config.protocols.own, ())
        try:
            other = [one.name for one in criteria if not asks_in_words_of(question, one, templates)]
        except UserError:
            continue  # the template's own error is reported
        if other:
            yield missing_question(name, protocol, other)


def _unfit_translation_templates(config: Config) -> Iterator[Mistake]:
    """Yield the user's templates of translation that lack a variable."""
    if not config.translate or not config.prompts.directory:
        return
    judged = any(settings.quality and settings.quality.judges for settings in config.translate.values())
    try:
        templates = Templates(config.prompts.directory, config.prompts.set)
        for words in unfit_translation_templates(templates, judged=judged):
            yield Mistake("prompts.directory", words, ("translate",))
    except UserError as error:
        yield Mistake("prompts.directory", str(error), ("translate",))


def _unfit_completion_template(config: Config) -> Iterator[Mistake]:
    """Yield what the user's own template of memorization forgets."""
    if not config.memorization or not config.prompts.directory:
        return
    text = "Quince only marrow."
    try:
        prompt = Templates(config.prompts.directory, config.prompts.set).render(COMPLETION_TEMPLATE, text=text)
    except UserError as error:
        yield Mistake("prompts.directory", str(error), ("memorization",))
        return
    if text not in prompt:
        words = f"{COMPLETION_TEMPLATE}: the template lacks the text to complete; write {{{{ text }}}} in its place"
        yield Mistake("prompts.directory", words, ("memorization",))


def _incomplete_sets(config: Config) -> Iterator[Mistake]:
    folder = config.published_perturbations()
    if config.robustness is None or folder is None or not folder.is_dir():
        return
    try:
        check_sets(folder, config.robustness.perturbations)
    except UserError as error:
        yield Mistake("robustness.published", str(error), ("robustness.perturbations",))


def _unreadable_scenarios(config: Config) -> Iterator[Mistake]:
    path, chat = config.scenarios_path(), config.selfchat
    if path is None or chat.scenarios is None or not path.is_file():
        return
    try:
        read_scenarios(path, limit=chat.scenarios.limit, opened=config.partner_is_embedded())
    except UserError as error:
        yield Mistake("selfchat.scenarios", str(error), ("selfchat.partner",))


def _no_wordnet(config: Config) -> Iterator[Mistake]:
    folder = config.wordnet()
    if folder is None:
        return
    try:
        wordnet_folder(folder)
    except UserError as error:
        yield Mistake("robustness.wordnet", str(error), ("data_dir",))


def _unavailable_models(
    config: Config, requested: Callable[[Config], Iterable[str]], own_environments: bool
) -> Iterator[Mistake]:
    for name in requested(config):
        model = config.models.get(name)
        reason = unavailable(model, own_environment=own_environments) if model else None
        if reason:
            yield Mistake(f"models.{name}", reason)


def check_transcripts(config: Config, names: Collection[str], planned: Collection[str] = ()) -> dict[str, list[str]]:
    """Return lines on the content of transcripts, by name, so that mistakes show before any paid request.

    Args:
        config: the configuration.
        names: which transcripts.
        planned: protocols that a run plans, about whatever transcripts.

    Raises:
        UserError: one message with what is wrong with each, or with pair protocols, planned or about these alone,
            under which no two systems meet.
    """
    mistakes = []
    readings: dict[str, TranscriptItems] = {}
    pairs = {
        name: one.data
        for name, one in config.resolved_protocols().items()
        if one.form == "pair" and config.transcripts.keys() >= {*one.data.source}
    }
    for name in dict.fromkeys([*names, *(source for one in planned if one in pairs for source in pairs[one].source)]):
        options = TypeAdapter(Options).validate_python(config.transcripts[name].options())
        try:
            readings[name] = read_items(name, config.transcripts_path(name), options)
        except UserError as error:
            mistakes.append(f"transcripts.{name}: {error}")
    for name, data in pairs.items():
        if readings.keys() >= {*data.source}:
            items = [item for source in data.source for item in readings[source].items]
            try:
                refuse_strangers(by_case(items), data, name)
            except UserError as error:
                mistakes.append(str(error))
    if mistakes:
        raise UserError("\n".join(mistakes))
    return {name: readings[name].notes for name in names}


@dataclass(frozen=True)
class Need:
    """What some targets need.

    Attributes:
        targets: by their names.
        is_there: whether a configuration has it.
        words: the message where it has not.
    """

    targets: tuple[str, ...]
    is_there: Callable[[Config], bool]
    words: str


NEEDS = (
    Need(
        ("report", "build_report", "status"),
        lambda config: bool(config.models or config.protocols.failures),  # rules find failures without any model
        "the configuration has no models, so there is no report; battles have their own tables and figures, see "
        "docs/battles.md",
    ),
    Need(
        ("battles",),
        lambda config: bool(config.battles),
        "the configuration has no battles; add a section such as battles: {mine: {path: mine.csv}}, see "
        "docs/battles.md",
    ),
    Need(
        ("annotation_pages", "read_labels", "correct", "tabulate_agreement", "draw_labels"),
        lambda config: config.labels is not None,
        "the configuration has no section labels; add one, such as labels: {path: labels}, see docs/labels.md",
    ),
    Need(
        ("training", "tabulate_training", "tabulate_training_data", "draw_training"),
        lambda config: bool(config.training),
        "the configuration has no section training; see docs/training.md",
    ),
    Need(
        ("tabulate_translation",),
        lambda config: bool(config.translate),
        "the configuration translates nothing; add a section translate, see docs/translation.md",
    ),
    Need(
        ("translation_quality",),
        lambda config: any(translation.quality for translation in config.translate.values()),
        "the configuration has no translation with quality; add it to a corpus, see docs/translation.md",
    ),
    Need(
        (
            "metaeval", "tabulate_metaeval", "tabulate_repeats", "draw_metaeval",
        ),
        lambda config: config.metaeval is not None,
        "the configuration has no section metaeval; see docs/metaeval.md",
    ),
    Need(
        ("robustness", "tabulate_robustness", "draw_robustness"),
        lambda config: config.robustness is not None,
        "the configuration has no section robustness; see docs/robustness.md",
    ),
    Need(
        (
            "dialogbench", "write_items", "filter_items", "describe_items", "read_items", "draw_expert_sheet",
            "read_expert_answers", "tabulate_dialogbench", "draw_dialogbench",
        ),
        lambda config: config.dialogbench is not None,
        "the configuration has no section dialogbench; see docs/dialogbench.md",
    ),
)  # fmt: skip


def is_named(target: str, words: Sequence[str]) -> bool:
    """Return whether a command of Snakemake's, given by its words, names a target."""
    return any(word == target and before not in _NO_TARGETS for before, word in pairwise(words))


RENAMED_TARGETS = {"label": "annotation_pages", "live": "status", "tidy": "clean", "tidy_remove": "clean_remove"}
"""Earlier names of targets with the new ones."""


def refuse_without_section(config: Config, is_requested: Callable[[str], bool]) -> None:
    """End a run whose targets have a new name, or need a section that the configuration does not have.

    Args:
        config: the configuration.
        is_requested: whether a target stands in the command.

    Raises:
        UserError: with the new name of the target, or the section to add.
    """
    for old, new in RENAMED_TARGETS.items():
        if is_requested(old):
            raise UserError(f"{old}: this target has a new name; run the command with {new}")
    for need in NEEDS:
        targets = [target for target in need.targets if is_requested(target)]
        if targets and not need.is_there(config):
            raise UserError(f"{targets[0]}: {need.words}")
