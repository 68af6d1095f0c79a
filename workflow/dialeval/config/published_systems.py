"""Which of the papers' systems a judge is: the right printed number stands beside its own, or none.

A model that is asked as it is goes by its own name. One that was trained, an ensemble and a file of ready scores go by
none, unless `metaeval.published_as` says which system they repeat: their names do not say what they were trained on.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dialeval.config.mistakes import Mistake
from dialeval.errors import nearest
from dialeval.published import xdial
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


def unfit_systems(config: Config) -> Iterator[Mistake]:
    """Yields mistakes where a judge would have the number of something else."""
    if config.metaeval is None:
        return
    known = {folded(name): name for name in systems()}
    judges = [*config.models, *config.ensembles, *config.metaeval.score_files]
    for judge, system in config.metaeval.published_as.items():
        field = f"metaeval.published_as.{judge}"
        if judge not in judges:
            words = f"'{judge}' is no model, ensemble or score file of this configuration; {nearest(judge, judges)}"
            yield Mistake("metaeval.published_as", words, (f"models.{judge}", f"metaeval.score_files.{judge}"))
        elif folded(system) not in known:
            remedy = nearest(system, known.values())
            yield Mistake(field, f"'{system:.60}' is no system of comp-analysis or xDial-Eval; {remedy}")
        elif words := _unlike(config, judge, known[folded(system)]):
            yield Mistake(field, words, (f"models.{judge}", f"ensembles.{judge}", "training"))
    for judge in (*(name for name, model in config.models.items() if model.learns_from), *config.ensembles):
        if folded(judge) in known and folded(judge) not in xdial.trained():
            words = (
                f"the papers asked '{known[folded(judge)]}' as it is, and its numbers would stand beside what is no "
                f"such model; choose another name, such as '{judge}-mine'"
            )
            yield Mistake(f"{'models' if judge in config.models else 'ensembles'}.{judge}", words)


def _unlike(config: Config, judge: str, system: str) -> str:
    """Returns in which way a judge is certainly not the system that it is said to be; empty for none."""
    several = xdial.is_ensemble(system)
    if judge in config.ensembles and not several:
        return f"'{judge}' is an ensemble, and '{system}' is one; name such as LLaMA-2-7B + PoE"
    if judge not in config.models:
        return ""
    if several:
        return f"'{system}' is an ensemble of two, and '{judge}' is one model; define it under ensembles"
    learned = config.models[judge].learns_from
    training = xdial.training_of(system)
    if learned and not training:
        return f"'{system}' was asked as it is, and '{judge}' is trained; name a trained system, or leave it out"
    languages = _languages(config, learned)
    if training == xdial.ENGLISH and languages - {"en"}:
        return f"'{system}' learned from English alone, and '{judge}' from {', '.join(sorted(languages))}"
    if training == xdial.MULTILINGUAL and len(languages) == 1:
        return f"'{system}' learned from ten languages, and '{judge}' from {', '.join(languages)} alone"
    return ""


def _languages(config: Config, learned: tuple[str, ...]) -> set[str]:
    """Returns the languages of training sets as far as they name them; none where one does not."""
    named = [config.training[name].languages for name in learned if name in config.training]
    return set() if None in named else {language for languages in named for language in languages or ()}
