"""Stages that plan what judges are asked and parse what they answer, protocol by protocol."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from pydantic import BaseModel

from dialeval.corpora.botchat import PublishedAnswer, read_answers
from dialeval.corpora.items import Item, iterate_items
from dialeval.prompts.rendering import Templates
from dialeval.protocols.detect import parse as detect_parse
from dialeval.protocols.detect import plan as detect_plan
from dialeval.protocols.failure_rules import PHRASES, Rules, longest_of_people
from dialeval.protocols.failure_rules import judgements as by_rule
from dialeval.protocols.imported_answers import Key, responses
from dialeval.protocols.item_prompts import (
    RATING,
    YES_NO,
    ItemPlanSettings,
    ItemReadingSettings,
    ItemSettings,
    MarkSettings,
    QuestionSettings,
    ReadingSettings,
)
from dialeval.protocols.mark import parse as mark_parse
from dialeval.protocols.mark import plan as mark_plan
from dialeval.protocols.pair import by_case, parse, plan, refuse_strangers
from dialeval.protocols.planning import CHOICE_ANSWER, answered, with_statuses_said, write_requests
from dialeval.protocols.probability import parse as probability_parse
from dialeval.protocols.probability import plan as probability_plan
from dialeval.protocols.questions import sampling_of
from dialeval.protocols.scale import parse as scale_parse
from dialeval.protocols.scale import plan as scale_plan
from dialeval.protocols.unread_verdicts import plan as asking_again_plan
from dialeval.tables.dialogues import JUDGEMENTS, REQUESTS, RESPONSES, UTTERANCES
from dialeval.tables.files import TableWriter, iterate_rows, read_tables
from dialeval.tables.robustness import PAIRS
from dialeval.text import counted, noted

# Plans which of two: every two systems' dialogues on one case, in both orders (BotChat 3.3, 3.4).


def plan_pair(
    settings: QuestionSettings,
    items: list[Path],
    damaged: list[Path],
    pairs: list[Path],
    requests: Path,
    templates: Templates,
) -> None:
    """Writes the table `requests` about the dialogues of all tables, none of which is `damaged`."""
    question, skipped = settings.question(), Counter[str]()
    cases = by_case(chain.from_iterable(iterate_items(path) for path in items))
    if not question.shipped:
        refuse_strangers(cases, question.protocol.of, question.name)
    write_requests(requests, plan(question, cases, templates, skipped))
    for reason, count in (+skipped).items():
        print(f"{counted(count, 'pair')} left out: {reason}")


# Plans scores that judges write: every item on the criteria of its level, repeated (comp-analysis, Table 2).


def plan_scale(
    settings: ItemPlanSettings,
    items: list[Path],
    damaged: list[Path],
    pairs: list[Path],
    requests: Path,
    templates: Templates,
) -> None:
    """Writes the table `requests`: items, and pairs' items where the damage aims at what is asked about."""
    own = settings.protocol
    about = settings.about(read_tables(pairs, PAIRS).to_pylist())
    planned = chain.from_iterable(
        scale_plan(
            settings.items_of(paths),
            templates,
            sampling_of(own),
            own.repeats,
            groups,
            name=settings.name,
            names=settings.templates_or(RATING),
            json_answers=own.answers == "structured",
        )
        for paths, groups in ((items, about.groups_of_rated), (damaged, about.groups_of_damaged))
    )
    write_requests(requests, planned)


# Plans questions whose answers' probabilities are read: every item on each criterion (comp-analysis, Table 3).


def plan_probability(
    settings: ItemPlanSettings,
    items: list[Path],
    damaged: list[Path],
    pairs: list[Path],
    requests: Path,
    templates: Templates,
) -> None:
    """Writes the table `requests`: items, and pairs' items on the criteria that the damage aims at."""
    about = settings.about(read_tables(pairs, PAIRS).to_pylist())
    names = settings.templates_or(YES_NO)
    planned = chain.from_iterable(
        probability_plan(settings.items_of(paths), templates, criteria, name=settings.name, names=names)
        for paths, criteria in ((items, about.of_rated), (damaged, about.of_damaged))
    )
    write_requests(requests, planned)


# Plans where and what: whether something shows in each dialogue, and where (BotChat 3.2).


def plan_detect(
    settings: QuestionSettings,
    items: list[Path],
    damaged: list[Path],
    pairs: list[Path],
    requests: Path,
    templates: Templates,
) -> None:
    """Writes the table `requests` about the dialogues of all tables, none of which is `damaged`."""
    every = chain.from_iterable(iterate_items(path) for path in items)
    write_requests(requests, detect_plan(settings.question(), every, templates))


# Plans which kinds show in each dialogue, and where, such as BotChat's failures (appendix C).


def plan_mark(
    settings: MarkSettings,
    items: list[Path],
    damaged: list[Path],
    pairs: list[Path],
    requests: Path,
    templates: Templates,
) -> None:
    """Writes the table `requests` about the dialogues of all tables, none of which is `damaged`."""
    every = chain.from_iterable(iterate_items(path) for path in items)
    write_requests(requests, mark_plan(settings.question(), every, templates, settings.said_before))


# Plans one more request for every answer that could not be read.


def plan_again(
    settings: ItemSettings,
    requests: Path,
    responses: list[Path],
    again: Path,
    templates: Templates,
) -> None:
    """Writes the table `requests` of what is asked again, which may be empty."""
    pairs = answered(requests, responses, REQUESTS.schema.names)
    write_requests(again, asking_again_plan(settings.question(), pairs, templates, settings.known_criteria()))


# Takes over the answers of a judge that others asked and published.

COLUMNS = ("request_id", "protocol", "case_id", "left", "right", "n_utterances", "subject")


class ImportAnswersSettings(BaseModel, defer_build=True):
    """How the files name columns and models; `arena_lengths` are the N of Arena's files."""

    protocol: str
    judge_column: str
    names: dict[str, str]
    arena_lengths: list[int] = []


def import_answers(settings: ImportAnswersSettings, requests: Path, published: list[Path], answers: Path) -> None:
    """Writes the table `responses`, in the order of the requests, and says what was counted."""
    lengths = settings.arena_lengths if settings.protocol == "arena" else [None]
    known: dict[Key, PublishedAnswer] = {}
    for path, n in zip(published, lengths, strict=True):
        found = read_answers(path, settings.judge_column, settings.names, pairs=settings.protocol != "unieval")
        known |= {(shown, n): answer for shown, answer in found.items()}
    source = ", ".join(str(path) for path in published)
    notes: Counter[str] = Counter()
    with TableWriter(answers, RESPONSES) as table:
        table.write_all(responses(iterate_rows(requests, REQUESTS, COLUMNS), known, source, notes))
    print(f"{source}: {counted(len(known), 'answer')}, for {counted(table.rows, 'request')}")
    for note, count in (+notes).items():
        print(noted(count, note))


# Reads the choices of a judge between two dialogues into judgements.


def parse_pair(
    settings: ReadingSettings,
    requests: Path,
    responses: list[Path],
    again: list[Path],
    judgements: Path,
) -> None:
    """Writes the table `judgements`, one row per request."""
    question, judge = settings.question(), settings.judge
    rows = (parse(question, judge, *pair) for pair in answered(requests, responses, again=again))
    with TableWriter(judgements, JUDGEMENTS) as table:
        table.write_all(with_statuses_said(rows, judge))


# Reads the ratings that a judge wrote into judgements.


def parse_scale(
    settings: ItemReadingSettings,
    requests: Path,
    responses: list[Path],
    again: list[Path],
    judgements: Path,
) -> None:
    """Writes the table `judgements`, one row per item, criterion and repeat."""
    judge, criteria = settings.judge, settings.known_criteria()
    structured = settings.protocol.answers == "structured"
    pairs = answered(requests, responses, again=again)
    # requests bear the name by which engines know the protocol, judgements its own
    rows = (
        row | {"protocol": settings.name}
        for pair in pairs
        for row in scale_parse(judge, *pair, criteria, json_answers=structured)
    )
    with TableWriter(judgements, JUDGEMENTS) as table:
        table.write_all(with_statuses_said(rows, judge))


# Reads the label probabilities of a judge into judgements.


def parse_probability(
    settings: ItemReadingSettings,
    requests: Path,
    responses: list[Path],
    again: list[Path],
    judgements: Path,
) -> None:
    """Writes the table `judgements`, one row per item and criterion; probabilities are never asked for `again`."""
    judge, criteria = settings.judge, settings.known_criteria()
    pairs = answered(requests, responses, answer=CHOICE_ANSWER)
    # requests bear the name by which engines know the protocol, judgements its own
    rows = (row | {"protocol": settings.name} for pair in pairs for row in probability_parse(judge, *pair, criteria))
    with TableWriter(judgements, JUDGEMENTS) as table:
        table.write_all(with_statuses_said(rows, judge))


# Reads the answers of a judge about what shows in a dialogue into judgements.


def parse_detect(
    settings: ReadingSettings,
    requests: Path,
    responses: list[Path],
    again: list[Path],
    judgements: Path,
) -> None:
    """Writes the table `judgements`, one row per request."""
    question, judge = settings.question(), settings.judge
    rows = (detect_parse(question, judge, *pair) for pair in answered(requests, responses, again=again))
    with TableWriter(judgements, JUDGEMENTS) as table:
        table.write_all(with_statuses_said(rows, judge))


# Reads the answers of a judge about which kinds show in a dialogue into judgements.


def parse_mark(
    settings: ReadingSettings,
    requests: Path,
    responses: list[Path],
    again: list[Path],
    judgements: Path,
) -> None:
    """Writes the table `judgements`, one row per request and kind, and one that says whether there is none."""
    question, judge = settings.question(), settings.judge
    pairs = answered(requests, responses, again=again)
    rows = (row for pair in pairs for row in mark_parse(question, judge, *pair))
    with TableWriter(judgements, JUDGEMENTS) as table:
        table.write_all(with_statuses_said(rows, judge))


# Finds failures of chatbots by rule: length against people's, repetition, self-identification.


class FindFailuresSettings(BaseModel, defer_build=True):
    """The protocol, the share of people's utterances that keeps to the limit, and how long a ChatSEED is."""

    protocol: str
    length_share: float
    said_before: int = 2


def find_failures(settings: FindFailuresSettings, items: list[Path], people: list[Path], judgements: Path) -> None:
    """Writes the table `judgements` of the rules about all dialogues; `people` are tables of utterances."""
    limits = longest_of_people(chain.from_iterable(map(_said, people)), settings.length_share)
    for language, limit in limits.items():
        print(f"{settings.length_share:.4g} of people's utterances ({language}) have at most {limit} words")
    rules = Rules(limits, settings.length_share, settings.said_before)
    every = chain.from_iterable(iterate_items(path) for path in items)
    languages: set[str] = set()

    def noted(item: Item) -> Item:
        languages.add(item.language)
        return item

    with TableWriter(judgements, JUDGEMENTS) as table:
        table.write_all(by_rule(settings.protocol, map(noted, every), rules))
    for language in sorted(languages):
        unknown = [
            *(
                ["excessive_length (no corpus of people in it; name one under people)"]
                if language not in limits
                else []
            ),
            *(["self_identification (no phrases in it)"] if language not in PHRASES else []),
        ]
        if unknown:
            print(f"dialogues in {language}: the rules cannot say anything about {' and '.join(unknown)}")


def _said(path: Path) -> Iterator[tuple[str, str]]:
    return ((row["language"], row["text"]) for row in iterate_rows(path, UTTERANCES, ["language", "text"]))
