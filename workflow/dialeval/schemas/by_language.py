"""Tables in the shape of xDial-Eval's: judges by language, and by natural Chinese corpus, with the paper's own rows."""

from __future__ import annotations

from dialeval.schemas.columns import FLOAT, INT, TEXT, maybe, schema
from dialeval.schemas.table import Table

# fmt: off
_ABOUT = {
    "statistic": "pearson or spearman",
    "source": "this run, or the table of the paper that prints the row",
    "judge": "a judge of the run, or the paper's system by its printed name",
    "training": "what the paper's system was trained on; empty for one that was asked as it is, and for this run",
    "rated": "what people rated in the corpora of this run; the paper does not say it by corpus",
}
BY_LANGUAGE = Table(
    "metaeval/by_language", schema(
        level=TEXT, statistic=TEXT, source=TEXT, benchmark=maybe(TEXT), judge=TEXT, method=maybe(TEXT),
        training=maybe(TEXT), dimension=TEXT, rated=maybe(TEXT), en=maybe(FLOAT), zh=maybe(FLOAT), es=maybe(FLOAT),
        de=maybe(FLOAT), fr=maybe(FLOAT), ja=maybe(FLOAT), ko=maybe(FLOAT), hi=maybe(FLOAT), ar=maybe(FLOAT),
        ru=maybe(FLOAT), average=maybe(FLOAT), n_languages=INT
    ),
    row="level, statistic and judge, or system of the paper",
    title="Judges by language",
    caption=(
        "As Tables 4, 5, 16 and 17 of xDial-Eval: correlations with people's ratings, averaged over corpora, by "
        "language in the paper's order. Under this run's rows stand those that the paper prints, over its own corpora "
        "and with its own prompts; intervals are in the table of averages."
    ),
    columns={
        **_ABOUT,
        "dimension": "what judges were asked about; all: everything that is rated",
        "average": "mean over languages, of this run over all that it has; empty for one language",
        "n_languages": "languages behind the average",
    },
    numbers="correlation",
)
NATURAL_CHINESE = Table(
    "metaeval/natural_chinese", schema(
        level=TEXT, statistic=TEXT, source=TEXT, judge=TEXT, method=maybe(TEXT), training=maybe(TEXT), rated=TEXT,
        ecm_turn=maybe(FLOAT), lccc_turn=maybe(FLOAT), hc_turn=maybe(FLOAT), lccc_dial=maybe(FLOAT),
        hc_dial=maybe(FLOAT), average=maybe(FLOAT)
    ),
    row="level, statistic and judge, or system of the paper",
    title="Judges on dialogues written in Chinese",
    caption=(
        "As Table 15 of xDial-Eval: correlations with people's ratings on its corpora that were written in Chinese, "
        "where this run has them under their names. Under this run's rows stand those that the paper prints."
    ),
    columns={
        **_ABOUT,
        "rated": "what was asked about and rated",
        "average": "mean over the level's corpora; of this run only where it has all of them",
    },
    numbers="correlation",
)
# fmt: on
