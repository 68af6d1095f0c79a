"""What models with an adapter that learns to judge can be asked for, and what they can learn."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dialeval.config.mistakes import Mistake, writers
from dialeval.config.models import VllmModel
from dialeval.criteria import with_own

if TYPE_CHECKING:
    from dialeval.config.whole import Config


def unfit_adapters(config: Config) -> Iterator[Mistake]:
    """Yields adapters that are to learn what is not asked by Yes and No, and those whose model is to do something else.

    An adapter learns one word behind a question; what a model writes with it would be nobody's.
    """
    for field, names in writers(config).items():
        for name in names:
            model = config.models.get(name)
            if isinstance(model, VllmModel) and model.lora:
                words = (
                    f"'{name}' has an adapter that learns to judge dialogues and nothing else; put the model under "
                    "models once more, without lora, and name that here"
                )
                yield Mistake(field, words, (f"models.{name}",))
    known = with_own(config.own_criteria(config.criteria))
    for name, model in config.models.items():
        for data in model.learns_from if isinstance(model, VllmModel) else ():
            section = config.training.get(data)
            for criterion in section.learned if section else ():
                if criterion in known and not known[criterion].asks_yes_or_no:
                    words = (
                        f"'{data}' is about {criterion}, which is not asked by Yes and No, as an adapter learns; give "
                        f"criteria.{criterion} a question, or name others under training.{data}.criteria"
                    )
                    yield Mistake(f"models.{name}.lora.train", words, (f"training.{data}", f"criteria.{criterion}"))
