"""The fields of a configuration, from the top level down."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field, field_validator

from dialeval.config.botchat import Battles, Elo, Selfchat
from dialeval.config.corpora import Corpus, Seeds, Transcripts, Translation
from dialeval.config.criteria import OwnCriterion
from dialeval.config.dialogbench import DialogBench
from dialeval.config.labels import Labels
from dialeval.config.metaeval import MetaEval, Robustness
from dialeval.config.models import Model
from dialeval.config.protocols import Protocols
from dialeval.config.running import Answering, Prompts, Tokens
from dialeval.config.section import Integer, Name, Section
from dialeval.config.training import TrainingSet


class Fields(Section):
    """What a configuration says."""

    data_dir: Path = Field(Path("data"), description="Folder of public data, laid out as their origins do.")
    public_corpora: list[str] = Field(
        [], description="Public corpora that the target `download` fetches into data_dir."
    )
    mirror: Path | None = Field(
        None, description="Folder laid out like data_dir that `download` copies from, without a network."
    )
    results_dir: Path = Field(Path("results"), description="Where tables, figures and reports go.")
    store_dir: Path = Field(Path("store"), description="Where every model's answers are kept for good.")
    random_seed: Annotated[Integer, Field(ge=0, le=2**32 - 1)] = Field(0, description="Seed of all randomness.")
    budget: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = Field(
        None,
        description="Most that all models together may cost, in the prices' currency, over all runs that share a "
        "store; models behind endpoints then need prices.",
    )
    models: dict[Name, Model] = Field(
        description="Every model that chats or judges, by a name of yours. Battles alone need no models."
    )
    chatbots: list[Name] = Field([], description="Models that chat.")
    judges: list[Name] = Field([], description="Models that judge.")
    corpora: dict[Name, Corpus] = Field(min_length=1, description="Where dialogues come from, by a name of yours.")
    seeds: Seeds
    selfchat: Selfchat = Selfchat()
    protocols: Protocols = Field(
        Protocols(),
        description="The evaluations to run, the papers' and your own, see below; where chatbots and judges are named "
        "and this is not, BotChat's three: unieval, arena, gteval.",
    )
    criteria: dict[Name, OwnCriterion] = Field(
        {}, description="Criteria of your own that judges score, by a name of yours, beside the papers' nine; see docs."
    )
    transcripts: dict[Name, Transcripts] = Field(
        {}, description="Dialogues of your own systems, by a name of yours, which a protocol gives as its source."
    )
    labels: Labels | None = Field(None, description="People's labels of systems' dialogues; see docs/labels.md.")
    training: dict[Name, TrainingSet] = Field(
        {}, description="Synthetic pairs of dialogues that judges learn from, by a name of yours; see docs/training.md."
    )
    ensembles: dict[Name, list[Name]] = Field(
        {},
        description="Ensembles, by name: models and score_files whose scores, mapped to [0, 1], are averaged; see "
        "docs/metaeval.md.",
    )
    translate: dict[Name, Translation] = Field(
        {}, description="Corpora, rated ones too, that a model translates, by their names; see docs/translation.md."
    )
    metaeval: MetaEval | None = None
    robustness: Robustness | None = None
    dialogbench: DialogBench | None = None
    battles: dict[Name, Battles] = Field({}, description="Tables of battles to rate on their own, by a name of yours.")
    elo: Elo = Elo()
    answering: Answering = Answering()
    prompts: Prompts = Prompts()
    tokens: Tokens = Tokens()

    @field_validator("results_dir", "store_dir")
    @classmethod
    def _is_below_home(cls, value: Path) -> Path:
        """Returns a folder in full where it begins with ~, as shells write it."""
        return value.expanduser()
