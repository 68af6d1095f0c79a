"""DialogBench: multiple-choice questions on dialogues, which one model writes and another filters."""

from __future__ import annotations

from dialeval.papers.entry import Item, Need, Paper, prompts

_CONFIG = "configs/dialogbench-models.yaml"
_NEEDS: tuple[Need, ...] = ("keys", "weights", "unpublished")
_WRITER = prompts("dialogbench_write_en", "dialogbench_write_zh")
_OWN_WORDS = "In our own words."
_PEOPLE = (
    "On items that are written here. `dialogbench.experts` draws a sheet for people of your own, and makes their row."
)
_OWN_ITEMS = "On items that are written here: the paper's were never published with their contents."
_WRITTEN_TASKS = (  # as the paper orders the tables of its prompts
    ("IC", "intent classification"),
    ("ED", "emotion detection"),
    ("CRG", "replies that rest on common sense"),
    ("KRG", "replies that agree with a text"),
    ("NLI", "natural language inference"),
    ("OD", "offensive language"),
    ("PRG", "replies that suit a personality"),
    ("DI", "missing utterances"),
    ("RC", "relations of the speakers"),
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
            "accuracy of models and people by task, English",
            ("dialogbench/overview", "dialogbench/accuracy"),
            ("dialogbench/tasks", "dialogbench/overall"),
            remark=_PEOPLE,
            language=("en",),
        ),
        _result(
            "Table 3",
            "accuracy of models and people by task, Chinese",
            ("dialogbench/overview", "dialogbench/accuracy"),
            ("dialogbench/tasks", "dialogbench/overall"),
            remark=_PEOPLE,
            language=("zh",),
        ),
        _result(
            "Table 4", "what becomes of the accuracy without styles, and without the filter", ("dialogbench/ablations",)
        ),
        Item("Table 5", "what each task asks", stands=("docs/dialogbench.md",), remark=_OWN_WORDS),
        Item(
            "Table 6",
            "the twenty-six models that are examined",
            stands=("configs/dialogbench-models.yaml",),
            remark="All but MOSS-Moon-003-Base, for which no server scores given text.",
        ),
        _result(
            "Table 7",
            "accuracy of instruction-tuned models by domain",
            ("dialogbench/domains",),
            ("dialogbench/domains",),
        ),
        Item(
            "Table 8",
            "what each of the twenty domains is about",
            stands=("workflow/dialeval/dialogbench/domains.py",),
            remark=_OWN_WORDS,
        ),
        *(
            Item(
                f"Table {number}", f"the prompt for writing items: {words} ({task})", stands=_WRITER, remark=_OWN_WORDS
            )
            for number, (task, words) in enumerate(_WRITTEN_TASKS, start=9)
        ),
        Item(
            "Table 21",
            "the prompt of the filter",
            stands=prompts("dialogbench_filter_en", "dialogbench_filter_zh"),
            remark=_OWN_WORDS,
        ),
        Item(
            "Figure 1",
            "the procedure, from tasks over prompts to filtered items",
            stands=("docs/dialogbench.md",),
            why_not="a drawing, in which nothing is measured",
        ),
        Item("Figure 2", "which tasks serve which dimension", stands=("docs/dialogbench.md",)),
        Item("Figure 3", "the parts of the writer's prompt", stands=_WRITER, remark=_OWN_WORDS),
        Item(
            "Figure 4",
            "the question of each task",
            stands=("workflow/dialeval/dialogbench/questions.py",),
            remark=_OWN_WORDS,
        ),
        _result(
            "Figure 5",
            "styles of the speakers before and after personalities are given",
            ("dialogbench/styles",),
            ("dialogbench/styles",),
            variant=("-styles",),
        ),
        _result(
            "Figure 6",
            "domains of the written dialogues before and after a domain is given",
            ("dialogbench/domain_counts",),
            ("dialogbench/domain_counts",),
            variant=("-domains",),
        ),
        _result(
            "Figure 7",
            "accuracy by the place of the right option",
            ("dialogbench/positions",),
            ("dialogbench/positions",),
            "With `circular` every item is asked with the right option in every place.",
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
            stands=prompts("dialogbench_perplexity_en", "dialogbench_perplexity_zh", folder="prompts"),
            remark=_OWN_WORDS,
        ),
        Item(
            "Figure 10",
            "the prompt of the examination for instruction-tuned models",
            stands=prompts("dialogbench_question_en", "dialogbench_question_zh", folder="prompts"),
            remark=_OWN_WORDS,
        ),
    ),
)
