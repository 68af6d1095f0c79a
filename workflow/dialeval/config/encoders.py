"""What trained encoders can be asked for, and what they learn from: mistakes that are found before any job runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dialeval.config.mistakes import Mistake, judges_field, writers
from dialeval.config.models import EncoderModel
from dialeval.errors import nearest

if TYPE_CHECKING:
    from dialeval.config.whole import Config

_SCORES = "it scores dialogues under yes_no, or another protocol of form probability"


def unfit_encoders(config: Config) -> Iterator[Mistake]:
    """Yields what is wrong with trained encoders: what they learn from, and what they are asked."""
    for name, model in config.models.items():
        if not isinstance(model, EncoderModel) or model.train is None:
            continue
        data = config.training.get(model.train.data)
        if data is None:
            words = f"'{model.train.data}' is no set of training examples; {nearest(model.train.data, config.training)}"
            yield Mistake(f"models.{name}.train.data", words, (f"training.{model.train.data}",))
        elif model.score == "own" and data.level == "turn":
            words = (
                f"'{model.train.data}' is about turns, whose heads are domains and none a criterion's own; take "
                "score: mean"
            )
            yield Mistake(f"models.{name}.score", words, (f"training.{model.train.data}",))
    yield from _writers(config)
    yield from _judges(config)


def _writers(config: Config) -> Iterator[Mistake]:
    """Yields encoders that are to write."""
    for field, names in writers(config).items():
        for name in names:
            if isinstance(config.models.get(name), EncoderModel):
                words = (
                    f"'{name}' is a trained encoder, which neither writes nor chooses; {_SCORES}; name another model"
                )
                yield Mistake(field, words, (f"models.{name}",))


def _judges(config: Config) -> Iterator[Mistake]:
    """Yields encoders that are asked for verdicts or ratings."""
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
