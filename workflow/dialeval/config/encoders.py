"""What trained encoders can be asked for, and what they learn from: mistakes that are found before any job runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dialeval.config.models import EncoderModel
from dialeval.errors import nearest

if TYPE_CHECKING:
    from dialeval.config.whole import Config

Found = Iterator[tuple[str, str, tuple[str, ...]]]
"""Field, what is wrong with it, and the fields that it depends on."""
_SCORES = "it scores dialogues under yes_no, or another protocol of form probability"


def unfit_encoders(config: Config) -> Found:
    """Yields what is wrong with trained encoders: what they learn from, and what they are asked."""
    for name, model in config.models.items():
        if not isinstance(model, EncoderModel) or model.train is None:
            continue
        data = config.training.get(model.train.data)
        if data is None:
            words = f"'{model.train.data}' is no set of training examples; {nearest(model.train.data, config.training)}"
            yield f"models.{name}.train.data", words, (f"training.{model.train.data}",)
        elif model.score == "own" and data.level == "turn":
            words = (
                f"'{model.train.data}' is about turns, whose heads are domains and none a criterion's own; take "
                "score: mean"
            )
            yield f"models.{name}.score", words, (f"training.{model.train.data}",)
    yield from _writers(config)
    yield from _judges(config)


def _writers(config: Config) -> Found:
    """Yields encoders that are to write."""
    robustness, dialogbench = config.robustness, config.dialogbench
    rewriter = robustness.rewriter if robustness else None
    writing: dict[str, list[str]] = {
        "chatbots": config.chatbots,
        "selfchat.partner": [config.selfchat.partner] if config.selfchat.partner else [],
        "robustness.rewriter": [rewriter] if rewriter else [],
        **(dialogbench.models() if dialogbench else {}),
    }
    for field, names in writing.items():
        for name in names:
            if isinstance(config.models.get(name), EncoderModel):
                words = (
                    f"'{name}' is a trained encoder, which neither writes nor chooses; {_SCORES}; name another model"
                )
                yield field, words, (f"models.{name}",)


def _judges(config: Config) -> Found:
    """Yields encoders that are asked for verdicts or ratings."""
    for protocol, one in config.resolved_protocols().items():
        if one.form == "probability":
            continue
        own = config.protocols.own.get(protocol) or getattr(config.protocols, protocol, None)
        field = f"protocols.{protocol}.judges" if getattr(own, "judges", None) else "judges"
        for name in one.judges or ():
            if isinstance(config.models.get(name), EncoderModel):
                words = (
                    f"'{name}' is a trained encoder, which gives no verdicts or ratings ({protocol}); {_SCORES}: name "
                    f"it under protocols.yes_no.judges, and for {protocol} a model of engine openai, vllm or embedded"
                )
                yield field, words, (f"models.{name}", f"protocols.{protocol}")
