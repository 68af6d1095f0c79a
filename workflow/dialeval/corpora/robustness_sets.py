"""The perturbed responses and dialogues that comp-analysis published, with their originals.

The files of comp-analysis run through one list of dialogues, five rows for each. Most have the five together (blocks);
one runs through the whole list five times (cycles). The number at the end of an id says it too, but not in every file.
The words of a perturbed dialogue, most of which are its original's, tell whether a file is in the order it should be.

Each says where its files lie and how its rows find their originals.

Turn level: two files a set, paired by line, `id TAB context ... TAB response`. Dialogue level: one file of perturbed
dialogues, `id TAB speaker: text TAB ...`, and the originals in a JSON list; Self-Contradiction brings its originals as
a file of its own.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from dialeval.corpora.comp_analysis import read_fields
from dialeval.corpora.items import Item
from dialeval.corpora.text_files import read_json
from dialeval.criteria import Level
from dialeval.errors import UserError, nearest

Pairing = Literal["blocks", "cycles", "as_found"]
"""Five rows of one original together; all originals five times; or the one of these that the words fit."""

DRAWS_PER_DIALOGUE = 5
_CLEARLY = 1.25
"""Ratio of similarities to the originals from which one order is preferred to another."""
_NUMBER = re.compile(r"([0-9]{1,6})$")
_WORD = re.compile(r"\w+")


def originals_of(
    rows: Sequence[Sequence[str]], originals: Sequence[Sequence[str]], pairing: Pairing, source: str, list_name: str
) -> list[int]:
    """Return the position of each row's original.

    Args:
        rows: the id, and then the utterances, of every perturbed dialogue.
        originals: the utterances of every original.
        pairing: the order in which the file should be.

    Raises:
        UserError: there are not five rows for each original, the words speak clearly for another order than the
            published one, or fit neither.
    """
    n_rows, n_originals = len(rows), len(originals)
    if n_rows != DRAWS_PER_DIALOGUE * n_originals:
        raise UserError(
            f"{source}: {n_rows} rows; with {n_originals} originals in {list_name} there must be "
            f"{DRAWS_PER_DIALOGUE * n_originals}"
        )
    orders = {
        "ids": _by_ids(rows, n_originals),
        "blocks": [row // DRAWS_PER_DIALOGUE for row in range(n_rows)],
        "cycles": [row % n_originals for row in range(n_rows)],
    }
    possible = {name: order for name, order in orders.items() if order is not None}
    alike = {name: _likeness(rows, originals, order) for name, order in possible.items()}
    best = max(alike, key=alike.__getitem__)
    others = [alike[name] for name in possible if possible[name] != possible[best]]
    clear = alike[best] > _CLEARLY * max(others, default=0.0)
    if pairing == "as_found":
        if not clear and "ids" not in possible:
            raise UserError(
                f"{source}: the rows cannot be matched to the dialogues of {list_name}, neither by the numbers at "
                f"the end of their ids nor by their texts; use both files of one release"
            )
        return possible[best if clear else "ids"]
    if clear and possible[best] != possible[pairing]:
        raise UserError(
            f"{source}: the rows are not in the published order of {list_name}; use both files as published"
        )
    return possible[pairing]


def _by_ids(rows: Sequence[Sequence[str]], n_originals: int) -> list[int] | None:
    """Return the numbers at the ends of the ids; None unless every original is there equally often."""
    found = [_NUMBER.search(row[0].strip()) for row in rows]
    numbers = [int(match[1]) for match in found if match]
    return numbers if Counter(numbers) == dict.fromkeys(range(n_originals), DRAWS_PER_DIALOGUE) else None


def _likeness(rows: Sequence[Sequence[str]], originals: Sequence[Sequence[str]], order: Sequence[int]) -> float:
    """Return which share of an original's words its perturbed dialogues have on average; rarer words weigh more."""
    words = [_words(texts) for texts in originals]
    n_having = Counter(word for vocabulary in words for word in vocabulary)
    weight = {word: math.log1p(len(originals) / count) for word, count in n_having.items()}
    shares = []
    for row, original in zip(rows, order, strict=True):
        perturbed = _words(row[1:])
        total = math.fsum(weight[word] for word in words[original])
        kept = math.fsum(weight[word] for word in words[original] & perturbed)
        shares.append(kept / total if total else 0.0)
    return math.fsum(shares) / len(shares)


def _words(texts: Sequence[str]) -> set[str]:
    return {word for text in texts for word in _WORD.findall(text.casefold())}


# The sets of perturbed responses and dialogues that comp-analysis published: its folder `robustness_data`.

TURN_FOLDER = "turn_level_robust_data"
DIALOGUE_FOLDER = "dialog_level_robust_data"
ORIGINALS_FILE = f"{DIALOGUE_FOLDER}/fed_coherent_original.json"


@dataclass(frozen=True, slots=True)
class PublishedSet:
    """The files of one published set.

    Attributes:
        name: the set; that of our strategy where there is one, else of its own.
        level: turn or dialogue.
        perturbed: path of the perturbed rows under the folder.
        original: path of the original rows, paired by line; empty where the originals are the JSON list.
        pairing: how rows find their originals in the JSON list.
        in_paper: whether the paper's tables have it.
    """

    name: str
    level: Level
    perturbed: str
    original: str = ""
    pairing: Pairing = "blocks"
    in_paper: bool = True

    @property
    def files(self) -> tuple[str, ...]:
        """Return the paths of its files under the folder; sets whose originals are the JSON list share that one."""
        return (self.perturbed, self.original or ORIGINALS_FILE)

    def is_in(self, folder: Path) -> bool:
        """Return whether a file of this set alone is in a folder."""
        return any((folder / path).is_file() for path in (self.perturbed, self.original) if path)


@dataclass(frozen=True, slots=True)
class Pair:
    """An original and its perturbed version.

    Attributes:
        strategy: name of the set.
        row: 0-based row of the perturbed file.
        unchanged: whether the perturbation left the scored text unchanged; such pairs count, as in the paper.
    """

    strategy: str
    row: int
    original: Item
    perturbed: Item
    unchanged: bool


def wanted_sets(folder: Path, strategies: Iterable[str] | None) -> list[str]:
    """Return the sets that are to be read of a folder: those of some strategies, or the paper's that are in it.

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
    """Check that a folder has all files of the published sets to read.

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
            f"{folder} does not have {files}; download them from comp-analysis (public_corpora: [comp-analysis]), "
            f"or set perturbations to those that you have"
        )


def files_in(folder: Path, strategies: Iterable[str] | None) -> list[Path]:
    """Return the files that are read of a folder, so that a change in one of them is noticed; none without sets."""
    if strategies is None and not any(SETS[name].is_in(folder) for name in PAPER_SETS):
        return []
    names = wanted_sets(folder, strategies)
    return [folder / path for path in dict.fromkeys(path for name in names for path in SETS[name].files)]


def sets_in(folder: Path) -> list[str]:
    """Return the sets of the paper's tables that are in a folder; one with half of its files is."""
    found = [name for name in PAPER_SETS if SETS[name].is_in(folder)]
    if not found:
        raise UserError(
            f"{folder} has none of the published sets; it must be comp-analysis' folder robustness_data with "
            f"{TURN_FOLDER} and {DIALOGUE_FOLDER}"
        )
    return found


def _turn(name: str, family: str, *, in_paper: bool = True) -> PublishedSet:
    perturbed, original = (f"{TURN_FOLDER}/{family}-{side}_text.txt" for side in ("perturbed", "original"))
    return PublishedSet(name, "turn", perturbed, original, in_paper=in_paper)


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


# Reads the perturbed responses and dialogues that comp-analysis published, with their originals.

CORPUS = "robustness"
LANGUAGE = "en"

_SPEAKERS = MappingProxyType({"human": "human", "model": "chatbot", "chatbot": "chatbot"})


def read_sets(folder: Path, names: Iterable[str] | None = None) -> dict[str, list[Pair]]:
    """Read published sets.

    Args:
        folder: the origin's `robustness_data`.
        names: which sets; None for those of the paper's tables that are in the folder.

    Returns:
        Name -> pairs in the order of the file. Originals that several rows share are equal items with one `item_id`.

    Raises:
        UserError: a set is unknown, a file is missing or is not as published, with file and line.
    """
    wanted = sets_in(folder) if names is None else list(names)
    unknown = next((name for name in wanted if name not in SETS), None)
    if unknown is not None:
        raise UserError(f"'{unknown}' is not a published set of robustness_data; {nearest(unknown, SETS)}")
    return {name: _READERS[SETS[name].level](folder, SETS[name]) for name in wanted}


def _read_turn_set(folder: Path, published: PublishedSet) -> list[Pair]:
    originals = read_fields(folder / published.original)
    perturbed = read_fields(folder / published.perturbed)
    _check_as_many(folder, published, len(originals), len(perturbed))
    pairs: list[Pair] = []
    for row, (before, after) in enumerate(zip(originals, perturbed, strict=True)):
        n_context = _context_length(before, after, f"{folder / published.perturbed}, line {row + 1}")
        original, new = (
            _turn_item(published.name, row, side, fields[1 : 1 + n_context], "\t".join(fields[1 + n_context :]), path)
            for side, fields, path in (
                ("original", before, folder / published.original),
                ("damaged", after, folder / published.perturbed),
            )
        )
        pairs.append(Pair(published.name, row, original, new, original.response == new.response))
    return pairs


def _check_as_many(folder: Path, published: PublishedSet, n_originals: int, n_perturbed: int) -> None:
    if n_originals != n_perturbed:
        raise UserError(
            f"{folder / published.perturbed} has {n_perturbed} rows, but {published.original} has {n_originals}; "
            f"line n of one must belong to line n of the other"
        )


def _context_length(before: list[str], after: list[str], place: str) -> int:
    """Return how many utterances come before the response, of two rows that have their context in common.

    What is put into a response can hold a TAB, which splits it; it is distinguished from the context by the other row.
    """
    shorter = min(len(before), len(after)) - 2
    common = 0
    while common < shorter and before[1 + common].strip() == after[1 + common].strip():
        common += 1
    if common == len(before) - 2 or (common and common == shorter):
        return common
    if len(after) < len(before):
        raise UserError(
            f"{place}: {len(after)} fields, but the original has {len(before)}; each line must have an id, the "
            f"context and the response"
        )
    if not common and not {text.strip() for text in before[1:]} & {text.strip() for text in after[1:]}:
        raise UserError(
            f"{place}: the context has nothing in common with the original in the same line; the two files must "
            f"have the same order"
        )
    return common


def _turn_item(name: str, row: int, side: str, context: list[str], response: str, path: Path) -> Item:
    texts = tuple(" ".join(field.split("\t")).strip() for field in (*context, response))
    _check_texts(texts, f"{path}, line {row + 1}")
    speakers = tuple("BA"[(len(texts) - 1 - turn) % 2] for turn in range(len(texts)))
    return Item(CORPUS, f"{name}/{row:04d}/{side}", LANGUAGE, "turn", f"{name}/{row:04d}", speakers, texts)


def _check_texts(texts: Sequence[str], place: str) -> None:
    """Refuse a row without any text; single empty utterances are in the published files."""
    if not any(texts):
        raise UserError(f"{place}: no utterance; add one")


def _read_dialogue_set(folder: Path, published: PublishedSet) -> list[Pair]:
    path = folder / published.perturbed
    perturbed = read_fields(path)
    if published.original:
        originals = read_fields(folder / published.original)
        _check_as_many(folder, published, len(originals), len(perturbed))
        before = [
            _tagged_item(f"{published.name}/{row:03d}/original", f"{published.name}/{row:03d}", fields, place)
            for row, (fields, place) in enumerate(_placed(folder / published.original, originals))
        ]
        original_of_row = list(range(len(perturbed)))
    else:
        before = _read_fed_originals(folder / ORIGINALS_FILE)
        texts = [original.utterances for original in before]
        original_of_row = originals_of(perturbed, texts, published.pairing, str(path), ORIGINALS_FILE)
    pairs: list[Pair] = []
    for row, (fields, place) in enumerate(_placed(path, perturbed)):
        original = before[original_of_row[row]]
        new = _tagged_item(f"{published.name}/{row:03d}/damaged", original.cluster, fields, place)
        pairs.append(Pair(published.name, row, original, new, original.utterances == new.utterances))
    return pairs


_READERS: Mapping[Level, Callable[[Path, PublishedSet], list[Pair]]] = MappingProxyType(
    {"turn": _read_turn_set, "dialogue": _read_dialogue_set}
)


def _tagged_item(item_id: str, cluster: str, fields: list[str], place: str) -> Item:
    """Return a dialogue from an id and fields `speaker: text`; the chatbot is called `model` in some files."""
    speakers: list[str] = []
    texts: list[str] = []
    for field in fields[1:]:
        tag, colon, text = field.partition(":")
        speaker = _SPEAKERS.get(tag.strip())
        if not colon or speaker is None:
            raise UserError(f"{place}: '{field:.40}' must begin with one of {', '.join(f'{t}:' for t in _SPEAKERS)}")
        speakers.append(speaker)
        texts.append(text.strip())
    _check_texts(texts, place)
    return Item(CORPUS, item_id, LANGUAGE, "dialogue", cluster, tuple(speakers), tuple(texts))


def _placed(path: Path, rows: list[list[str]]) -> list[tuple[list[str], str]]:
    return [(fields, f"{path}, line {number}") for number, fields in enumerate(rows, start=1)]


def _read_fed_originals(path: Path) -> list[Item]:
    """Read the undamaged dialogues; the human begins."""
    content = read_json(path)
    if not isinstance(content, list) or not content:
        raise UserError(f"{path}: a list of lists of utterances is needed; download the file again")
    items = []
    for number, texts in enumerate(content):
        place = f"{path}, dialogue {number + 1}"
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise UserError(f"{place}: a list of utterances is needed, not {texts!r:.60}")
        utterances = tuple(text.strip() for text in texts)
        _check_texts(utterances, place)
        name = f"fed/{number:02d}"
        speakers = tuple(("human", "chatbot")[turn % 2] for turn in range(len(utterances)))
        items.append(Item(CORPUS, name, LANGUAGE, "dialogue", name, speakers, utterances))
    return items
