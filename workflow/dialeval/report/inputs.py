"""What the report is made of: tables, figures, samples, protocols and the parts of the page.

A table belongs to the part that its name begins with, and one of a protocol to the part of the dialogues that the
protocol is about. Transcripts have a part of their own by the name of their source. A part is on the page where it has
anything to show.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeAlias

import pyarrow as pa

from dialeval.report.about import About, RunStatus
from dialeval.report.exchanges import Asked
from dialeval.tables.dialogues import Form
from dialeval.tables.files import empty_table
from dialeval.tables.labels import LABELS as LABELS_LABELS

# Samples of single items that a page shows, with all that was said about them.


@dataclass(frozen=True)
class RatedSample:
    """Some rated items of every corpus, with all that was said about them.

    Attributes:
        items, ratings: tables of these names.
        scores: table `judgements` of these items.
        n_items: how many items each corpus has in all, in one language.
        random_seed: seed by which the items were chosen.
    """

    items: pa.Table
    ratings: pa.Table
    scores: pa.Table
    n_items: Mapping[str, int]
    random_seed: int = 0


@dataclass(frozen=True)
class DamagedSample:
    """Some damaged items of every kind of damage, with all that was said about them and their originals.

    Attributes:
        pairs: table `pairs`.
        items: table `items`, of both.
        scores: table `judgements`, of both.
        n_pairs: how many there are in all, by strategy.
        titles: what strategies are called.
        random_seed: seed by which they were chosen.
    """

    pairs: pa.Table
    items: pa.Table
    scores: pa.Table
    n_pairs: Mapping[str, int]
    titles: Mapping[str, str] = field(default_factory=dict)
    random_seed: int = 0


@dataclass(frozen=True)
class ExaminedSample:
    """Some test items of every task, with what models answered.

    Attributes:
        items: table `test_items`.
        answers: table `test_answers`.
        n_items: how many items there are in all, by task.
        random_seed: seed by which they were chosen.
    """

    items: pa.Table
    answers: pa.Table
    n_items: Mapping[str, int]
    random_seed: int = 0


# The protocols of a run as the report tells of them: what each is called, and what it asked about.

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
"""How papers call their protocols; any other is called by its name."""


@dataclass(frozen=True)
class EvaluatedProtocol:
    """One protocol of a run.

    Attributes:
        name: as the configuration calls it; `<name>/<measure>` are its tables.
        form: of its questions.
        sources: where the dialogues come from that it is about.
        measures: what is made of the answers.
        lengths: what dialogues were cut to, each asked about; empty where each was asked about once.
        at: lengths at which the answers about whole dialogues are read, of a judge that looks for an AI.
    """

    name: str
    form: Form
    sources: tuple[str, ...]
    measures: tuple[str, ...]
    lengths: tuple[int, ...] = ()
    at: tuple[int, ...] = ()

    @property
    def title(self) -> str:
        """What the page calls it."""
        return title_of(self.name)


def title_of(protocol: str) -> str:
    """Returns what the page calls a protocol."""
    return TITLES.get(protocol, protocol)


# The parts of the page: what each asks, in words. Adding a part is adding an entry here.


@dataclass(frozen=True)
class PartText:
    """What is said about one part.

    Attributes:
        label: its name in the page's navigation.
        title: its heading.
        intro: paragraphs under the heading.
        leaderboard, items: headings of its leaderboards, and of the single cases behind its numbers.
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

PARTS: Mapping[str, PartText] = MappingProxyType(
    {
        BOTCHAT: PartText(
            "BotChat",
            "Who chats best?",
            (
                "Every chatbot goes on from a seed, such as the first two utterances of a human dialogue, as both "
                "speakers or with a simulated user, and judges say what sounds like people. UniEval shows one dialogue "
                "and asks whether an AI took part, and from which utterance on: it passes at N if its first N "
                "utterances show none. Arena shows two chatbots' dialogues on one seed, cut to N utterances, GTEval a "
                "chatbot's beside the human one.",
            ),
            items="Dialogues",
        ),
        LABELS: PartText(
            "Labels",
            "What would people say?",
            (
                "People labelled a random part of the dialogues. What judges say of all of them is corrected by where "
                "the two differ: the interval holds whatever a judge is worth, and is shorter than that of the labels "
                "alone as far as the judge is of use.",
            ),
            leaderboard="Who would people say is best?",
        ),
        METAEVAL: PartText(
            "Meta-evaluation",
            "How far can a judge be trusted?",
            (
                "Judges score responses and dialogues that people rated; the correlation of the two says how good a "
                "judge is. It is taken within each corpus and then averaged. Judges of different kinds stand side by "
                "side: language models, small embedded ones, baselines that any judge has to beat, ready scores, and "
                "the annotations of a model that came with a corpus. Where a reference is known by construction, "
                "nobody rated: it is the number of steps by which a dialogue was damaged.",
            ),
            leaderboard="Which judge agrees best with the ratings?",
            items="Rated items",
        ),
        "training": PartText(
            "Training",
            "What did trained judges learn?",
            (
                "Judges learned from dialogues that were spoiled in known ways, without any human rating. What they "
                "tell on dialogues that were held back says whether they learned that, and not whether they judge as "
                "people do: for this see how well they correlate with people. A kind that stays at 50 was not learned; "
                "one at 100 may give itself away by something that has nothing to do with what it is meant to show.",
            ),
        ),
        "translation": PartText(
            "Translation",
            "Can the translations be trusted?",
            (
                "Models translated corpora utterance by utterance. What could not be used was left out, with its "
                "reason; of the rest a sample was looked at.",
            ),
        ),
        ROBUSTNESS: PartText(
            "Robustness",
            "Does a judge notice damage?",
            (
                "Judges score items before and after they were damaged in a known way; a judge notices the damage if "
                "its score falls by more than a threshold.",
            ),
        ),
        DIALOGBENCH: PartText(
            "DialogBench",
            "How well does a model understand dialogues?",
            ("Multiple-choice questions on dialogues, in twelve tasks; chance is one in the number of options.",),
        ),
    }
)
"""By the part's name, in the order of the page."""

_OF_SOURCE = "of-"


def part_of_source(source: str) -> str:
    """Returns the part in which a source of transcripts is shown."""
    return _OF_SOURCE + source


def text_of(part: str) -> PartText:
    """Returns what is said about a part, a source's as well."""
    if part in PARTS:
        return PARTS[part]
    source = part.removeprefix(_OF_SOURCE)
    return PartText(source, f"Which system of {source} is best?", items="Dialogues")


# What the report is made of: tables, figures and a few names, all in memory.

Table: TypeAlias = pa.Table

DEFAULT_MAX_BYTES = 60_000_000


@dataclass(frozen=True)
class Figure:
    """One figure of the report.

    Attributes:
        title: its heading, also what is read aloud in place of the picture.
        caption: what it shows, in a sentence or two; of a missing one, the reason.
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


@dataclass(frozen=True)
class ReportInputs:
    """Everything that the report shows. Tables have the schemas of `dialeval.tables.files`.

    Attributes:
        title: the heading of the page.
        chatbots: models that chatted, in the order in which they are offered to the reader.
        judges: models that judged, in order; none is allowed.
        seeds: table `seeds`, whose order is the order of the dialogue viewer.
        human: table `utterances`; only the dialogues that `seeds` names (corpus, id) are shown.
        generated: table `generated`, of all chatbots.
        verdicts: table `judgements` of the dialogues, by all judges under all protocols.
        protocols: what judges were asked under, in order.
        transcripts: tables `items` by the name of their source, in order.
        asides: tables `asides` by the same: what stood in transcripts and was not said.
        tables: further tables by folder and name, such as `arena/ratings`; a missing one is left out.
        embedded: which of the chatbots and judges are embedded models, about which the page says what they are.
        baselines: which judges are no more than baselines.
        ensembles: which judges are means of others' scores, with these others.
        rated: items of meta-evaluation to read, or None without any.
        damaged: items of robustness to read, or None without any.
        examined: items of DialogBench to read, or None without any.
        asked: looks up what judges were sent and what they answered; None where that is not at hand.
        labels: table `labels/labels`, what people said of the dialogues that judges judged.
        figures: in order.
        other_prompts: whether what the papers print was asked in other prompts than the run's.
        about: what is said of the run itself, or None for a page that says nothing of it.
        run_status: how far the run is, where it is not finished.
        results_dir: where the reader finds the Parquet tables, as the page should name it.
        max_bytes: size of the page that the dialogues may fill it up to; beyond it, only those of the first seeds
            are embedded, and the page says so.
    """

    title: str
    chatbots: tuple[str, ...]
    judges: tuple[str, ...]
    seeds: Table
    human: Table
    generated: Table
    verdicts: Table
    protocols: tuple[EvaluatedProtocol, ...] = ()
    transcripts: Mapping[str, Table] = field(default_factory=dict)
    asides: Mapping[str, Table] = field(default_factory=dict)
    tables: Mapping[str, Table] = field(default_factory=dict)
    embedded: frozenset[str] = frozenset()
    baselines: frozenset[str] = frozenset()
    ensembles: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    rated: RatedSample | None = None
    damaged: DamagedSample | None = None
    examined: ExaminedSample | None = None
    asked: Asked | None = None
    labels: Table = field(default_factory=lambda: empty_table(LABELS_LABELS))
    figures: tuple[Figure, ...] = ()
    other_prompts: bool = False
    about: About | None = None
    run_status: RunStatus | None = None
    results_dir: str = "results"
    max_bytes: int = DEFAULT_MAX_BYTES

    @property
    def dialogue_files(self) -> str:
        """Where the dialogues lie as files: what chatbots said, and all else that is judged."""
        folders = ("dialogues",) * bool(self.chatbots) + ("items",) * (bool(self.transcripts) or not self.chatbots)
        return " and ".join(f"{self.results_dir}/{folder}/*.parquet" for folder in folders)

    @property
    def paper(self) -> str:
        """What stands before a number that a paper prints."""
        return "paper (other prompts)" if self.other_prompts else "paper"

    def board_sources(self) -> list[tuple[str, ...]]:
        """Returns the kinds of dialogues that have leaderboards: self-chat first, then what protocols are about."""
        groups: list[tuple[str, ...]] = [(SELFCHAT,)] if self.chatbots or not self.transcripts else []
        groups += [one.sources for one in self.protocols if self.part_of_sources(one.sources) != METAEVAL]
        return list(dict.fromkeys(groups))

    def part_of_sources(self, sources: tuple[str, ...]) -> str:
        """Returns the part of the page for what is about some sources."""
        if SELFCHAT in sources:
            return BOTCHAT
        transcripts = [source for source in sources if source in self.transcripts]
        return part_of_source(transcripts[0]) if transcripts else METAEVAL

    def part_of(self, folder: str) -> str | None:
        """Returns the part that tables or figures in a folder belong to, or None for those of no part in particular."""
        for protocol in self.protocols:
            if protocol.name == folder:
                return self.part_of_sources(protocol.sources)
        return folder if folder in PARTS else None

    def parts_with_items(self) -> tuple[str, ...]:
        """Returns the parts whose single items are on the page."""
        samples = {METAEVAL: self.rated, ROBUSTNESS: self.damaged, DIALOGBENCH: self.examined}
        return tuple(part for part, sample in samples.items() if sample is not None)

    def parts(self) -> list[str]:
        """Returns the names of all parts that a page may have, in order."""
        return [BOTCHAT, *map(part_of_source, self.transcripts), *(part for part in PARTS if part != BOTCHAT)]
