"""Tables of a comparison of two runs."""

from __future__ import annotations

from dialeval.tables.schema import BOOL, FLOAT, INT, TEXT, Interval, Table, maybe, schema

# fmt: off
NUMBERS = Table(
    "comparison/numbers", schema(
        table=TEXT, measure=TEXT, judge=TEXT, scope=TEXT, system=TEXT, value_a=maybe(FLOAT), value_b=maybe(FLOAT),
        difference=maybe(FLOAT), low=maybe(FLOAT), high=maybe(FLOAT), p=maybe(FLOAT), p_holm=maybe(FLOAT),
        q_bh=maybe(FLOAT), moved=TEXT, how=TEXT, n=maybe(INT), n_clusters=maybe(INT), note=maybe(TEXT)
    ),
    row="number that both runs have (`results/comparison/numbers`)",
    title="Numbers that both runs have",
    columns={
        "table": "folder and name of the table below `tables` that has the number",
        "measure": "column or name of the measure",
        "judge": "judge; empty if judges are not distinguished",
        "scope": "N, criterion, task and the like",
        "system": "system, examined model or judge",
        "value_a": "in the first run, as published", "value_b": "in the second run, as published",
        "difference": "second less first; where the runs are paired, on the cases that both have",
        "p": "two-sided, of no difference, for this number alone",
        "p_holm": "corrected for all numbers of the comparison",
        "q_bh": "for exploration: of the numbers below 0.05 one in twenty is expected to be a false alarm",
        "moved": "yes: p_holm is below 0.05; perhaps: p alone is; no; or unknown, where nothing could be tested",
        "how": (
            "paired: on the cases that both have; as two samples: from the two published intervals, which is too "
            "cautious where the runs share cases"
        ),
        "n": "cases, answers or pairs that both have, where paired", "n_clusters": "seeds or dialogues these are of",
    },
    cells={"difference": Interval("low", "high")},
)
VERDICTS = Table(
    "comparison/verdicts", schema(
        protocol=TEXT, judge=TEXT, criterion=TEXT, n_both=INT, n_same=INT, n_flipped=INT, n_only_a=INT, n_only_b=INT,
        n_lost=INT, n_gained=INT
    ),
    row="protocol, judge and criterion (`results/comparison/verdicts`)",
    title="Verdicts on the same cases",
    columns={
        "protocol": "or `dialogbench`", "judge": "judge; of DialogBench the model, with its method",
        "criterion": "criterion; of DialogBench the task; empty if the question names none",
        "n_both": "verdicts on cases that both runs have", "n_same": "of these, the same in both",
        "n_flipped": "of these, another answer (right or wrong, of test items); of scores, half the scale away or more",
        "n_only_a": "on cases of the first run alone", "n_only_b": "on cases of the second run alone",
        "n_lost": "could be read in the first run alone", "n_gained": "could be read in the second run alone",
    },
)
FLIPS = Table(
    "comparison/flips", schema(
        protocol=TEXT, judge=TEXT, criterion=TEXT, case_id=TEXT, item_id=TEXT, left=TEXT, right=TEXT,
        n_utterances=maybe(INT), verdict_a=TEXT, verdict_b=TEXT, reason_a=TEXT, reason_b=TEXT, size=FLOAT,
        same_text=maybe(BOOL)
    ),
    row="verdict that is another in the second run (`results/comparison/flips`)",
    caption="Of each protocol and judge the first 5,000, those whose score moved the farthest before others.",
    title="Verdicts that flipped",
    columns={
        "case_id": "seed or other case", "item_id": "item, test item or perturbed item",
        "left": "judged system (first, in a pair)", "right": "of a pair second",
        "n_utterances": "the length N",
        "reason_a": "the judge's reason in the first run, where it gives one", "reason_b": "in the second run",
        "size": "how far a score moved, as a share of its scale; 1 for another answer",
        "same_text": "whether the judge saw the same texts in both runs; empty where these are not at hand",
    },
)
CHANGES = Table(
    "comparison/changes", schema(kind=TEXT, place=TEXT, value_a=TEXT, value_b=TEXT, n_jobs=INT),
    row="setting, library, code or prompt that is another in the second run (`results/comparison/changes`)",
    title="What was set otherwise",
    columns={
        "kind": "configuration, settings (of jobs), data, prompts, code, libraries or version",
        "place": "field, job or library",
        "value_a": "in the first run; empty where it is not set", "value_b": "in the second run",
        "n_jobs": "jobs that it is about",
    },
)
# fmt: on
