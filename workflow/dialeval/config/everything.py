"""All that is public of the configuration, in one place."""

from dialeval.config.botchat import Arena, Battles, Elo, GTEval, Scenarios, Selfchat, UniEval
from dialeval.config.corpora import Corpus, Seeds
from dialeval.config.criteria import OwnCriterion, OwnWords
from dialeval.config.dialogbench import DOMAINS, DialogBench, Examine, PublishedItems, WrittenItems
from dialeval.config.experts import Experts
from dialeval.config.failures import Failures, OfDialogues
from dialeval.config.labels import Labels
from dialeval.config.loading import load_config
from dialeval.config.metaeval import MetaEval, RatedCorpus, Rating, ScoreFile, YesNo
from dialeval.config.mistakes import Mistake
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
from dialeval.config.protocol import Of, Protocol
from dialeval.config.protocols import Protocols
from dialeval.config.reading import read_config_file
from dialeval.config.robustness import Ladders, Robustness
from dialeval.config.running import Answering, Prompts, Tokens
from dialeval.config.training import EncoderTraining, LoraTraining, TrainingSet
from dialeval.config.transcripts import Columns, Shown, Transcripts
from dialeval.config.translation import Translation, TranslationQuality
from dialeval.config.whole import Config

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
    "Failures",
    "GTEval",
    "Labels",
    "Ladders",
    "LoraTraining",
    "MetaEval",
    "Mistake",
    "Model",
    "NllbModel",
    "Of",
    "OfDialogues",
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
