"""Which of the papers' systems a judge is: the right printed number stands beside its own, or none.

A model that is asked as it is goes by its own name. One with an adapter, an ensemble and a file of ready scores go by
none, unless `metaeval.published_as` says which system they repeat: their names do not say what they were trained on.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dialeval.errors import nearest
from dialeval.published.metaeval import systems
from dialeval.published.names import folded

if TYPE_CHECKING:
    from dialeval.config.whole import Config


def published_systems(config: Config) -> dict[str, str]:
    """Returns, by judge that does not simply go by its own name, the papers' system that it is; empty for none."""
    if config.metaeval is None:
        return {}
    nameless = [name for name, model in config.models.items() if model.is_tuned]
    return {
        **dict.fromkeys((*nameless, *config.ensembles, *config.metaeval.score_files), ""),
        **config.metaeval.published_as,
    }


def unfit_systems(config: Config) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yields field, words and what else it is about, where `metaeval.published_as` names what is not there."""
    if config.metaeval is None:
        return
    known = {folded(name): name for name in systems()}
    judges = [*config.models, *config.ensembles, *config.metaeval.score_files]
    for judge, system in config.metaeval.published_as.items():
        if judge not in judges:
            words = f"'{judge}' is no model, ensemble or score file of this configuration; {nearest(judge, judges)}"
            yield "metaeval.published_as", words, (f"models.{judge}", f"metaeval.score_files.{judge}")
        elif folded(system) not in known:
            remedy = nearest(system, known.values())
            words = f"'{system:.60}' is no system of comp-analysis or xDial-Eval; {remedy}"
            yield f"metaeval.published_as.{judge}", words, ()
