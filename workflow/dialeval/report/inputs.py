"""What the report is made of: tables, figures and a few names, all in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import pyarrow as pa

from dialeval.report.about import About
from dialeval.report.asked import Asked
from dialeval.report.live import Live
from dialeval.report.parts import BOTCHAT, DIALOGBENCH, METAEVAL, PARTS, ROBUSTNESS, SELFCHAT, part_of_source
from dialeval.report.protocols import AskedProtocol
from dialeval.report.samples import DamagedSample, ExaminedSample, RatedSample
from dialeval.schemas.labels import LABELS
from dialeval.tables import empty_table

Table: TypeAlias = pa.Table

DEFAULT_MAX_BYTES = 60_000_000


@dataclass(frozen=True)
class Figure:
    """One figure of the report.

    Attributes:
        title: its heading, also what is read aloud in place of the picture.
        caption: what it shows, in a sentence or two.
        svg: the text of the SVG file.
        part: the part of the page that it belongs to.
        file: name of its file, without suffix.
    """

    title: str
    caption: str
    svg: str
    part: str = BOTCHAT
    file: str = ""

    @property
    def name(self) -> str:
        """What it is called among the results: `<folder>/<file>`."""
        return f"{self.part}/{self.file or self.title}"


@dataclass(frozen=True)
class ReportInputs:
    """Everything that the report shows. Tables have the schemas of `dialeval.tables`.

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
        live: how far the run is, where it is not finished.
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
    protocols: tuple[AskedProtocol, ...] = ()
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
    labels: Table = field(default_factory=lambda: empty_table(LABELS))
    figures: tuple[Figure, ...] = ()
    other_prompts: bool = False
    about: About | None = None
    live: Live | None = None
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
