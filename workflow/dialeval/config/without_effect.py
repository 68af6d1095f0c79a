"""Fields that have an effect only under a condition: a value is refused if the condition is not met."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import BaseModel

from dialeval.config.botchat import Selfchat
from dialeval.config.corpora import Transcripts
from dialeval.config.criteria import SCORING
from dialeval.config.dialogbench import DialogBench, Experts, WrittenItems
from dialeval.config.fields import Fields
from dialeval.config.metaeval import RatedCorpus, Robustness
from dialeval.config.models import NllbModel, OpenAIModel, PublishedModel, VllmModel
from dialeval.config.protocol_settings import Protocol
from dialeval.config.section import Mistake, Section
from dialeval.config.training import TrainingSet
from dialeval.criteria import DIMENSIONS
from dialeval.criteria import FAILURES_PROTOCOL as OF_FAILURES

if TYPE_CHECKING:
    from dialeval.config.configuration import Config


class Condition(NamedTuple):
    """When fields of a section have an effect.

    Attributes:
        fields: the fields.
        is_met: tells it by the section.
        words: what must be set for them to have one, and what is set instead where that helps.
    """

    fields: tuple[str, ...]
    is_met: Callable[[Any], bool]
    words: Callable[[Any], str]


def _with(words: str) -> Callable[[Any], str]:
    return lambda _: words


SAMPLING = ("temperature", "max_tokens", "retry_unparsed", "presence_penalty", "frequency_penalty")
"""Settings of a model's requests, of BotChat's sections."""
CONDITIONS: Mapping[type[Section], tuple[Condition, ...]] = {
    Fields: (
        Condition(("mirror",), lambda one: bool(one.public_corpora), _with("public_corpora, which `download` fetches")),
        Condition(
            ("contamination",), lambda one: bool(one.chatbots or one.transcripts), _with("chatbots or transcripts")
        ),
    ),
    RatedCorpus: (
        Condition(
            ("dialogues", "perturbations", "steps"),
            lambda one: one.reader == "severity_levels",
            lambda one: f"reader: severity_levels, and reader is {one.reader}",
        ),
        Condition(  # the default is that of severity_levels: where it is not set, it must not limit a repeated run
            ("limit",),
            lambda one: one.reader == "severity_levels" or "limit" in one.model_fields_set,
            _with("a number"),
        ),
        Condition(("optional",), lambda one: one.path is not None, _with("a path; reader severity_levels has no file")),
    ),
    OpenAIModel: (
        Condition(("batch_requests", "batch_poll_seconds"), lambda one: one.batch, _with("batch: true")),
        Condition(
            ("top_logprobs",),
            lambda one: one.label_logprobs == "top_logprobs",
            lambda one: f"label_logprobs: top_logprobs, and label_logprobs is {one.label_logprobs}",
        ),
    ),
    VllmModel: (
        Condition(
            ("gpu_memory_utilization",),
            lambda one: one.kv_cache_memory_bytes is None,
            _with("kv_cache_memory_bytes: null, since this field fixes the size of the KV cache"),
        ),
        Condition(
            ("chat_template_options",),
            lambda one: one.chat_template != "none",
            _with("a chat template, and chat_template is none"),
        ),
    ),
    PublishedModel: (
        Condition(
            ("concurrency", "resources"),
            lambda _: False,
            _with("another engine, since a published model makes no calls"),
        ),
        Condition(("column",), lambda one: one.dialogues is not None, _with("a file of dialogues under dialogues")),
        Condition(
            ("judge_column", "names"),
            lambda one: bool(one.unieval or one.gteval or one.arena),
            _with("a file of answers under unieval, gteval or arena"),
        ),
    ),
    Selfchat: (Condition(("end",), lambda one: one.partner is not None, _with("selfchat.partner, which writes this "
    "text")),),
    Transcripts: (
        Condition(
            ("system",),
            lambda one: one.reader not in ("folder", "mt_bench"),
            lambda one: f"a file without names of systems, and reader {one.reader} names systems after the files",
        ),
    ),
    TrainingSet: (
        Condition(("max_context",), lambda one: one.level == "turn", _with("level: turn, and level is dialogue")),
    ),
    Robustness: (
        Condition(
            ("limit", "wordnet", "dialogue_draws", "turn_draws", "rewriter", "rewritten", "severity_levels"),
            lambda one: bool(one.corpora),
            _with("corpora to perturb; published sets are not perturbed"),
        ),
        Condition(("rewriter_temperature",), lambda one: one.rewriter is not None, _with("a model as rewriter")),
    ),
    DialogBench: (
        Condition(
            ("circular", "presentation"),
            lambda one: bool(one.examine.letter or one.examine.choice),
            _with("models under examine.letter or examine.choice"),
        ),
        Condition(
            ("max_tokens", "presence_penalty", "frequency_penalty"),
            lambda one: bool(one.examine.letter),
            _with("models under examine.letter"),
        ),
    ),
    WrittenItems: (
        Condition(
            ("corpus",), lambda one: one.writer is None, _with("items made by rule, and a model writes them (writer)")
        ),
        Condition(
            ("temperature", "max_tokens", "presence_penalty", "frequency_penalty"),
            lambda one: one.writer is not None,
            _with("a model as writer; without one items are made by rule"),
        ),
    ),
    Experts: (
        Condition(("at_least", "simulated"), lambda one: one.answers is not None, _with("a file of answers")),
    ),
    Protocol: (
        Condition(
            ("n_utterances",),
            lambda one: one.form != "locate" or "pass_rates" in one.measured(),
            _with("pass_rates among the measures, which exist only without criteria"),
        ),
    ),
}  # fmt: skip
"""By section; whether a form of protocol has an option at all is in `own_protocols`."""


def settings_without_effect(config: Config) -> Iterator[Mistake]:
    """Yield the fields that are set where they have no effect."""
    for place, section in _sections(config, ""):
        for field, needed in idle_fields(section).items():
            if field in section.model_fields_set and (value := getattr(section, field)) is not None:
                words = f"{_shown(value)} has no effect here; it needs {needed}: set that, or remove {field}"
                yield Mistake(f"{place}.{field}".lstrip("."), words, (place,) if place else ())
    yield from _of_other_sections(config)


def idle_fields(section: BaseModel) -> dict[str, str]:
    """Return the fields of a section without an effect, each with the setting that it needs."""
    return {
        field: condition.words(section)
        for kind, conditions in CONDITIONS.items()
        if isinstance(section, kind)
        for condition in conditions
        if not condition.is_met(section)
        for field in condition.fields
    }


def _of_other_sections(config: Config) -> Iterator[Mistake]:
    """Yield the fields without an effect because of another section; defaults do not count as set."""
    if config.selfchat.scenarios:
        for field in _changed(config.seeds, "limit", "arena_min_utterances"):
            words = (
                "dialogues begin with selfchat.scenarios, not with seeds; remove it, or set selfchat.scenarios.limit"
            )
            yield Mistake(
                f"seeds.{field}", f"{getattr(config.seeds, field)} has no effect here: {words}", ("selfchat",)
            )
    for name, settings in config.translate.items():
        if isinstance(config.models.get(settings.translator), NllbModel):
            for field in _changed(settings, "context"):
                without = f"'{settings.translator}' (engine nllb) sees no context"
                words = f"{settings.context} has no effect: {without}; remove it"
                yield Mistake(f"translate.{name}.{field}", words, (f"models.{settings.translator}",))
    yield from _of_published_models(config)
    for name, protocol in config.protocols.own.items():
        about_responses = any(one.level == "turn" for one in config.criteria_of(name))
        if protocol.form in SCORING and not about_responses:
            for field in _changed(protocol.data, "turns"):
                words = (
                    f"{protocol.data.turns} has no effect: none of the protocol's criteria is about a response; add "
                    f"one, such as {', '.join(DIMENSIONS['turn'][:2])}, or remove turns"
                )
                yield Mistake(f"protocols.{name}.data.{field}", words, (f"protocols.{name}", "criteria"))
    failures = config.protocols.failures
    if failures and not config.judges_of(OF_FAILURES):
        for field in _changed(failures, "criteria", "temperature", "max_tokens", "retry_unparsed", "answers"):
            words = (
                f"{_shown(getattr(failures, field))} has no effect: no judge looks for failures, and rules always "
                "run; name a judge of engine openai or vllm under judges, or remove it"
            )
            yield Mistake(
                f"protocols.{OF_FAILURES}.{field}", words, ("judges", f"protocols.{OF_FAILURES}.judges", "models")
            )


def _of_published_models(config: Config) -> Iterator[Mistake]:
    """Yield sampling settings of models with published dialogues or responses, which have no effect."""
    requests: dict[str, tuple[Section, list[str]]] = {"selfchat": (config.selfchat, config.chatbots)}
    for name in ("unieval", "arena", "gteval"):
        if section := getattr(config.protocols, name):
            requests[f"protocols.{name}"] = (section, config.judges_of(name))
    for place, (section, names) in requests.items():
        if not names or not all(isinstance(config.models.get(name), PublishedModel) for name in names):
            continue
        for field in _changed(section, *(name for name in SAMPLING if name in type(section).model_fields)):
            words = (
                f"{getattr(section, field)} has no effect: {', '.join(names)} {'is' if len(names) == 1 else 'are'} "
                "published and makes no calls; remove it"
            )
            yield Mistake(f"{place}.{field}", words, ("chatbots", "judges", "models"))


def _changed(section: Section, *fields: str) -> list[str]:
    known = type(section).model_fields
    return [
        name
        for name in fields
        if name in section.model_fields_set
        and getattr(section, name) != known[name].get_default(call_default_factory=True)
    ]


def _sections(part: Any, place: str) -> Iterator[tuple[str, BaseModel]]:
    """Yield every section of a part with its place."""
    held: Mapping[Any, Any] = part if isinstance(part, Mapping) else {}
    if isinstance(part, BaseModel):
        yield place, part
        held = {name: getattr(part, name) for name in type(part).model_fields} | (part.__pydantic_extra__ or {})
    for name, value in held.items():
        yield from _sections(value, f"{place}.{name}".lstrip("."))


def _shown(value: object) -> str:
    return f"{value.model_dump(exclude_unset=True) if isinstance(value, BaseModel) else value!s:.60}"
