"""What is wrong with sets of training examples: names that mean nothing here, and parts that would mix."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dialeval.config.mistakes import Mistake, unknown
from dialeval.config.training import TrainingSet
from dialeval.criteria import SHIPPED

if TYPE_CHECKING:
    from dialeval.config.whole import Config

OWN_LANGUAGES = ("jsonl",)
"""Readers whose dialogues may name languages of their own."""


def unfit_training(config: Config) -> Iterator[Mistake]:
    """Yields what is wrong with training sets by themselves, and where a model learns from several."""
    for name, section in config.training.items():
        yield from _domains(config, name, section)
        yield from _criteria(config, name, section)
        yield from _languages(config, name, section)
    yield from _mixed_parts(config)


def _domains(config: Config, name: str, section: TrainingSet) -> Iterator[Mistake]:
    field = f"training.{name}.domains"
    for domain, corpora in section.domains.items():
        if not corpora:
            yield Mistake(f"{field}.{domain}", "it names no corpus; name at least one of `corpora`, or take it out")
        yield from unknown(f"{field}.{domain}", corpora, config.corpora, "corpus", "corpora")
    for corpus, n in Counter(section.corpora()).items():
        if n > 1:
            words = f"'{corpus}' is named {n} times; its dialogues are of one domain: keep it in one of them, once"
            yield Mistake(field, words)


def _criteria(config: Config, name: str, section: TrainingSet) -> Iterator[Mistake]:
    field, level = f"training.{name}.criteria", section.level
    for criterion in section.criteria or ():
        yield from unknown(field, [criterion], config.known_criteria(), "criterion", "criteria")
        known = config.criteria.get(criterion) or SHIPPED.get(criterion)
        other = known.level if known else None
        if other not in (None, level):
            words = f"'{criterion}' is about a {other}, and the pairs are of level {level}; name criteria of a {level}"
            yield Mistake(field, words, (f"criteria.{criterion}",))


def _languages(config: Config, name: str, section: TrainingSet) -> Iterator[Mistake]:
    corpora = [config.corpora[corpus] for corpus in section.corpora() if corpus in config.corpora]
    if any(corpus.reader in OWN_LANGUAGES for corpus in corpora) or not corpora:
        return
    known = {corpus.language for corpus in corpora}
    for corpus in section.corpora():
        known.update(config.translate[corpus].into if corpus in config.translate else ())
    for language in section.languages or ():
        if language not in known:
            words = (
                f"no dialogue is in '{language}': the corpora are in {', '.join(sorted(known))}; put a corpus into it "
                "under translate, or name others"
            )
            yield Mistake(
                f"training.{name}.languages", words, ("translate", *(f"corpora.{one}" for one in section.corpora()))
            )


def _mixed_parts(config: Config) -> Iterator[Mistake]:
    """Yields sets that one model learns from and that hold back different shares of the dialogues."""
    for name, model in config.models.items():
        sets = {one: config.training[one] for one in model.learns_from if one in config.training}
        shares = {one: (section.development, section.held_back) for one, section in sets.items()}
        if len(set(shares.values())) > 1:
            words = (
                f"{', '.join(shares)} hold back different shares of the dialogues, so that what one holds back is "
                "learned from in another; give them the same development and held_back"
            )
            yield Mistake(f"models.{name}.lora.train", words, tuple(f"training.{one}" for one in shares))
