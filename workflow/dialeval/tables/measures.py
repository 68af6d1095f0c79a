"""Tables of measures: rates, means, ratings and differences, from the judgements under a protocol or from battles.

A table lies under its protocol's name (`results/tables/<protocol>/<measure>`). First come the columns that say what a
number is of, then `estimate`, `ci_low`, `ci_high`, `n` and `n_clusters`, then what is particular to the measure.
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
    "ci_low": maybe(FLOAT),
    "ci_high": maybe(FLOAT),
    "n": INT,
    "n_clusters": maybe(INT),
}
_BEHIND = {"design_effect": maybe(FLOAT), "n_effective": maybe(FLOAT), "note": maybe(TEXT)}
_PUBLISHED = {"published": maybe(FLOAT)}
_CELLS = {"estimate": Interval("ci_low", "ci_high", "published")}
_WORDS = {
    "criterion": "what was judged, where the question names it",
    "n_utterances": "the length N that dialogues were cut to, or judged at",
    "system": "whose dialogues; `human` for people",
    "published": "what the paper prints for a model of this name",
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
    caption="The pass rate where every dialogue is taken up to as many utterances as the human one of its seed has.",
    columns=_WORDS, cells=_CELLS, numbers="share",
)
RATINGS = Table(
    f"{FOLDER}/ratings", schema(
        **_OF, **_NUMBER, n_unparsed=INT, elo_sd=maybe(FLOAT), bradley_terry=maybe(FLOAT),
        bradley_terry_ci_low=maybe(FLOAT), bradley_terry_ci_high=maybe(FLOAT),
        bradley_terry_length_controlled=maybe(FLOAT),
        bradley_terry_length_controlled_ci_low=maybe(FLOAT), bradley_terry_length_controlled_ci_high=maybe(FLOAT),
        davidson=maybe(FLOAT), davidson_ci_low=maybe(FLOAT), davidson_ci_high=maybe(FLOAT), p_above_next=maybe(FLOAT),
        **_BEHIND, **_PUBLISHED
    ),
    row="judge, N and system, best first",
    title="Ratings",
    caption=(
        "The estimate is Bootstrap Elo: the median over shuffled orders of the comparisons, averaged over repeats. "
        "Bradley-Terry and Davidson (with ties) stand on the same scale. Intervals resample seeds. Verdicts that could "
        "not be read move no rating."
    ),
    columns={
        **_WORDS,
        "estimate": "Bootstrap Elo, mean of the repeats",
        "n": "comparisons",
        "elo_sd": "standard deviation of Elo from repeat to repeat: what the orders add to chance, and nothing of the "
        "seeds; that of their mean is less by the root of their number; empty with fewer than five repeats",
        "bradley_terry_length_controlled": "Bradley-Terry with length and place held fixed",
        "p_above_next": "share of resamples in which the system is above the next one",
    },
    cells={
        **_CELLS,
        **{
            name: Interval(f"{name}_ci_low", f"{name}_ci_high")
            for name in ("bradley_terry", "bradley_terry_length_controlled", "davidson")
        },
    },
    numbers="rating", kinds={"p_above_next": "share"},
)
WIN_RATES = Table(
    f"{FOLDER}/win_rates", schema(
        **_OF, opponent=TEXT, **_NUMBER, win=maybe(FLOAT), tie=maybe(FLOAT), lose=maybe(FLOAT), unparsed=maybe(FLOAT),
        win_or_tie=maybe(FLOAT), win_or_tie_ci_low=maybe(FLOAT), win_or_tie_ci_high=maybe(FLOAT),
        win_or_tie_design_effect=maybe(FLOAT), win_or_tie_n_effective=maybe(FLOAT), **_BEHIND, **_PUBLISHED
    ),
    row="judge, N, system and opponent, both orders together",
    title="Win rates",
    caption=(
        "How often the system wins, ties and loses, as shares of all comparisons with the opponent, those included "
        "whose verdict could not be read. Intervals are clustered by seed."
    ),
    columns={**_WORDS, "estimate": "share won", "n": "comparisons", "published": "win or tie in the paper"},
    cells={
        "estimate": Interval("ci_low", "ci_high"),
        "win_or_tie": Interval("win_or_tie_ci_low", "win_or_tie_ci_high", "published"),
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
    cells={"estimate": Interval("ci_low", "ci_high")},
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
    cells={"estimate": Interval("ci_low", "ci_high")}, numbers="share",
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
    cells={"estimate": Interval("ci_low", "ci_high")}, numbers="share",
)
AGREEMENT = Table(
    f"{FOLDER}/agreement", schema(
        judge=TEXT, other_judge=TEXT, criterion=maybe(TEXT), **_NUMBER, ac1=maybe(FLOAT), ac1_ci_low=maybe(FLOAT),
        ac1_ci_high=maybe(FLOAT), n_both=INT, n_judge_only=INT, n_other_only=INT, precision=maybe(FLOAT),
        precision_ci_low=maybe(FLOAT), precision_ci_high=maybe(FLOAT), recall=maybe(FLOAT), recall_ci_low=maybe(FLOAT),
        recall_ci_high=maybe(FLOAT), note=maybe(TEXT)
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
        **_WORDS, "other_judge": "with whom it is compared; `rules` are no model", "estimate": "Cohen's kappa",
        "ac1": "Gwet's AC1, agreement beyond chance that hardly depends on how rare the kind is",
        "n": "dialogues of which both say something", "n_both": "dialogues in which both see it",
        "n_judge_only": "in which the judge alone sees it", "n_other_only": "in which the other one alone sees it",
        "precision": "of the dialogues that the other one marks, the share that the judge marks, too",
        "recall": "of the dialogues that the judge marks, the share that the other one marks, too",
    },
    cells={
        "estimate": Interval("ci_low", "ci_high"),
        "ac1": Interval("ac1_ci_low", "ac1_ci_high"),
        "precision": Interval("precision_ci_low", "precision_ci_high"),
        "recall": Interval("recall_ci_low", "recall_ci_high"),
    },
    numbers="share", kinds=dict.fromkeys(("estimate", "ci_low", "ci_high", "ac1", "ac1_ci_low", "ac1_ci_high"),
        "correlation"),
)
EXAMPLES = Table(
    f"{FOLDER}/examples", schema(
        criterion=TEXT, rank=INT, system=TEXT, corpus=TEXT, item_id=TEXT, case_id=maybe(TEXT), flagged_by=TEXT,
        utterance=maybe(INT), n_flagged_utterances=INT, text=TEXT, before=TEXT
    ),
    row="criterion and dialogue that shows it, the clearest first",
    title="Clearest examples",
    caption=(
        "Dialogues in which the most judges see it, then those where the most agree on an utterance, then those where "
        "the most utterances show it. Chosen to show what is meant, so nothing can be counted by them. The whole "
        "dialogue is in the viewer below."
    ),
    columns={
        **_WORDS, "rank": "the clearest first", "flagged_by": "judges that see it, rules among them",
        "utterance": "number of the utterance that shows it, from 1", "n_flagged_utterances": "utterances that show it",
        "text": "that utterance; of a good case the whole dialogue, cut short", "before": "what was said before it",
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
    columns={**_WORDS, "measure": "what is measured, see the docs", "other_judge": "with whom it is compared"},
    cells={"estimate": Interval("ci_low", "ci_high")},
)
DIFFERENCES = differences(
    f"{FOLDER}/differences",
    row="pair of systems and a number that both have",
    title="Which systems can be told apart",
    caption="Rates and means, the share of comparisons won less that lost (head to head), and ratings.",
)
RANKS = Table(
    f"{FOLDER}/ranks", schema(
        table=TEXT, measure=TEXT, judge=maybe(TEXT), scope=TEXT, system=TEXT, estimate=FLOAT, rank=INT, rank_ci_low=INT,
        rank_ci_high=INT, n_better=INT, n_worse=INT, n_systems=INT, note=maybe(TEXT)
    ),
    row="number that is compared, and system",
    title="Which places are settled",
    caption=(
        "The places that a system can have, for all systems at once: it stands behind those that are shown to be "
        "better and ahead of those that are shown to be worse, by the p-values of the table of differences, corrected "
        "for all pairs (Holm). People's dialogues take no place."
    ),
    columns={
        "system": "whose dialogues", "table": "the table whose numbers are compared", "measure": "what is compared",
        "scope": "at what N, on which criterion, and so on", "estimate": "by which they are ranked",
        "rank": "place by the estimate", "rank_ci_low": "best place that it can have",
        "rank_ci_high": "worst place that it can have", "n_better": "systems shown to be better",
        "n_worse": "systems shown to be worse", "n_systems": "systems that are ranked",
    },
    cells={"rank": Interval("rank_ci_low", "rank_ci_high")},
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
        "In each round the pairs that are still open get a block of seeds; a pair is settled when its statistic passes "
        "the boundary, which keeps the error of all looks together. One that ends open is not settled: that does not "
        "make its systems equal. What was not asked has no verdict in any table."
    ),
    columns={
        **_WORDS, "round": "from 1", "n_seeds": "seeds that the pair was asked about so far",
        "estimate": "share won by the system, a tie counting half",
        "se": "standard error if the two were equal",
        "statistic": "distance from a tie in these standard errors, corrected for continuity",
        "boundary": "what it must pass", "p": "of the pair's last look, the looks before allowed for (stagewise)",
        "decision": "system, opponent (who is better), open, or ended (not settled)",
        "n_requests": "requests so far about the pair", "n_requests_full": "requests that the full design has for it",
        "n_unparsed": "of those asked, verdicts that could not be read, which say nothing",
        "n_missing": "of those asked, without an answer; what they might say decides nothing",
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
        system=TEXT, elo=maybe(FLOAT), ci_low=maybe(FLOAT), ci_high=maybe(FLOAT), elo_sd=maybe(FLOAT),
        bradley_terry=maybe(FLOAT), bradley_terry_ci_low=maybe(FLOAT), bradley_terry_ci_high=maybe(FLOAT),
        davidson=maybe(FLOAT), davidson_ci_low=maybe(FLOAT), davidson_ci_high=maybe(FLOAT), p_above_next=maybe(FLOAT),
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
    caption="Elo, Bradley-Terry, Davidson, and head to head.",
)
# fmt: on
