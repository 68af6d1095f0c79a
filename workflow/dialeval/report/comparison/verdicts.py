"""Verdicts of two runs on the same cases: counts, changed verdicts, and their texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dialeval import layout
from dialeval.errors import UserError
from dialeval.report.comparison.runs import Run
from dialeval.tables.dialogbench import TEST_ANSWERS, TEST_ITEMS
from dialeval.tables.dialogues import JUDGEMENTS
from dialeval.tables.files import iterate_rows
from dialeval.tables.metaeval import ITEMS

Row = dict[str, Any]
DIALOGBENCH = "dialogbench"
FAR = 0.5
"""Share of its scale by which a score must move to count as flipped."""
KEPT = 5000
"""Flips of a protocol and judge that are written down, the farthest first; all are counted."""
_CASE = ["criterion", "corpus", "language", "item_id", "case_id", "left", "right", "n_utterances", "repeat"]
_SAID = ["choice", "outcome", "place", "value", "scale_min", "scale_max", "reason", "status"]
_ANSWER = ["source", "variant", "item_id", "task", "language", "rotation", "choice", "correct", "status", "method"]
Lines = tuple[str, ...]
_FOLDERS = tuple(map(layout.folder_of, (layout.ITEMS, layout.REWRITTEN_ITEMS)))
_COLUMNS = ["corpus", "item_id", "speakers", "utterances", "system", "case_id"]


def compared_verdicts(a: Run, b: Run) -> tuple[list[Row], list[Row]]:
    """Return the rows of `comparison/verdicts` and `comparison/changed_verdicts`, the largest changes first."""
    verdicts: list[Row] = []
    changed_verdicts: list[Row] = []
    for protocol, judge, first, second in _both(a, b):
        counted, flipped = _compared(protocol, judge, first, second)
        verdicts += counted
        changed_verdicts += flipped
    return verdicts, changed_verdicts


def _both(a: Run, b: Run) -> Iterator[tuple[str, str, pd.DataFrame, pd.DataFrame]]:
    """Yield protocol, judge and both runs' verdicts, where both runs have the file."""
    for name, first, second in _common(a, b, "judgements"):
        frames = [run.read([path], JUDGEMENTS, [*_CASE, *_SAID]) for run, path in ((a, first), (b, second))]
        if frames[0] is not None and frames[1] is not None:
            one, other = (_judged(frame.to_pandas()) for frame in frames if frame is not None)
            yield name.name, name.parent.as_posix(), one, other
    for name, first, second in _common(a, b, "dialogbench/answers"):
        frames = [run.read([path], TEST_ANSWERS, _ANSWER) for run, path in ((a, first), (b, second))]
        if frames[0] is not None and frames[1] is not None:
            one, other = (_answered(frame.to_pandas()) for frame in frames if frame is not None)
            yield DIALOGBENCH, f"{name.parent.as_posix()} ({name.name})", one, other


def _common(a: Run, b: Run, part: str) -> Iterator[tuple[Path, Path, Path]]:
    for path in sorted((a.folder / part).rglob("*.parquet")):
        name = path.relative_to(a.folder / part)
        if (other := b.folder / part / name).is_file():
            yield name.with_suffix(""), path, other


def _judged(frame: pd.DataFrame) -> pd.DataFrame:
    """Return judgements with their verdict as text, and a key that is the same in both runs."""
    if frame["right"].isna().all() and frame["value"].isna().all():
        frame["n_utterances"] = np.nan  # the length of a dialogue, which another run may have cut elsewhere
    pair, read = frame["right"].notna(), frame["status"] == "ok"
    chosen = frame["outcome"].map({"tie": "tie"}).astype(object)
    for side in ("left", "right"):
        chosen = chosen.where(frame["outcome"] != side, frame[side])
    scored = frame["value"].notna()
    place = frame["place"].map(lambda at: "" if pd.isna(at) else f" (utterance {int(at)})")
    answer = frame["choice"].fillna("").astype(str)
    answer = answer.where(~scored, frame["value"].map(lambda value: f"{value:.3g}"))
    answer = answer.where(~pair, chosen)
    frame["plain"] = answer.where(read, frame["status"]).fillna("").astype(str)
    frame["verdict"] = frame["plain"] + place.where(read & ~pair & ~scored, "")
    frame["exact"] = frame["verdict"]
    frame["width"] = frame["scale_max"] - frame["scale_min"]
    return frame


def _answered(frame: pd.DataFrame) -> pd.DataFrame:
    """Return answers to test items in the shape of judgements."""
    read = frame["status"] == "ok"
    grade = frame["correct"].map({True: "right", False: "wrong"}).astype(object)
    # letters are not compared: another run may show the options in another order
    frame["plain"] = frame["exact"] = grade.where(read, frame["status"])
    frame["verdict"] = (frame["choice"].fillna("").astype(object) + ", " + grade).where(read, frame["status"])
    frame["criterion"] = frame["task"]
    frame["case_id"], frame["corpus"], frame["repeat"] = frame["source"], frame["variant"], frame["rotation"]
    frame["left"] = frame["right"] = frame["method"]
    frame["n_utterances"] = frame["value"] = frame["width"] = np.nan
    frame["reason"] = ""
    return frame


def _compared(protocol: str, judge: str, first: pd.DataFrame, second: pd.DataFrame) -> tuple[list[Row], list[Row]]:
    frames = []
    for frame in (first, second):
        key = frame[_CASE].astype(object).where(frame[_CASE].notna(), "")
        frames.append(frame.assign(**key, again=key.groupby(_CASE, sort=False).cumcount()))
    shown = ["plain", "exact", "verdict", "value", "width", "reason", "status"]
    both = frames[0][[*_CASE, "again", *shown]].merge(
        frames[1][[*_CASE, "again", *shown]], on=[*_CASE, "again"], suffixes=("_a", "_b"), how="outer", indicator=True
    )
    there = both["_merge"] == "both"
    one, other = both["status_a"] == "ok", both["status_b"] == "ok"
    size = np.where(
        both["value_a"].notna() & both["value_b"].notna() & one & other,
        (both["value_b"] - both["value_a"]).abs() / both["width_a"].where(both["width_a"] > 0.0),
        (both["plain_a"] != both["plain_b"]).astype(float),
    )
    scores = both["value_a"].notna() & both["value_b"].notna()
    same = np.where(scores, size == 0.0, both["exact_a"] == both["exact_b"])
    both = both.assign(
        n_both=there, n_same=there & same, n_changed=there & one & other & (size >= FAR),
        n_only_a=both["_merge"] == "left_only", n_only_b=both["_merge"] == "right_only",
        n_lost=there & one & ~other, n_gained=there & ~one & other, size=size,
    )  # fmt: skip
    counts = [name for name in both.columns if name.startswith("n_") and name != "n_utterances"]
    verdicts = [
        {"protocol": protocol, "judge": judge, "criterion": criterion, **{name: int(of[name].sum()) for name in counts}}
        for criterion, of in both.groupby("criterion", sort=True)
    ]
    moved = both[there & (both["n_changed"] | both["n_lost"] | both["n_gained"])]
    moved = moved.sort_values("size", ascending=False, kind="stable").head(KEPT)
    rows: list[Row] = [dict(zip(moved.columns, values, strict=True)) for values in moved.itertuples(index=False)]
    return verdicts, [_flip(protocol, judge, row) for row in rows]


def _flip(protocol: str, judge: str, row: Row) -> Row:
    texts = {name: str(row[name]) for name in ("criterion", "case_id", "item_id", "verdict_a", "verdict_b")}
    sides = (
        {"left": "", "right": ""} if protocol == DIALOGBENCH else {name: str(row[name]) for name in ("left", "right")}
    )
    reasons = {name: str(row[name] or "") for name in ("reason_a", "reason_b")}
    return {
        "protocol": protocol,
        "judge": judge,
        **texts,
        **sides,
        **reasons,
        "n_utterances": int(row["n_utterances"]) if row["n_utterances"] != "" else None,
        "size": float(row["size"]),
        "corpus": str(row["corpus"]),
        "same_text": None,
    }


def texts_behind(run: Run, changed_verdicts: Iterable[Row]) -> list[tuple[Lines, ...]]:
    """Return the texts that the judge of each changed verdict saw in a run; none if not available.

    Args:
        run: the run.
        changed_verdicts: rows of `comparison/changed_verdicts`, with the corpus of each.
    """
    wanted = [_places(flip) for flip in changed_verdicts]
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
    items = run.folder / layout.TEST_ITEMS
    if items.is_file() and any(place[0] == DIALOGBENCH for place in needed):
        try:
            for row in iterate_rows(items, TEST_ITEMS):
                item: tuple[str, ...] = (DIALOGBENCH, row["source"], row["variant"], row["item_id"])
                if item in needed:
                    options = [f"{chr(65 + number)}. {option}" for number, option in enumerate(row["options"])]
                    found[item] = (*row["utterances"], row["question"], *options, f"right: {row['label']}")
        except UserError as error:
            run.add_note(str(error))
    texts = []
    for flip, places in zip(changed_verdicts, wanted, strict=True):
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
