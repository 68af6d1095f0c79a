"""Checks across the parts of a configuration, and against what the papers print.

A model without training goes by its own name. One that was trained, an ensemble and a file of ready scores go by
none, unless `metaeval.published_as` says which system they repeat: their names do not say what they were trained on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from dialeval.config.botchat import unfit_failures, unfit_partner
from dialeval.config.corpora import unfit_memorization, unfit_translations
from dialeval.config.criteria import unfit_asks, unfit_criteria, unfit_questions
from dialeval.config.dialogbench import unfit_models
from dialeval.config.ensembles import unfit_ensembles, unfit_pool, unfit_tags
from dialeval.config.labels import labelled_protocols, unfit_labels
from dialeval.config.metaeval import unfit_imputer
from dialeval.config.models import METHODS, EmbeddedModel, OpenAIModel, PublishedModel, able_to, serves
from dialeval.config.protocol_settings import PERTURBED, RATED, SELFCHAT, Protocol, unfit_cascades, unfit_rounds
from dialeval.config.protocols import SHIPPED, TEMPLATES, asks, unfit_protocols
from dialeval.config.section import Mistake, differing_in_case, judges_by_field, judges_field, unknown, writers
from dialeval.config.trained_judges import unfit_adapters, unfit_encoders, unfit_learners
from dialeval.config.training import unfit_training
from dialeval.config.without_effect import settings_without_effect
from dialeval.criteria import FAILURES_PROTOCOL as OF_FAILURES
from dialeval.errors import nearest
from dialeval.papers import folded, xdial_eval
from dialeval.papers.comp_analysis import systems

if TYPE_CHECKING:
    from dialeval.config.configuration import Config


def published_systems(config: Config) -> dict[str, str]:
    """Return the papers' system of each judge that is not matched by its own name; empty if it has none."""
    if config.metaeval is None:
        return {}
    nameless = [name for name, model in config.models.items() if model.is_tuned]
    return {
        **dict.fromkeys((*nameless, *config.ensembles, *config.metaeval.score_files), ""),
        **config.metaeval.published_as,
    }


def unfit_systems(config: Config) -> Iterator[Mistake]:
    """Yield entries of `published_as` that would show the published value of another kind of system."""
    if config.metaeval is None:
        return
    known = {folded(name): name for name in systems()}
    judges = [*config.models, *config.ensembles, *config.metaeval.score_files]
    for judge, system in config.metaeval.published_as.items():
        field = f"metaeval.published_as.{judge}"
        if judge not in judges:
            words = f"'{judge}' is not a model, ensemble or score file of this configuration; {nearest(judge, judges)}"
            yield Mistake("metaeval.published_as", words, (f"models.{judge}", f"metaeval.score_files.{judge}"))
        elif folded(system) not in known:
            remedy = nearest(system, known.values())
            yield Mistake(field, f"'{system:.60}' is not a system of comp-analysis or xDial-Eval; {remedy}")
        elif words := _unlike(config, judge, known[folded(system)]):
            yield Mistake(field, words, (f"models.{judge}", f"ensembles.{judge}", "training"))
    for judge in (*(name for name, model in config.models.items() if model.learns_from), *config.ensembles):
        if folded(judge) in known and folded(judge) not in xdial_eval.trained():
            words = (
                f"'{known[folded(judge)]}' is an untrained model of the papers, so tables would show its published "
                f"numbers beside your model; choose another name, such as '{judge}-mine'"
            )
            yield Mistake(f"{'models' if judge in config.models else 'ensembles'}.{judge}", words)


def _unlike(config: Config, judge: str, system: str) -> str:
    """Return why a judge cannot be the published system that `published_as` names; empty if it can."""
    several = xdial_eval.is_ensemble(system)
    if judge in config.ensembles and not several:
        return f"'{judge}' is an ensemble, and '{system}' is a single model; name an ensemble, such as LLaMA-2-7B + PoE"
    if judge not in config.models:
        return ""
    if several:
        return (
            f"'{system}' is an ensemble of two models, and '{judge}' is one model; define an ensemble under ensembles"
        )
    learned = config.models[judge].learns_from
    training = xdial_eval.training_of(system)
    if learned and not training:
        return (
            f"'{system}' is untrained in the papers, and '{judge}' is trained; name a trained system, or remove the "
            "entry"
        )
    languages = _languages(config, learned)
    if training == xdial_eval.ENGLISH and languages - {"en"}:
        return f"'{system}' learned from English only, and '{judge}' from {', '.join(sorted(languages))}"
    if training == xdial_eval.MULTILINGUAL and len(languages) == 1:
        return f"'{system}' learned from ten languages, and '{judge}' from {', '.join(languages)} only"
    return ""


def _languages(config: Config, learned: tuple[str, ...]) -> set[str]:
    """Return the languages of training sets; empty if a set does not name them."""
    named = [config.training[name].languages for name in learned if name in config.training]
    return set() if None in named else {language for languages in named for language in languages or ()}


# Checks of the whole configuration

PUBLISHED_UNDER = ("unieval", "arena", "gteval")
"""The protocols under which answers were published that can be taken over."""
PARTS = ("transcripts", "metaeval", "robustness", "dialogbench", "training")
"""The parts that need no chatbots."""

_WITH_ITEMS = {"metaeval.corpora": ("corpora",), "transcripts": ("corpora", "metaeval.corpora")}
"""Sources whose items stand under their names, with others whose names must differ."""
_ITEMS_OF = {SELFCHAT: "the chatbots' dialogues", RATED: "all rated corpora", PERTURBED: "all perturbed items"}


def inconsistencies(config: Config) -> Iterator[Mistake]:
    """Yield contradictions between sections."""
    for check in CHECKS:
        yield from check(config)


def _missing_models(config: Config) -> Iterator[Mistake]:
    if not config.models and not config.battles and not config.protocols.failures:  # rules make no model calls
        yield Mistake("models", "at least 1 item is needed; name the models that chat and judge", ("models", "battles"))


def _undefined_names(config: Config) -> Iterator[Mistake]:
    robustness, dialogbench = config.robustness, config.dialogbench
    for field, names in (judges_by_field(config) | writers(config)).items():
        ensembles = [name for name in names if name in config.ensembles and name not in config.models]
        for name in ensembles:
            words = (
                f"'{name}' is an ensemble: it judges under every protocol of all its members and makes no model "
                "calls; remove it here"
            )
            yield Mistake(field, words, (f"ensembles.{name}",))
        names = [name for name in names if name not in ensembles]
        yield from unknown(field, names, config.models, "model", "models")
    corpora: dict[str, list[str]] = {
        "seeds.corpus": [config.seeds.corpus],
        **{
            f"metaeval.corpora.{name}.dialogues": [rated.dialogues]
            for name, rated in config.rated_corpora.items()
            if rated.reader == "severity_levels"
        },
        "dialogbench.written.corpus": dialogbench.corpora() if dialogbench else [],
    }
    for field, names in corpora.items():
        yield from unknown(field, names, config.corpora, "corpus", "corpora")
    for name, rated in config.rated_corpora.items():
        field = f"metaeval.corpora.{name}.dimensions"
        yield from unknown(field, rated.dimensions or [], config.known_criteria(), "criterion", "criteria")
    protocols = config.resolved_protocols()
    yield from unknown("target_differences", config.target_differences, protocols, "protocol", "protocols")
    perturbed = robustness.corpora if robustness else []
    yield from unknown("robustness.corpora", perturbed, config.sources(), "corpus", "corpora", "metaeval.corpora")


def _unfit_perturbations(config: Config) -> Iterator[Mistake]:
    section = config.robustness
    if section and section.rewritten and section.rewriter is None:
        yield Mistake("robustness.rewritten", "there is no rewriter; name a model as robustness.rewriter")
    if section and section.min_quality is not None and not config.perturbed_rated_corpora():
        words = "robustness.corpora has no rated corpus; add one of metaeval.corpora, or remove this field"
        yield Mistake("robustness.min_quality", words)


def _unusable_names(config: Config) -> Iterator[Mistake]:
    if "human" in config.models:
        yield Mistake("models", "'human' is the name of the human dialogues in the tables; choose another name")
    if config.robustness and config.robustness.rewriter == "rule":
        yield Mistake("robustness.rewriter", "'rule' names items that rules perturb; rename the model")
    yield from _unfit_perturbations(config)
    dialogbench = config.dialogbench
    dictionaries: dict[str, Mapping[str, object]] = {
        "models": config.models,
        "corpora": config.corpora,
        "battles": config.battles,
        "transcripts": config.transcripts,
        "metaeval.corpora": config.rated_corpora,
        "metaeval.score_files": config.score_files,
        "dialogbench.published": dialogbench.published if dialogbench else {},
    }
    for field, names in dictionaries.items():
        yield from differing_in_case(field, names)
    for field, others in _WITH_ITEMS.items():
        names = dictionaries[field]
        for name in sorted(set(_ITEMS_OF) & {name.lower() for name in names}):
            yield Mistake(field, f"'{name}' is the name of {_ITEMS_OF[name]} in the tables; choose another name")
        for other in others:
            for name in sorted(set(dictionaries[other]) & set(names)):
                yield Mistake(field, f"'{name}' is also a name under {other}; rename one of them")


def _learning(config: Config) -> Iterator[Mistake]:
    for name, model in config.models.items():
        if isinstance(model, EmbeddedModel):
            if model.method not in METHODS:
                words = f"'{model.method}' is not an embedded method; {nearest(model.method, METHODS)}"
                yield Mistake(f"models.{name}.method", words)
            yield from unknown(f"models.{name}.learn_from", model.learn_from, config.corpora, "corpus", "corpora")


def _unable_judges(config: Config) -> Iterator[Mistake]:
    jobs = [("chatbots", config.chatbots, "selfchat", "selfchat", False)]
    if config.selfchat.partner:
        jobs.append(("selfchat.partner", [config.selfchat.partner], "selfchat", "selfchat", False))
    for name, one in config.resolved_protocols().items():
        field, unpublished = judges_field(config, name), name not in PUBLISHED_UNDER
        jobs.append((field, config.judges_of(name), name, _request_name(name, one), unpublished))
    for field, names, protocol, role, unpublished in jobs:
        for name in names:
            model = config.models.get(name)
            related = (f"models.{name}", f"protocols.{protocol}")
            if isinstance(model, EmbeddedModel) and not serves(model.method, role):
                able = ", ".join(able_to(role))
                words = (
                    f"'{name}' is an embedded model of method '{model.method}', which this protocol cannot use "
                    f"({protocol}); "
                    + (
                        f"methods that can: {able}"
                        if able
                        else "name a model of engine openai or vllm, since no embedded method can"
                    )
                )
                yield Mistake(field, words, related)
            if isinstance(model, PublishedModel) and unpublished:
                words = (
                    f"'{name}' is a published model, which cannot respond to new requests; put its scores under "
                    "metaeval.score_files, or name the judges of this protocol"
                )
                yield Mistake(field, words, related)


def _idle_judges(config: Config) -> Iterator[Mistake]:
    """Yield the judges without a protocol."""
    used = [name for name, protocol in config.resolved_protocols().items() if asks(config, protocol)]
    for name in config.judges:
        model = config.models.get(name)
        if any(name in config.judges_of(protocol) for protocol in used) or (model and model.learns_from):
            continue  # one that is trained may be for another run
        words = (
            f"'{name}' has no protocol; add one under protocols: unieval or gteval (with chatbots), arena (with two "
            "chatbots), rating or yes_no (with metaeval or robustness), or your own; or remove the name"
        )
        yield Mistake("judges", words, ("protocols", "chatbots", *PARTS))


def _request_name(name: str, protocol: Protocol) -> str:
    """Return the shipped protocol whose question embedded judges answer for this one; '' if there is none."""
    if name in SHIPPED:
        return name
    if protocol.template not in (None, TEMPLATES.get(protocol.form)):
        return ""
    known = {"scale": "rating", "probability": "yes_no", "locate": "" if protocol.criteria else "unieval"}
    return known.get(protocol.form, "")


def _long_arenas(config: Config) -> Iterator[Mistake]:
    longest = config.selfchat.n_utterances
    for n in config.protocols.arena.n_utterances if config.protocols.arena else []:
        if n > longest:
            words = f"{n} is longer than the dialogues; lower it, or raise selfchat.n_utterances (now {longest})"
            yield Mistake("protocols.arena.n_utterances", words, ("selfchat",))


def _of_items(config: Config, protocol: Protocol) -> bool:
    """Return whether a protocol judges rated or perturbed items."""
    corpora = config.rated_corpora
    return not {RATED, PERTURBED, *corpora}.isdisjoint(protocol.data.source)


def _incomplete_parts(config: Config) -> Iterator[Mistake]:
    for part in ("metaeval", "robustness"):
        scores = any(one.judges for one in config.resolved_protocols().values() if _of_items(config, one))
        if getattr(config, part) and not scores:
            if part == "metaeval" and config.score_files:
                continue
            words = "no judge scores the items; add judges and put `rating: {}` or `yes_no: {}` under protocols"
            yield Mistake(part, words, ("protocols", "judges"))
    judged = [one for name, one in config.resolved_protocols().items() if one.judges or name == OF_FAILURES]
    sources = {source for one in [*judged, *labelled_protocols(config).values()] for source in one.data.source}
    if config.memorization:
        sources |= {*config.memorization.corpora, *config.memorization.control}
    for name in config.transcripts:
        if name not in sources:
            words = (
                f"no judge scores '{name}'; add judges and a protocol, such as "
                f"{{form: scale, data: {{source: {name}}}, criteria: [overall]}}, or remove it"
            )
            yield Mistake(f"transcripts.{name}", words, ("protocols", "judges"))
    if config.robustness and not config.robustness.corpora and not config.robustness.published:
        words = "there are no items to perturb; name corpora, or the folder of published sets"
        yield Mistake("robustness", words, ("robustness.corpora", "robustness.published"))


def _published_models(config: Config) -> Iterator[Mistake]:
    for name in config.chatbots:
        model = config.models.get(name)
        if isinstance(model, PublishedModel) and model.dialogues is None:
            words = f"'{name}' is a published model without dialogues; name their file: models.{name}.dialogues"
            yield Mistake("chatbots", words, (f"models.{name}",))
    for name in config.judges:
        model = config.models.get(name)
        if not isinstance(model, PublishedModel):
            continue
        for field, path in config.answer_files(name).items():
            if path is None:
                words = (
                    f"'{name}' is a published model without answers for protocols.{field}; name their file, "
                    f"models.{name}.{field}, or remove the protocol"
                )
                yield Mistake("judges", words, (f"models.{name}", "protocols"))
        yield from unknown(f"models.{name}.names", model.names.values(), config.models, "model", "models")


def _unpriced_models(config: Config) -> Iterator[Mistake]:
    """Yield models that would spend of the run's budget without a price."""
    for name in config.models_in_use() if config.budget is not None else ():
        model = config.models.get(name)
        if not isinstance(model, OpenAIModel):
            continue
        for field in ("price_input", "price_output"):
            if getattr(model, field) is None:
                words = (
                    "the run's budget needs prices of every model behind an endpoint; set both to 0 for a free model"
                )
                yield Mistake(f"models.{name}.{field}", words, ("budget",))


CHECKS: tuple[Callable[[Config], Iterator[Mistake]], ...] = (
    _missing_models, _undefined_names,
    _unusable_names, unfit_tags, _learning, _unable_judges, unfit_encoders, unfit_learners,
    unfit_adapters, unfit_translations, unfit_memorization,
    _idle_judges, unfit_protocols, unfit_failures, unfit_rounds, unfit_cascades,
    unfit_criteria, unfit_questions, unfit_ensembles, unfit_training, unfit_labels, _long_arenas, _incomplete_parts,
    unfit_models, unfit_partner, _published_models, unfit_systems, unfit_imputer, unfit_pool, unfit_asks,
    _unpriced_models, settings_without_effect,
)  # fmt: skip
"""In the order of their mistakes in the message."""


# Printed numbers and prompts

PRINTED_WITH = (
    "selfchat.j2",
    "unieval.j2",
    "arena.j2",
    "gteval.j2",
    "rating_turn.j2",
    "rating_dialogue.j2",
    "rating_criteria.j2",
    "yes_no_turn.j2",
    "yes_no_dialogue.j2",
    "yes_no_question.j2",
    "adequacy.j2",
    "dialogbench_question_en.j2",
    "dialogbench_question_zh.j2",
    "dialogbench_perplexity_en.j2",
    "dialogbench_perplexity_zh.j2",
)
"""The templates that decide the numbers beside which printed ones stand."""


def asks_otherwise(config: Config) -> bool:
    """Return whether a run uses other prompts than the papers.

    A run of nothing but published dialogues and answers asks nothing: these were got with the papers' own prompts.
    """
    models = [config.models.get(name) for name in config.models_in_use()]
    if models and all(isinstance(model, PublishedModel) for model in models):
        return False
    return not config.prompts.as_papers(*PRINTED_WITH)
