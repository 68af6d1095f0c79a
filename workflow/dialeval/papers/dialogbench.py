"""The printed numbers of DialogBench.

Accuracies are percentages, as printed. The two parts of the paper's domain table are kept under one number, 7. It does
not say which language it is about; the means of its two groups are the overall accuracies of the Chinese table, so that
is how its rows are marked, as are those of the ablations, whose first row is GPT-4's in Chinese.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from dialeval.papers import letters, printed_rows

HUMAN, AVERAGE, OVERALL = "Human", "Avg.", "Overall"
_ALIASES: Mapping[str, tuple[str, ...]] = {
    "GPT-4": ("gpt-4-0314", "openai/gpt-4-0314", "gpt4"),
    "ChatGPT": ("gpt-3.5-turbo-0613", "openai/gpt-3.5-turbo-0613", "gpt-3.5-turbo", "gpt-3.5"),
    "Baichuan2-13B-Chat": ("Baichuan-2-13B-Chat", "baichuan-inc/Baichuan2-13B-Chat"),
    "Baichuan-13B-Chat": ("Baichaun-13B-Chat", "baichuan-inc/Baichuan-13B-Chat"),
    "InternLM-Chat-7B": ("internlm/internlm-chat-7b",),
    "Qwen-7B-Chat": ("Qwen/Qwen-7B-Chat",),
    "Qwen-7B": ("Qwen/Qwen-7B",),
    "ChatGLM2-6B": ("ChatGLM-6B", "THUDM/chatglm2-6b"),
    "Mistral-7B-Instruct": ("Mistral-7B-Instruct-v0.2", "mistralai/Mistral-7B-Instruct-v0.2"),
    "LLaMA2-7B-Chat": ("LLaMA2-Chat-7B", "meta-llama/Llama-2-7b-chat-hf", "Llama-2-7b-chat-hf"),
    "Vicuna-13B": ("vicuna-13b-v1.5", "lmsys/vicuna-13b-v1.5"),
    "Xwin-LM-7B": ("Xwin-7B",),
    "human": (HUMAN,),
}
"""Other names of a model, in the paper or where it is to be had."""


@dataclass(frozen=True, slots=True)
class PublishedRow:
    """One row of a table of the paper.

    Attributes:
        table: number of the table.
        language: language code; empty where the paper does not say.
        group: pre-trained, instruction-tuned, human, ablation, a group of domains, `turns` or `items`.
        model: the model, or the row's name, as printed.
        values: the printed numbers by column: task, domain, `Overall` or `Avg.`.
    """

    table: str
    language: str
    group: str
    model: str
    values: Mapping[str, float]


def published_accuracy(model: str, language: str, column: str) -> float | None:
    """Return a model's published accuracy as a share, or None where there is none.

    Args:
        model: any of its names; only letters and digits count, and their case does not. `human` is people.
        language: `en` or `zh`.
        column: abbreviation of a task, or `Overall`.
    """
    table = {"en": "2", "zh": "3"}.get(language, "")
    return _share(table, language, model, column)


def published_average(kind: str, method: str, language: str, column: str) -> float | None:
    """Return the published mean of the paper's models of a kind as a share, or None.

    Args:
        kind: `base`, examined by `perplexity`, or `chat`, by `letter`; the paper has no other groups.
        method: how models answer.
        language: `en` or `zh`.
        column: abbreviation of a task, `Overall`, a domain, or a group of domains (chat models in Chinese).
    """
    group = {("base", "perplexity"): "pre-trained", ("chat", "letter"): "instruction-tuned"}.get((kind, method))
    table = {"en": "2", "zh": "3"}.get(language)
    for row in published_rows() if group else ():
        if row.model != AVERAGE or row.language != language:
            continue
        if (row.table, row.group) == (table, group) and column in row.values:
            return row.values[column] / 100.0
        if row.table == "7" and kind == "chat" and (column in row.values or column == row.group):
            return row.values[AVERAGE if column == row.group else column] / 100.0
    return None


def published_domain_accuracy(model: str, language: str, domain: str) -> float | None:
    """Return a model's published accuracy in a domain as a share, or None where there is none."""
    return _share("7", language, model, domain)


def published_ablation(variant: str, column: str) -> float | None:
    """Return GPT-4's published accuracy in an ablation as a share (Chinese items), or None.

    Args:
        variant: `full`, `-styles` or `-filter`.
        column: abbreviation of a task, or `Overall`.
    """
    name = {"full": "Optimized Prompt", "-styles": "-Styles", "-filter": "-Filter"}.get(variant, "")
    return _share("4", "zh", name, column)


def published_size(task: str, what: str) -> float | None:
    """Return the published number of `items` of a task, or its mean number of `turns` (Table 1)."""
    rows = [row for row in published_rows() if row.table == "1" and row.group == what]
    return rows[0].values.get(task) if rows else None


@cache
def published_rows() -> tuple[PublishedRow, ...]:
    """Return all rows in the paper's order."""
    found: dict[tuple[str, str, str, str], dict[str, float]] = {}
    for row in printed_rows("dialogbench.csv"):
        key = (row["table"], row["language"], row["group"], row["model"])
        found.setdefault(key, {})[row["column"]] = float(row["value"])
    return tuple(PublishedRow(*key, values) for key, values in found.items())


def _share(table: str, language: str, model: str, column: str) -> float | None:
    name = _canonical(model)
    for row in published_rows() if name else ():
        if row.table == table and row.language == language and column in row.values and _canonical(row.model) == name:
            return row.values[column] / 100.0
    return None


def _canonical(name: str) -> str:
    plain = letters(name)
    return _by_alias().get(plain, plain)


@cache
def _by_alias() -> Mapping[str, str]:
    return {letters(alias): letters(name) for name, aliases in _ALIASES.items() for alias in aliases}
