"""What must be configured for a target to make anything: asked for without it, it would do nothing, or not say why."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from dialeval.config.whole import Config
from dialeval.errors import UserError


@dataclass(frozen=True)
class Need:
    """What some targets need.

    Attributes:
        targets: by their names.
        is_there: whether a configuration has it.
        words: what is said where it has not.
    """

    targets: tuple[str, ...]
    is_there: Callable[[Config], bool]
    words: str


NEEDS = (
    Need(
        ("report", "build_report", "live"),
        lambda config: bool(config.models or config.protocols.failures),  # rules find failures without any model
        "the configuration names no models, and the report is about what models did; battles alone have tables and "
        "figures of their own, see docs/battles.md",
    ),
    Need(
        ("battles",),
        lambda config: bool(config.battles),
        "the configuration names no battles; add a section such as battles: {mine: {path: mine.csv}}, see "
        "docs/battles.md",
    ),
    Need(
        ("label", "read_labels", "correct", "rank_by_labels", "tabulate_agreement", "draw_labels"),
        lambda config: config.labels is not None,
        "the configuration says nothing of labels; add a section such as labels: {path: labels}, see docs/labels.md",
    ),
    Need(
        ("training", "tabulate_training", "tabulate_training_data", "draw_training"),
        lambda config: bool(config.training),
        "the configuration says nothing of training; add a section training, see docs/training.md",
    ),
    Need(
        ("tabulate_translation",),
        lambda config: bool(config.translate),
        "the configuration translates nothing; add a section translate, see docs/translation.md",
    ),
    Need(
        ("translation_quality",),
        lambda config: any(asked.quality for asked in config.translate.values()),
        "the configuration looks at no translation; add quality to a corpus under translate, see docs/translation.md",
    ),
    Need(
        (
            "metaeval", "correlate", "ensembles", "find_ceilings", "tabulate_by_language", "tabulate_rated",
            "tabulate_repeats", "draw_metaeval",
        ),
        lambda config: config.metaeval is not None,
        "the configuration says nothing of metaeval; add a section metaeval, see docs/metaeval.md",
    ),
    Need(
        ("robustness", "tabulate_robustness", "draw_robustness"),
        lambda config: config.robustness is not None,
        "the configuration says nothing of robustness; add a section robustness, see docs/robustness.md",
    ),
    Need(
        (
            "dialogbench", "write_items", "filter_items", "describe_items", "read_items", "draw_expert_sheet",
            "read_expert_answers", "tabulate_dialogbench", "draw_dialogbench",
        ),
        lambda config: config.dialogbench is not None,
        "the configuration says nothing of dialogbench; add a section dialogbench, see docs/dialogbench.md",
    ),
)  # fmt: skip


_NO_TARGETS = frozenset({
    "-d", "--directory", "--profile", "--workflow-profile", "--configfile", "--configfiles", "-O", "--omit-from",
})  # fmt: skip
"""Snakemake's options whose value may be called as a target is."""


def is_named(target: str, words: Sequence[str]) -> bool:
    """Returns whether a command of Snakemake's, given by its words, names a target."""
    return any(word == target and before not in _NO_TARGETS for before, word in pairwise(words))


def refuse_without_section(config: Config, is_asked: Callable[[str], bool]) -> None:
    """Ends a run that is asked for what its configuration has nothing for.

    Args:
        config: the configuration.
        is_asked: whether a target stands in the command.

    Raises:
        UserError: it says what to add.
    """
    for need in NEEDS:
        asked = [target for target in need.targets if is_asked(target)]
        if asked and not need.is_there(config):
            raise UserError(f"{asked[0]}: {need.words}")
