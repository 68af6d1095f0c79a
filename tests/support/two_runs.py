"""Small runs to compare: judgements that a test makes up, the tables that follow from them, and the jobs' records."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dialeval.config.botchat import Elo
from dialeval.measures.design import Design
from dialeval.measures.ratings import ratings
from dialeval.measures.scores import mean_rows, pass_rates
from dialeval.tables.dialogues import JUDGEMENTS
from dialeval.tables.files import to_table, write_for_people, write_table
from dialeval.tables.measures import MEASURED, under
from dialeval.tables.metaeval import ITEMS

Row = dict[str, Any]
BARE: Row = {
    "corpus": None, "language": "en", "case_id": None, "left": None, "right": None, "n_utterances": None,
    "criterion": None, "repeat": 0, "choice": None, "outcome": None, "place": None, "places": None, "value": None,
    "scale_min": None, "scale_max": None, "mass": None, "reason": "", "status": "ok", "item_id": None,
}  # fmt: skip
ELO = Elo(shuffles=100, repeats=1, resamples=40)


def passes(judge: str, system: str, passed: Mapping[str, bool | None]) -> list[Row]:
    """Judgements under `unieval` of one system, by case; None is an answer that could not be read."""
    return [
        BARE
        | {
            "judge": judge, "protocol": "unieval", "request_id": f"unieval/{case}/{system}", "corpus": "selfchat",
            "item_id": f"{case}/{system}", "case_id": case, "left": system, "n_utterances": 8,
            "choice": None if took is None else "No" if took else "Yes", "place": None if took is not False else 2,
            "status": "unparsed" if took is None else "ok",
        }
        for case, took in passed.items()
    ]  # fmt: skip


def scores(judge: str, system: str, given: Mapping[str, float], criterion: str = "felt") -> list[Row]:
    """Judgements under `felt` of one system, by case: scores from 1 to 5."""
    return [
        BARE
        | {
            "judge": judge, "protocol": "felt", "request_id": f"felt/{case}/{system}/{criterion}", "corpus": "own",
            "item_id": f"{case}/{system}", "case_id": case, "left": system, "criterion": criterion, "value": value,
            "scale_min": 1.0, "scale_max": 5.0,
        }
        for case, value in given.items()
    ]  # fmt: skip


def battles(judge: str, outcomes: Iterable[tuple[str, str, str, str]]) -> list[Row]:
    """Judgements under `arena`: case, left, right and outcome of each."""
    return [
        BARE
        | {
            "judge": judge, "protocol": "arena", "request_id": f"arena/8/{case}/{left}/{right}", "case_id": case,
            "left": left, "right": right, "n_utterances": 8, "choice": "Both", "outcome": outcome,
        }
        for case, left, right, outcome in outcomes
    ]  # fmt: skip


def write_run(folder: Path, judgements: Iterable[Row], **settings: Any) -> Path:
    """Write what a run leaves of judgements: these, the tables of their measures, and records; return the folder."""
    rows = list(judgements)
    for protocol in dict.fromkeys(row["protocol"] for row in rows):
        of = [row for row in rows if row["protocol"] == protocol]
        judges = list(dict.fromkeys(row["judge"] for row in of))
        names = {}
        for judge in judges:
            name = f"judgements/{judge}/{protocol}.parquet"
            write_table(folder / name, JUDGEMENTS, to_table(JUDGEMENTS, [row for row in of if row["judge"] == judge]))
            names[name] = "digest"
        measure = {"unieval": "pass_rates", "felt": "means", "arena": "ratings"}[protocol]
        lengths = [] if protocol == "felt" else [8]
        design = Design(protocol=protocol, judges=judges, lengths=lengths, elo=ELO, **settings)
        frame = pd.DataFrame(to_table(JUDGEMENTS, of).to_pandas())
        made = (
            ratings(frame, design, {}).ratings
            if measure == "ratings"
            else pass_rates(frame, design)
            if measure == "pass_rates"
            else mean_rows(measure, frame, design)
        )
        table = folder / "tables" / protocol / f"{measure}.parquet"
        kind = under(protocol, MEASURED[measure])
        write_for_people(table, table.with_suffix(".csv"), kind, to_table(kind, made))
        write_record(folder, f"tables/{protocol}/{measure}.parquet", design.needed_by(measure), judgements=names)
    return folder


def write_record(
    folder: Path, made: str, settings: Row, *, libraries: Row | None = None, beside: Iterable[str] = (), **inputs: Row
) -> None:
    """Write the record of the job that made a file, and others beside it."""
    record = {
        "stage": "stage", "code": "1", "version": "0.1.0", "content": "", "settings": settings, "inputs": inputs,
        "outputs": dict.fromkeys([made, *beside], "digest"), "libraries": libraries or {"numpy": "2.0"},
    }  # fmt: skip
    path = folder / "provenance" / f"{made}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record), encoding="utf-8")


def write_items(folder: Path, said: Mapping[str, list[str]], corpus: str = "selfchat") -> None:
    """Write the dialogues that were judged: `case/system` and its utterances."""
    rows = [
        {
            "corpus": corpus, "item_id": item, "language": "en", "level": "dialogue", "cluster": item.split("/")[0],
            "speakers": ["A", "B"] * len(lines), "utterances": lines, "system": item.split("/")[1],
            "case_id": item.split("/")[0], "judged": "",
        }
        | {"speakers": (["A", "B"] * len(lines))[: len(lines)]}
        for item, lines in said.items()
    ]  # fmt: skip
    write_table(folder / "items" / f"{corpus}.parquet", ITEMS, to_table(ITEMS, rows))


def drawn_passes(rng: np.random.Generator, share: float, n: int) -> dict[str, bool | None]:
    """Passes of `n` cases, each with the same chance."""
    return {f"c{number:03d}": bool(rng.random() < share) for number in range(n)}
