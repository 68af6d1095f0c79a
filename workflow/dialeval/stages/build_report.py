"""Builds the HTML report: leaderboards, figures, tables and every dialogue in one file."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
from pydantic import BaseModel

from dialeval.report import AskedProtocol, Figure, ReportInputs, build_report, sample_rated
from dialeval.report.about_files import read_about
from dialeval.report.answer_tables import Answers, asked_in
from dialeval.report.damaged_sample import sample_damaged
from dialeval.report.examined_items import sample_examined
from dialeval.report.live import Live
from dialeval.report.named_tables import tables_by_name
from dialeval.report.samples import DamagedSample, ExaminedSample, RatedSample
from dialeval.schemas.botchat import GENERATED, SEEDS
from dialeval.schemas.dialogbench import TEST_ANSWERS, TEST_ITEMS
from dialeval.schemas.judgements import JUDGEMENTS
from dialeval.schemas.labels import LABELS
from dialeval.schemas.metaeval import ITEMS, RATINGS
from dialeval.schemas.robustness import PAIRS
from dialeval.schemas.shared import UTTERANCES
from dialeval.schemas.transcripts import ASIDES
from dialeval.tables import read_table, read_tables, replacing

_SHOWN = ("seeds", "dialogues", "verdicts", "ratings", "scores", "transcripts", "tables", "figures")
"""Options whose files say what the page rests on."""


class Settings(BaseModel, defer_build=True):
    """Names for the page; `captions` gives title and caption by part and name of a figure's file.

    `other_prompts` says that the papers' printed numbers were asked in other prompts than the run's.
    """

    title: str
    chatbots: list[str]
    judges: list[str]
    embedded: list[str]
    baselines: list[str] = []
    ensembles: dict[str, tuple[str, ...]] = {}
    results_dir: str
    protocols: list[AskedProtocol]
    captions: dict[str, tuple[str, str]]
    other_prompts: bool = False
    random_seed: int = 0
    answers: Answers = Answers()


def stage(
    settings: Settings,
    seeds: list[Path],
    human: list[Path],
    dialogues: list[Path],
    verdicts: list[Path],
    items: list[Path],
    ratings: list[Path],
    scores: list[Path],
    damaged: list[Path],
    pairs: list[Path],
    test_items: list[Path],
    test_answers: list[Path],
    transcripts: list[Path],
    asides: list[Path],
    labels: list[Path],
    tables: list[Path],
    figures: list[Path],
    usage: list[Path],
    configuration: Path,
    report: Path,
) -> None:
    """Writes the page; a part of a run that did not take place gives no files."""
    files = {name: paths for name, paths in locals().items() if isinstance(paths, list)}
    write_page(settings, files, configuration, report)


def write_page(
    settings: Settings, files: dict[str, list[Path]], configuration: Path, report: Path, live: Live | None = None
) -> None:
    """Writes the page of a run, finished or not.

    Args:
        settings: names for the page.
        files: what it shows, by the option of the stage; what is not there is left out.
        configuration: what the run wrote down of its configuration.
        report: the page.
        live: how far the run is; None for one that is finished.
    """
    by_name = tables_by_name(files["tables"])
    judged = [*files["verdicts"], *files["scores"]]
    page = build_report(
        ReportInputs(
            title=settings.title,
            chatbots=tuple(settings.chatbots),
            judges=tuple(settings.judges),
            seeds=read_tables(files["seeds"], SEEDS),
            human=read_tables(files["human"], UTTERANCES),
            generated=read_tables(files["dialogues"], GENERATED),
            verdicts=read_tables(files["verdicts"], JUDGEMENTS),
            protocols=tuple(settings.protocols),
            transcripts={path.stem: read_table(path, ITEMS) for path in files["transcripts"]},
            asides={path.stem: read_table(path, ASIDES) for path in files["asides"]},
            asked=asked_in(Path(settings.results_dir), settings.answers),
            labels=read_tables(files["labels"], LABELS),
            tables=by_name,
            embedded=frozenset(settings.embedded),
            baselines=frozenset(settings.baselines),
            ensembles=settings.ensembles,
            rated=_rated(settings, files) if files["items"] else None,
            damaged=_damaged(settings, files, by_name) if files["pairs"] else None,
            examined=_examined(settings, files) if files["test_answers"] else None,
            figures=tuple(_figure(settings, path) for path in files["figures"]),
            results_dir=settings.results_dir,
            other_prompts=settings.other_prompts,
            about=read_about(
                Path(settings.results_dir),
                [path for option in _SHOWN for path in files[option]],
                judged,
                files["usage"],
                configuration,
                settings.random_seed,
                test_answers=files["test_answers"],
            ),
            live=live,
        )
    )
    with replacing(report) as temporary:
        temporary.write_text(page, encoding="utf-8")
    print(f"{report}: {report.stat().st_size / 1e6:.1f} MB")


def _rated(settings: Settings, files: dict[str, list[Path]]) -> RatedSample:
    return sample_rated(
        (read_table(path, ITEMS) for path in files["items"]),
        (read_table(path, RATINGS) for path in files["ratings"]),
        (read_table(path, JUDGEMENTS) for path in files["scores"]),
        settings.random_seed,
    )


def _damaged(settings: Settings, files: dict[str, list[Path]], tables: dict[str, pa.Table]) -> DamagedSample:
    return sample_damaged(
        read_tables(files["pairs"], PAIRS),
        (read_table(path, ITEMS) for path in files["damaged"]),
        (read_table(path, JUDGEMENTS) for path in files["scores"]),
        tables,
        settings.random_seed,
    )


def _examined(settings: Settings, files: dict[str, list[Path]]) -> ExaminedSample:
    return sample_examined(
        read_tables(files["test_items"], TEST_ITEMS),
        (read_table(path, TEST_ANSWERS) for path in files["test_answers"]),
        settings.random_seed,
    )


def _figure(settings: Settings, path: Path) -> Figure:
    """Returns a figure, whose folder names the part of the page that it belongs to."""
    part = path.parent.name
    title, caption = settings.captions.get(f"{part}/{path.stem}", (path.stem.replace("_", " "), ""))
    return Figure(title, caption, svg=path.read_text(encoding="utf-8"), part=part, file=path.stem)
