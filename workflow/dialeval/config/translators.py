"""What is translated, and by whom: names that must be there, and models that can do it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dialeval.config.mistakes import Mistake, judges_by_field, unknown, writers
from dialeval.config.models import EmbeddedModel, EncoderModel, Model, NllbModel, OpenAIModel, PublishedModel, VllmModel

if TYPE_CHECKING:
    from dialeval.config.whole import Config


def unfit_translations(config: Config) -> Iterator[Mistake]:
    """Yields corpora that are not there or speak the language already, and models that translate badly or only that."""
    for name, asked in config.translate.items():
        field = f"translate.{name}"
        yield from unknown(field, [name], config.sources(), "corpus", "corpora", "metaeval.corpora")
        rated = config.metaeval.corpora.get(name) if config.metaeval else None
        there = [language for language in (rated and rated.languages) or () if language in asked.into]
        if there:
            words = (
                f"'{name}' is read in {', '.join(there)}, too; take {'it' if len(there) == 1 else 'them'} out of one"
            )
            yield Mistake(f"{field}.into", words, (f"metaeval.corpora.{name}.languages",))
        if rated and rated.languages and asked.source not in rated.languages:
            words = f"'{name}' is not read in '{asked.source}', but in {', '.join(rated.languages)}"
            yield Mistake(f"{field}.source", words, (f"metaeval.corpora.{name}.languages",))
        quality = asked.quality
        for part, model, judges in (
            ("by", asked.by, False),
            *((("quality.back", quality.back, False),) if quality and quality.back else ()),
            *(("quality.judges", judge, True) for judge in (quality.judges if quality else ())),
        ):
            yield from _unfit_model(config, f"{field}.{part}", model, judges=judges)
    yield from _only_translators(config)


def _unfit_model(config: Config, field: str, name: str, *, judges: bool) -> Iterator[Mistake]:
    """Yields a model that is not there, or neither translates nor says how well another did."""
    yield from unknown(field, [name], config.models, "model", "models")
    model = config.models.get(name)
    if model and (why := _why_not(model, judges=judges)):
        engines = "openai or vllm" if judges else "nllb, openai or vllm"
        yield Mistake(field, f"'{name}' {why}; name a model of engine {engines}", (f"models.{name}",))


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


def _only_translators(config: Config) -> Iterator[Mistake]:
    """Yields translation models that are to do anything else."""
    for field, names in (judges_by_field(config) | writers(config)).items():
        for name in names:
            if isinstance(config.models.get(name), NllbModel):
                words = (
                    f"'{name}' is a translation model (nllb), which does nothing but translate; name it as `by` of a "
                    "corpus under translate, and another model here"
                )
                yield Mistake(field, words, (f"models.{name}",))
