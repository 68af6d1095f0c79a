"""Checks of judges that are trained: their training data and their requests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dialeval.config.models import EncoderModel, VllmModel
from dialeval.config.protocol_settings import PERTURBED, RATED, SELFCHAT, Protocol
from dialeval.config.protocols import asks
from dialeval.config.section import Mistake, judges_field, writers
from dialeval.config.training import EncoderTraining
from dialeval.criteria import DIMENSIONS, LEVELS, Level, with_own
from dialeval.errors import nearest

if TYPE_CHECKING:
    from dialeval.config.configuration import Config


LEVEL_OF_READER: dict[str, Level] = {
    **dict.fromkeys(("comp_turn", "fed_turn", "usr", "conture_turn", "zhao"), "turn"),
    **dict.fromkeys(("grade_convai2", "grade_dailydialog", "grade_empathetic", "grade_texts"), "turn"),
    **dict.fromkeys(("comp_dialogue", "fed_dialogue", "conture_dialogue", "severity_levels"), "dialogue"),
}
"""What is rated, of readers whose files are always about the same."""


def unfit_learners(config: Config) -> Iterator[Mistake]:
    """Yield sets without a learner, adapters that name none, and encoders with requests of other criteria."""
    for name, model in config.models.items():
        if isinstance(model, VllmModel) and model.lora:
            for data in model.lora.train:
                if data not in config.training:
                    words = f"'{data}' is not a training set; {nearest(data, config.training)}"
                    yield Mistake(f"models.{name}.lora.train", words, (f"training.{data}",))
        if isinstance(model, EncoderModel) and model.train and model.train.data in config.training:
            yield from _without_effect(config, name, model.train)
            yield from _unknown_questions(config, name, model.train.data)
    yield from _unused_sets(config)


def _without_effect(config: Config, name: str, train: EncoderTraining) -> Iterator[Mistake]:
    """Yield the margin of a ranking where nothing is ranked, and the parts of a dialogue, which has none."""
    if "margin" in train.model_fields_set and config.training[train.data].level == "turn":
        words = f"margin applies to dialogues only, and '{train.data}' is about turns; remove it"
        yield Mistake(f"models.{name}.train.margin", words, (f"training.{train.data}",))
    if train.pooling == "parts" and config.training[train.data].level == "dialogue":
        words = f"pooling: parts applies to turns only, and '{train.data}' is about dialogues; remove it"
        yield Mistake(f"models.{name}.train.pooling", words, (f"training.{train.data}",))


def learned_by(config: Config, name: str) -> set[tuple[Level, str]] | None:
    """Return the levels and criteria that an encoder learns; None for all, or where not known."""
    model = config.models.get(name)
    if not isinstance(model, EncoderModel) or model.train is None or model.train.data not in config.training:
        return None
    section = config.training[model.train.data]
    return {(section.level, criterion) for criterion in section.learned}


def _unused_sets(config: Config) -> Iterator[Mistake]:
    """Yield training sets that no model in use learns from; none if no model learns at all."""
    if not any(model.learns_from for model in config.models.values()):
        return
    for name in config.training:
        if name in config.used_training():
            continue
        learners = [model for model, one in config.models.items() if name in one.learns_from]
        words = (
            f"no judge learns from '{name}'; name it as train.data of an encoder or under lora.train of a vllm model, "
            "and that model under judges, or remove the set"
        )
        if learners:
            words = (
                f"only {', '.join(learners)} would learn from '{name}', and no protocol uses it as a judge; name it "
                f"under judges, or remove both"
            )
        yield Mistake(
            f"training.{name}", words, ("models", "judges", "protocols", *(f"models.{one}" for one in learners))
        )


def _unknown_questions(config: Config, name: str, data: str) -> Iterator[Mistake]:
    """Yield an encoder with requests on other criteria at its level alone: it would be left out without a word.

    One whose level no request is about may be trained for its own sake.
    """
    section, known = config.training[data], with_own(config.own_criteria(config.criteria))
    if not all(one in known and known[one].is_at(section.level) for one in section.learned):
        return  # a mistake of the set itself
    scored = {
        criterion: None
        for one in config.resolved_protocols().values()
        if one.form == "probability" and name in (one.judges or ()) and asks(config, one)
        for level, criterion in _asked(config, one)
        if level == section.level
    }
    if not scored or not scored.keys().isdisjoint(section.learned):
        return
    words = (
        f"'{name}' learns {' and '.join(section.learned)} from '{data}', and scores a {section.level} on "
        f"{', '.join(scored)} only; name one of these criteria under training.{data}.criteria, or name a learned "
        f"criterion "
        "under metaeval.corpora.*.dimensions or criterion_map, or a protocol's criteria"
    )
    yield Mistake(f"models.{name}.train.data", words, (f"training.{data}", "protocols", "metaeval", "judges"))


def _asked(config: Config, protocol: Protocol) -> Iterator[tuple[Level, str]]:
    """Yield the levels and criteria that a protocol may ask about; all if only its items determine them."""
    rated = config.rated_corpora
    for source in protocol.data.source:
        if source == RATED or source in rated:
            for corpus in [rated[source]] if source in rated else rated.values():
                known = LEVEL_OF_READER.get(corpus.reader)
                for level in [known] if known else LEVELS:
                    names = protocol.criteria or corpus.judged_criteria or DIMENSIONS[level]
                    yield from ((_level_of(config, one, level), one) for one in names)
        elif source == PERTURBED and config.robustness:
            names = protocol.criteria or config.known_criteria()
            yield from ((level, one) for level in LEVELS for one in names)
        elif source == SELFCHAT or source in config.transcripts:
            names = protocol.criteria or DIMENSIONS["dialogue"]
            yield from ((_level_of(config, one, "dialogue"), one) for one in names)


def _level_of(config: Config, criterion: str, level: Level) -> Level:
    """Return the level of a criterion; the given level if the criterion has none of its own."""
    known = with_own(config.own_criteria(config.criteria)).get(criterion)
    return known.level if known and known.level else level


# Models with an adapter


def unfit_adapters(config: Config) -> Iterator[Mistake]:
    """Yield adapters that are to learn other answers than Yes and No, and those whose model is to do something else.

    An adapter learns one word behind a question; it does not change how a model writes.
    """
    for field, names in writers(config).items():
        for name in names:
            model = config.models.get(name)
            if isinstance(model, VllmModel) and model.lora:
                words = (
                    f"'{name}' has an adapter that learns only to judge dialogues; add the model again under "
                    f"models, without lora, and name that entry here"
                )
                yield Mistake(field, words, (f"models.{name}",))
    known = with_own(config.own_criteria(config.criteria))
    for name, model in config.models.items():
        for data in model.learns_from if isinstance(model, VllmModel) else ():
            section = config.training.get(data)
            for criterion in section.learned if section else ():
                if criterion in known and not known[criterion].is_yes_no:
                    words = (
                        f"'{data}' has the criterion {criterion}, which has no yes/no question for an adapter to "
                        f"learn; give criteria.{criterion} a question, or set other criteria under "
                        f"training.{data}.criteria"
                    )
                    yield Mistake(f"models.{name}.lora.train", words, (f"training.{data}", f"criteria.{criterion}"))


# Trained encoders

_SCORES = "it scores dialogues under yes_no, or another protocol of form probability"


def unfit_encoders(config: Config) -> Iterator[Mistake]:
    """Yield mistakes in trained encoders: in their training sets and in the protocols that request them."""
    for name, model in config.models.items():
        if not isinstance(model, EncoderModel) or model.train is None:
            continue
        data = config.training.get(model.train.data)
        if data is None:
            words = f"'{model.train.data}' is not a training set; {nearest(model.train.data, config.training)}"
            yield Mistake(f"models.{name}.train.data", words, (f"training.{model.train.data}",))
        elif model.score == "own" and data.level == "turn":
            words = (
                f"'{model.train.data}' has level turn, whose heads belong to domains and not to criteria; set "
                f"score: mean"
            )
            yield Mistake(f"models.{name}.score", words, (f"training.{model.train.data}",))
    yield from _writers(config)
    yield from _judges(config)


def _writers(config: Config) -> Iterator[Mistake]:
    """Yield encoders that are to write."""
    for field, names in writers(config).items():
        for name in names:
            if isinstance(config.models.get(name), EncoderModel):
                words = (
                    f"'{name}' is a trained encoder, which writes no text and chooses no option; {_SCORES}; name "
                    f"another model"
                )
                yield Mistake(field, words, (f"models.{name}",))


def _judges(config: Config) -> Iterator[Mistake]:
    """Yield encoders with requests for verdicts or ratings."""
    for protocol, one in config.resolved_protocols().items():
        if one.form == "probability":
            continue
        field = judges_field(config, protocol)
        for name in one.judges or ():
            if isinstance(config.models.get(name), EncoderModel):
                words = (
                    f"'{name}' is a trained encoder, which gives no verdicts or ratings ({protocol}); {_SCORES}: name "
                    f"it under protocols.yes_no.judges, and for {protocol} a model of engine openai, vllm or embedded"
                )
                yield Mistake(field, words, (f"models.{name}", f"protocols.{protocol}"))
