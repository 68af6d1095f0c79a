"""DialogBench, item by item, and its printed numbers.

Accuracies are percentages, as printed. The two parts of the paper's domain table are kept under one number, 7. It does
not say which language it is about; the means of its two groups are the overall accuracies of the Chinese table, so that
is how its rows are marked, as are those of the ablations, whose first row is GPT-4's in Chinese.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from dialeval.papers import Item, Need, Paper, prompts

_CONFIG = "configs/dialogbench-models.yaml"
_NEEDS: tuple[Need, ...] = ("keys", "weights", "unpublished")
_WRITER = prompts("dialogbench_write_en", "dialogbench_write_zh")
_OWN_WORDS = "In our own words."
_PEOPLE = (
    "With newly written items. `dialogbench.experts` writes a sheet for your own experts; their answers make the "
    "human row."
)
_OWN_ITEMS = "A run uses newly written items, since the paper's items are not public."
_WRITTEN_TASKS = (  # as the paper orders the tables of its prompts
    ("IC", "intent classification"),
    ("ED", "emotion detection"),
    ("CRG", "commonsense-aware replies"),
    ("KRG", "knowledge-grounded replies"),
    ("NLI", "natural language inference"),
    ("OD", "offensive language"),
    ("PRG", "personality-grounded replies"),
    ("DI", "missing utterances"),
    ("RC", "relation between the speakers"),
    ("MRG", "coherent replies"),
    ("SF", "slot filling"),
    ("DS", "summaries"),
)


def _result(
    number: str,
    shows: str,
    tables: tuple[str, ...],
    figures: tuple[str, ...] = (),
    remark: str = "",
    **where: tuple[str, ...],
) -> Item:
    """Returns an item that the examination of models makes."""
    return Item(number, shows, tables, figures, (), _CONFIG, "dialogbench", _NEEDS, remark or _OWN_ITEMS, where=where)


DIALOGBENCH = Paper(
    "DialogBench",
    "DialogBench: Evaluating LLMs as Human-like Dialogue Systems",
    "https://arxiv.org/abs/2311.01677",
    (
        _result("Table 1", "number of items of each task, and their turns", ("dialogbench/items",)),
        _result(
            "Table 2",
            "accuracy of models and humans by task, English",
            ("dialogbench/overview", "dialogbench/accuracy"),
            ("dialogbench/tasks", "dialogbench/overall"),
            remark=_PEOPLE,
            language=("en",),
        ),
        _result(
            "Table 3",
            "accuracy of models and humans by task, Chinese",
            ("dialogbench/overview", "dialogbench/accuracy"),
            ("dialogbench/tasks", "dialogbench/overall"),
            remark=_PEOPLE,
            language=("zh",),
        ),
        _result("Table 4", "accuracy without styles, and without the filter", ("dialogbench/ablations",)),
        Item("Table 5", "the question of each task", defined_in=("docs/dialogbench.md",), remark=_OWN_WORDS),
        Item(
            "Table 6",
            "the twenty-six evaluated models",
            defined_in=("configs/dialogbench-models.yaml",),
            remark="All models except MOSS-Moon-003-Base: no server returns its log-likelihoods.",
        ),
        _result(
            "Table 7",
            "accuracy of instruction-tuned models by domain",
            ("dialogbench/domains",),
            ("dialogbench/domains",),
        ),
        Item(
            "Table 8",
            "the twenty domains",
            defined_in=("workflow/dialeval/dialogbench/tasks.py",),
            remark=_OWN_WORDS,
        ),
        *(
            Item(
                f"Table {number}",
                f"the prompt for writing items: {words} ({task})",
                defined_in=_WRITER,
                remark=_OWN_WORDS,
            )
            for number, (task, words) in enumerate(_WRITTEN_TASKS, start=9)
        ),
        Item(
            "Table 21",
            "the prompt of the filter",
            defined_in=prompts("dialogbench_filter_en", "dialogbench_filter_zh"),
            remark=_OWN_WORDS,
        ),
        Item(
            "Figure 1",
            "the procedure: tasks, prompts, filtered items",
            defined_in=("docs/dialogbench.md",),
            why_not="a diagram without measurements",
        ),
        Item("Figure 2", "the tasks of each dimension", defined_in=("docs/dialogbench.md",)),
        Item("Figure 3", "the parts of the writer's prompt", defined_in=_WRITER, remark=_OWN_WORDS),
        Item(
            "Figure 4",
            "the question of each task",
            defined_in=("workflow/dialeval/dialogbench/examination.py",),
            remark=_OWN_WORDS,
        ),
        _result(
            "Figure 5",
            "styles of the speakers without and with given personalities",
            ("dialogbench/styles",),
            ("dialogbench/styles",),
            variant=("-styles",),
        ),
        _result(
            "Figure 6",
            "domains of the written dialogues without and with given domains",
            ("dialogbench/domain_counts",),
            ("dialogbench/domain_counts",),
            variant=("-domains",),
        ),
        _result(
            "Figure 7",
            "accuracy by the position of the right option",
            ("dialogbench/positions",),
            ("dialogbench/positions",),
            "With `circular`, every option of an item is once in every position.",
        ),
        _result(
            "Figure 8",
            "mean accuracy of instruction-tuned models by domain",
            ("dialogbench/averages",),
            ("dialogbench/averages",),
            group=("chat",),
            scope=("domain",),
        ),
        Item(
            "Figure 9",
            "the prompt of the examination for pre-trained models",
            defined_in=prompts("dialogbench_perplexity_en", "dialogbench_perplexity_zh", folder="prompts"),
            remark=_OWN_WORDS,
        ),
        Item(
            "Figure 10",
            "the prompt of the examination for instruction-tuned models",
            defined_in=prompts("dialogbench_question_en", "dialogbench_question_zh", folder="prompts"),
            remark=_OWN_WORDS,
        ),
    ),
)


# Printed numbers

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
    """Returns a model's published accuracy as a share, or None where there is none.

    Args:
        model: any of its names; only letters and digits count, and their case does not. `human` is people.
        language: `en` or `zh`.
        column: abbreviation of a task, or `Overall`.
    """
    table = {"en": "2", "zh": "3"}.get(language, "")
    return _share(table, language, model, column)


def published_average(kind: str, method: str, language: str, column: str) -> float | None:
    """Returns the published mean of the paper's models of a kind as a share, or None.

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
    """Returns a model's published accuracy in a domain as a share, or None where there is none."""
    return _share("7", language, model, domain)


def published_ablation(variant: str, column: str) -> float | None:
    """Returns GPT-4's published accuracy in an ablation as a share (Chinese items), or None.

    Args:
        variant: `full`, `-styles` or `-filter`.
        column: abbreviation of a task, or `Overall`.
    """
    name = {"full": "Optimized Prompt", "-styles": "-Styles", "-filter": "-Filter"}.get(variant, "")
    return _share("4", "zh", name, column)


def published_size(task: str, what: str) -> float | None:
    """Returns the published number of `items` of a task, or its mean number of `turns` (Table 1)."""
    rows = [row for row in published_rows() if row.table == "1" and row.group == what]
    return rows[0].values.get(task) if rows else None


@cache
def published_rows() -> tuple[PublishedRow, ...]:
    """Returns all rows in the paper's order."""
    text = files("dialeval.papers").joinpath("dialogbench.csv").read_text(encoding="utf-8")
    found: dict[tuple[str, str, str, str], dict[str, float]] = {}
    for row in csv.DictReader(text.splitlines()):
        key = (row["table"], row["language"], row["group"], row["model"])
        found.setdefault(key, {})[row["column"]] = float(row["value"])
    return tuple(PublishedRow(*key, values) for key, values in found.items())


def _share(table: str, language: str, model: str, column: str) -> float | None:
    for row in published_rows():
        if row.table == table and row.language == language and column in row.values and _same(row.model, model):
            return row.values[column] / 100.0
    return None


def _same(printed: str, name: str) -> bool:
    return _canonical(printed) == _canonical(name) != ""


def _canonical(name: str) -> str:
    folded = _folded(name)
    return _by_alias().get(folded, folded)


@cache
def _by_alias() -> Mapping[str, str]:
    return {_folded(alias): _folded(name) for name, aliases in _ALIASES.items() for alias in aliases}


def _folded(name: str) -> str:
    return "".join(character for character in name.casefold() if character.isalnum())
