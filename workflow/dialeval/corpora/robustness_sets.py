"""The damaged responses and dialogues that comp-analysis published (its folder `robustness_data`), with originals.

Turn level: two files a set, paired by line, `id TAB context ... TAB response`. Dialogue level: one file of damaged
dialogues, `id TAB speaker: text TAB ...`, and the originals in a JSON list; Self-Contradiction brings its originals as
a file of its own. Each set says where its files lie and how its rows find their originals. Contradiction, Repetition
and Repeating Others were not published.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from dialeval.corpora.dialogues import parse_json, read_text
from dialeval.corpora.items import Item, Level
from dialeval.errors import UserError, nearest

CORPUS = "robustness"
LANGUAGE = "en"
TURN_FOLDER = "turn_level_robust_data"
DIALOGUE_FOLDER = "dialog_level_robust_data"
ORIGINALS_FILE = f"{DIALOGUE_FOLDER}/fed_coherent_original.json"
DRAWS_PER_DIALOGUE = 5


@dataclass(frozen=True, slots=True)
class PublishedSet:
    """Where one published set lies.

    Attributes:
        name: the set; that of our strategy where there is one, else of its own.
        level: turn or dialogue.
        damaged: path of the damaged rows under the folder.
        original: path of the original rows, paired by line; empty where the originals are the JSON list.
        in_cycles: whether the rows run through all originals again and again, instead of each several times in a row.
        in_paper: whether the paper's tables have it.
    """

    name: str
    level: Level
    damaged: str
    original: str = ""
    in_cycles: bool = False
    in_paper: bool = True


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


def _dialogue(name: str, file: str, *, in_cycles: bool = False, in_paper: bool = True) -> PublishedSet:
    path = f"{DIALOGUE_FOLDER}/{file}_text.txt"
    return PublishedSet(name, "dialogue", path, in_cycles=in_cycles, in_paper=in_paper)


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
            _dialogue("utterance_duplication", "eng/fed-repeat-self", in_cycles=True),
            _dialogue("generic_utterance", "inf/fed-boring"),
            _dialogue("content_reduction", "inf/fed-content-reduce"),
        )
    }
)
"""Name -> set. Files that lie in several folders are identical there and are read once."""


def read_sets(folder: Path, names: list[str] | None = None) -> dict[str, list[Pair]]:
    """Reads published sets.

    Args:
        folder: the origin's `robustness_data`.
        names: which sets; None for those of the paper's tables.

    Returns:
        Name -> pairs in the order of the file. Originals that several rows share are equal items with one `item_id`.

    Raises:
        UserError: a set is unknown, a file is missing or is not as published, with file and line.
    """
    wanted = [name for name, published in SETS.items() if published.in_paper] if names is None else names
    unknown = next((name for name in wanted if name not in SETS), None)
    if unknown is not None:
        raise UserError(f"there is no published set '{unknown}' in robustness_data; {nearest(unknown, SETS)}")
    return {name: _READERS[SETS[name].level](folder, SETS[name]) for name in wanted}


def _read_turn_set(folder: Path, published: PublishedSet) -> list[Pair]:
    originals = _rows(folder / published.original)
    damaged = _rows(folder / published.damaged)
    _check_as_many(folder, published, len(originals), len(damaged))
    pairs: list[Pair] = []
    for row, (before, after) in enumerate(zip(originals, damaged, strict=True)):
        n_context = len(before) - 2
        place = f"{folder / published.damaged}, line {row + 1}"
        if n_context < 0 or len(after) < len(before):
            raise UserError(
                f"{place}: {len(after)} fields, but the original has {len(before)}: an id, the context, the response"
            )
        # an inserted entity can hold a TAB, which splits the response
        response = "\t".join(after[1 + n_context :])
        original = _turn_item(published.name, row, "original", [*before[1:]])
        new = _turn_item(published.name, row, "damaged", [*after[1 : 1 + n_context], response])
        unchanged = original.response == new.response
        pairs.append(Pair(published.name, row, original, new, unchanged))
    return pairs


def _turn_item(name: str, row: int, side: str, fields: list[str]) -> Item:
    texts = tuple(" ".join(field.split("\t")).strip() for field in fields)
    speakers = tuple("BA"[(len(texts) - 1 - turn) % 2] for turn in range(len(texts)))
    return Item(CORPUS, f"{name}/{row:04d}/{side}", LANGUAGE, "turn", f"{name}/{row:04d}", speakers, texts)


def _read_dialogue_set(folder: Path, published: PublishedSet) -> list[Pair]:
    damaged = _rows(folder / published.damaged)
    if published.original:
        originals = _rows(folder / published.original)
        _check_as_many(folder, published, len(originals), len(damaged))
        before = [
            _tagged_item(f"{published.name}/{row:03d}/original", f"{published.name}/{row:03d}", fields[1:], place)
            for row, (fields, place) in enumerate(_placed(folder / published.original, originals))
        ]
        whose = list(range(len(damaged)))
    else:
        before = _fed_originals(folder / ORIGINALS_FILE)
        n_originals = len(before)
        if len(damaged) != DRAWS_PER_DIALOGUE * n_originals:
            raise UserError(
                f"{folder / published.damaged}: {len(damaged)} rows; with {n_originals} originals in {ORIGINALS_FILE} "
                f"there must be {DRAWS_PER_DIALOGUE * n_originals}"
            )
        rows = range(len(damaged))
        whose = [row % n_originals if published.in_cycles else row // DRAWS_PER_DIALOGUE for row in rows]
    pairs: list[Pair] = []
    for row, (fields, place) in enumerate(_placed(folder / published.damaged, damaged)):
        original = before[whose[row]]
        new = _tagged_item(f"{published.name}/{row:03d}/damaged", original.cluster, fields[1:], place)
        pairs.append(Pair(published.name, row, original, new, original.utterances == new.utterances))
    return pairs


def _fed_originals(path: Path) -> list[Item]:
    """Reads the undamaged dialogues; the human begins."""
    content = parse_json(read_text(path), str(path))
    if not isinstance(content, list) or not all(
        isinstance(texts, list) and texts and all(isinstance(text, str) for text in texts) for texts in content
    ):
        raise UserError(f"{path}: a list of lists of utterances is needed")
    return [
        Item(
            CORPUS,
            f"fed/{number:02d}",
            LANGUAGE,
            "dialogue",
            f"fed/{number:02d}",
            tuple(("human", "chatbot")[turn % 2] for turn in range(len(texts))),
            tuple(text.strip() for text in texts),
        )
        for number, texts in enumerate(content)
    ]


def _tagged_item(item_id: str, cluster: str, fields: list[str], place: str) -> Item:
    """Returns a dialogue from fields `speaker: text`; the chatbot is called `model` in some files."""
    speakers: list[str] = []
    texts: list[str] = []
    for field in fields:
        tag, colon, text = field.partition(":")
        speaker = _SPEAKERS.get(tag.strip())
        if not colon or speaker is None:
            raise UserError(f"{place}: '{field:.40}' must begin with one of {', '.join(f'{t}:' for t in _SPEAKERS)}")
        speakers.append(speaker)
        texts.append(text.strip())
    return Item(CORPUS, item_id, LANGUAGE, "dialogue", cluster, tuple(speakers), tuple(texts))


def _rows(path: Path) -> list[list[str]]:
    """Returns the fields of each line; lines end at line feeds and fields at TABs only."""
    return [line.split("\t") for line in read_text(path).split("\n") if line]


def _placed(path: Path, rows: list[list[str]]) -> list[tuple[list[str], str]]:
    return [(fields, f"{path}, line {number}") for number, fields in enumerate(rows, start=1)]


def _check_as_many(folder: Path, published: PublishedSet, n_originals: int, n_damaged: int) -> None:
    if n_originals != n_damaged:
        raise UserError(
            f"{folder / published.damaged} has {n_damaged} rows, but {published.original} has {n_originals}; "
            "they are paired by line"
        )


_SPEAKERS = MappingProxyType({"human": "human", "model": "chatbot", "chatbot": "chatbot"})
_READERS: Mapping[Level, Callable[[Path, PublishedSet], list[Pair]]] = MappingProxyType(
    {"turn": _read_turn_set, "dialogue": _read_dialogue_set}
)
