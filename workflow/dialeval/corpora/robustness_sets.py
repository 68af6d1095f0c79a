"""The sets of damaged responses and dialogues that comp-analysis published: its folder `robustness_data`.

Each says where its files lie and how its rows find their originals.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from dialeval.corpora.items import Item
from dialeval.corpora.original_rows import Pairing
from dialeval.criteria import Level
from dialeval.errors import UserError

TURN_FOLDER = "turn_level_robust_data"
DIALOGUE_FOLDER = "dialog_level_robust_data"
ORIGINALS_FILE = f"{DIALOGUE_FOLDER}/fed_coherent_original.json"


@dataclass(frozen=True, slots=True)
class PublishedSet:
    """Where one published set lies.

    Attributes:
        name: the set; that of our strategy where there is one, else of its own.
        level: turn or dialogue.
        damaged: path of the damaged rows under the folder.
        original: path of the original rows, paired by line; empty where the originals are the JSON list.
        pairing: how rows find their originals in the JSON list.
        in_paper: whether the paper's tables have it.
    """

    name: str
    level: Level
    damaged: str
    original: str = ""
    pairing: Pairing = "blocks"
    in_paper: bool = True

    @property
    def files(self) -> tuple[str, ...]:
        """Returns the paths of its files under the folder; sets whose originals are the JSON list share that one."""
        return (self.damaged, self.original or ORIGINALS_FILE)

    def is_in(self, folder: Path) -> bool:
        """Returns whether a file of this set alone is in a folder."""
        return any((folder / path).is_file() for path in (self.damaged, self.original) if path)


@dataclass(frozen=True, slots=True)
class Pair:
    """An original and its damaged version.

    Attributes:
        strategy: name of the set.
        row: 0-based row of the damaged file.
        unchanged: whether the damage did not change what is scored; such pairs count, as in the paper.
    """

    strategy: str
    row: int
    original: Item
    damaged: Item
    unchanged: bool


def _turn(name: str, family: str, *, in_paper: bool = True) -> PublishedSet:
    damaged, original = (f"{TURN_FOLDER}/{family}-{side}_text.txt" for side in ("perturbed", "original"))
    return PublishedSet(name, "turn", damaged, original, in_paper=in_paper)


def _dialogue(name: str, file: str, *, pairing: Pairing = "blocks", in_paper: bool = True) -> PublishedSet:
    path = f"{DIALOGUE_FOLDER}/{file}_text.txt"
    return PublishedSet(name, "dialogue", path, pairing=pairing, in_paper=in_paper)


SETS = MappingProxyType(
    {
        published.name: published
        for published in (
            PublishedSet(
                "random_response",
                "turn",
                f"{TURN_FOLDER}/rel/nonentailment_text.txt",
                f"{TURN_FOLDER}/rel/entailment_text.txt",
            ),
            _turn("replace_pronoun", "rel/pronoun"),
            _turn("replace_named_entity", "rel/ner"),
            _turn("contradiction", "rel/contradiction"),
            _turn("repetition", "und/repetition"),
            _turn("unnatural_paraphrase", "und/paraphrase"),
            _turn("dullness", "int/dullness"),
            _turn("speaker_repetition", "rel/spk", in_paper=False),
            _turn("entrainment", "und/entrainment", in_paper=False),
            _dialogue("order_shuffle", "coh/fed-ordershuffle"),
            _dialogue("utterance_replacement", "coh/fed-uttrep"),
            _dialogue("utterance_replacement_2", "coh/fed-rep-2utt", in_paper=False),
            _dialogue("utterance_replacement_3", "coh/fed-rep-3utt", in_paper=False),
            PublishedSet(
                "self_contradiction",
                "dialogue",
                f"{DIALOGUE_FOLDER}/eng/decode-contradiction_text.txt",
                f"{DIALOGUE_FOLDER}/eng/decode-consistent_text.txt",
            ),
            _dialogue("utterance_duplication", "eng/fed-repeat-self", pairing="cycles"),
            _dialogue("repeating_others", "eng/fed-repeat-other", pairing="as_found"),
            _dialogue("generic_utterance", "inf/fed-boring"),
            _dialogue("content_reduction", "inf/fed-content-reduce"),
        )
    }
)
"""Name -> set. Files that lie in several folders are identical there and are read once."""

PAPER_SETS: tuple[str, ...] = tuple(name for name, published in SETS.items() if published.in_paper)
"""The fourteen of the paper's tables."""


def wanted_sets(folder: Path, strategies: Iterable[str] | None) -> list[str]:
    """Returns the sets that are to be read of a folder: those of some strategies, or the paper's that are in it.

    Args:
        folder: the origin's `robustness_data`.
        strategies: names of strategies; None for all.

    Raises:
        UserError: no strategies are named, and none of the sets is there.
    """
    if strategies is None:
        return sets_in(folder)
    named = set(strategies)
    return [name for name in SETS if name in named]


def check_sets(folder: Path, strategies: Iterable[str] | None) -> None:
    """Checks that all files are there of the sets that are to be read of a folder.

    Args:
        folder: the origin's `robustness_data`.
        strategies: names of strategies; None for all.

    Raises:
        UserError: the sets and the files that are not there.
    """
    absent: dict[str, list[str]] = {}
    for name in wanted_sets(folder, strategies):
        for path in SETS[name].files:
            if not (folder / path).is_file():
                absent.setdefault(path, []).append(name)
    if absent:
        files = "; ".join(f"{path} of {', '.join(names)}" for path, names in absent.items())
        raise UserError(
            f"{folder} does not have {files}; get them from comp-analysis (public_corpora: [comp-analysis]), or name "
            "the strategies that you have"
        )


def files_in(folder: Path, strategies: Iterable[str] | None) -> list[Path]:
    """Returns the files that are read of a folder, so that a change in one of them is noticed; none without sets."""
    if strategies is None and not any(SETS[name].is_in(folder) for name in PAPER_SETS):
        return []
    names = wanted_sets(folder, strategies)
    return [folder / path for path in dict.fromkeys(path for name in names for path in SETS[name].files)]


def sets_in(folder: Path) -> list[str]:
    """Returns the sets of the paper's tables that are in a folder; one with half of its files is.

    Raises:
        UserError: there is none.
    """
    found = [name for name in PAPER_SETS if SETS[name].is_in(folder)]
    if not found:
        raise UserError(
            f"{folder} has none of the published sets; it must be comp-analysis' folder robustness_data, with "
            f"{TURN_FOLDER} and {DIALOGUE_FOLDER} in it"
        )
    return found
