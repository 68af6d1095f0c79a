"""What is translated, and by whom: names that must be there, and models that can do it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dialeval.config.models import EmbeddedModel, EncoderModel, Model, NllbModel, OpenAIModel, PublishedModel, VllmModel
from dialeval.errors import nearest

if TYPE_CHECKING:
    from dialeval.config.whole import Config

Found = Iterator[tuple[str, str, tuple[str, ...]]]
"""Field, what is wrong with it, and the fields that it depends on."""


def unfit_translations(config: Config) -> Found:
    """Yields corpora that are not there or speak the language already, and models that translate badly or only that."""
    for name, asked in config.translate.items():
        field = f"translate.{name}"
        if name not in config.sources():
            words = f"'{name}' is not a corpus of this configuration; {nearest(name, config.sources())}"
            yield field, words, (f"corpora.{name}", f"metaeval.corpora.{name}")
        rated = config.metaeval.corpora.get(name) if config.metaeval else None
        there = [language for language in (rated and rated.languages) or () if language in asked.into]
        if there:
            words = (
                f"'{name}' is read in {', '.join(there)}, too; take {'it' if len(there) == 1 else 'them'} out of one"
            )
            yield f"{field}.into", words, (f"metaeval.corpora.{name}.languages",)
        if rated and rated.languages and asked.source not in rated.languages:
            words = f"'{name}' is not read in '{asked.source}', but in {', '.join(rated.languages)}"
            yield f"{field}.source", words, (f"metaeval.corpora.{name}.languages",)
        quality = asked.quality
        for part, model, judges in (
            ("by", asked.by, False),
            *((("quality.back", quality.back, False),) if quality and quality.back else ()),
            *(("quality.judges", judge, True) for judge in (quality.judges if quality else ())),
        ):
            yield from _unfit_model(config, f"{field}.{part}", model, judges=judges)
    yield from _only_translators(config)


def _unfit_model(config: Config, field: str, name: str, *, judges: bool) -> Found:
    """Yields a model that is not there, or neither translates nor says how well another did."""
    model, about = config.models.get(name), (f"models.{name}",)
    if model is None:
        yield field, f"'{name}' is not a model of this configuration; {nearest(name, config.models)}", about
    elif why := _why_not(model, judges=judges):
        engines = "openai or vllm" if judges else "nllb, openai or vllm"
        yield field, f"'{name}' {why}; name a model of engine {engines}", about


def _why_not(model: Model, *, judges: bool) -> str:
    """Returns why a model cannot translate, or judge translations; '' where it can."""
    if isinstance(model, (OpenAIModel, VllmModel)):
        learns = isinstance(model, VllmModel) and model.lora
        return "has an adapter that learns to judge dialogues and not this" if learns else ""
    if isinstance(model, NllbModel):
        return "translates and does not say how good a translation is" if judges else ""
    kinds = {
        EmbeddedModel: "is an embedded model, which knows no other language",
        EncoderModel: "is a trained encoder, which writes nothing",
        PublishedModel: "is a published model, of which nothing can be asked",
    }
    return kinds[type(model)]


def _only_translators(config: Config) -> Found:
    """Yields translation models that are to do anything else."""
    robustness, dialogbench = config.robustness, config.dialogbench
    others: dict[str, list[str]] = {
        "chatbots": config.chatbots,
        "judges": config.judges,
        **{
            f"protocols.{name}.judges": getattr(getattr(config.protocols, name), "judges", None) or []
            for name in config.resolved_protocols()
        },
        "selfchat.partner": [config.selfchat.partner] if config.selfchat.partner else [],
        "robustness.rewriter": [robustness.rewriter] if robustness and robustness.rewriter else [],
        **(dialogbench.models() if dialogbench else {}),
    }
    for field, names in others.items():
        for name in names:
            if isinstance(config.models.get(name), NllbModel):
                words = (
                    f"'{name}' is a translation model (nllb), which does nothing but translate; name it as `by` of a "
                    "corpus under translate, and another model here"
                )
                yield field, words, (f"models.{name}",)
