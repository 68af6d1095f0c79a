"""Inputs of the report: tables, figures, samples, protocols and the parts of the page.

A table belongs to the part that its name begins with, and one of a protocol to the part of the dialogues that the
protocol is about. Transcripts have a part of their own by the name of their source. A part is on the page where it has
anything to show.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, TypeAlias

import pyarrow as pa

from dialeval import layout
from dialeval.report.about import About, RunStatus
from dialeval.report.exchanges import ExchangeSource
from dialeval.tables.dialogues import GENERATED, JUDGEMENTS, SEEDS, UTTERANCES, Form
from dialeval.tables.files import empty_table
from dialeval.tables.labels import LABELS as LABELS_LABELS

Table: TypeAlias = pa.Table
Row: TypeAlias = dict[str, Any]

DEFAULT_MAX_BYTES = 60_000_000


@dataclass(frozen=True)
class ReportInputs:
    """Everything that the report shows. Tables have the schemas in `dialeval.tables.files`.

    Attributes:
        title: the heading of the page.
        chatbots: models that chatted, in the order in which they are offered to the reader.
        judges: models that judged, in order; none is allowed.
        seeds: table `seeds`, whose order is the order of the dialogue viewer.
        human: table `utterances`; only the dialogues that `seeds` names (corpus, id) are shown.
        generated: table `generated`, of all chatbots.
        verdicts: table `judgements` of the dialogues, by all judges under all protocols.
        protocols: those of the judges' requests, in order.
        transcripts: tables `items` by the name of their source, in order.
        hidden_messages: tables `hidden_messages` by the same.
        tables: further tables by folder and name, such as `arena/ratings`; a missing one is left out.
        embedded: the chatbots and judges that are embedded models; the page says so.
        baselines: which judges are no more than baselines.
        ensembles: which judges are means of others' scores, with these others.
        rated: items of meta-evaluation to read, or None without any.
        perturbed: items of robustness to read, or None without any.
        examined: items of DialogBench to read, or None without any.
        random_seed: by which items are chosen if not all find room.
        exchange_source: looks up requests and responses of judges; None if they are not available.
        labels: table `labels/labels`, annotators' labels of the dialogues.
        figures: in order.
        other_prompts: whether the papers' prompts differ from the run's.
        about: facts about the run, or None.
        run_status: status of the run, for the status page; else None.
        results_dir: results folder, as the page shows it.
        max_bytes: size of the page that the dialogues may fill it up to; beyond it, only those of the first seeds
            are embedded, and the page says so.
    """

    title: str
    chatbots: tuple[str, ...]
    judges: tuple[str, ...]
    seeds: Table = field(default_factory=lambda: empty_table(SEEDS))
    human: Table = field(default_factory=lambda: empty_table(UTTERANCES))
    generated: Table = field(default_factory=lambda: empty_table(GENERATED))
    verdicts: Table = field(default_factory=lambda: empty_table(JUDGEMENTS))
    protocols: tuple[EvaluatedProtocol, ...] = ()
    transcripts: Mapping[str, Table] = field(default_factory=dict)
    hidden_messages: Mapping[str, Table] = field(default_factory=dict)
    tables: Mapping[str, Table] = field(default_factory=dict)
    embedded: frozenset[str] = frozenset()
    baselines: frozenset[str] = frozenset()
    ensembles: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    rated: RatedSample | None = None
    perturbed: PerturbedSample | None = None
    examined: ExaminedSample | None = None
    random_seed: int = 0
    exchange_source: ExchangeSource | None = None
    labels: Table = field(default_factory=lambda: empty_table(LABELS_LABELS))
    figures: tuple[Figure, ...] = ()
    other_prompts: bool = False
    about: About | None = None
    run_status: RunStatus | None = None
    results_dir: str = "results"
    max_bytes: int = DEFAULT_MAX_BYTES

    def rows(self, table: str) -> list[Row]:
        """Return the rows of one of the further tables; none if the run lacks it."""
        found = self.tables.get(table)
        return [] if found is None else found.to_pylist()

    @property
    def dialogue_files(self) -> str:
        """Paths of the dialogues' files."""
        files = (layout.DIALOGUES.format(chatbot="*"),) * bool(self.chatbots)
        files += (layout.ITEMS.format(corpus="*"),) * (bool(self.transcripts) or not self.chatbots)
        return " and ".join(f"{self.results_dir}/{file}" for file in files)

    @property
    def paper(self) -> str:
        """Mark before a published number."""
        return "paper (other prompts)" if self.other_prompts else "paper"

    def board_sources(self) -> list[tuple[str, ...]]:
        """Return the sources of each leaderboard: self-chat first, then those of the protocols."""
        groups: list[tuple[str, ...]] = [(SELFCHAT,)] if self.chatbots or not self.transcripts else []
        groups += [one.sources for one in self.protocols if self.part_of_sources(one.sources) != METAEVAL]
        return list(dict.fromkeys(groups))

    def part_of_sources(self, sources: tuple[str, ...]) -> str:
        """Return the part of the page that shows some sources."""
        if SELFCHAT in sources:
            return BOTCHAT
        transcripts = [source for source in sources if source in self.transcripts]
        return part_of_source(transcripts[0]) if transcripts else METAEVAL

    def part_of(self, folder: str) -> str | None:
        """Return the part that tables or figures in a folder belong to, or None for those of no part in particular."""
        for protocol in self.protocols:
            if protocol.name == folder:
                return self.part_of_sources(protocol.sources)
        return folder if folder in PARTS else None

    def parts_with_items(self) -> tuple[str, ...]:
        """Return the parts whose single items are on the page."""
        samples = {METAEVAL: self.rated, ROBUSTNESS: self.perturbed, DIALOGBENCH: self.examined}
        return tuple(part for part, sample in samples.items() if sample is not None)

    def parts(self) -> list[str]:
        """Return the names of all parts that a page may have, in order."""
        return [BOTCHAT, *map(part_of_source, self.transcripts), *(part for part in PARTS if part != BOTCHAT)]


# Samples of single items with their ratings, scores and answers.


@dataclass(frozen=True)
class RatedSample:
    """Some rated items of every corpus, with their ratings and scores.

    Attributes:
        items, ratings: tables of these names.
        scores: table `judgements` of these items.
        n_items: how many items each corpus has in all, in one language.
    """

    items: pa.Table
    ratings: pa.Table
    scores: pa.Table
    n_items: Mapping[str, int]


@dataclass(frozen=True)
class PerturbedSample:
    """Some perturbed items of every perturbation with their originals and scores.

    Attributes:
        pairs: table `pairs`.
        items: table `items`, of both.
        scores: table `judgements`, of both.
        n_pairs: how many there are in all, by strategy.
    """

    pairs: pa.Table
    items: pa.Table
    scores: pa.Table
    n_pairs: Mapping[str, int]


@dataclass(frozen=True)
class ExaminedSample:
    """Some test items of every task, with models' answers.

    Attributes:
        items: table `test_items`.
        answers: table `test_answers`.
        n_items: how many items there are in all, by task.
    """

    items: pa.Table
    answers: pa.Table
    n_items: Mapping[str, int]


# The protocols of a run: their titles, sources and lengths.

TITLES: Mapping[str, str] = MappingProxyType(
    {
        "unieval": "UniEval",
        "arena": "Arena",
        "gteval": "GTEval",
        "rating": "Rating",
        "yes_no": "Yes or no",
        "failures": "Failures",
    }
)
"""Titles of the papers' protocols; any other protocol's title is its name."""


@dataclass(frozen=True)
class EvaluatedProtocol:
    """One protocol of a run.

    Attributes:
        name: name in the configuration; its tables are `<name>/<measure>`.
        form: form of its questions.
        sources: sources of its dialogues.
        measures: its measures.
        lengths: lengths to which dialogues were cut; empty for full dialogues.
        at: lengths at which pass rates are computed from judgements of full dialogues.
    """

    name: str
    form: Form
    sources: tuple[str, ...]
    measures: tuple[str, ...]
    lengths: tuple[int, ...] = ()
    at: tuple[int, ...] = ()

    @property
    def title(self) -> str:
        """The protocol's title on the page."""
        return title_of(self.name)


def title_of(protocol: str) -> str:
    """Return the title of a protocol on the page."""
    return TITLES.get(protocol, protocol)


# The parts of the page with their texts; a new part is a new entry here.


@dataclass(frozen=True)
class PartText:
    """The texts of one part.

    Attributes:
        label: its name in the page's navigation.
        title: its heading.
        intro: paragraphs under the heading.
        leaderboard, items: headings of its leaderboards and of its single cases.
    """

    label: str
    title: str
    intro: tuple[str, ...] = ()
    leaderboard: str = "Leaderboard"
    items: str = "Items"


SELFCHAT = "selfchat"
"""The source of chatbots' own dialogues, which are BotChat's part."""
BOTCHAT = "botchat"
METAEVAL = "metaeval"
LABELS = "labels"
ROBUSTNESS = "robustness"
DIALOGBENCH = "dialogbench"
TRAINING = "training"
TRANSLATION = "translation"

PARTS: Mapping[str, PartText] = MappingProxyType(
    {
        BOTCHAT: PartText(
            "BotChat",
            "Who chats best?",
            (
                "Every chatbot continues a seed, such as the first two utterances of a human dialogue. It writes both "
                "speakers, or talks with a simulated user. Judges decide which dialogues sound human. UniEval shows "
                "one dialogue and asks whether an AI took part, and from which utterance on. A dialogue passes at N "
                "if its first N utterances show no AI. Arena compares two chatbots' dialogues on one seed, cut to N "
                "utterances. GTEval compares a chatbot's dialogue with the human dialogue.",
            ),
            items="Dialogues",
        ),
        LABELS: PartText(
            "Labels",
            "Human-corrected estimates",
            (
                "Annotators labelled a random sample of the dialogues. The differences between labels and judge in "
                "this sample correct the judge's scores of all dialogues. The interval is valid for any judge. If the "
                "judge agrees with the annotators, it is narrower than the interval of the labels alone.",
            ),
            leaderboard="Human-corrected leaderboard",
        ),
        METAEVAL: PartText(
            "Meta-evaluation",
            "How far can a judge be trusted?",
            (
                "Judges score responses and dialogues that humans rated. The correlation of scores and ratings "
                "measures a judge's validity. It is computed within each corpus and then averaged. The tables compare "
                "language models, embedded models, baselines that a useful judge exceeds, stored scores, and "
                "annotations by a model that are part of a corpus. Some corpora have a reference by construction "
                "instead of human ratings: the severity level of a perturbation.",
            ),
            leaderboard="Which judge agrees best with the ratings?",
            items="Rated items",
        ),
        TRAINING: PartText(
            "Training",
            "Did the trained judges learn?",
            (
                "Judges learned from perturbed dialogues, without human ratings. Their accuracy on held-out dialogues "
                "shows whether they learned the perturbations. The part Meta-evaluation shows their agreement with "
                "human ratings. A perturbation at 50% was not learned. At 100%, a surface cue may give the "
                "perturbation away.",
            ),
        ),
        TRANSLATION: PartText(
            "Translation",
            "Can the translations be trusted?",
            (
                "Models translated corpora utterance by utterance. Unusable translations are left out, with the "
                "reason. Metrics, judges or human ratings check a sample of the usable translations.",
            ),
        ),
        ROBUSTNESS: PartText(
            "Robustness",
            "Does a judge detect perturbations?",
            (
                "Judges score items before and after a perturbation. A judge detects the perturbation if its score "
                "falls by more than a threshold.",
            ),
        ),
        DIALOGBENCH: PartText(
            "DialogBench",
            "How well does a model understand dialogues?",
            ("Multiple-choice questions on dialogues, in twelve tasks. Chance is 1 divided by the number of options.",),
        ),
    }
)
"""By the part's name, in the order of the page."""

_OF_SOURCE = "of-"


def part_of_source(source: str) -> str:
    """Return the part in which a source of transcripts is shown."""
    return _OF_SOURCE + source


def text_of(part: str) -> PartText:
    """Return the texts of a part, also of a source's part."""
    if part in PARTS:
        return PARTS[part]
    source = part.removeprefix(_OF_SOURCE)
    return PartText(source, f"Which system of {source} is best?", items="Dialogues")


@dataclass(frozen=True)
class Figure:
    """One figure of the report.

    Attributes:
        title: its heading, also the alternative text of the image.
        caption: its caption; for a missing figure, the reason.
        svg: the text of the SVG file.
        part: the part of the page that it belongs to.
        file: name of its file, without suffix.
        is_missing: whether there is nothing to draw.
    """

    title: str
    caption: str
    svg: str
    part: str = BOTCHAT
    file: str = ""
    is_missing: bool = False

    @property
    def name(self) -> str:
        """What it is called among the results: `<folder>/<file>`."""
        return f"{self.part}/{self.file or self.title}"
