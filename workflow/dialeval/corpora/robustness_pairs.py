"""Reads the damaged responses and dialogues that comp-analysis published, with their originals.

Turn level: two files a set, paired by line, `id TAB context ... TAB response`. Dialogue level: one file of damaged
dialogues, `id TAB speaker: text TAB ...`, and the originals in a JSON list; Self-Contradiction brings its originals as
a file of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from dialeval.corpora.items import Item
from dialeval.corpora.original_rows import originals_of
from dialeval.corpora.robustness_sets import ORIGINALS_FILE, SETS, Pair, PublishedSet, sets_in
from dialeval.corpora.tab_texts import read_fields
from dialeval.corpora.text_files import read_json
from dialeval.criteria import Level
from dialeval.errors import UserError, nearest

CORPUS = "robustness"
LANGUAGE = "en"


def read_sets(folder: Path, names: Iterable[str] | None = None) -> dict[str, list[Pair]]:
    """Reads published sets.

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
        raise UserError(f"there is no published set '{unknown}' in robustness_data; {nearest(unknown, SETS)}")
    return {name: _READERS[SETS[name].level](folder, SETS[name]) for name in wanted}


def _read_turn_set(folder: Path, published: PublishedSet) -> list[Pair]:
    originals = read_fields(folder / published.original)
    damaged = read_fields(folder / published.damaged)
    _check_as_many(folder, published, len(originals), len(damaged))
    pairs: list[Pair] = []
    for row, (before, after) in enumerate(zip(originals, damaged, strict=True)):
        n_context = _context_length(before, after, f"{folder / published.damaged}, line {row + 1}")
        original, new = (
            _turn_item(published.name, row, side, fields[1 : 1 + n_context], "\t".join(fields[1 + n_context :]), path)
            for side, fields, path in (
                ("original", before, folder / published.original),
                ("damaged", after, folder / published.damaged),
            )
        )
        pairs.append(Pair(published.name, row, original, new, original.response == new.response))
    return pairs


def _context_length(before: list[str], after: list[str], place: str) -> int:
    """Returns how many utterances come before the response, of two rows that have their context in common.

    What is put into a response can hold a TAB, which splits it; it is told from the context by the other row.

    Raises:
        UserError: the rows are not of one context.
    """
    shorter = min(len(before), len(after)) - 2
    common = 0
    while common < shorter and before[1 + common].strip() == after[1 + common].strip():
        common += 1
    if common == len(before) - 2 or (common and common == shorter):
        return common
    if len(after) < len(before):
        raise UserError(
            f"{place}: {len(after)} fields, but the original has {len(before)}: an id, the context, the response"
        )
    if not common and not {text.strip() for text in before[1:]} & {text.strip() for text in after[1:]}:
        raise UserError(
            f"{place}: nothing of the context is that of the original in the same line; they must be paired"
        )
    return common


def _turn_item(name: str, row: int, side: str, context: list[str], response: str, path: Path) -> Item:
    texts = tuple(" ".join(field.split("\t")).strip() for field in (*context, response))
    _check_texts(texts, f"{path}, line {row + 1}")
    speakers = tuple("BA"[(len(texts) - 1 - turn) % 2] for turn in range(len(texts)))
    return Item(CORPUS, f"{name}/{row:04d}/{side}", LANGUAGE, "turn", f"{name}/{row:04d}", speakers, texts)


def _read_dialogue_set(folder: Path, published: PublishedSet) -> list[Pair]:
    path = folder / published.damaged
    damaged = read_fields(path)
    if published.original:
        originals = read_fields(folder / published.original)
        _check_as_many(folder, published, len(originals), len(damaged))
        before = [
            _tagged_item(f"{published.name}/{row:03d}/original", f"{published.name}/{row:03d}", fields, place)
            for row, (fields, place) in enumerate(_placed(folder / published.original, originals))
        ]
        whose = list(range(len(damaged)))
    else:
        before = _fed_originals(folder / ORIGINALS_FILE)
        texts = [original.utterances for original in before]
        whose = originals_of(damaged, texts, published.pairing, str(path), ORIGINALS_FILE)
    pairs: list[Pair] = []
    for row, (fields, place) in enumerate(_placed(path, damaged)):
        original = before[whose[row]]
        new = _tagged_item(f"{published.name}/{row:03d}/damaged", original.cluster, fields, place)
        pairs.append(Pair(published.name, row, original, new, original.utterances == new.utterances))
    return pairs


def _fed_originals(path: Path) -> list[Item]:
    """Reads the undamaged dialogues; the human begins."""
    content = read_json(path)
    if not isinstance(content, list) or not content:
        raise UserError(f"{path}: a list of lists of utterances is needed")
    items = []
    for number, texts in enumerate(content):
        place = f"{path}, dialogue {number + 1}"
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise UserError(f"{place}: a list of utterances is needed, not {texts!r:.60}")
        said = tuple(text.strip() for text in texts)
        _check_texts(said, place)
        name = f"fed/{number:02d}"
        speakers = tuple(("human", "chatbot")[turn % 2] for turn in range(len(said)))
        items.append(Item(CORPUS, name, LANGUAGE, "dialogue", name, speakers, said))
    return items


def _tagged_item(item_id: str, cluster: str, fields: list[str], place: str) -> Item:
    """Returns a dialogue from an id and fields `speaker: text`; the chatbot is called `model` in some files."""
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


def _check_texts(texts: Sequence[str], place: str) -> None:
    """Refuses a row in which nobody says anything; single empty utterances are in the published files."""
    if not any(texts):
        raise UserError(f"{place}: there is no utterance; write what was said")


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
