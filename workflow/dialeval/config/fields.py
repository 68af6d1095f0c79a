"""The fields of a configuration, from the top level down."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field, field_validator

from dialeval.config.botchat import Battles, Elo, Selfchat
from dialeval.config.corpora import Corpus, Memorization, Seeds, Transcripts, Translation
from dialeval.config.criteria import OwnCriterion
from dialeval.config.dialogbench import DialogBench
from dialeval.config.labels import Labels
from dialeval.config.metaeval import MetaEval, Robustness
from dialeval.config.models import Model
from dialeval.config.protocols import Protocols
from dialeval.config.running import Answering, Prompts, Tokens
from dialeval.config.section import Integer, Name, Number, Section
from dialeval.config.training import TrainingSet


class Fields(Section):
    """What a configuration says."""

    data_dir: Path = Field(
        Path("data"),
        description="Folder of the public data sets. Each data set keeps the folder structure of its source.",
    )
    public_corpora: list[str] = Field(
        [], description="Public corpora that the target `download` fetches into data_dir."
    )
    mirror: Path | None = Field(
        None,
        description="Folder from which `download` copies files, without a network. It has the structure of data_dir.",
    )
    results_dir: Path = Field(Path("results"), description="Folder of tables, figures and reports.")
    store_dir: Path = Field(
        Path("store"), description="Folder of all responses. Keep it: stored responses are never requested again."
    )
    random_seed: Annotated[Integer, Field(ge=0, le=2**32 - 1)] = Field(0, description="Random seed of the run.")
    contamination: bool = Field(
        False,
        description=(
            "Whether to search `corpora` for passages of the cases and of the systems' responses. A passage has 50 "
            "letters and digits. The search makes no requests."
        ),
    )
    memorization: Memorization | None = Field(
        None, description="Completion test of memorised texts (see docs/transcripts.md). It makes requests."
    )
    budget: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = Field(
        None,
        description=(
            "Maximum cost of all models over all runs that share a store, in the currency of the prices. Models "
            "behind endpoints then need prices."
        ),
    )
    models: dict[Name, Model] = Field(
        description="Models that chat or judge, by a name of your choice. A run with only `battles` needs no models."
    )
    chatbots: list[Name] = Field([], description="Names of the models that chat.")
    judges: list[Name] = Field([], description="Names of the models that judge.")
    corpora: dict[Name, Corpus] = Field(
        min_length=1,
        description="Sources of dialogues, by a name of your choice. Default without chatbots or with "
        "scenarios: the bundled dialogues.",
    )
    seeds: Seeds = Field(
        description="Beginnings of dialogues that chatbots continue. Not needed without chatbots or with scenarios."
    )
    selfchat: Selfchat = Selfchat()
    protocols: Protocols = Field(
        Protocols(),
        description=(
            "Evaluations to run: the papers' and your own. Default with chatbots and judges: unieval, arena and, "
            "without scenarios, gteval."
        ),
    )
    criteria: dict[Name, OwnCriterion] = Field(
        {}, description="Your own criteria, by name, in addition to the papers' nine (see docs/criteria.md)."
    )
    transcripts: dict[Name, Transcripts] = Field(
        {}, description="Dialogues of your own systems, by name; a protocol uses the name as its source."
    )
    target_differences: dict[Name, Annotated[Number, Field(gt=0, allow_inf_nan=False)]] = Field(
        {},
        description=(
            "Difference of two systems to detect, by protocol: points of a scale or rating, or a share (.1 is ten "
            "percentage points). The target `estimate` then prints the cheapest design."
        ),
    )
    labels: Labels | None = Field(None, description="Human labels of systems' dialogues (see docs/labels.md).")
    training: dict[Name, TrainingSet] = Field(
        {}, description="Training sets of synthetic pairs for judges, by name (see docs/training.md)."
    )
    ensembles: dict[Name, list[Name]] = Field(
        {},
        description=(
            "Ensembles, by name: each is a list of models and score_files. Scores are mapped to [0, 1] and averaged "
            "(see docs/metaeval.md)."
        ),
    )
    translate: dict[Name, Translation] = Field(
        {}, description="Corpora that a model translates, by name (see docs/translation.md)."
    )
    metaeval: MetaEval | None = None
    robustness: Robustness | None = None
    dialogbench: DialogBench | None = None
    battles: dict[Name, Battles] = Field(
        {}, description="Tables of pairwise comparisons to rate, by name (see docs/battles.md)."
    )
    elo: Elo = Elo()
    answering: Answering = Answering()
    prompts: Prompts = Prompts()
    tokens: Tokens = Tokens()

    @field_validator("results_dir", "store_dir")
    @classmethod
    def _is_below_home(cls, value: Path) -> Path:
        """Return the absolute path of a folder that begins with ~."""
        return value.expanduser()
