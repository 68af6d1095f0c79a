"""xDial-Eval: judges of dialogues in ten languages, zero-shot, trained and in ensembles."""

from __future__ import annotations

from dialeval.papers.entry import OWN_WORDS, Item, Need, Paper, prompts

_CONFIG = "configs/metaeval.yaml"
_MODELS = "configs/xdial-models.yaml"
_TRAINED = "configs/xdial-train.yaml"
_NEEDS: tuple[Need, ...] = ("keys", "weights", "download", "unpublished")
_ALSO_TRAINED = "Of models as they are; the rows of trained ones and of ensembles are made by configs/xdial-train.yaml."
_OF_TRAINING = ("training/runs",)
_TEMPLATES = (
    ("Table 9", "Vicuna-7B"),
    ("Table 10", "Phoenix-7B"),
    ("Table 11", "Falcon-7B"),
    ("Table 12", "LLaMA-2-7B"),
    ("Table 13", "Baichuan-2-7B"),
    ("Table 14", "ChatGPT"),
)


def _result(
    number: str,
    shows: str,
    tables: tuple[str, ...],
    figures: tuple[str, ...] = (),
    config: str = _CONFIG,
    remark: str = "",
    beside: tuple[str, ...] = (),
    **where: tuple[str, ...],
) -> Item:
    """Returns an item that judges of rated items make."""
    return Item(number, shows, tables, figures, (), config, "metaeval", _NEEDS, remark, where=where, beside=beside)


XDIAL_EVAL = Paper(
    "xDial-Eval",
    "xDial-Eval: A Multilingual Open-Domain Dialogue Evaluation Benchmark",
    "https://arxiv.org/abs/2310.08958",
    (
        Item(
            "Table 1",
            "the rated corpora: items, utterances, words, dimensions",
            tables=("metaeval/corpora",),
            config=_CONFIG,
            target="metaeval",
            needs=("download", "unpublished"),
            remark="Of the eighteen, those whose files were published with their contents.",
            where={"human_dimensions": ()},
        ),
        Item(
            "Table 2",
            "quality of the translations: back-translation, quality estimation, a judge's adequacy",
            tables=("translation/quality",),
            config="configs/xdial-translation.yaml",
            needs=("keys", "weights", "download", "people"),
            remark="The paper translates with a paid service; here an open model does. Comet's and people's are files.",
        ),
        Item(
            "Table 3",
            "Alpaca's prompts for responses and dialogues",
            stands=prompts("yes_no_turn", "yes_no_dialogue"),
            remark="In our own words, by `prompts: {set: papers}`; a model's own format is its chat template.",
        ),
        _result(
            "Table 4",
            "Pearson correlation by language of judges that were trained on English",
            ("metaeval/by_language",),
            ("metaeval/judges_by_language",),
            _TRAINED,
            beside=_OF_TRAINING,
            statistic=("pearson",),
            source=("this run",),
        ),
        _result(
            "Table 5",
            "Pearson correlation by language of judges zero-shot, trained on ten languages, and in ensembles",
            ("metaeval/by_language",),
            ("metaeval/judges_by_language",),
            _MODELS,
            statistic=("pearson",),
            remark=_ALSO_TRAINED,
            source=("this run",),
        ),
        Item(
            "Table 6",
            "the prompt that asks how adequate a translation is",
            stands=prompts("adequacy"),
            remark=OWN_WORDS,
        ),
        *(
            Item(
                number,
                f"a rated {what} in ten languages",
                config=_CONFIG,
                target="report",
                needs=("download",),
                stands=("docs/rated-corpora.md",),
                remark="The report shows a sample of the items of every corpus, in every language.",
            )
            for number, what in (("Table 7", "response"), ("Table 8", "dialogue"))
        ),
        *(
            Item(
                number,
                f"the prompt in the format of {model}",
                stands=prompts("yes_no_turn", "yes_no_dialogue"),
                remark="In our own words, by `prompts: {set: papers}`; a model's own format is its chat template.",
            )
            for number, model in _TEMPLATES
        ),
        _result(
            "Table 15",
            "correlation with the ratings of dialogues that were written in Chinese",
            ("metaeval/natural_chinese", "metaeval/correlations"),
            ("metaeval/judges_by_corpus",),
            _TRAINED,
            remark="DSTC11's files are fetched by hand (docs/rated-corpora.md); without them the table has no rows.",
            corpus=("ECM-Turn", "LCCC-Turn", "HC-Turn", "LCCC-Dial", "HC-Dial"),
        ),
        _result(
            "Table 16",
            "Table 4 in Spearman's correlation",
            ("metaeval/by_language",),
            config=_TRAINED,
            beside=_OF_TRAINING,
            statistic=("spearman",),
            source=("this run",),
        ),
        _result(
            "Table 17",
            "Table 5 in Spearman's correlation",
            ("metaeval/by_language",),
            config=_MODELS,
            statistic=("spearman",),
            remark=_ALSO_TRAINED,
            source=("this run",),
        ),
        *(
            _result(
                number,
                f"how a judge's scores go together from language to language, on {corpus}",
                ("metaeval/matrices",),
                ("metaeval/languages",),
                _MODELS,
                kind=("languages",),
                level=(level,),
                corpus=(corpus, f"xDial-{corpus}"),
            )
            for number, corpus, level in (("Figure 1", "FED-Dial", "dialogue"), ("Figure 2", "FED-Turn", "turn"))
        ),
        _result(
            "Figure 3",
            "how the scores of different judges go together",
            ("metaeval/matrices",),
            ("metaeval/judges_among_themselves",),
            _MODELS,
            kind=("judges",),
        ),
    ),
)
