"""Meta-evaluation: rated corpora, the two ways of scoring them, and ready scores of the user's."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from dialeval.config.penalties import Penalties
from dialeval.config.section import (
    Count,
    Name,
    Number,
    Repeats,
    Resamples,
    Section,
    Share,
    Steps,
    Temperature,
    TokenCount,
    Whole,
)

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
    ask_again: bool = Field(False, description="Ask once more, in other words, where a rating could not be read.")
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
    """The probability that a judge says Yes to a question on each dimension (comp-analysis, Table 3)."""

    judges: list[Name] | None = Field(
        None, description="Judges whose label probabilities can be read; null: all of `judges`."
    )


class RatedCorpus(Section):
    """A corpus of turns or dialogues that people rated."""

    reader: RatedReader = Field(
        description="comp_turn, comp_dialogue (comp-analysis), xdial (xDial-Eval), fed_turn, fed_dialogue, usr, "
        "conture_turn, conture_dialogue, zhao, four of GRADE (data sets in their authors' own files), dstc10_json "
        "(DSTC10's sets), dstc11_json, dstc11_csv (DSTC11's sets in Chinese), rated_jsonl (your own, see docs), ladder "
        "(dialogues under corpora, damaged by a known number of steps)."
    )
    path: Path | None = Field(None, description="File, relative to data_dir or absolute; none for ladder.")
    dialogues: Name = Field("bundled", description="Of a ladder: the corpus, under corpora, that is damaged.")
    strategies: list[Name] = Field(
        ["utterance_replacement", "generic_utterance", "content_reduction"],
        min_length=1,
        description="Of a ladder: the perturbations that damage it, taken in turn.",
    )
    steps: Steps = Field(4, description="Of a ladder: steps of damage.")
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
        "`asks`. rating asks about yours among them, too.",
    )
    asks: dict[Name, Annotated[str, Field(min_length=1)]] = Field(
        {},
        description="Criterion that judges are asked about -> criterion that people rated and that it is compared "
        "with, such as {relevance: overall}, as xDial-Eval does; yes_no asks about these, and about `dimensions`.",
    )
    benchmark: str = Field("all", min_length=1, description="Averages are over the corpora of one benchmark.")
    optional: bool = Field(
        False, description="Whether the run goes on without it, and says so, where its file is not there."
    )

    @property
    def kept(self) -> int | None:
        """The number of dialogues of each language that are kept; None for all."""
        return self.limit if self.reader == "ladder" or "limit" in self.model_fields_set else None

    @property
    def asked(self) -> list[str] | None:
        """Returns the criteria that judges are to be asked about: named, or joined to others; None for the level's."""
        return list(dict.fromkeys([*(self.dimensions or ()), *self.asks])) or None

    @property
    def joined(self) -> dict[str, str]:
        """Returns, by criterion that is asked about, another one that people rated and that it is compared with."""
        return {asked: rated for asked, rated in self.asks.items() if asked != rated}

    @model_validator(mode="after")
    def _path_fits_reader(self) -> Self:
        if (self.path is None) != (self.reader == "ladder"):
            raise ValueError("ladder takes no path" if self.path else f"reader '{self.reader}' needs a path to read")
        return self


class ScoreFile(Section):
    """Ready scores of a metric of yours: CSV with the columns corpus, item_id, dimension, value; also language."""

    path: Path = Field(description="CSV file, relative to data_dir or absolute.")
    scale_min: Number = Field(0.0, description="Lowest value that the metric can give.")
    scale_max: Number = Field(1.0, description="Highest value that the metric can give.")

    @model_validator(mode="after")
    def _scale_is_a_range(self) -> Self:
        if self.scale_min >= self.scale_max:
            raise ValueError(f"scale_min {self.scale_min:g} must be below scale_max {self.scale_max:g}")
        return self


class MetaEval(Section):
    """How well judges agree with people (comp-analysis; xDial-Eval)."""

    corpora: dict[Name, RatedCorpus] = Field(min_length=1, description="Rated corpora, by a name of yours.")
    score_files: dict[Name, ScoreFile] = Field({}, description="Ready scores of further metrics, by a name of yours.")
    published_as: dict[Name, str] = Field(
        {},
        description="Judge, ensemble or score file -> the papers' system that it repeats, such as LLaMA-2-7B "
        "(multilingual): its printed numbers stand beside. A model that nobody trained further goes by its own name; "
        "see docs.",
    )
    fill: Name | None = Field(
        None,
        description="Judge whose repeated ratings (protocol rating) stand in, as ratings of a model, on what nobody "
        "rated in a corpus (comp-analysis, 'Fill up missing annotations'); it is not compared with them itself.",
    )
    resamples: Resamples = Field(1000, description="Resamples of the dialogues behind every interval.")
    confidence: Share = Field(0.95, description="Confidence of the intervals.")
    ensemble_size: Annotated[Whole, Field(ge=2, le=20)] = Field(
        3, description="How many of the best judges a model ensemble has (the paper's is 3)."
    )
    ensemble_pool: list[Name] | None = Field(
        None,
        min_length=1,
        description="Judges, score files and tags of models that such an ensemble may be made of, as the paper's is of "
        "open models alone; null: all.",
    )
