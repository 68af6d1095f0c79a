"""comp-analysis: how well language models judge dialogues that people rated, and whether they notice damage."""

from __future__ import annotations

from dialeval.papers.entry import OWN_WORDS, Item, Need, Paper, prompts

_CONFIG = "configs/metaeval.yaml"
_MODELS = "configs/comp-analysis-models.yaml"
_NEEDS: tuple[Need, ...] = ("keys", "weights", "download", "withdrawn")


def _result(
    number: str,
    shows: str,
    tables: tuple[str, ...],
    figures: tuple[str, ...] = (),
    remark: str = "",
    **where: tuple[str, ...],
) -> Item:
    """Returns an item that judges of rated items make."""
    return Item(number, shows, tables, figures, (), _MODELS, "metaeval", _NEEDS, remark, where=where)


COMP_ANALYSIS = Paper(
    "comp-analysis",
    "A Comprehensive Analysis of the Effectiveness of Large Language Models as Automatic Dialogue Evaluators",
    "https://arxiv.org/abs/2312.15407",
    (
        Item(
            "Table 1",
            "the rated corpora: items, utterances, lengths, who rated what, and how far raters agree",
            tables=("metaeval/corpora", "metaeval/annotator_agreement"),
            config=_CONFIG,
            target="metaeval",
            needs=("download", "unpublished"),
            remark="Human-Eval was withdrawn by its authors. In FED-Turn the paper counts speakers' names as words.",
            where={"human_dimensions": ()},
        ),
        Item(
            "Table 2",
            "the prompt that asks for ratings of all dimensions at once",
            stands=prompts("rating_dialogue", "rating_turn"),
            remark=OWN_WORDS,
        ),
        Item(
            "Table 3",
            "the prompt that asks yes or no",
            stands=prompts("yes_no_dialogue", "yes_no_turn"),
            remark=OWN_WORDS,
        ),
        Item(
            "Table 4",
            "the question of each dimension",
            stands=("docs/prompts.md", "docs/criteria.md"),
            remark=OWN_WORDS,
        ),
        _result(
            "Table 5",
            "correlation of thirty models with the ratings, dimension by dimension, on human and filled ratings",
            ("metaeval/averages",),
            ("metaeval/judges",),
            "`raters` tells human ratings alone from those that a model filled.",
            benchmark=("comp-analysis",),
        ),
        _result(
            "Table 6",
            "GPT-4 beside the strongest others, on human ratings alone",
            ("metaeval/averages",),
            ("metaeval/judges",),
            benchmark=("comp-analysis",),
            raters=("human",),
        ),
        _result(
            "Table 7",
            "whether models rank alike by a model's ratings and by people's",
            ("metaeval/ranking_agreement",),
            ("metaeval/rankings",),
            "GPT-4's ratings of FED-Turn are not public: its row needs a judge under `metaeval.fill`.",
            spearman=(),
        ),
        _result(
            "Table 8",
            "the mean of a judge's other dimensions as its overall score",
            ("metaeval/dimension_ensemble",),
            ("metaeval/dimension_ensembles",),
            "Of means, `rater_kind` tells human ratings alone from the full data.",
            benchmark=("comp-analysis",),
        ),
        _result(
            "Table 9",
            "the mean of the best judges beside proprietary ones",
            ("metaeval/model_ensemble",),
            ("metaeval/ensembles",),
            "`metaeval.ensemble_pool` limits members to open models; `raters` tells human ratings from the full data.",
            benchmark=("comp-analysis",),
        ),
        Item(
            "Table 10",
            "the fourteen kinds of damage",
            stands=("docs/robustness.md",),
            remark="The published pairs are read; of other originals, rules or a rewriter make their own.",
        ),
        Item(
            "Table 11",
            "how many pairs of each kind there are, and of which corpora",
            tables=("robustness/pairs",),
            config=_CONFIG,
            target="robustness",
            needs=("download",),
            remark="Of the published sets; `wordnet`, `rewritten` and `min_quality` make pairs anew as the paper does.",
        ),
        Item(
            "Table 12",
            "share of pairs in which a judge notices the damage",
            tables=("robustness/robustness", "robustness/averages"),
            figures=("robustness/ratios",),
            config=_MODELS,
            target="robustness",
            needs=_NEEDS,
        ),
        Item(
            "Table 13",
            "what the models are: backbone, training, window",
            stands=("configs/comp-analysis-models.yaml",),
            remark="All but PaLM-2 Bison, which is withdrawn.",
        ),
        _result(
            "Figure 1",
            "how dimensions go together on FED-Dial, for people and for judges",
            ("metaeval/matrices",),
            ("metaeval/dimensions",),
            kind=("dimensions",),
            level=("dialogue",),
            corpus=("FED-Dial",),
        ),
        _result(
            "Figure 2",
            "how dimensions go together on FED-Turn, for people and for judges",
            ("metaeval/matrices",),
            ("metaeval/dimensions",),
            kind=("dimensions",),
            level=("turn",),
            corpus=("FED-Turn",),
        ),
        Item(
            "Missing annotations",
            "ratings by a model where people gave none, and how far its rounds agree",
            tables=("metaeval/repeat_agreement", "metaeval/annotator_agreement"),
            config=_MODELS,
            target="metaeval",
            needs=("keys", "download"),
            remark="`metaeval.fill` names the judge whose repeats stand in; GPT-4's published rounds are read as well.",
            where={"rater_kind": ("model",)},
        ),
    ),
)
