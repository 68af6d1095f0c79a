"""GRADE's texts of one chatbot on one data set: `human_ctx.txt`, `human_hyp.txt` and the means in `human_score.txt`.

Line by line: a context with `|||` between its utterances, the response to it, and what people gave on average. The
scores lie beside the texts, or where the authors have them: `human_score/<data set>/<chatbot>` for
`eval_data/<data set>/<chatbot>`.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from dialeval.corpora.gathering import Gathering, before_response
from dialeval.corpora.grade import DIMENSION, SCALE, utterances_in
from dialeval.corpora.items import Rating
from dialeval.corpora.rated import PEOPLE, RatedReading, only_english, rating_value
from dialeval.corpora.text_files import number_in, read_lines
from dialeval.errors import UserError

_RESPONSES = "human_hyp.txt"
_SCORES = "human_score.txt"
_TEXTS_FOLDER = "eval_data"
_SCORES_FOLDER = "human_score"


def read(corpus: str, path: Path, languages: Iterable[str] | None = None) -> RatedReading:
    """Reads the responses of a chatbot.

    Args:
        corpus: its name in the configuration.
        path: the file of the contexts.
        languages: must hold `en` where it is given.

    Raises:
        UserError: the file, the line, what is wrong there, and the remedy.
    """
    only_english(languages, str(path))
    contexts, responses, scores = (_lines(file) for file in _files(path))
    for file, lines in zip(_files(path)[1:], (responses, scores), strict=True):
        if len(lines) != len(contexts):
            raise UserError(
                f"{file}: {len(lines)} lines, but {path} has {len(contexts)}; both must be of one chatbot, with a line "
                "for each response"
            )
    gathering = Gathering(corpus, path, "turn")
    for number, (context, response, score) in enumerate(zip(contexts, responses, scores, strict=True), start=1):
        item_id = f"grade-{number - 1:06d}"
        given = number_in(score)
        value = rating_value(score if given is None else given, SCALE, f"{_scores(path)}, line {number}")
        ratings = [Rating(corpus, item_id, DIMENSION, "human", PEOPLE, None, value, None, *SCALE)]
        gathering.take(item_id, f"{path}, line {number}", before_response([*utterances_in(context), response]), ratings)
    return gathering.checked()


def source_files(path: Path) -> list[Path]:
    """Returns the files that are read, as far as they are there."""
    return [path, *(file for file in _files(path)[1:] if file.is_file())]


def _files(path: Path) -> tuple[Path, Path, Path]:
    return path, path.with_name(_RESPONSES), _scores(path)


def _scores(path: Path) -> Path:
    """Returns the file of the scores: beside the texts, or in the folder that the authors have for it."""
    beside = path.with_name(_SCORES)
    parts = path.parent.parts
    if beside.is_file() or _TEXTS_FOLDER not in parts:
        return beside
    place = len(parts) - 1 - parts[::-1].index(_TEXTS_FOLDER)
    return Path(*parts[:place], _SCORES_FOLDER, *parts[place + 1 :], _SCORES)


def _lines(path: Path) -> list[str]:
    """Returns the lines of a file, without blank ones at its end."""
    lines = [line.strip() for line in read_lines(path)]
    while lines and not lines[-1]:
        lines.pop()
    return lines
