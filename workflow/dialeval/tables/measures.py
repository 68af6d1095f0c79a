"""Tables of measures: rates, means, ratings and differences, from the judgements under a protocol or from battles.

A table lies under its protocol's name (`results/tables/<protocol>/<measure>`). First come the columns that say what a
number is of, then `estimate`, `low`, `high`, `n` and `n_clusters`, then what is particular to the measure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from dialeval.tables.schema import BEHIND, FLOAT, INT, TEXT, Interval, Table, differences, maybe, schema

FOLDER = "measures"
"""Stands for the protocol in the names of these constants."""
_OF = {"judge": TEXT, "criterion": maybe(TEXT), "n_utterances": maybe(INT), "system": TEXT}
_NUMBER = {
    "estimate": maybe(FLOAT),
    "low": maybe(FLOAT),
    "high": maybe(FLOAT),
    "n": INT,
    "n_clusters": maybe(INT),
}
_BEHIND = {"design_effect": maybe(FLOAT), "effective_n": maybe(FLOAT), "note": maybe(TEXT)}
_PUBLISHED = {"published": maybe(FLOAT)}
_CELLS = {"estimate": Interval("low", "high", "published")}
_WORDS = {
    "criterion": "criterion, if the question names one",
    "n_utterances": "the length N that dialogues were cut to, or judged at",
    "system": "system; `human` for human dialogues",
    "published": "the paper's value for a model of this name",
}

# fmt: off
PASS_RATES = Table(
    f"{FOLDER}/pass_rates", schema(**_OF, **_NUMBER, n_unparsed=INT, **_BEHIND, **_PUBLISHED),
    row="judge, length N and system",
    title="Pass rates",
    caption=(
        "A dialogue passes at N if the judge sees no AI in it, or sees the first AI utterance after N; it counts only "
        "where it is that long, which few human dialogues are. Intervals are clustered by seed. A verdict that could "
        "not be read counts as not passed."
    ),
    columns={**_WORDS, "n": "dialogues that are that long; the others of a system do not count at N"},
    cells=_CELLS, numbers="share",
)
PASS_RATES_AT_GT_LENGTH = Table(
    f"{FOLDER}/pass_rates_at_gt_length", schema(**_OF, **_NUMBER, n_unparsed=INT, **_BEHIND, **_PUBLISHED),
    row="judge and system (BotChat's Figure 7)",
    title="Pass rates at the human length",
    caption="Pass rate of dialogues cut to the number of utterances of the human dialogue on the same seed.",
    columns=_WORDS, cells=_CELLS, numbers="share",
)
RATINGS = Table(
    f"{FOLDER}/ratings", schema(
        **_OF, **_NUMBER, n_unparsed=INT, elo_sd=maybe(FLOAT), bradley_terry=maybe(FLOAT),
        bradley_terry_low=maybe(FLOAT), bradley_terry_high=maybe(FLOAT), bradley_terry_length_controlled=maybe(FLOAT),
        bradley_terry_length_controlled_low=maybe(FLOAT), bradley_terry_length_controlled_high=maybe(FLOAT),
        davidson=maybe(FLOAT), davidson_low=maybe(FLOAT), davidson_high=maybe(FLOAT), p_above_next=maybe(FLOAT),
        **_BEHIND, **_PUBLISHED
    ),
    row="judge, N and system, best first",
    title="Ratings",
    caption=(
        "The estimate is Bootstrap Elo: the median over shuffled orders of the comparisons, averaged over repeats. "
        "Bradley-Terry and Davidson (with ties) are on the same scale. Intervals resample seeds. Unparsed verdicts "
        "do not count."
    ),
    columns={
        **_WORDS,
        "estimate": "Bootstrap Elo, mean of the repeats",
        "n": "comparisons",
        "elo_sd": "standard deviation of Elo from repeat to repeat: what the orders add to chance, and nothing of the "
        "seeds; that of their mean is less by the root of their number; empty with fewer than five repeats",
        "bradley_terry_length_controlled": "Bradley-Terry rating at equal lengths and positions",
        "p_above_next": "share of resamples in which the system is above the next one",
    },
    cells={
        **_CELLS,
        **{
            name: Interval(f"{name}_low", f"{name}_high")
            for name in ("bradley_terry", "bradley_terry_length_controlled", "davidson")
        },
    },
    numbers="rating", kinds={"p_above_next": "share"},
)
WIN_RATES = Table(
    f"{FOLDER}/win_rates", schema(
        **_OF, opponent=TEXT, **_NUMBER, win=maybe(FLOAT), tie=maybe(FLOAT), lose=maybe(FLOAT), unparsed=maybe(FLOAT),
        win_or_tie=maybe(FLOAT), win_or_tie_low=maybe(FLOAT), win_or_tie_high=maybe(FLOAT),
        win_or_tie_design_effect=maybe(FLOAT), win_or_tie_effective_n=maybe(FLOAT), **_BEHIND, **_PUBLISHED
    ),
    row="judge, N, system and opponent, both orders together",
    title="Win rates",
    caption=(
        "Shares of wins, ties and losses among all comparisons with the opponent, unparsed ones included. Intervals "
        "are clustered by seed."
    ),
    columns={**_WORDS, "estimate": "share won", "n": "comparisons", "published": "win or tie in the paper"},
    cells={
        "estimate": Interval("low", "high"),
        "win_or_tie": Interval("win_or_tie_low", "win_or_tie_high", "published"),
    },
    numbers="share",
)
MEANS = Table(
    f"{FOLDER}/means", schema(
        **_OF, **_NUMBER, n_missing=INT, scale_min=maybe(FLOAT), scale_max=maybe(FLOAT), **_BEHIND
    ),
    row="judge, criterion and system",
    title="Means by criterion",
    caption=(
        "Mean of the scores, on the criterion's scale. Repeats are averaged within an item first. Intervals are "
        "Student's, clustered by case (CR2, with Satterthwaite's degrees of freedom). An item without a readable score "
        "is left out, and counted."
    ),
    columns={**_WORDS, "n": "items with a score", "n_missing": "items without any readable score"},
    cells={"estimate": Interval("low", "high")},
)
RATES = Table(
    f"{FOLDER}/rates", schema(**_OF, label=TEXT, **_NUMBER, n_unparsed=INT, **_BEHIND),
    row="judge, criterion, system and answer",
    title="Rates",
    caption=(
        "Share of the items to which the judge gives an answer, of yes and no that of yes. An answer that could not be "
        "read stays in the denominator. Repeats are averaged within an item first; intervals are clustered by case."
    ),
    columns={**_WORDS, "label": "the answer", "n": "items", "n_unparsed": "items without any readable answer"},
    cells={"estimate": Interval("low", "high")}, numbers="share",
)
CHECKLIST = Table(
    f"{FOLDER}/checklist", schema(
        judge=TEXT, n_utterances=maybe(INT), system=TEXT, **_NUMBER, n_missing=INT, n_criteria=INT, **_BEHIND
    ),
    row="judge and system",
    title="Checklist",
    caption=(
        "An item's score is the share of the criteria that the judge answers with yes; here is their mean. An item "
        "with an answer that could not be read, to any criterion, is left out, and counted. Intervals are those of "
        "means."
    ),
    columns={**_WORDS, "n": "items with all answers", "n_missing": "items with an answer that could not be read",
             "n_criteria": "criteria on the list"},
    cells={"estimate": Interval("low", "high")}, numbers="share",
)
AGREEMENT = Table(
    f"{FOLDER}/agreement", schema(
        judge=TEXT, other_judge=TEXT, criterion=maybe(TEXT), **_NUMBER, ac1=maybe(FLOAT), ac1_low=maybe(FLOAT),
        ac1_high=maybe(FLOAT), both=INT, judge_alone=INT, other_alone=INT, precision=maybe(FLOAT),
        precision_low=maybe(FLOAT), precision_high=maybe(FLOAT), recall=maybe(FLOAT), recall_low=maybe(FLOAT),
        recall_high=maybe(FLOAT), note=maybe(TEXT)
    ),
    row="two judges, `rules` being one, and criterion",
    title="Do they see the same?",
    caption=(
        "Cohen's kappa of two judges, or of a judge and the rules, over the dialogues of which both say something, "
        "people's included; its interval resamples cases. There is no interval where fewer than 10 answers of 5 cases "
        "differ from the most frequent one: Gwet's AC1 has one there. If the judge is believed, precision is how much "
        "of what the other one marks is there, and recall how much of what is there the other one marks: neither is "
        "known to be right."
    ),
    columns={
        **_WORDS, "other_judge": "the other judge; `rules` are no model", "estimate": "Cohen's kappa",
        "ac1": "Gwet's AC1, agreement beyond chance that hardly depends on how rare the kind is",
        "n": "dialogues with a verdict of both", "both": "dialogues in which both see it",
        "judge_alone": "in which the judge alone sees it", "other_alone": "in which the other one alone sees it",
        "precision": "of the dialogues that the other one marks, the share that the judge marks, too",
        "recall": "of the dialogues that the judge marks, the share that the other one marks, too",
    },
    cells={
        "estimate": Interval("low", "high"),
        "ac1": Interval("ac1_low", "ac1_high"),
        "precision": Interval("precision_low", "precision_high"),
        "recall": Interval("recall_low", "recall_high"),
    },
    numbers="share", kinds=dict.fromkeys(("estimate", "low", "high", "ac1", "ac1_low", "ac1_high"), "correlation"),
)
EXAMPLES = Table(
    f"{FOLDER}/examples", schema(
        criterion=TEXT, rank=INT, system=TEXT, corpus=TEXT, item_id=TEXT, case_id=maybe(TEXT), seen_by=TEXT,
        utterance=maybe(INT), n_places=INT, text=TEXT, before=TEXT
    ),
    row="criterion and dialogue that shows it, the clearest first",
    title="Clearest examples",
    caption=(
        "Dialogues in which the most judges see it, then those where the most agree on an utterance, then those where "
        "the most utterances show it. Chosen to show what is meant, so nothing can be counted by them. The whole "
        "dialogue is in the viewer below."
    ),
    columns={
        **_WORDS, "rank": "the clearest first", "seen_by": "judges that see it, rules among them",
        "utterance": "number of the utterance that shows it, from 1", "n_places": "utterances that show it",
        "text": "that utterance; of a good case the whole dialogue, cut short", "before": "previous utterance",
    },
)
BIAS = Table(
    f"{FOLDER}/bias", schema(
        judge=TEXT, other_judge=maybe(TEXT), criterion=maybe(TEXT), n_utterances=maybe(INT), measure=TEXT, **_NUMBER,
        **_BEHIND
    ),
    row="judge (or two) and measure",
    title="The judges' biases",
    caption=(
        "How far a judge's verdicts follow position, length or family instead of the dialogues, and how far judges "
        "agree with themselves and each other. Intervals resample seeds."
    ),
    columns={**_WORDS, "measure": "measure, see the head of this page", "other_judge": "the other judge"},
    cells={"estimate": Interval("low", "high")},
)
DIFFERENCES = differences(
    f"{FOLDER}/differences",
    row="pair of systems and a number that both have",
    title="Which systems can be told apart",
    caption="Differences of rates, means and ratings, and the share of comparisons won less that lost (head to head).",
)
RANKS = Table(
    f"{FOLDER}/ranks", schema(
        table=TEXT, measure=TEXT, judge=maybe(TEXT), scope=TEXT, system=TEXT, estimate=FLOAT, rank=INT, rank_low=INT,
        rank_high=INT, n_better=INT, n_worse=INT, n_systems=INT, note=maybe(TEXT)
    ),
    row="number that is compared, and system",
    title="Which places are settled",
    caption=(
        "Simultaneous confidence sets of ranks: a system ranks below those that are significantly better and above "
        "those that are significantly worse, by the Holm-adjusted p-values of the table of differences. Human "
        "dialogues have no rank."
    ),
    columns={
        "system": "system", "table": "table of the compared numbers", "measure": "compared measure",
        "scope": "N, criterion and the like", "estimate": "by which they are ranked",
        "rank": "rank by the estimate", "rank_low": "best rank in the confidence set",
        "rank_high": "worst rank in the confidence set", "n_better": "systems shown to be better",
        "n_worse": "systems shown to be worse", "n_systems": "systems that are ranked",
    },
    cells={"rank": Interval("rank_low", "rank_high")},
)
ADAPTIVE_ROUNDS = Table(
    f"{FOLDER}/adaptive_rounds", schema(
        judge=TEXT, criterion=maybe(TEXT), n_utterances=maybe(INT), round=INT, n_seeds=INT, system=TEXT, opponent=TEXT,
        estimate=maybe(FLOAT), se=maybe(FLOAT), statistic=maybe(FLOAT), boundary=maybe(FLOAT), p=maybe(FLOAT),
        decision=TEXT, n_requests=INT, n_requests_full=INT, n_unparsed=INT, n_missing=INT
    ),
    row="judge, round and pair that was open in it",
    title="Rounds of adaptive comparisons",
    caption=(
        "In each round the open pairs get a block of seeds. A pair is settled when its statistic passes the "
        "boundary, which controls the error over all looks. A pair that ends open is not settled; its systems need "
        "not be equal. Comparisons that were not requested have no verdict in any table."
    ),
    columns={
        **_WORDS, "round": "from 1", "n_seeds": "seeds of the pair so far",
        "estimate": "share won by the system, a tie counting half",
        "se": "standard error if the two were equal",
        "statistic": "distance from a tie in these standard errors, corrected for continuity",
        "boundary": "boundary of the statistic", "p": "p-value at the last look, adjusted for the looks (stagewise)",
        "decision": "the better system, open, or ended (not settled)",
        "n_requests": "requests so far about the pair", "n_requests_full": "requests that the full design has for it",
        "n_unparsed": "unparsed verdicts",
        "n_missing": "requests without a response",
    },
    shown=False,
)
# fmt: on
MEASURED: Mapping[str, Table] = MappingProxyType(
    {
        table.file: table
        for table in (
            PASS_RATES,
            PASS_RATES_AT_GT_LENGTH,
            RATINGS,
            WIN_RATES,
            MEANS,
            RATES,
            CHECKLIST,
            DIFFERENCES,
            BIAS,
            AGREEMENT,
            EXAMPLES,
        )
    }
)
"""The table of every measure that is taken from judgements, by the measure's name; RANKS follow from DIFFERENCES."""


def under(protocol: str, table: Table) -> Table:
    """Returns the table of a measure under the name of a protocol."""
    return replace(table, name=f"{protocol}/{table.file}")


# Battles

# fmt: off
BATTLE_RATINGS = Table(
    "battles/ratings", schema(
        model=TEXT, elo=maybe(FLOAT), low=maybe(FLOAT), high=maybe(FLOAT), elo_sd=maybe(FLOAT),
        bradley_terry=maybe(FLOAT), bradley_terry_low=maybe(FLOAT), bradley_terry_high=maybe(FLOAT),
        davidson=maybe(FLOAT), davidson_low=maybe(FLOAT), davidson_high=maybe(FLOAT), p_above_next=maybe(FLOAT),
        n_comparisons=INT, **BEHIND, note=maybe(TEXT)
    ),
    row="player (`battles/<name>`)",
    columns={
        "elo": "Bootstrap Elo, mean of the repeats",
        "elo_sd": "standard deviation of Elo from repeat to repeat: what the orders add to chance, and nothing of the "
        "battles; that of their mean is less by the root of their number; empty with fewer than five repeats",
        "p_above_next": "share of resamples in which the player is above the next one",
    },
    numbers="rating",
    kinds={"p_above_next": "share"},
)
BATTLE_DIFFERENCES = differences(
    "battles/differences",
    row="pair of players (`battles/differences/<name>`)",
    title="Which players can be told apart",
    caption="Differences of Elo, Bradley-Terry and Davidson ratings, and head to head.",
)
# fmt: on
