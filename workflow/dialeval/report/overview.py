"""All leaderboards of a run, and the overview: a card for each question with its answer."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dialeval.report.board import (
    Board,
    Measure,
    Value,
    is_missing,
    listed,
    of_answers,
    of_perturbation,
    ordered_board,
    scorer,
    write_interval,
    write_number,
)
from dialeval.report.html_tables import EMBEDDED, Scale, Strip
from dialeval.report.inputs import (
    DIALOGBENCH,
    LABELS,
    METAEVAL,
    ROBUSTNESS,
    SELFCHAT,
    TRAINING,
    TRANSLATION,
    ReportInputs,
    Row,
    text_of,
)
from dialeval.report.judge_leaderboard import ALPHA, judge_boards, judge_tags
from dialeval.report.leaderboard import build_boards, people_boards
from dialeval.report.summary import Leaderboard, Summary, summarise
from dialeval.tables.dialogbench import ACCURACY, DIALOGBENCH_DIFFERENCES
from dialeval.tables.files import HUMAN
from dialeval.tables.robustness import ROBUSTNESS_AVERAGES, ROBUSTNESS_DIFFERENCES
from dialeval.tables.training import TRAINING_RECORD, TRANSLATED_CORPORA, TRANSLATION_QUALITY
from dialeval.text import counted

MOST_ROWS = 3
"""Rows of a card; the leaderboard has all."""
_MOST_OTHERS = 2
WORDS = "The share of perturbations detected. Random scores also fall at times: a useful judge exceeds the baselines."


@dataclass(frozen=True)
class Card:
    """The answer to the question of one part.

    Attributes:
        part: address of the part.
        question: its question.
        answer: the answer in one sentence.
        by: judge or labels that the answer is from; empty if the answer names it.
        measure: heading of the primary measure.
        rows: the first rows by that measure.
        more: sentences on other rows and other leaderboards.
    """

    part: str
    question: str
    answer: str
    by: str
    measure: str
    rows: tuple[CardRow, ...]
    more: tuple[str, ...]


@dataclass(frozen=True)
class CardRow:
    """A row of a card: name, number, interval, and its drawing."""

    name: str
    number: str
    interval: str
    strip: Strip | None


def overview(boards: Sequence[Leaderboard]) -> tuple[Card, ...]:
    """Return a card for each part that has a leaderboard, in the order of the page.

    Human-corrected estimates have no card if another leaderboard is ordered by them.
    """
    by_part: dict[str, list[Leaderboard]] = {}
    for one in boards:
        by_part.setdefault(one.part, []).append(one)
    others = [one.board for part, of_part in by_part.items() if part != LABELS for one in of_part]
    if any(board.primary and board.primary.by_people for board in others):
        by_part.pop(LABELS, None)
    return tuple(_card(part, of_part) for part, of_part in by_part.items())


def leaderboards(inputs: ReportInputs) -> list[Leaderboard]:
    """Return all leaderboards of a run, in the order of the page."""
    found = [_of_systems(inputs, board) for board in build_boards(inputs)]
    found += [*people_boards(inputs), *judge_boards(inputs), *_training(inputs), *_translation(inputs)]
    found += [*_robustness(inputs), *_dialogbench(inputs)]
    order = inputs.parts()
    return sorted(found, key=lambda one: order.index(one.part))


def _card(part: str, boards: Sequence[Leaderboard]) -> Card:
    first = boards[0]
    measure, known = first.board.primary, list(first.board.numbers)
    n_shown = len(known) if len(known) <= MOST_ROWS + 1 else MOST_ROWS  # one row too many is shown, not counted
    more = [f"{len(known) - n_shown} more in the leaderboard."] if len(known) > n_shown else []
    others = [words for one in boards[1:] if (words := _other_leader(one, first))]
    more += others[:_MOST_OTHERS]
    if len(others) > _MOST_OTHERS:
        more.append(f"{len(others) - _MOST_OTHERS} more leaderboards have another leader.")
    rows = () if measure is None else tuple(_card_row(measure, name) for name in known[:n_shown])
    by_labels = measure is not None and measure.by_people and measure.label
    by = first.title if first.board.judge and not by_labels else ""
    label = measure.label if measure and rows else ""
    if measure and not first.board.judge:
        label = f"{'Pearson’s r' if part == METAEVAL else first.title}, {label}"
    return Card(part, text_of(part).title, first.answer, by, label, rows, tuple(more))


def _card_row(measure: Measure, name: str) -> CardRow:
    value = measure.values[name]
    interval = write_interval(value.ci_low, value.ci_high, measure.kind)
    return CardRow(name, measure.written(name), interval, Scale(measure).strip(value))


def _other_leader(one: Leaderboard, first: Leaderboard) -> str:
    """Return a sentence on the leader of another leaderboard of a part; empty if it is the same."""
    leaders = [_leader(of.board) for of in (one, first)]
    if not leaders[0] or leaders[0] == leaders[1]:
        return ""
    return f"{one.title}: {leaders[0]} comes first."


def _leader(board: Board) -> str:
    return next((name for name in board.numbers if name != HUMAN), "")


# Leaderboards of systems, training, translations, robustness and DialogBench.


def _of_systems(inputs: ReportInputs, board: Board) -> Leaderboard:
    title = f"Judge {board.judge}" if board.judge else "Without a judge"
    heading = "Model" if SELFCHAT in board.sources else "System"
    tags = dict.fromkeys(inputs.embedded, (EMBEDDED,)) | {HUMAN: ("people",)}
    return Leaderboard(inputs.part_of_sources(board.sources), title, heading, board, summarise(inputs, board), tags)


def _training(inputs: ReportInputs) -> Iterator[Leaderboard]:
    """Yield the leaderboard of trained judges: AUC on the held-out examples of the training of each, and its gain."""
    rows = [
        row
        for row in inputs.rows(TRAINING_RECORD.name)
        if (row["kind"], row["criterion"], row["language"]) == ("all", "all", "all") and row["moment"] == "after"
    ]
    if not rows:
        return
    aucs = {row["judge"]: Value(row["auc"], row["ci_low"], row["ci_high"], note=row["reason"] or "") for row in rows}
    gains = {row["judge"]: Value(row["gain"], row["gain_ci_low"], row["gain_ci_high"]) for row in rows}
    measures = [Measure("AUC", "share", True, aucs), Measure("gain in AUC", "share", False, gains)]
    board = ordered_board(None, measures, 0)
    known = [name for name, gain in gains.items() if not is_missing(gain.value) and not is_missing(gain.ci_low)]
    learned = [name for name in board.models if name in known and gains[name].ci_low > 0]  # type: ignore[operator]
    answer = f"{len(learned)} of {counted(len(known), 'judge')} learned: the interval of the gain is above zero"
    answer += f" for {listed(learned)}." if learned else " for none."
    answer = answer if known else "No trained judge has an AUC before and after its training with an interval."
    about = "AUC on the held-out pairs of each judge’s own training; .5 is chance. Trainings differ in difficulty."
    yield Leaderboard(TRAINING, "Held-out pairs", "Judge", board, Summary(answer, (about,)), {})


_METRICS = ("people", "adequacy", "chrf", "bleu")
"""Measures of translations: the first that a run has is the primary one."""


def _translation(inputs: ReportInputs) -> Iterator[Leaderboard]:
    """Yield the leaderboard of languages: a measure of quality, and the share of usable translations."""
    quality = [row for row in inputs.rows(TRANSLATION_QUALITY.name) if row["corpus"] == "all" and row["n"]]
    metric = next((name for name in _METRICS if any(row["metric"] == name for row in quality)), "")
    producer = next((row["produced_by"] for row in quality if row["metric"] == metric), "")
    chosen = [row for row in quality if (row["metric"], row["produced_by"]) == (metric, producer)]
    counts = _grouped(inputs.rows(TRANSLATED_CORPORA.name), "language")
    usable = {
        language: Value(sum(row["n"] for row in rows if row["status"] == "ok") / total)
        for (language,), rows in counts.items()
        if (total := sum(row["n"] for row in rows))
    }
    measures = [Measure("usable translations", "share", not chosen, usable)] if usable else []
    if chosen:
        values = {
            row["language"]: Value(
                row["value"], row["ci_low"], row["ci_high"], row["published"], note=row["reason"] or ""
            )
            for row in chosen
        }
        measures.insert(
            0, Measure("ratings by people" if metric == "people" else f"{metric} by {producer}", "rating", True, values)
        )
    if not measures:
        return
    board = ordered_board(None, measures, 0)
    known = list(board.numbers)
    label, numbers = measures[0].label, [measures[0].written(name) for name in known]
    answer = f"No language has a value of {label}."
    if len(known) > 1:
        answer = f"{known[0]} has the highest {label}, {numbers[0]}, and {known[-1]} the lowest, {numbers[-1]}."
    elif known:
        answer = f"{known[0]}: {numbers[0]} {label}."
    summary = Summary(answer, ())
    yield Leaderboard(TRANSLATION, "Quality of translations", "Language", board, summary, {})


def _robustness(inputs: ReportInputs) -> Iterator[Leaderboard]:
    """Yield the leaderboard of detected perturbations: a column for each level, corpus and language."""
    rows = inputs.rows(ROBUSTNESS_AVERAGES.name)
    if not rows:
        return
    columns = _grouped(rows, "level", "corpus", "language")
    measures = [
        Measure(
            f"{level} level, {corpus} ({language})",
            "share",
            True,
            {scorer(row["judge"], row["method"]): _value(row, "average", of_perturbation) for row in of_column},
        )
        for (level, corpus, language), of_column in columns.items()
    ]
    judges = {scorer(row["judge"], row["method"]): (row["judge"], row["method"]) for row in rows}
    board = ordered_board(None, measures, 0)
    baselines = {name for name, (judge, _) in judges.items() if judge in inputs.baselines}
    level, corpus, language = next(iter(columns))
    answer = _detection(inputs, board, baselines, f"{corpus}, {language}, {level}")
    summary = Summary(answer, (WORDS,))
    tags = {name: judge_tags(inputs, *judge) for name, judge in judges.items()}
    yield Leaderboard(ROBUSTNESS, "Detected perturbations", "Judge", board, summary, tags)


def _detection(inputs: ReportInputs, board: Board, baselines: Collection[str], scope: str) -> str:
    """Return how many perturbations the best judge detects, and whether that is more than the best baseline does."""
    measure, numbers = board.measures[0], board.numbers
    judge = next((name for name in numbers if name not in baselines), "")
    baseline = next((name for name in numbers if name in baselines), "")
    if not numbers:
        return "No judge has a rate of detection."
    best = judge or f"The baseline {baseline}"
    where = f" ({measure.label})" if len(board.measures) > 1 else ""
    words = f"{best} detects {measure.written(judge or baseline)} of perturbations{where}"
    if not (judge and baseline):
        return f"{words}."
    beside = f"the baseline {baseline}, {measure.written(baseline)}"
    gain = numbers[judge] - numbers[baseline]
    if gain == 0:
        return f"{words}, as many as {beside}."
    tests = [
        row["p_holm"] <= ALPHA and (row["difference"] * gain > 0) == (row["system"] == judge)
        for row in inputs.rows(ROBUSTNESS_DIFFERENCES.name)
        if (row["table"], row["scope"]) == ("averages", scope)
        if {row["system"], row["opponent"]} == {judge, baseline}
        if not is_missing(row["p_holm"]) and not is_missing(row["difference"])
    ]
    is_significant = any(tests)
    if gain > 0:
        how = "significantly " if is_significant else "not significantly " if tests else ""
        return f"{words}, {how}more than {beside}."
    but = "; the difference is not significant" if tests and not is_significant else ""
    return f"{words}, {'significantly ' * is_significant}fewer than {beside}{but}."


def _dialogbench(inputs: ReportInputs) -> Iterator[Leaderboard]:
    """Yield the leaderboard of accuracy over all tasks: a column for each source of items and language."""
    rows = [row for row in inputs.rows(ACCURACY.name) if row["scope"] == "overall" and row["n"]]
    if not rows:
        return
    columns = _grouped(rows, "source", "language")
    measures = [
        Measure(
            f"{source} items ({language})",
            "share",
            True,
            {scorer(row["model"], row["method"]): _value(row, "accuracy", of_answers) for row in of_column},
        )
        for (source, language), of_column in columns.items()
    ]
    board = ordered_board(None, measures, 0)
    models = {scorer(row["model"], row["method"]): row["model"] for row in rows}
    tags = {name: (EMBEDDED,) for name, model in models.items() if model in inputs.embedded}
    chances = {row["chance"] for row in rows if not is_missing(row["chance"])}
    chance = f" Chance is {write_number(chances.pop(), 'share')}." if len(chances) == 1 else ""
    source, language = next(iter(columns))
    answer = _most_accurate(inputs, board, f"{source}, {language}, Overall")
    yield Leaderboard(DIALOGBENCH, "Accuracy over all tasks", "Model", board, Summary(f"{answer}{chance}", ()), tags)


def _most_accurate(inputs: ReportInputs, board: Board, scope: str) -> str:
    """Return which model has the highest accuracy, and how many others do not differ significantly from the first."""
    measure, numbers = board.measures[0], board.numbers
    numbers = {name: value for name, value in numbers.items() if not measure.values[name].remark} or numbers
    if not numbers:
        return "No model has an accuracy."
    leaders = [name for name, value in numbers.items() if value == max(numbers.values())]
    if len(numbers) == 1:
        return f"{leaders[0]} answers {measure.written(leaders[0])} of the questions correctly."
    significant = {
        (row["system"], row["opponent"])
        for row in inputs.rows(DIALOGBENCH_DIFFERENCES.name)
        if row["scope"] == scope and not is_missing(row["p_holm"]) and row["p_holm"] <= ALPHA
    }
    beaten = {name for name in numbers if (leaders[0], name) in significant or (name, leaders[0]) in significant}
    open_pairs = len(numbers) - len(leaders) - len(beaten)
    verb = "has" if len(leaders) == 1 else "have"
    where = f" on {measure.label}" if len(board.measures) > 1 else ""
    words = f"{listed(leaders)} {verb} the highest accuracy{where}: {measure.written(leaders[0])}"
    if len(leaders) == len(numbers):
        return f"{words}."
    if not open_pairs:
        return f"{words}, significantly above all others."
    return f"{words}, not significantly above {counted(open_pairs, 'other')}."


def _value(row: Row, column: str, cases: Callable[[Mapping[str, Any]], str]) -> Value:
    remark = f"{row['part']} these items" if row.get("part") else ""
    about = {name: value for name, value in row.items() if name != "scope"}
    note = row["note"] or ""
    published = row.get(f"published_{column}", row.get("published"))
    return Value(row[column], row["ci_low"], row["ci_high"], published, note=note, cases=cases(about), remark=remark)


def _grouped(rows: Iterable[Row], *columns: str) -> dict[tuple[Any, ...], list[Row]]:
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in columns), []).append(row)
    return groups
