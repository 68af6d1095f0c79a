"""The public names of the configuration."""

from __future__ import annotations

from dialeval.config.botchat import Arena, Battles, Elo, FailureData, Failures, GTEval, Scenarios, Selfchat, UniEval
from dialeval.config.configuration import Config
from dialeval.config.corpora import Columns, Corpus, Seeds, Shown, Transcripts, Translation, TranslationQuality
from dialeval.config.criteria import OwnCriterion, OwnWords
from dialeval.config.dialogbench import DOMAINS, DialogBench, Examine, Experts, PublishedItems, WrittenItems
from dialeval.config.files import read_config_file
from dialeval.config.labels import Labels
from dialeval.config.loading import load_config
from dialeval.config.metaeval import MetaEval, RatedCorpus, Rating, Robustness, ScoreFile, SeverityLevels, YesNo
from dialeval.config.models import (
    ENGINES,
    EmbeddedModel,
    EncoderModel,
    Model,
    NllbModel,
    OpenAIModel,
    PublishedModel,
    VllmModel,
)
from dialeval.config.protocol_settings import JudgedData, Protocol
from dialeval.config.protocols import Protocols
from dialeval.config.running import Answering, Prompts, Tokens
from dialeval.config.section import Mistake
from dialeval.config.training import EncoderTraining, LoraTraining, TrainingSet

__all__ = [
    "DOMAINS",
    "ENGINES",
    "Answering",
    "Arena",
    "Battles",
    "Columns",
    "Config",
    "Corpus",
    "DialogBench",
    "Elo",
    "EmbeddedModel",
    "EncoderModel",
    "EncoderTraining",
    "Examine",
    "Experts",
    "FailureData",
    "Failures",
    "GTEval",
    "JudgedData",
    "Labels",
    "LoraTraining",
    "MetaEval",
    "Mistake",
    "Model",
    "NllbModel",
    "OpenAIModel",
    "OwnCriterion",
    "OwnWords",
    "Prompts",
    "Protocol",
    "Protocols",
    "PublishedItems",
    "PublishedModel",
    "RatedCorpus",
    "Rating",
    "Robustness",
    "Scenarios",
    "ScoreFile",
    "Seeds",
    "Selfchat",
    "SeverityLevels",
    "Shown",
    "Tokens",
    "TrainingSet",
    "Transcripts",
    "Translation",
    "TranslationQuality",
    "UniEval",
    "VllmModel",
    "WrittenItems",
    "YesNo",
    "load_config",
    "read_config_file",
]
