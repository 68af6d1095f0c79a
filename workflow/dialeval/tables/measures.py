"""Tables of measures: rates, means, ratings and differences, from the judgements under a protocol or from battles,
and the comparison of two runs.

A table lies under its protocol's name (`results/tables/<protocol>/<measure>`). First come the columns that say what a
number is of, then `estimate`, `ci_low`, `ci_high`, `n` and `n_clusters`, then what is particular to the measure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from dialeval.tables.schema import BEHIND, BOOL, COMPARED, FLOAT, INT, TEXT, Interval, Table, differences, maybe, schema

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
    "criterion": "criterion; empty if the question names no criterion",
    "n_utterances": "length N in utterances; empty for complete dialogues",
    "system": "system that produced the dialogues; `human` for human dialogues",
    "published": "value in the paper; empty if the paper has no model of the same name",
}

# fmt: off
PASS_RATES = Table(
    f"{FOLDER}/pass_rates", schema(**_OF, **_NUMBER, n_unparsed=INT, **_BEHIND, **_PUBLISHED),
    row="judge, length N and system",
    title="Pass rates",
    caption=(
        "A dialogue passes at N if the judge detects no AI in its first N utterances. Only dialogues with at "
        "least N utterances count; few human dialogues are that long. Intervals are clustered by seed. An unparsed "
        "verdict counts as not passed."
    ),
    columns={**_WORDS, "n": "number of verdicts on dialogues with at least N utterances; every repeat counts"},
    cells=_CELLS, numbers="share",
)
PASS_RATES_AT_GT_LENGTH = Table(
    f"{FOLDER}/pass_rates_at_gt_length", schema(**_OF, **_NUMBER, n_unparsed=INT, **_BEHIND, **_PUBLISHED),
    row="judge and system (BotChat's Figure 7)",
    title="Pass rates at the human length",
    caption="Pass rate with each dialogue cut to the length of the human dialogue of its seed.",
    columns={
        **_WORDS, "n_utterances": "always empty, since human dialogues have different lengths",
        "n": "number of verdicts on the seeds that Arena uses",
    },
    cells=_CELLS, numbers="share",
)
RATINGS = Table(
    f"{FOLDER}/ratings", schema(
        **_OF, **_NUMBER, n_unparsed=INT, elo_sd=maybe(FLOAT), bradley_terry=maybe(FLOAT),
        bradley_terry_ci_low=maybe(FLOAT), bradley_terry_ci_high=maybe(FLOAT),
        bradley_terry_penalised=maybe(FLOAT),
        bradley_terry_penalised_ci_low=maybe(FLOAT), bradley_terry_penalised_ci_high=maybe(FLOAT),
        bradley_terry_length_controlled=maybe(FLOAT),
        bradley_terry_length_controlled_ci_low=maybe(FLOAT), bradley_terry_length_controlled_ci_high=maybe(FLOAT),
        davidson=maybe(FLOAT), davidson_ci_low=maybe(FLOAT), davidson_ci_high=maybe(FLOAT), p_above_next=maybe(FLOAT),
        **_BEHIND, **_PUBLISHED
    ),
    row="judge, N and system, best first",
    title="Ratings",
    caption=(
        "The estimate is Bootstrap Elo: the median over random orders of the comparisons, averaged over "
        "`elo.repeats` sets of random orders. "
        "Bradley-Terry and Davidson ratings are on the same scale; Davidson's model has ties. Intervals resample "
        "seeds, except those of "
        "`bradley_terry_penalised` (profile likelihood) and `bradley_terry_length_controlled` (CR3). Unparsed verdicts "
        "do not affect ratings."
    ),
    columns={
        **_WORDS,
        "estimate": "Bootstrap Elo",
        "n": "number of parsed verdicts on the system; each order counts",
        "elo_sd": "standard deviation of Elo over the sets of random orders; empty with fewer than five sets",
        "bradley_terry_penalised": "Bradley-Terry rating with Firth's penalty. It is finite even for a system that "
        "wins or loses every comparison",
        "bradley_terry_length_controlled": "Bradley-Terry rating, controlled for length and position",
        "p_above_next": "share of bootstrap resamples in which the system is rated above the system in the next row",
    },
    cells={
        **_CELLS,
        **{
            name: Interval(f"{name}_ci_low", f"{name}_ci_high")
            for name in ("bradley_terry", "bradley_terry_penalised", "bradley_terry_length_controlled", "davidson")
        },
    },
    numbers="rating", formats={"p_above_next": "share"},
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
        "Shares of wins, ties and losses among all verdicts on the two systems, unparsed ones included. "
        "Intervals are clustered by seed."
    ),
    columns={**_WORDS, "estimate": "share of comparisons won", "n": "number of verdicts; each order counts",
        "published": "share of wins and ties in the paper"},
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
        "Mean score on the criterion's scale. Repeats are averaged within an item first. Intervals are clustered by "
        "case (CR2, Student's t with Satterthwaite's degrees of freedom)."
    ),
    columns={**_WORDS, "n": "number of items with a score", "n_missing": "number of items without a parsed score"},
    cells={"estimate": Interval("ci_low", "ci_high")},
)
RATES = Table(
    f"{FOLDER}/rates", schema(**_OF, label=TEXT, **_NUMBER, n_unparsed=INT, **_BEHIND),
    row="judge, criterion, system and answer",
    title="Rates",
    caption=(
        "Share of items with each answer. A question with the answers Yes and No has only the row Yes. Items "
        "without a parsed answer stay in the denominator. "
        "Repeats are averaged within an item first. Intervals are clustered by case."
    ),
    columns={**_WORDS, "label": "answer whose share is given", "n": "number of items", "n_unparsed": "number of "
    "items without a parsed answer"},
    cells={"estimate": Interval("ci_low", "ci_high")}, numbers="share",
)
CHECKLIST = Table(
    f"{FOLDER}/checklist", schema(
        judge=TEXT, n_utterances=maybe(INT), system=TEXT, **_NUMBER, n_missing=INT, n_criteria=INT, **_BEHIND
    ),
    row="judge and system",
    title="Checklist",
    caption=(
        "An item's score is the share of criteria that the judge answers with yes. Items with an "
        "unparsed answer to any criterion are left out and counted. Intervals are computed as for means."
    ),
    columns={**_WORDS, "n": "number of items with all answers parsed",
        "n_missing": "number of items with an unparsed answer",
             "n_criteria": "number of criteria on the checklist"},
    cells={"estimate": Interval("ci_low", "ci_high")}, numbers="share",
)
AGREEMENT = Table(
    f"{FOLDER}/agreement", schema(
        judge=TEXT, other_judge=TEXT, criterion=maybe(TEXT), **_NUMBER, ac1=maybe(FLOAT), ac1_ci_low=maybe(FLOAT),
        ac1_ci_high=maybe(FLOAT), n_both=INT, n_judge_only=INT, n_other_only=INT, precision=maybe(FLOAT),
        precision_ci_low=maybe(FLOAT), precision_ci_high=maybe(FLOAT), recall=maybe(FLOAT), recall_ci_low=maybe(FLOAT),
        recall_ci_high=maybe(FLOAT), note=maybe(TEXT)
    ),
    row="pair of judges and criterion",
    title="Agreement of judges",
    caption=(
        "Cohen's kappa of two judges on the dialogues with parsed answers of both. The rule-based detector counts as "
        "a judge, and human dialogues are included. The interval of kappa needs at least 10 answers, "
        "from at least 5 cases, that differ from the most frequent answer. Intervals are clustered by case. Precision "
        "and recall take `judge` as the reference; neither judge is known to be correct."
    ),
    columns={
        **_WORDS, "other_judge": "second judge; `rules` is the rule-based detector", "estimate": "Cohen's kappa",
        "ac1": "Gwet's AC1, chance-corrected agreement that depends little on prevalence",
        "n": "number of dialogues with parsed answers of both", "n_both": "number of dialogues flagged by both judges",
        "n_judge_only": "number of dialogues flagged by `judge` only", "n_other_only": "number of dialogues flagged by "
        "`other_judge` only",
        "precision": "share of the dialogues flagged by `other_judge` that `judge` also flags",
        "recall": "share of the dialogues flagged by `judge` that `other_judge` also flags",
    },
    cells={
        "estimate": Interval("ci_low", "ci_high"),
        "ac1": Interval("ac1_ci_low", "ac1_ci_high"),
        "precision": Interval("precision_ci_low", "precision_ci_high"),
        "recall": Interval("recall_ci_low", "recall_ci_high"),
    },
    numbers="share", formats=dict.fromkeys(("estimate", "ci_low", "ci_high", "ac1", "ac1_ci_low", "ac1_ci_high"),
        "correlation"),
)
EXAMPLES = Table(
    f"{FOLDER}/examples", schema(
        criterion=TEXT, rank=INT, system=TEXT, corpus=TEXT, item_id=TEXT, case_id=maybe(TEXT), flagged_by=TEXT,
        utterance=maybe(INT), n_flagged_utterances=INT, text=TEXT, before=TEXT
    ),
    row="criterion and example dialogue",
    title="Clearest examples",
    caption=(
        "At most five dialogues that show the criterion, chosen from as many systems as possible. Among the "
        "dialogues of one system, those flagged by more judges come first. The examples are illustrations: do not "
        "compute rates from them. The case viewer of the report has the complete dialogues."
    ),
    columns={
        **_WORDS, "rank": "rank of the example, from 1",
        "flagged_by": "judges that flag the dialogue, including `rules`",
        "utterance": "number of the flagged utterance, from 1", "n_flagged_utterances": "number of flagged "
        "utterances",
        "text": "flagged utterance; the beginning of the dialogue if no utterance is flagged", "before": "utterance "
        "before the flagged utterance",
    },
)
BIAS = Table(
    f"{FOLDER}/bias", schema(
        judge=TEXT, other_judge=maybe(TEXT), criterion=maybe(TEXT), n_utterances=maybe(INT), measure=TEXT, **_NUMBER,
        **_BEHIND
    ),
    row="judge or pair of judges, and measure",
    title="Judge biases",
    caption=(
        "Position bias, length bias and self-preference of each judge, and the judge's agreement with itself and "
        "with other judges. Intervals are clustered by seed."
    ),
    columns={**_WORDS, "measure": "bias or agreement measure, defined in docs/tables.md under Measures",
    "other_judge": "second judge"},
    cells={"estimate": Interval("ci_low", "ci_high")},
)
DIFFERENCES = differences(
    f"{FOLDER}/differences",
    row="pair of systems and measure",
    title="Pairwise tests of systems",
    caption=(
        "Differences of rates, means and ratings, and the head-to-head difference (share of comparisons won minus "
        "share lost). Systems are compared on shared items. With few or no shared cases they are compared as two "
        "samples, and `note` says so."
    ),
)
RANKS = Table(
    f"{FOLDER}/ranks", schema(
        table=TEXT, measure=TEXT, judge=maybe(TEXT), scope=TEXT, system=TEXT, estimate=FLOAT, rank=INT, rank_ci_low=INT,
        rank_ci_high=INT, n_better=INT, n_worse=INT, n_systems=INT, note=maybe(TEXT)
    ),
    row="measure and system",
    title="Rank confidence sets",
    caption=(
        "Simultaneous 95% confidence sets of ranks. A system ranks below the "
        "systems that are significantly better and above the systems that are significantly worse, by the "
        "Holm-adjusted p-values of the pairwise tests. Human dialogues are not ranked."
    ),
    columns={
        "system": "ranked system", "table": "table that has the compared estimates",
        "measure": "compared measure",
        "scope": "part of the results that is ranked, such as N = 16 or a criterion", "estimate": "estimate that "
        "determines the rank",
        "rank": "rank by the estimate", "rank_ci_low": "best rank in the confidence set",
        "rank_ci_high": "worst rank in the confidence set",
        "n_better": "number of systems that are significantly better",
        "n_worse": "number of systems that are significantly worse", "n_systems": "number of ranked systems",
    },
    cells={"rank": Interval("rank_ci_low", "rank_ci_high")},
)
JUDGE_DIFFERENCES = Table(
    f"{FOLDER}/judge_differences", schema(
        table=TEXT, measure=TEXT, judge=maybe(TEXT), scope=TEXT, system=maybe(TEXT), opponent=maybe(TEXT),
        n_judges=INT, system_value=maybe(FLOAT), opponent_value=maybe(FLOAT), difference=maybe(FLOAT),
        ci_low=maybe(FLOAT), ci_high=maybe(FLOAT), p=maybe(FLOAT), p_holm=maybe(FLOAT), q_bh=maybe(FLOAT),
        family_size=INT, fixed_ci_low=maybe(FLOAT), fixed_ci_high=maybe(FLOAT), judge_sd=maybe(FLOAT), n=INT,
        n_clusters=INT, note=maybe(TEXT)
    ),
    row="pair of systems and measure, over all judges",
    title="Differences over a population of judges",
    caption=(
        "Mean difference over the judges. The interval treats cases and judges as random samples, so it also holds "
        "for other judges like these. It needs at least three judges. The table `differences` has the difference for "
        "each judge."
    ),
    columns={
        **COMPARED,
        "judge": "always empty: the row is about all judges except ensembles, cascades and rules",
        "difference": "`system` minus `opponent`, mean over judges",
        "n_judges": "number of judges with scores of both systems",
        "fixed_ci_low": "lower limit of the interval for the judges of this run only",
        "fixed_ci_high": "upper limit of the interval for the judges of this run only",
        "judge_sd": "standard deviation of the true difference over judges; 0 if the judges differ no more than by "
        "chance",
    },
    cells={
        "difference": Interval("ci_low", "ci_high"),
    },
)
VARIANCE_COMPONENTS = Table(
    f"{FOLDER}/variance_components", schema(
        measure=TEXT, criterion=maybe(TEXT), n_utterances=maybe(INT), statistic=TEXT, component=TEXT,
        estimate=maybe(FLOAT), ci_low=maybe(FLOAT), ci_high=maybe(FLOAT), share=maybe(FLOAT), n_levels=maybe(INT),
        n_judges=INT, n_repeats=FLOAT, n=INT, n_clusters=INT, note=maybe(TEXT)
    ),
    row="measure, criterion, statistic and component (a source of the variance, or a design)",
    title="Where the uncertainty comes from",
    caption=(
        "The rows `variance` split the variance of a single score by its sources. The rows `generalizability` and "
        "`dependability` show how well the means of the systems generalise to other cases and judges. The rows "
        "`half-width` have half the width of the interval of a difference under other designs. Intervals resample "
        "cases and "
        "hold systems and judges fixed. Components that the design cannot separate share a row, and `note` names them."
    ),
    columns={
        **_WORDS,
        "measure": "measure in the table `differences`",
        "statistic": "variance, generalizability (coefficient for differences of systems), dependability "
        "(coefficient for means of systems) or half-width (of the interval of a difference)",
        "component": "source of the variance, or the design",
        "estimate": "variance, coefficient or half-width. A variance is estimated without bias, so it may be negative",
        "share": "component's share of the variance of a single score",
        "n_levels": "number of levels of the component, such as cases, or pairs of system and case",
        "n_judges": "number of judges of the design",
        "n_repeats": "number of repeats of the design; harmonic mean",
        "n": "number of scores",
        "n_clusters": "number of cases; in the row of a component, number of cases that contribute to it",
    },
    cells={"estimate": Interval("ci_low", "ci_high")}, formats={"share": "share"},
)
ADAPTIVE_ROUNDS = Table(
    f"{FOLDER}/adaptive_rounds", schema(
        judge=TEXT, criterion=maybe(TEXT), n_utterances=maybe(INT), round=INT, n_seeds=INT, system=TEXT, opponent=TEXT,
        estimate=maybe(FLOAT), se=maybe(FLOAT), statistic=maybe(FLOAT), boundary=maybe(FLOAT), p=maybe(FLOAT),
        decision=TEXT, n_requests=INT, n_requests_full=INT, n_unparsed=INT, n_missing=INT
    ),
    row="judge, round and open pair",
    title="Rounds of adaptive comparisons",
    caption=(
        "Each round adds a block of seeds for the open pairs. A pair is settled when its statistic exceeds the "
        "boundary, which controls the error over all tests. For a pair that stays "
        "open, the test shows neither a difference nor equality."
    ),
    columns={
        **_WORDS, "round": "number of the round, from 1", "n_seeds": "number of seeds of the pair so far",
        "estimate": "share of comparisons that the system wins; a tie counts half",
        "se": "standard error of the estimate, at least 0.5 divided by the number of seeds",
        "statistic": "distance of the estimate from 0.5 in standard errors, with continuity correction",
        "boundary": "critical value of the statistic",
        "p": "p-value of the pair's last test, adjusted for earlier tests (stagewise ordering); empty in earlier "
        "rounds",
        "decision": "name of the better system; open; or ended (the last round left the pair open)",
        "n_requests": "number of requests of the pair so far",
        "n_requests_full": "number of requests of the pair in the full "
        "design",
        "n_unparsed": "number of unparsed verdicts, which are left out",
        "n_missing": "number of requests without a response; no decision depends on them",
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
            JUDGE_DIFFERENCES,
            VARIANCE_COMPONENTS,
        )
    }
)
"""The table of every measure that is taken from judgements, by the measure's name; RANKS follow from DIFFERENCES."""


def under(protocol: str, table: Table) -> Table:
    """Return the table of a measure under the name of a protocol."""
    return replace(table, name=f"{protocol}/{table.file}")


# Battles

# fmt: off
BATTLE_RATINGS = Table(
    "battles/ratings", schema(
        system=TEXT, elo=maybe(FLOAT), ci_low=maybe(FLOAT), ci_high=maybe(FLOAT), elo_sd=maybe(FLOAT),
        bradley_terry=maybe(FLOAT), bradley_terry_ci_low=maybe(FLOAT), bradley_terry_ci_high=maybe(FLOAT),
        bradley_terry_penalised=maybe(FLOAT),
        bradley_terry_penalised_ci_low=maybe(FLOAT), bradley_terry_penalised_ci_high=maybe(FLOAT),
        davidson=maybe(FLOAT), davidson_ci_low=maybe(FLOAT), davidson_ci_high=maybe(FLOAT), p_above_next=maybe(FLOAT),
        n_comparisons=INT, **BEHIND, note=maybe(TEXT)
    ),
    row="player (`tables/battles/<name>`)",
    columns={
        "bradley_terry_penalised": "Bradley-Terry rating with Firth's penalty. It is finite even for a player that "
        "wins or loses every battle",
        "elo": "Bootstrap Elo",
        "elo_sd": "standard deviation of Elo over the sets of random orders; empty with fewer than five sets",
        "p_above_next": "share of bootstrap resamples in which the player is rated above the next player of the "
        "ranking",
    },
    numbers="rating",
    formats={"p_above_next": "share"},
)
BATTLE_DIFFERENCES = differences(
    "battles/differences",
    row="pair of players (`tables/battles/differences/<name>`)",
    title="Pairwise tests of players",
    caption="Differences of Elo, Bradley-Terry and Davidson ratings, and of the shares of battles won and lost.",
)
# fmt: on

# Comparison of two runs

# fmt: off
COMPARED_NUMBERS = Table(
    "comparison/numbers", schema(
        table=TEXT, measure=TEXT, judge=TEXT, scope=TEXT, system=TEXT, value_a=maybe(FLOAT), value_b=maybe(FLOAT),
        difference=maybe(FLOAT), ci_low=maybe(FLOAT), ci_high=maybe(FLOAT), p=maybe(FLOAT), p_holm=maybe(FLOAT),
        q_bh=maybe(FLOAT), changed=TEXT, how=TEXT, n=maybe(INT), n_clusters=maybe(INT), note=maybe(TEXT)
    ),
    row="estimate that both runs have (`comparison/numbers`)",
    title="Numbers that both runs have",
    columns={
        "table": "table with the estimate, such as `arena/ratings`",
        "measure": "column or measure of that table",
        "judge": "judge; empty if the estimate does not depend on a judge",
        "scope": "part of the results, such as N = 16, a criterion or a task",
        "system": "system, examined model or judge that is evaluated",
        "value_a": "estimate in run_a", "value_b": "estimate in run_b",
        "difference": "estimate in run_b minus estimate in run_a; on the shared cases if the comparison is paired",
        "p": "two-sided p-value of no difference, unadjusted",
        "p_holm": "Holm-adjusted p-value over all estimates of the comparison",
        "q_bh": "Benjamini-Hochberg q-value, for exploration. Among estimates with a q-value below 0.05, at most 5% "
        "are expected to be false discoveries",
        "changed": "yes (`p_holm` is below 0.05), perhaps (only `p` is below 0.05), no, or unknown (no test is "
        "possible)",
        "how": (
            "paired (tested on the shared cases) or as two samples (tested from the two intervals; conservative if "
            "the runs share cases)"
        ),
        "n": "number of shared cases, answers or pairs; empty for two samples",
        "n_clusters": "number of seeds or dialogues that the cases belong to",
    },
    cells={"difference": Interval("ci_low", "ci_high")},
)
COMPARED_VERDICTS = Table(
    "comparison/verdicts", schema(
        protocol=TEXT, judge=TEXT, criterion=TEXT, n_both=INT, n_same=INT, n_changed=INT, n_only_a=INT, n_only_b=INT,
        n_lost=INT, n_gained=INT
    ),
    row="protocol, judge and criterion (`comparison/verdicts`)",
    title="Verdicts on the same cases",
    columns={
        "protocol": "protocol, or `dialogbench` for test items",
        "judge": "judge; for test items the examined model and its method",
        "criterion": "criterion, or task of test items; empty if the question names no criterion",
        "n_both": "number of verdicts on cases of both runs",
        "n_same": "number of verdicts in `n_both` that are exactly the same in both runs",
        "n_changed": "number of verdicts in `n_both` that changed between two parsed responses. Changes are: another "
        "answer; a score that moved by at least half its scale; a test item that is right in one run only. Scores that "
        "moved less are neither in `n_same` nor in `n_changed`",
        "n_only_a": "number of verdicts on cases of run_a only",
        "n_only_b": "number of verdicts on cases of run_b only",
        "n_lost": "number of verdicts in `n_both` that are parsed in run_a only",
        "n_gained": "number of verdicts in `n_both` that are parsed in run_b only",
    },
)
CHANGED_VERDICTS = Table(
    "comparison/changed_verdicts", schema(
        protocol=TEXT, judge=TEXT, criterion=TEXT, case_id=TEXT, item_id=TEXT, left=TEXT, right=TEXT,
        n_utterances=maybe(INT), verdict_a=TEXT, verdict_b=TEXT, reason_a=TEXT, reason_b=TEXT, size=FLOAT,
        same_text=maybe(BOOL)
    ),
    row="verdict counted in `n_changed`, `n_lost` or `n_gained` of `comparison/verdicts` "
    "(`comparison/changed_verdicts`)",
    caption="At most 5,000 rows of each protocol and judge, the largest changes of score first.",
    title="Changed verdicts",
    columns={
        "case_id": "seed or other case", "item_id": "id of the item, test item or perturbed item",
        "left": "system of the judged dialogue; for a pair, the first system", "right": "second system of a pair",
        "n_utterances": "length N in utterances; empty for complete dialogues",
        "reason_a": "the judge's reason in run_a", "reason_b": "the judge's reason in run_b",
        "size": "change of the score as a share of its scale; 1 for another answer",
        "same_text": "whether the judge saw the same texts in both runs; empty if the texts are not available",
    },
)
CHANGED_SETTINGS = Table(
    "comparison/changes", schema(kind=TEXT, place=TEXT, value_a=TEXT, value_b=TEXT, n_jobs=INT),
    row="setting, library, function or prompt that differs between the runs (`comparison/changes`)",
    title="Changed settings",
    columns={
        "kind": "configuration, settings (of jobs), data, prompts, code, libraries or version",
        "place": "name of the field, job or library",
        "value_a": "value in run_a; empty if not set", "value_b": "value in run_b",
        "n_jobs": "number of affected jobs",
    },
)
# fmt: on
