"""What was judged: the texts behind flipped verdicts, as either run has them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dialeval.comparison.runs import Run
from dialeval.comparison.verdicts import DIALOGBENCH
from dialeval.errors import UserError
from dialeval.schemas.dialogbench import TEST_ITEMS
from dialeval.schemas.metaeval import ITEMS
from dialeval.tables import iterate_rows

Row = dict[str, Any]
Lines = tuple[str, ...]
_FOLDERS = ("items", "perturbed", "transcripts")
_COLUMNS = ["corpus", "item_id", "speakers", "utterances", "system", "case_id"]


def texts_behind(run: Run, flips: Iterable[Row]) -> list[tuple[Lines, ...]]:
    """Returns for each flip what its judge was shown in a run: one text, two of a pair; none where it is not at hand.

    Args:
        run: the run.
        flips: rows of `comparison/flips`, with the corpus of each.
    """
    wanted = [_places(flip) for flip in flips]
    needed = {place for places in wanted for place in places}
    found: dict[tuple[str, ...], Lines] = {}
    paths = [path for folder in _FOLDERS for path in sorted((run.folder / folder).glob("*.parquet"))]
    for path in paths if needed else ():
        if path.name.endswith(".pairs.parquet"):
            continue
        try:
            for row in iterate_rows(path, ITEMS, _COLUMNS):
                places: tuple[tuple[str, ...], ...] = (
                    ("item", row["corpus"], row["item_id"]), ("system", row["case_id"] or "", row["system"] or "")
                )  # fmt: skip
                for place in needed.intersection(places):
                    found[place] = _spoken(row["speakers"], row["utterances"])
        except UserError:
            continue  # another kind of table, or of another version: its texts are not shown
    items = run.folder / "dialogbench" / "items.parquet"
    if items.is_file() and any(place[0] == DIALOGBENCH for place in needed):
        try:
            for row in iterate_rows(items, TEST_ITEMS):
                item: tuple[str, ...] = (DIALOGBENCH, row["source"], row["variant"], row["item_id"])
                if item in needed:
                    options = [f"{chr(65 + number)}. {option}" for number, option in enumerate(row["options"])]
                    found[item] = (*row["utterances"], row["question"], *options, f"right: {row['label']}")
        except UserError as error:
            run.tell(str(error))
    texts = []
    for flip, places in zip(flips, wanted, strict=True):
        cut = flip["n_utterances"] if flip["right"] else None
        shown = [found[place][:cut] for place in places if place in found]
        texts.append(tuple(shown) if len(shown) == len(places) else ())
    return texts


def _places(flip: Row) -> tuple[tuple[str, ...], ...]:
    if flip["protocol"] == DIALOGBENCH:
        return ((DIALOGBENCH, flip["case_id"], flip["corpus"], flip["item_id"]),)
    if flip["right"]:
        return tuple(("system", flip["case_id"], flip[side]) for side in ("left", "right"))
    return (("item", flip["corpus"], flip["item_id"]),)


def _spoken(speakers: list[str], utterances: list[str]) -> Lines:
    return tuple(f"{speaker}: {text}" for speaker, text in zip(speakers, utterances, strict=True))
