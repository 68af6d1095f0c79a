"""Stages that plan the requests to judges and parse the responses: `plan_<form>` and `parse_<form>` of every form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import BaseModel

from dialeval.corpora.items import Item, iterate_items
from dialeval.prompts.rendering import Templates
from dialeval.protocols import annotate, forms, locate, pair, scores
from dialeval.protocols.item_prompts import (
    ParseSettings,
    PlanSettings,
    QuestionSettings,
    item_criteria,
    scored_items,
)
from dialeval.protocols.planned_requests import (
    ANSWER,
    CHOICE_ANSWER,
    Planned,
    answered,
    with_statuses_printed,
    write_requests,
)
from dialeval.protocols.questions import Question
from dialeval.tables.dialogues import JUDGEMENTS, REQUESTS, RESPONSES, UTTERANCES
from dialeval.tables.files import TableWriter, iterate_rows, read_tables
from dialeval.tables.robustness import PAIRS
from dialeval.text import counted, noted

if TYPE_CHECKING:
    from dialeval.corpora.botchat import PublishedAnswer
    from dialeval.protocols.imported_answers import Key

Row = dict[str, Any]


class Sources(NamedTuple):
    """The tables of a protocol's subjects: items, perturbed items, and their pairs with originals."""

    items: list[Path]
    perturbed: list[Path]
    pairs: list[Path]

    def every_item(self) -> Iterator[Item]:
        """Yield the items, perturbed ones excepted."""
        return chain.from_iterable(map(iterate_items, self.items))


def _plan(planned: Callable[[PlanSettings, Sources, Templates], Iterator[Planned]]) -> Callable[..., None]:
    """Return the stage that plans the requests of protocols of one form."""

    def plan(
        settings: PlanSettings,
        items: list[Path],
        perturbed: list[Path],
        pairs: list[Path],
        requests: Path,
        templates: Templates,
    ) -> None:
        """Write the table `requests` of a protocol.

        `perturbed` are perturbed items and `pairs` the pairs that they make with their originals: for protocols that
        score items.
        """
        write_requests(requests, planned(settings, Sources(items, perturbed, pairs), templates))

    return plan


def _pair(settings: PlanSettings, sources: Sources, templates: Templates) -> Iterator[Planned]:
    question, skipped = settings.question(), Counter[str]()
    cases = pair.by_case(sources.every_item())
    if not question.shipped:
        for notice in pair.refuse_strangers(cases, question.protocol.data, question.name):
            print(notice)
    yield from pair.plan(question, cases, templates, skipped)
    for reason, count in (+skipped).items():
        print(f"{counted(count, 'pair')} left out: {reason}")


def _scale(settings: PlanSettings, sources: Sources, templates: Templates) -> Iterator[Planned]:
    about = item_criteria(settings, read_tables(sources.pairs, PAIRS).to_pylist())
    for paths, groups in ((sources.items, about.groups_of_rated), (sources.perturbed, about.groups_of_perturbed)):
        yield from scores.plan_scale(settings.question(), scored_items(settings, paths), templates, groups)


def _probability(settings: PlanSettings, sources: Sources, templates: Templates) -> Iterator[Planned]:
    about = item_criteria(settings, read_tables(sources.pairs, PAIRS).to_pylist())
    for paths, criteria in ((sources.items, about.of_rated), (sources.perturbed, about.of_perturbed)):
        yield from scores.plan_probability(settings.question(), scored_items(settings, paths), templates, criteria)


def _locate(settings: PlanSettings, sources: Sources, templates: Templates) -> Iterator[Planned]:
    return locate.plan(settings.question(), sources.every_item(), templates)


def _annotate(settings: PlanSettings, sources: Sources, templates: Templates) -> Iterator[Planned]:
    return annotate.plan(settings.question(), sources.every_item(), templates, settings.n_seed_utterances)


plan_pair = _plan(_pair)
plan_scale = _plan(_scale)
plan_probability = _plan(_probability)
plan_locate = _plan(_locate)
plan_annotate = _plan(_annotate)


def plan_retries(
    settings: QuestionSettings,
    requests: Path,
    responses: list[Path],
    again: Path,
    templates: Templates,
) -> None:
    """Write the table `requests` with one more request for every unparsed answer; it may be empty."""
    pairs = answered(requests, responses, REQUESTS.schema.names)
    write_requests(again, forms.plan_retries(settings.question(), pairs, templates))


class ImportAnswersSettings(BaseModel, defer_build=True):
    """How the files name columns and models; `arena_lengths` are the N of Arena's files."""

    protocol: str
    judge_column: str
    names: dict[str, str]
    arena_lengths: list[int] = []


def import_answers(settings: ImportAnswersSettings, requests: Path, published: list[Path], answers: Path) -> None:
    """Write the table `responses` of a judge's published answers, in the order of the requests."""
    from dialeval.corpora.botchat import read_answers
    from dialeval.protocols.imported_answers import responses

    lengths = settings.arena_lengths if settings.protocol == "arena" else [None]
    known: dict[Key, PublishedAnswer] = {}
    for path, n in zip(published, lengths, strict=True):
        found = read_answers(path, settings.judge_column, settings.names, pairs=settings.protocol != "unieval")
        known |= {(shown, n): answer for shown, answer in found.items()}
    source = ", ".join(str(path) for path in published)
    notes: Counter[str] = Counter()
    columns = ("request_id", "protocol", "case_id", "left", "right", "n_utterances", "subject")
    with TableWriter(answers, RESPONSES) as table:
        table.write_all(responses(iterate_rows(requests, REQUESTS, columns), known, source, notes))
    print(f"{source}: {counted(len(known), 'answer')}, for {counted(table.rows, 'request')}")
    for note, count in (+notes).items():
        print(noted(count, note))


def _parse(
    rows_of: Callable[[Question, Mapping[str, Any], Mapping[str, Any]], Iterator[Row]],
    columns: Sequence[str] = ANSWER,
) -> Callable[..., None]:
    """Return the stage that parses answers to requests of one form; `columns` of responses hold an answer."""

    def parse(
        settings: ParseSettings, requests: Path, responses: list[Path], again: list[Path], judgements: Path
    ) -> None:
        """Write the table `judgements` of a judge; a parsed answer from `again` takes the place of the first."""
        question, judge = settings.question(), settings.judge
        pairs = answered(requests, responses, answer=columns, again=again)
        rows = ({"judge": judge, **row} for planned, answer in pairs for row in rows_of(question, planned, answer))
        with TableWriter(judgements, JUDGEMENTS) as table:
            table.write_all(with_statuses_printed(rows, judge))

    return parse


parse_pair = _parse(pair.parse)
parse_scale = _parse(scores.parse_scale)
parse_probability = _parse(scores.parse_probability, CHOICE_ANSWER)
parse_locate = _parse(locate.parse)
parse_annotate = _parse(annotate.parse)


class FindFailuresSettings(BaseModel, defer_build=True):
    """The protocol, the share of human utterances within the length limit, and the length of a ChatSEED."""

    protocol: str
    length_share: float
    n_seed_utterances: int = 2


def find_failures(settings: FindFailuresSettings, items: list[Path], people: list[Path], judgements: Path) -> None:
    """Write the table `judgements` of the rules about all dialogues: length, repetition, self-identification.

    `people` are tables of utterances, from whose lengths the limit of each language follows.
    """
    from dialeval.protocols import failure_rules

    utterances = chain.from_iterable(iterate_rows(path, UTTERANCES, ["language", "text"]) for path in people)
    limits = failure_rules.longest_of_people(
        ((row["language"], row["text"]) for row in utterances), settings.length_share
    )
    for language, limit in limits.items():
        print(f"{100 * settings.length_share:.4g}% of human utterances ({language}) have at most {limit} words")
    rules = failure_rules.Rules(limits, settings.length_share, settings.n_seed_utterances)
    languages: set[str] = set()

    def every_item() -> Iterator[Item]:
        for item in chain.from_iterable(map(iterate_items, items)):
            languages.add(item.language)
            yield item

    with TableWriter(judgements, JUDGEMENTS) as table:
        table.write_all(failure_rules.judgements(settings.protocol, every_item(), rules))
    for language in sorted(languages):
        unknown = []
        if language not in limits:
            unknown.append("excessive_length (no human dialogues in this language; add a corpus under human_corpora)")
        if language not in failure_rules.PHRASES:
            unknown.append("self_identification (no phrases for this language)")
        if unknown:
            print(f"dialogues in {language}: the rules do not apply to {' and '.join(unknown)}")
