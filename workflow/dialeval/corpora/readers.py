"""The readers of human dialogues and of rated items by their names in the configuration, and MuTual's folder.

Dialogues with the same id are distinguished by the system that the file names. In MuTual's files the field `article`
holds the dialogue as one string with turns marked by `m :` and `f :`. Items that share a dialogue are cut at different
points; only the longest cut of each is kept (572 dialogues on the test split).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from dialeval.corpora import author_files, botchat, comp_analysis, dialogues, dstc11, rated_files
from dialeval.corpora.dialogues import HumanDialogue, Reading, Utterance, check
from dialeval.corpora.rated_sources import RatedReading
from dialeval.corpora.text_files import read_json
from dialeval.corpora.transcripts.readers import AUTO
from dialeval.corpora.transcripts.readers import read as read_transcripts
from dialeval.corpora.transcripts.readers import source_files as transcript_files
from dialeval.errors import UserError, nearest

_FEWEST = 2


def read_any_format(path: Path, language: str) -> Reading:
    """Read a file or folder; dialogues of fewer than two utterances are left out.

    Args:
        language: language of the dialogues that do not name theirs.
    """
    reading = Reading(str(path))
    for number, one in enumerate(read_transcripts(path, AUTO, {}, Counter()), start=1):
        if len(one.utterances) < _FEWEST:
            reading.skipped["with fewer than two utterances"] += 1
            continue
        dialogue_id = "/".join(name for name in (one.dialogue_id or f"row-{number}", one.system) if name)
        utterances = tuple(Utterance(*pair) for pair in zip(one.speakers, one.utterances, strict=True))
        place = one.place.removeprefix(f"{path}, ")
        reading.dialogues.append(HumanDialogue(dialogue_id, utterances, one.language or language, place))
    return check(reading)


# MuTual's own text files: a folder with one JSON object per file.

TURN = re.compile(r"(?:^|\s)([mf]) : ")


def files_in(folder: Path) -> list[Path]:
    """Return the text files of a folder in the order of their numbers.

    Raises:
        UserError: it is no folder or has no text files.
    """
    if not folder.is_dir():
        raise UserError(f"{folder} is not a folder; set path to the folder of MuTual's test_<n>.txt files")
    files = sorted(folder.glob("*.txt"), key=lambda path: (_number(path), path.name))
    if not files:
        raise UserError(f"{folder} has no .txt files; set path to the folder of MuTual's test_<n>.txt files")
    return files


def read_mutual_folder(folder: Path, language: str) -> Reading:
    """Read a folder of MuTual items; ids are the file names' stems."""
    articles: dict[str, str] = {}
    for path in files_in(folder):
        record = read_json(path)
        if not isinstance(record, dict) or not isinstance(record.get("article"), str):
            raise UserError(
                f"{path}: one JSON object with a text field 'article' is needed; correct or remove the file"
            )
        articles[path.stem] = record["article"].strip()

    reading = Reading(str(folder))
    longer = _items_with_a_longer_cut(articles)
    for item, article in articles.items():
        utterances = _utterances(article, folder / f"{item}.txt")
        if len(utterances) < 2:
            reading.skipped["with fewer than two utterances"] += 1
        elif item in longer:
            reading.skipped["that are shorter versions of another item"] += 1
        else:
            reading.dialogues.append(HumanDialogue(item, utterances, language, f"file {item}.txt"))
    return check(reading)


def _number(path: Path) -> int:
    digits = re.findall(r"\d+", path.stem)
    return int(digits[-1]) if digits else -1


def _items_with_a_longer_cut(articles: dict[str, str]) -> set[str]:
    """Return the items whose article begins another one; of equal articles, all but the first.

    In sorted order an article that begins another one begins its next neighbour.
    """
    order = {item: number for number, item in enumerate(articles)}
    ranked = sorted(articles, key=lambda item: (articles[item], -order[item]))
    return {item for item, follower in pairwise(ranked) if articles[follower].startswith(articles[item])}


def _utterances(article: str, path: Path) -> tuple[Utterance, ...]:
    head, *parts = TURN.split(article)
    if head.strip():
        raise UserError(f"{path}: the article begins with {head!r:.60} instead of a turn mark 'm :' or 'f :'; add it")
    return tuple(Utterance(speaker, text.strip()) for speaker, text in zip(parts[::2], parts[1::2], strict=True))


# The readers of human dialogues by name.

READERS = {
    "botchat_workbook": botchat.read_botchat_workbook,
    "mutual_folder": read_mutual_folder,
    "jsonl": dialogues.read_json_lines_dialogues,
    AUTO: read_any_format,
}


def read_corpus(reader: str, path: Path | None, language: str) -> Reading:
    """Read a corpus.

    Args:
        reader: `bundled` or a name in `READERS`.
        path: where the source lies; None for the bundled corpus.
        language: language of what does not name its own.
    """
    if reader == "bundled":
        return dialogues.bundled_dialogues(language)
    if path is None:
        raise UserError(f"reader '{reader}' needs a path; set `path`")
    return READERS[reader](path, language)


def source_files(reader: str, path: Path | None) -> list[Path]:
    """Return the files that a corpus is read from, so that a change in one of them is noticed."""
    if reader == "bundled" or path is None:
        return []
    if reader == AUTO:
        return transcript_files(AUTO, path)
    return files_in(path) if reader == "mutual_folder" else [path]


# The readers of rated items by name.


class RatedFormat(NamedTuple):
    """A format of rated items.

    Attributes:
        about: the data and the files, for the documentation.
        read: returns the items and ratings of a corpus, given its name, the path and the wanted languages; None for the
            authors' own files, which `author_files` reads by the reader's name.
        files: returns the files that are read.
    """

    about: str
    read: Callable[..., RatedReading] | None = None
    files: Callable[[Path], list[Path]] = lambda path: [path]


RATED_FORMATS = {
    "rated_jsonl": RatedFormat("Your own ratings, as JSON Lines", rated_files.read_rated_lines),
    "comp_turn": RatedFormat(
        "comp-analysis, responses: `<dataset>_text.txt`", comp_analysis.read_turns, comp_analysis.turn_source_files
    ),
    "comp_dialogue": RatedFormat(
        "comp-analysis, dialogues: `<dataset>-dial_text.txt`, `persona-see_text.txt`",
        comp_analysis.read_dialogues,
        comp_analysis.dialogue_source_files,
    ),
    "xdial": RatedFormat("xDial-Eval, ten languages: `<dataset>.csv`", rated_files.read_xdial),
    "fed_turn": RatedFormat("FED, responses: `fed_data.json`"),
    "fed_dialogue": RatedFormat("FED, dialogues: `fed_data.json`"),
    "usr": RatedFormat("USR: `pc_usr_data.json`, `tc_usr_data.json`"),
    "grade_convai2": RatedFormat("GRADE, the data set ConvAI2: `human_judgement.json`"),
    "grade_dailydialog": RatedFormat("GRADE, the data set DailyDialog: `human_judgement.json`"),
    "grade_empathetic": RatedFormat("GRADE, the data set EmpatheticDialogues: `human_judgement.json`"),
    "grade_texts": RatedFormat(
        "GRADE, the texts of one chatbot with mean ratings: `human_ctx.txt`, with `human_hyp.txt` and "
        "`human_score.txt`",
        files=author_files.grade_text_files,
    ),
    "conture_turn": RatedFormat("ConTurE, responses: `data.json`"),
    "conture_dialogue": RatedFormat("ConTurE, dialogues: `data.json`"),
    "zhao": RatedFormat("Zhao: `dd_annotations.json`"),
    "dstc10_json": RatedFormat("DSTC10 and DSTC11, English: `<set>_eval.json`. The file name identifies the set"),
    "dstc11_json": RatedFormat(
        "DSTC11, Chinese development sets: `<set>-turn_eval.json`, `<set>-dial_eval.json`", dstc11.read_dstc11_json
    ),
    "dstc11_csv": RatedFormat(
        "DSTC11, Chinese test set: the CSV file of ratings, with the file of utterances beside it",
        dstc11.read_dstc11_csv,
        dstc11.csv_source_files,
    ),
}
"""By the reader's name in the configuration."""


def read_rated(
    reader: str, corpus: str, path: Path, languages: list[str] | None = None, own_criteria: Collection[str] = ()
) -> RatedReading:
    """Read a rated source.

    Args:
        languages: codes of the languages to read; None for all that the source has.
        own_criteria: names of the user's criteria that a corpus of the user's own has ratings on.
    """
    if reader not in RATED_FORMATS:
        raise UserError(f"'{reader}' is not a reader of rated items; {nearest(reader, RATED_FORMATS)}")
    more = (own_criteria,) if reader == "rated_jsonl" else ()
    read = RATED_FORMATS[reader].read or partial(author_files.read_author_file, reader)
    return read(corpus, path, languages, *more)


def rated_source_files(reader: str, path: Path) -> list[Path]:
    """Return the files that a source is read from, so that a change in one of them is noticed."""
    return RATED_FORMATS[reader].files(path)
