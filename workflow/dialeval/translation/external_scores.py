"""COMET-Kiwi and BERTScore, computed in an environment of their own.

Their packages contradict what the rest needs, so this is run as a file, by its path, and imports nothing of dialeval:

    python external_scores.py --metric cometkiwi22 --rows zh.sample.csv --language en --scores zh.cometkiwi22.csv
"""

from __future__ import annotations

import argparse
import csv
import re
import sys
from collections.abc import Sequence
from pathlib import Path

COMET_MODELS = {
    "cometkiwi22": "Unbabel/wmt22-cometkiwi-da",
    "cometkiwi23": "Unbabel/wmt23-cometkiwi-da-xl",
}
"""Metrics of COMET that need no reference, and where their weights are."""
INSTALL = "run snakemake --sdm conda, or compute the scores beside the workflow (quality.scores, docs/translation.md)"
Row = dict[str, str]
_FORMULA = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")
"""As in `dialeval.tables.files`."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Read rows, and write their scores as a CSV file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--metric", choices=[*COMET_MODELS, "bertscore"], required=True)
    parser.add_argument("--rows", type=Path, required=True, help="CSV with corpus, language, utterance_id, source, ...")
    parser.add_argument("--language", required=True, help="of the sources")
    parser.add_argument("--scores", type=Path, required=True)
    options = parser.parse_args(arguments)
    with options.rows.open(encoding="utf-8-sig", newline="") as file:
        rows = [{name: _unescaped(cell) for name, cell in row.items()} for row in csv.DictReader(file)]
    try:
        scores: list[float] = []
        if rows:
            scores = (
                bert_scores(rows, options.language)
                if options.metric == "bertscore"
                else comet_scores(options.metric, rows)
            )
    except Unavailable as error:
        sys.exit(f"error in {options.metric}: {error}")
    names = ["corpus", "language", "utterance_id"]
    options.scores.unlink(missing_ok=True)  # it may be a link
    with options.scores.open("x", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*names, options.metric])
        for row, score in zip(rows, scores, strict=True):
            writer.writerow([*(_escaped(row[name]) for name in names), score])


def comet_scores(metric: str, rows: Sequence[Row]) -> list[float]:
    """Return the score of each translation, read beside its source.

    Raises:
        Unavailable: the package or the weights are missing.
    """
    try:
        import torch
        from comet import download_model, load_from_checkpoint
    except ImportError as error:
        raise Unavailable(f"{metric} needs unbabel-comet, which is not installed here ({error}): {INSTALL}") from error
    name = COMET_MODELS[metric]
    try:
        model = load_from_checkpoint(download_model(name))
    except (KeyError, OSError) as error:  # the package says KeyError of whatever keeps it from a model
        raise Unavailable(
            f"the weights of {name} cannot be downloaded: accept their licence at https://huggingface.co/{name} and "
            f"log in (huggingface-cli login); without a network, they must be in the cache ({error})"
        ) from error
    samples = [{"src": row["source"], "mt": row["text"]} for row in rows]
    gpus = int(torch.cuda.is_available())
    found = model.predict(samples, batch_size=8, gpus=gpus, progress_bar=False)
    return [float(score) for score in found.scores]


def bert_scores(rows: Sequence[Row], language: str) -> list[float]:
    """Return BERTScore's F1 of back-translations against the source, by the package's own model of the language.

    Raises:
        Unavailable: the package or the weights are missing.
    """
    try:
        from bert_score import score
    except ImportError as error:
        raise Unavailable(f"bertscore needs bert-score, which is not installed here ({error}): {INSTALL}") from error
    try:
        *_, f1 = score([row["back"] for row in rows], [row["source"] for row in rows], lang=language, verbose=False)
    except OSError as error:
        raise Unavailable(
            f"the weights for BERTScore in '{language}' cannot be downloaded; without a network, they must be in "
            f"the cache ({error})"
        ) from error
    return [float(value) for value in f1.tolist()]


class Unavailable(Exception):
    """A package or its weights are missing; the message has the remedy."""


def _unescaped(cell: str) -> str:
    """Return the text of a cell as `dialeval.tables.files.unescaped_cell` does."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def _escaped(text: str) -> str:
    """Return a text as `dialeval.tables.files.escaped_cell` does."""
    return f"'{text}" if _FORMULA.match(text) else text


if __name__ == "__main__":
    if sys.path and Path(sys.path[0] or ".").resolve() == Path(__file__).resolve().parent:
        del sys.path[0]  # else its neighbours here would stand before packages of their names
    main()
