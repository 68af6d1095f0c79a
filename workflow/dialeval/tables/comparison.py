"""Tables of a comparison of two runs."""

from __future__ import annotations

from dialeval.tables.schema import BOOL, FLOAT, INT, TEXT, Interval, Table, maybe, schema

# fmt: off
NUMBERS = Table(
    "comparison/numbers", schema(
        table=TEXT, measure=TEXT, judge=TEXT, scope=TEXT, system=TEXT, value_a=maybe(FLOAT), value_b=maybe(FLOAT),
        difference=maybe(FLOAT), ci_low=maybe(FLOAT), ci_high=maybe(FLOAT), p=maybe(FLOAT), p_holm=maybe(FLOAT),
        q_bh=maybe(FLOAT), changed=TEXT, how=TEXT, n=maybe(INT), n_clusters=maybe(INT), note=maybe(TEXT)
    ),
    row="number that both runs have (`results/comparison/numbers`)",
    title="Numbers that both runs have",
    columns={
        "table": "table below `tables` that has the estimate",
        "measure": "column or measure of that table",
        "judge": "judge; empty if the estimate does not depend on a judge",
        "scope": "length N, criterion, task and so on",
        "system": "system, examined model or judge that the estimate is about",
        "value_a": "estimate in the first run", "value_b": "estimate in the second run",
        "difference": "second run minus first run; in paired comparisons on the common cases",
        "p": "two-sided p-value of no difference, not adjusted",
        "p_holm": "Holm-adjusted p-value over all estimates of the comparison",
        "q_bh": "Benjamini-Hochberg q-value, for exploration: among estimates below 0.05 the expected share of false "
        "discoveries is 5%",
        "changed": "yes (p_holm below 0.05), perhaps (only p below 0.05), no, or unknown (no test is possible)",
        "how": (
            "paired (on the common cases) or as two samples (from the two intervals; conservative if the runs share "
            "cases)"
        ),
        "n": "number of common cases, answers or pairs, if paired",
        "n_clusters": "number of seeds or dialogues of these cases",
    },
    cells={"difference": Interval("ci_low", "ci_high")},
)
VERDICTS = Table(
    "comparison/verdicts", schema(
        protocol=TEXT, judge=TEXT, criterion=TEXT, n_both=INT, n_same=INT, n_changed=INT, n_only_a=INT, n_only_b=INT,
        n_lost=INT, n_gained=INT
    ),
    row="protocol, judge and criterion (`results/comparison/verdicts`)",
    title="Verdicts on the same cases",
    columns={
        "protocol": "protocol; `dialogbench` for its items",
        "judge": "judge; for DialogBench the model with its method",
        "criterion": "criterion; for DialogBench the task; empty if the question names none",
        "n_both": "number of verdicts on cases of both runs", "n_same": "number of these with the same verdict",
        "n_changed": "number of these with another answer (for test items: right or wrong); for scores, a change of at "
        "least half the scale",
        "n_only_a": "number of verdicts on cases of the first run only",
        "n_only_b": "number of verdicts on cases of the second run only",
        "n_lost": "number of verdicts parsed in the first run only",
        "n_gained": "number of verdicts parsed in the second run only",
    },
)
CHANGED_VERDICTS = Table(
    "comparison/changed_verdicts", schema(
        protocol=TEXT, judge=TEXT, criterion=TEXT, case_id=TEXT, item_id=TEXT, left=TEXT, right=TEXT,
        n_utterances=maybe(INT), verdict_a=TEXT, verdict_b=TEXT, reason_a=TEXT, reason_b=TEXT, size=FLOAT,
        same_text=maybe(BOOL)
    ),
    row="verdict that differs between the runs (`results/comparison/changed_verdicts`)",
    caption="Of each protocol and judge the first 5,000, those with the largest change of score first.",
    title="Changed verdicts",
    columns={
        "case_id": "seed or other case", "item_id": "item, test item or perturbed item",
        "left": "system of the judged dialogue; for a pair the first system", "right": "second system of a pair",
        "n_utterances": "the length N",
        "reason_a": "the judge's reason in the first run", "reason_b": "the judge's reason in the second run",
        "size": "change of the score as a share of its scale; 1 for another answer",
        "same_text": "whether the judge saw the same texts in both runs; empty if the texts are not available",
    },
)
CHANGES = Table(
    "comparison/changes", schema(kind=TEXT, place=TEXT, value_a=TEXT, value_b=TEXT, n_jobs=INT),
    row="setting, library, function or prompt that differs between the runs (`results/comparison/changes`)",
    title="Changed settings",
    columns={
        "kind": "configuration, settings (of jobs), data, prompts, code, libraries or version",
        "place": "field, job or library",
        "value_a": "value in the first run; empty if not set", "value_b": "value in the second run",
        "n_jobs": "number of affected jobs",
    },
)
# fmt: on
