"""Stages that write the report, the page of an unfinished run, the summary and the usage, and remove unused outputs."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel

from dialeval.engines.spending.entries import FOLDER, Ledger
from dialeval.engines.spending.prices import Prices
from dialeval.errors import UserError
from dialeval.figures.registry import text_of
from dialeval.jobs.lifecycle import refuse_second_run
from dialeval.jobs.progress import read_all
from dialeval.measures.usage import read_usage, usage_table
from dialeval.paths import replacing
from dialeval.provenance.stale_files import UnusedOutput, list_unused, read_graph, remove
from dialeval.report.about import RunStatus, run_status_of
from dialeval.report.examined_items import sample_examined
from dialeval.report.inputs import EvaluatedProtocol, ExaminedSample, Figure, PerturbedSample, RatedSample, ReportInputs
from dialeval.report.page import build_report as build_page
from dialeval.report.rated_cases import sample_perturbed, sample_rated
from dialeval.report.run_files import Answers, exchanges_of_run, read_about, tables_by_name
from dialeval.report.run_summary import summary_of
from dialeval.stages import stage_functions
from dialeval.tables.dialogbench import TEST_ANSWERS, TEST_ITEMS
from dialeval.tables.dialogues import GENERATED, HIDDEN_MESSAGES, JUDGEMENTS, SEEDS, USAGE, UTTERANCES
from dialeval.tables.files import empty_table, read_table, read_tables, write_for_people
from dialeval.tables.labels import LABELS
from dialeval.tables.measures import BATTLE_RATINGS
from dialeval.tables.metaeval import ITEMS, RATINGS
from dialeval.tables.robustness import PAIRS
from dialeval.text import counted

_SHOWN = ("seeds", "dialogues", "verdicts", "ratings", "scores", "transcripts", "tables", "figures")
"""Options whose files the page names as its sources."""


class BuildReportSettings(BaseModel, defer_build=True):
    """Names and settings of the page.

    `other_prompts` says whether the papers used other prompts than this run.
    """

    title: str
    chatbots: list[str]
    judges: list[str]
    embedded: list[str]
    baselines: list[str] = []
    ensembles: dict[str, tuple[str, ...]] = {}
    results_dir: str
    protocols: list[EvaluatedProtocol]
    other_prompts: bool = False
    random_seed: int = 0
    answers: Answers = Answers()


def build_report(
    settings: BuildReportSettings,
    seeds: list[Path],
    human: list[Path],
    dialogues: list[Path],
    verdicts: list[Path],
    items: list[Path],
    ratings: list[Path],
    scores: list[Path],
    perturbed: list[Path],
    pairs: list[Path],
    test_items: list[Path],
    test_answers: list[Path],
    transcripts: list[Path],
    hidden_messages: list[Path],
    labels: list[Path],
    tables: list[Path],
    figures: list[Path],
    usage: list[Path],
    configuration: Path,
    report: Path,
) -> None:
    """Write the HTML report; a part that the run does not have gives no files."""
    files = {name: paths for name, paths in locals().items() if isinstance(paths, list)}
    write_page(settings, files, configuration, report)


def write_page(
    settings: BuildReportSettings,
    files: dict[str, list[Path]],
    configuration: Path,
    report: Path,
    run_status: RunStatus | None = None,
) -> None:
    """Write the page of a run, finished or not.

    Args:
        settings: names for the page.
        files: what it shows, by the option of the stage; what is not there is left out.
        configuration: what the run wrote down of its configuration.
        report: the page.
        run_status: how far the run is; None for one that is finished.
    """
    judged = [*files["verdicts"], *files["scores"]]
    page = build_page(
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
            hidden_messages={path.stem: read_table(path, HIDDEN_MESSAGES) for path in files["hidden_messages"]},
            exchange_source=exchanges_of_run(Path(settings.results_dir), settings.answers),
            labels=read_tables(files["labels"], LABELS),
            tables=tables_by_name(files["tables"]),
            embedded=frozenset(settings.embedded),
            baselines=frozenset(settings.baselines),
            ensembles=settings.ensembles,
            rated=_rated(settings, files) if files["items"] else None,
            perturbed=_perturbed_sample(settings, files) if files["pairs"] else None,
            examined=_examined(settings, files) if files["test_answers"] else None,
            random_seed=settings.random_seed,
            figures=tuple(_figure(path) for path in files["figures"]),
            results_dir=settings.results_dir,
            other_prompts=settings.other_prompts,
            about=read_about(
                Path(settings.results_dir),
                [path for option in _SHOWN for path in files[option]],
                judged,
                files["usage"],
                configuration,
                settings.random_seed,
                stage_functions,
                test_answers=files["test_answers"],
            ),
            run_status=run_status,
        )
    )
    with replacing(report) as temporary:
        temporary.write_text(page, encoding="utf-8")
    print(f"{report}: {report.stat().st_size / 1e6:.1f} MB")


def _rated(settings: BuildReportSettings, files: dict[str, list[Path]]) -> RatedSample:
    return sample_rated(
        (read_table(path, ITEMS) for path in files["items"]),
        (read_table(path, RATINGS) for path in files["ratings"]),
        (read_table(path, JUDGEMENTS) for path in files["scores"]),
        settings.random_seed,
    )


def _perturbed_sample(settings: BuildReportSettings, files: dict[str, list[Path]]) -> PerturbedSample:
    return sample_perturbed(
        read_tables(files["pairs"], PAIRS),
        (read_table(path, ITEMS) for path in files["perturbed"]),
        (read_table(path, JUDGEMENTS) for path in files["scores"]),
        settings.random_seed,
    )


def _examined(settings: BuildReportSettings, files: dict[str, list[Path]]) -> ExaminedSample:
    return sample_examined(
        read_tables(files["test_items"], TEST_ITEMS),
        (read_table(path, TEST_ANSWERS) for path in files["test_answers"]),
        settings.random_seed,
    )


def _figure(path: Path) -> Figure:
    """Return a figure, whose folder names the part of the page that it belongs to."""
    svg = path.read_text(encoding="utf-8")
    title, caption, is_missing = text_of(svg, path.stem)
    return Figure(title, caption, svg, path.parent.name, path.stem, is_missing)


class BuildStatusPageSettings(BuildReportSettings):
    """The report's settings, and by option all `files` that it reads, whether they exist or not."""

    files: dict[str, list[Path]]


def build_status_page(settings: BuildStatusPageSettings, configuration: Path, report: Path) -> None:
    """Write the page of an unfinished run: the outputs that exist, the missing ones, and the requests under way.

    Args:
        settings: the report's, and the files that it reads.
        configuration: what the run wrote down of its configuration; it may be missing.
        report: the page, a file of its own beside the report.
    """
    results = Path(settings.results_dir)
    try:
        refuse_second_run(results)
        is_running = False
    except UserError:
        is_running = True
    at = datetime.now(UTC).strftime("%H:%M:%S UTC")
    run_status = run_status_of(settings.files, read_all(results), is_running=is_running, at=at)
    there = {option: [path for path in paths if path.exists()] for option, paths in settings.files.items()}
    finished_settings = settings.model_copy(update={"answers": Answers()})  # the finished report shows requests in full
    report.parent.mkdir(parents=True, exist_ok=True)
    write_page(finished_settings, there, configuration, report, run_status)
    print(f"{run_status.title}. {run_status.words}")


class SummariseSettings(BaseModel, defer_build=True):
    """Names for the summary, which are the report's; `transcripts` names the sources that have a part of their own."""

    title: str
    chatbots: list[str]
    judges: list[str]
    embedded: list[str]
    baselines: list[str]
    ensembles: dict[str, tuple[str, ...]]
    transcripts: list[str]
    protocols: list[EvaluatedProtocol]
    results_dir: str
    report: str


def summarise(
    settings: SummariseSettings, tables: list[Path], usage: list[Path], battles: list[Path], summary: Path
) -> None:
    """Write the summary of a run as text; a part that the run does not have gives no tables."""
    inputs = ReportInputs(
        title=settings.title,
        chatbots=tuple(settings.chatbots),
        judges=tuple(settings.judges),
        protocols=tuple(settings.protocols),
        transcripts={name: empty_table(ITEMS) for name in settings.transcripts},
        tables=tables_by_name(tables),
        embedded=frozenset(settings.embedded),
        baselines=frozenset(settings.baselines),
        ensembles=settings.ensembles,
        results_dir=settings.results_dir,
    )
    rated = {path.stem: read_table(path, BATTLE_RATINGS) for path in battles}
    words = summary_of(inputs, read_tables(usage, USAGE) if usage else None, rated, settings.report)
    with replacing(summary) as temporary:
        temporary.write_text(words, encoding="utf-8")


class TabulateUsageSettings(BaseModel, defer_build=True):
    """The prices of the models that have any, and under which digest the ledger has their spending."""

    prices: dict[str, Prices] = {}
    spending: dict[str, str] = {}


def tabulate_usage(settings: TabulateUsageSettings, records: list[Path], store: Path, table: Path, csv: Path) -> None:
    """Write the table `usage` by model and protocol, from the jobs' records and the ledger of spending."""
    spent = Ledger(store / FOLDER).by_name(settings.spending)
    usage = usage_table(map(read_usage, records), settings.prices, spent)
    write_for_people(table, csv, USAGE, usage)


class CleanSettings(BaseModel, defer_build=True):
    """Whether the unused outputs are removed."""

    remove: bool


def clean(settings: CleanSettings, results: Path, store: Path, graph: Path) -> None:
    """List the unused outputs, which the configuration does not make, and remove them if the settings say so.

    Args:
        settings: whether they are removed.
        results: the folder of the results.
        store: folder of stored answers, which stays unchanged.
        graph: what the configuration makes, as the run that started this job wrote it down; it is removed.

    Raises:
        UserError: the list is missing, or the configuration lacks files; no file is removed.
    """
    about = read_graph(graph)
    listing = list_unused(results, set(about["made"]), store, about["configuration"])
    removable = [one for one in listing.unused if not one.reason]
    for one in listing.unused:
        print(_line(results, one))
    _print_unknown(results, listing.unknown)
    for words in about["left_out"]:
        print(f"{words}; files made from it are listed too")
    if not listing.unused:
        print(f"{results} has no unused files")
    elif not settings.remove:
        print(f"{_total(removable)} can be removed: snakemake --cores 1 clean_remove, with the same configuration")
    elif about["left_out"]:
        raise UserError(
            "no file was removed, because the configuration names missing files; remove these settings "
            "or restore the files"
        )
    else:
        print(f"removed {_total(remove(results, removable))}")


def _line(results: Path, one: UnusedOutput) -> str:
    stays = f"; stays: {one.reason}" if one.reason else ""
    return f"{_in_words(one.size):>9}  {results / one.name}  ({one.stage}{stays})"


_NAMED = 10
"""Files without a record that are named."""


def _print_unknown(results: Path, unknown: list[str]) -> None:
    if unknown:
        more = f" and {len(unknown) - _NAMED} more" if len(unknown) > _NAMED else ""
        names = ", ".join(unknown[:_NAMED])
        print(f"{results} has files without a record of a run, which are kept: {names}{more}")


def _total(unused: Iterable[UnusedOutput]) -> str:
    sizes = [one.size for one in unused]
    return f"{counted(len(sizes), 'file')} or folder{'s' * (len(sizes) != 1)} of {_in_words(sum(sizes))}"


def _in_words(size: int) -> str:
    """Return a number of bytes as text."""
    number = float(size)
    for unit in ("B", "kB", "MB"):
        if number < 1000:
            return f"{number:.0f} {unit}" if unit == "B" else f"{number:.1f} {unit}"
        number /= 1000
    return f"{number:.1f} GB"
