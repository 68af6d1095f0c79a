"""Sources of dialogues: corpora, transcripts, translations, and optional corpora."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from dialeval.config.models import EmbeddedModel, EncoderModel, Model, NllbModel, OpenAIModel, PublishedModel, VllmModel
from dialeval.config.section import (
    Count,
    Integer,
    Mistake,
    Name,
    Section,
    TokenCount,
    judges_by_field,
    unknown,
    writers,
)
from dialeval.errors import UserError

if TYPE_CHECKING:
    from dialeval.config.configuration import Config


class Corpus(Section):
    """A source of dialogues."""

    reader: Literal["bundled", "botchat_workbook", "mutual_folder", "jsonl", "auto"] = Field(
        description=(
            "bundled, botchat_workbook (.xlsx), mutual_folder (text files), jsonl (see docs/self-chat.md), "
            "auto (any transcript format, detected)."
        )
    )
    path: Path | None = Field(None, description="File or folder, relative to data_dir or absolute; not for bundled.")
    language: str = Field("en", min_length=2, description="Language, if the source has none.")

    @model_validator(mode="after")
    def _path_fits_reader(self) -> Self:
        if (self.path is None) != (self.reader == "bundled"):
            raise ValueError(
                "the bundled corpus has no file; remove path"
                if self.path
                else f"reader '{self.reader}' needs a path to read from; set `path`"
            )
        return self


class Seeds(Section):
    """The human dialogues whose first two utterances start a self-chat."""

    corpus: Name = Field(description="Corpus of the human dialogues.")
    arena_min_utterances: Annotated[Integer, Field(ge=2)] = Field(
        4, description="Minimum number of utterances of a seed's human dialogue, for Arena and GTEval."
    )
    limit: Count | None = Field(None, description="Maximum number of seeds, for a trial run.")


# Transcripts

Reader = Literal[
    "auto", "jsonl", "folder", "sharegpt", "messages", "csv", "chatgpt", "rasa", "preferences", "comparisons",
    "replies", "mt_bench", "text", "inspect", "lm_eval", "langfuse", "langsmith", "opentelemetry", "oasst", "slack",
    "whatsapp", "intercom", "coqa", "quac", "moss", "abcd", "persona_chat", "multiwoz", "topical_chat", "kvret",
    "camrest", "cmu_dog", "redial", "tau_bench", "ultrachat", "blended_skill_talk", "marked", "discord", "telegram",
    "librechat", "open_webui", "chainlit", "oobabooga", "deepseek", "grok", "messenger", "openai_thread", "sillytavern",
    "ai_studio", "gemini_activity", "zendesk", "freshdesk", "lex", "bot_framework", "dialogflow", "vapi", "retell",
    "sharegpt_items", "batch", "tweets", "subtitles", "qrecc", "doc2dial",
]  # fmt: skip
READERS_OF = {
    "chat_completions": "messages", "openai": "messages", "anthropic": "messages", "claude": "messages",
    "gemini": "messages", "lmsys": "messages", "wildchat": "messages", "vicuna": "sharegpt", "openai_export": "chatgpt",
    "parlai": "jsonl", "samsum": "jsonl", "dream": "jsonl", "json": "auto", "parquet": "auto", "huggingface": "auto",
    "xlsx": "csv", "excel": "csv", "tsv": "csv", "convokit": "csv", "txt": "text", "markdown": "text",
    "dailydialog": "text", "srt": "subtitles", "vtt": "subtitles", "webvtt": "subtitles", "alpaca": "replies",
    "ultrafeedback": "replies", "nectar": "replies", "hh_rlhf": "preferences", "rlhf": "preferences",
    "dpo": "preferences", "chatbot_arena": "comparisons", "arena": "comparisons", "votes": "comparisons",
    "inspect_ai": "inspect", "lm_evaluation_harness": "lm_eval", "harness": "lm_eval", "otel": "opentelemetry",
    "otlp": "opentelemetry", "openllmetry": "opentelemetry", "openinference": "opentelemetry", "langchain": "langsmith",
    "open_assistant": "oasst", "openassistant": "oasst", "twitter": "tweets", "twcs": "tweets", "doqa": "quac",
    "topiocqa": "qrecc", "multidoc2dial": "doc2dial", "convai2": "persona_chat", "camrest676": "camrest",
    "anthropic_red_team": "marked", "guanaco": "marked", "glaive": "marked", "baize": "marked", "chatml": "marked",
    "facebook": "messenger", "instagram": "messenger", "meta": "messenger", "text_generation_webui": "oobabooga",
    "takeout": "gemini_activity", "bard": "gemini_activity", "google_ai_studio": "ai_studio", "amazon_lex": "lex",
    "azure_bot": "bot_framework",
}  # fmt: skip
"""Readers by other names of their formats, and by tools and data sets that write them, for messages."""
_WITHOUT_COLUMNS = ("text", "slack", "whatsapp", "mt_bench", "tweets", "subtitles", "batch")
"""Readers of formats in which no field has a name of the user's."""
NameInFile = Annotated[str, Field(min_length=1, max_length=80)]
FieldInFile = Annotated[str, Field(min_length=1, max_length=200)]


class Shown(Section):
    """Further parts of transcripts that judges see and the report shows."""

    system_prompts: bool = Field(False, description="System prompts, marked [system prompt].")
    tool_calls: bool = Field(False, description="Tool calls and their results, marked [tool call], [tool result].")


class Columns(Section):
    """Names of columns and fields that DialEval does not recognize. `meta.bot` names a field of a nested object
    (see docs/transcripts.md).
    """

    dialogue_id: FieldInFile | None = Field(None, description="Column with the dialogue's id.")
    system: FieldInFile | None = Field(None, description="Column with the system.")
    case_id: FieldInFile | None = Field(None, description="Column with the case that systems share.")
    utterances: FieldInFile | None = Field(None, description="Field with the list of utterances of a dialogue.")
    turn: FieldInFile | None = Field(None, description="Column with a number that orders the rows of a dialogue.")
    speaker: FieldInFile | None = Field(None, description="Column with the speaker of the utterance.")
    text: FieldInFile | None = Field(None, description="Column with the text of the utterance.")
    prompt: FieldInFile | None = Field(None, description="Column with the prompt, if a row has a prompt and a reply.")
    response: FieldInFile | None = Field(None, description="Column with the reply, if a row has a prompt and a reply.")
    language: FieldInFile | None = Field(None, description="Column with the language of the dialogue.")


class Transcripts(Section):
    """Dialogues of your own systems (see docs/transcripts.md)."""

    path: Path = Field(description="File, or folder with a file for each system; relative to data_dir or absolute.")
    reader: Reader = Field(
        "auto",
        description="Format of the file. auto: detected from the content. docs/formats.md lists the names of the "
        "formats, such as jsonl, csv, messages, preferences, text and inspect.",
    )
    system: NameInFile | None = Field(None, description="Name of the system, if the file has none.")
    language: str = Field("en", min_length=2, description="Language, if the file has none.")
    evaluated_role: NameInFile | None = Field(
        None,
        description=(
            "Speaker to evaluate; null: the speaker with the system's name, or assistant, gpt, chatbot, bot "
            "and the like."
        ),
    )
    cases: Literal["auto", "opening", "none"] = Field(
        "auto",
        description=(
            "Field that identifies the cases that systems share. auto: case_id, else prompt, else a dialogue_id that "
            "several systems have. opening: the first utterance. none: no shared cases."
        ),
    )
    show: Shown = Shown()
    columns: Columns = Columns()
    limit: Count | None = Field(
        None,
        description="Maximum number of cases, for a trial run. Without cases: maximum number of dialogues per system.",
    )

    @model_validator(mode="after")
    def _columns_fit_reader(self) -> Self:
        if self.columns.model_fields_set and self.reader in _WITHOUT_COLUMNS:
            raise ValueError(f"files of reader {self.reader} have no columns; remove columns, or set reader: csv")
        return self

    def options(self) -> dict[str, Any]:
        """Return the options of the dialogues, without their path."""
        return {
            **self.model_dump(exclude={"path", "show", "columns"}),
            "shown": [
                *["system"] * self.show.system_prompts,
                *["tool_call", "tool_result"] * self.show.tool_calls,
            ],
            "columns": self.columns.model_dump(exclude_none=True),
        }


# Memorization


class Memorization(Section):
    """A completion test: models see the first part of published texts, and DialEval looks for the next passage."""

    models: list[Name] = Field(min_length=1, description="Chat models that complete texts.")
    corpora: list[Name] = Field(
        min_length=1, description="Corpora with published texts: of `corpora`, `metaeval.corpora` or `transcripts`."
    )
    control: list[Name] = Field(
        [], description="Corpora that the models cannot have seen, such as your own unpublished dialogues."
    )
    n: Annotated[Integer, Field(ge=1, le=2_000)] = Field(
        100, description="Number of dialogues of each corpus, drawn at random."
    )
    max_tokens: TokenCount = Field(120, description="Maximum length of a response in the model's tokens.")

    @model_validator(mode="after")
    def _differ(self) -> Self:
        if both := sorted({*self.corpora} & {*self.control}):
            raise ValueError(f"{', '.join(both)}: both under corpora and under control; remove it from one")
        return self


COMPLETE = "complete"
"""Beginning of the names of requests that complete texts, and their folder in the store."""
COMPLETION_TEMPLATE = "complete.j2"


def unfit_memorization(config: Config) -> Iterator[Mistake]:
    """Yield models that cannot complete texts, unknown corpora, and protocols with the name of the requests."""
    settings = config.memorization
    if not settings:
        return
    known = {**config.sources(), **config.transcripts}
    sections = ("corpora", "metaeval.corpora", "transcripts")
    for field in ("corpora", "control"):
        yield from unknown(f"memorization.{field}", getattr(settings, field), known, "corpus", *sections)
    for name in settings.models:
        yield from unknown("memorization.models", [name], config.models, "model", "models")
        model = config.models.get(name)
        if model and not isinstance(model, (OpenAIModel, VllmModel)):
            words = (
                f"'{name}' has engine {model.engine} and cannot complete texts; name a model of engine openai or vllm"
            )
            yield Mistake("memorization.models", words, (f"models.{name}",))
    for name in (*settings.corpora, *settings.control):
        if (taken := f"{COMPLETE}-{name}") in config.protocols.own:
            yield Mistake(f"protocols.{taken}", "the requests of memorization have this name; rename the protocol")


# Translation


class TranslationQuality(Section):
    """Measures of translation quality on a sample of utterances."""

    sample: Count = Field(100, description="Number of utterances per corpus and language.")
    back: Name | None = Field(
        None, description="Model for back-translation, for BLEU, chrF and BERTScore against the source; null: none."
    )
    judges: list[Name] = Field([], description="Models that rate the adequacy of a translation from 1 to 5.")
    metrics: list[Literal["cometkiwi22", "cometkiwi23", "bertscore"]] = Field(
        [], description="Metrics that are computed in a separate environment, with weights from Hugging Face."
    )
    ratings: Path | None = Field(
        None, description="CSV file of human ratings from 1 to 5, in data_dir (see docs/translation.md)."
    )
    scores: dict[Name, Path] = Field(
        {},
        description="CSV files of scores by further metrics, such as cometkiwi22, by the metric's name; in data_dir.",
    )

    @model_validator(mode="after")
    def _metrics_have_what_they_need(self) -> Self:
        if "bertscore" in self.metrics and not self.back:
            raise ValueError(
                "metrics: bertscore compares the source with its back-translation; name a model under back"
            )
        if twice := sorted({*self.metrics} & {*self.scores}):
            raise ValueError(
                f"{', '.join(twice)}: named under both metrics (computed) and scores (read); remove it from one"
            )
        return self


class Translation(Section):
    """Translation of a corpus, utterance by utterance."""

    into: list[str] = Field(min_length=1, description="Target languages, such as [zh, es].")
    translator: Name = Field(description="Model that translates: a chat model, or a model with engine nllb.")
    source: str = Field("en", min_length=2, description="Source language.")
    context: Annotated[Integer, Field(ge=0, le=1_000)] = Field(
        4, description="Number of earlier utterances that a chat model sees; NLLB sees none."
    )
    max_tokens: TokenCount = Field(512, description="Maximum length of a translated utterance in the model's tokens.")
    quality: TranslationQuality | None = None

    def models(self) -> list[str]:
        """Return the models that translate, translate back, or judge translations."""
        quality = self.quality
        return [
            self.translator,
            *([quality.back] if quality and quality.back else []),
            *(quality.judges if quality else []),
        ]

    @model_validator(mode="after")
    def _goes_elsewhere(self) -> Self:
        if self.source in self.into:
            raise ValueError(f"into has the source's own language '{self.source}'; remove it")
        return self


# Checks of translation


def unfit_translations(config: Config) -> Iterator[Mistake]:
    """Yield translations of missing corpora or into their own language, and models that cannot translate."""
    for name, settings in config.translate.items():
        field = f"translate.{name}"
        yield from unknown(field, [name], config.sources(), "corpus", "corpora", "metaeval.corpora")
        rated = config.rated_corpora.get(name)
        there = [language for language in (rated and rated.languages) or () if language in settings.into]
        if there:
            words = (
                f"'{name}' is also read in {', '.join(there)}; remove {'it' if len(there) == 1 else 'them'} from "
                f"one of the two"
            )
            yield Mistake(f"{field}.into", words, (f"metaeval.corpora.{name}.languages",))
        if rated and rated.languages and settings.source not in rated.languages:
            words = (
                f"'{name}' is not read in '{settings.source}', but in {', '.join(rated.languages)}; choose from these"
            )
            yield Mistake(f"{field}.source", words, (f"metaeval.corpora.{name}.languages",))
        quality = settings.quality
        for part, model, judges in (
            ("translator", settings.translator, False),
            *((("quality.back", quality.back, False),) if quality and quality.back else ()),
            *(("quality.judges", judge, True) for judge in (quality.judges if quality else ())),
        ):
            yield from _unfit_model(config, f"{field}.{part}", model, judges=judges)
    yield from _only_translators(config)


def _unfit_model(config: Config, field: str, name: str, *, judges: bool) -> Iterator[Mistake]:
    """Yield a model that is not there, or neither translates nor says how well another did."""
    yield from unknown(field, [name], config.models, "model", "models")
    model = config.models.get(name)
    if model and (why := _why_not(model, judges=judges)):
        engines = "openai or vllm" if judges else "nllb, openai or vllm"
        yield Mistake(field, f"'{name}' {why}; name a model of engine {engines}", (f"models.{name}",))


def _why_not(model: Model, *, judges: bool) -> str:
    """Return why a model cannot translate or judge translations; '' if it can."""
    if isinstance(model, (OpenAIModel, VllmModel)):
        learns = isinstance(model, VllmModel) and model.lora
        return "has an adapter that learns to judge dialogues, not to translate" if learns else ""
    if isinstance(model, NllbModel):
        return "translates, and cannot rate translations" if judges else ""
    formats = {
        EmbeddedModel: "is an embedded model, which cannot translate",
        EncoderModel: "is a trained encoder, which writes no text",
        PublishedModel: "is a published model, which cannot respond to new requests",
    }
    return formats[type(model)]


def _only_translators(config: Config) -> Iterator[Mistake]:
    """Yield translation models that are to do anything else."""
    for field, names in (judges_by_field(config) | writers(config)).items():
        for name in names:
            if isinstance(config.models.get(name), NllbModel):
                words = (
                    f"'{name}' is a translation model (nllb), which only translates; name it as "
                    "`translator` of a corpus under translate, and another model here"
                )
                yield Mistake(field, words, (f"models.{name}",))


# Absent corpora


def without_absent(config: Config) -> Config:
    """Return a configuration without the optional rated corpora whose files are not there.

    Raises:
        UserError: none would be left.
    """
    absent = absent_corpora(config)
    if config.metaeval is None or not absent:
        return config
    left = {name: one for name, one in config.metaeval.corpora.items() if name not in absent}
    if not left:
        raise UserError(
            f"the configuration has a mistake:\n  metaeval.corpora: none of the files exists; {_remedy(config)}"
        )
    return config.model_copy(update={"metaeval": config.metaeval.model_copy(update={"corpora": left})})


def absence_in_words(config: Config, complete: Config) -> Iterator[str]:
    """Yield a line about every corpus of the complete configuration that the run leaves out."""
    for name, path in absent_corpora(complete).items():
        if name not in config.rated_corpora:
            yield f"note: metaeval.corpora.{name} is skipped: {path} does not exist; {_remedy(complete)}"


def absent_corpora(config: Config) -> dict[str, Path]:
    """Return the optional rated corpora whose files are not there, with the files; none that is named elsewhere."""
    named = {source for one in config.protocols.own.values() for source in one.data.source} | {*config.translate}
    optional = [name for name, one in config.rated_corpora.items() if one.optional and name not in named]
    paths = {name: config.rated_path(name) for name in optional}
    return {name: path for name, path in paths.items() if path is not None and not is_there(path)}


def is_there(path: Path) -> bool:
    """Return whether a file or folder exists; a path that no file can have is not there."""
    try:
        return path.exists()
    except (OSError, RuntimeError):  # too long a name, no such user behind ~
        return False


def _remedy(config: Config) -> str:
    if config.public_corpora:
        return "`snakemake --cores 1 download` with the same configuration fetches the public files"
    return f"correct its path or `data_dir` (now '{config.data_dir}')"
