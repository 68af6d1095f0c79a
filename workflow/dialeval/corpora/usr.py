"""USR in its authors' own files, `tc_usr_data.json` and `pc_usr_data.json`: several responses to each context.

    {"context": "is it raining ?\\nsince six .\\n", "fact": "your persona: i live in ulm .\\n",
     "responses": [{"response": "i take the bus then .\\n", "model": "Seq2Seq", "Understandable": [1, 1, 0],
                    "Maintains Context": [3, 2, 3], "Overall": [4, 3, 4]}]}

The fact that a response was to use is not part of the item: judges are shown what was said.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from dialeval.corpora import authors_files
from dialeval.corpora.gathering import Gathering, before_response
from dialeval.corpora.json_fields import required, text_of
from dialeval.corpora.rated import RatedReading, only_english
from dialeval.corpora.rating_scales import USR
from dialeval.corpora.single_ratings import ratings_of
from dialeval.errors import UserError

_NOT_RATED = ("response", "model")


def read(corpus: str, path: Path, languages: Iterable[str] | None = None) -> RatedReading:
    """Reads a data set.

    Args:
        corpus: its name in the configuration.
        path: the JSON file.
        languages: must hold `en` where it is given.

    Raises:
        UserError: the file, the record and response, what is wrong there, and the remedy.
    """
    only_english(languages, str(path))
    gathering = Gathering(corpus, path, "turn")
    for number, line in enumerate(authors_files.records(path, "usr", ("context", "responses"))):
        context = text_of(line.record["context"], "context", line.where).split("\n")
        responses = line.record["responses"]
        if not isinstance(responses, list):
            remedy = authors_files.advice(line.record, "usr")
            raise UserError(f"{line.where}: 'responses' must be a list of rated responses{remedy}")
        for place, response in enumerate(responses):
            where = f"{line.where}, response {place + 1}"
            if not isinstance(response, dict):
                raise UserError(f"{where}: an object with 'response' and ratings is needed, not {response!r:.60}")
            text = text_of(required(response, "response", where), "response", where)
            said = [*(part.strip() for part in context if part.strip()), text]
            rated = {name: values for name, values in response.items() if name not in _NOT_RATED}
            item_id = f"usr-{number:06d}-{place}"
            ratings = ratings_of((corpus, item_id), rated, USR, where, gathering.reading.notes)
            gathering.take(item_id, where, before_response(said), ratings)
    return gathering.checked()
