"""DialogBench's tables: written items, test items, answers, and accuracies."""

from __future__ import annotations

import pyarrow as pa

from dialeval.tables.schema import BEHIND, BOOL, FLOAT, INT, TEXT, TEXTS, Interval, Table, differences, maybe, schema

_FIELDS = pa.map_(TEXT, TEXT)

# fmt: off
WRITTEN_ITEMS = Table(
    "written_items", schema(
        procedure=TEXT, round=INT, item_id=TEXT, task=TEXT, domain=TEXT, language=TEXT, status=TEXT, accepted=BOOL,
        reasons=TEXTS, details=TEXTS, speaker1_personality=maybe(TEXT), speaker2_personality=maybe(TEXT),
        speaker1_emotion=maybe(TEXT), speaker2_emotion=maybe(TEXT), utterances=maybe(TEXTS), question=maybe(TEXT),
        extra=maybe(_FIELDS), options=maybe(TEXTS), label=maybe(TEXT), analysis=maybe(TEXT), origin=maybe(TEXT)
    ),
    row=(
        "response of the writer (`dialogbench/written`, `dialogbench/filtered`); the item's columns are empty if the "
        "response could not be parsed"
    ),
    columns={
        "procedure": "variant of the writer's prompt. full: complete; -styles: without personalities; -domains: "
        "without personalities and domain (the basic prompt)",
        "round": "number of the round of writing, from 0",
        "reasons": "short reasons for rejection",
        "details": "reasons for rejection in full",
        "extra": "text shown with the dialogue",
        "label": "letter of the correct option",
    },
)
ITEM_DESCRIPTIONS = Table(
    "item_descriptions", schema(
        variant=TEXT, judge=TEXT, item_id=TEXT, task=TEXT, language=TEXT, requested_domain=TEXT,
        speaker1_style=maybe(TEXT), speaker2_style=maybe(TEXT), domain=maybe(TEXT), assigned_domain=TEXT, status=TEXT
    ),
    row="accepted item (`dialogbench/descriptions`)",
    columns={
        "domain": "listed domain that matches `assigned_domain`",
        "assigned_domain": "domain as the classifier wrote it",
        "requested_domain": "domain requested from the writer",
    },
)
TEST_ITEMS = Table(
    "test_items", schema(
        source=TEXT, variant=TEXT, item_id=TEXT, task=TEXT, domain=TEXT, language=TEXT, speaker1_personality=TEXT,
        speaker2_personality=TEXT, speaker1_emotion=TEXT, speaker2_emotion=TEXT, utterances=TEXTS, question=TEXT,
        extra=_FIELDS, options=TEXTS, label=TEXT, analysis=TEXT, origin=TEXT
    ),
    row="test item, options as shown (`dialogbench/items`)",
    columns={
        "variant": "full, or the ablation that uses the item",
        "label": "letter of the correct option",
        "extra": "text shown with the dialogue",
    },
)
TEST_ANSWERS = Table(
    "test_answers", schema(
        source=TEXT, variant=TEXT, model=TEXT, method=TEXT, item_id=TEXT, cluster=TEXT, task=TEXT, domain=TEXT,
        language=TEXT, rotation=INT, n_options=INT, label=TEXT, choice=maybe(TEXT), correct=BOOL, status=TEXT
    ),
    row="item, rotation and method (`dialogbench/answers/<model>/<method>`); perplexity has two methods: per token "
    "and in total",
    columns={
        "cluster": "id of the cluster for intervals, which items on one dialogue share",
        "rotation": "number of the rotation of the options; 0: the order of the items' table",
        "choice": "chosen letter; empty if the answer has none",
    },
)
EXPERT_ANSWERS = Table(
    "expert_answers", schema(
        source=TEXT, cluster=TEXT, item_id=TEXT, task=TEXT, domain=TEXT, language=TEXT, n_options=INT, expert=TEXT,
        label=TEXT, choice=TEXT
    ),
    row="answer of an expert to a test item (`dialogbench/experts/answers`)",
    columns={
        "expert": "name of the expert; `expert` if the file has no names",
        "choice": "letter of the option, in the order of the items' table",
        "cluster": "id of the cluster for intervals, which items on one dialogue share",
    },
)
DIALOGBENCH_DIFFERENCES = differences(
    "dialogbench/differences",
    row="pair of models and scope (a task, a dimension or all tasks), and per ablation, model and scope",
    title="Pairwise tests of models",
    caption=(
        "Differences of the accuracies of models on shared items. A model that answers by two methods counts as two. "
        "Rows of ablations compare an ablation with the full procedure, as two samples."
    ),
)
ACCURACY = Table(
    "dialogbench/accuracy", schema(
        source=TEXT, model=TEXT, method=TEXT, language=TEXT, scope=TEXT, name=TEXT, n_tasks=INT, accuracy=maybe(FLOAT),
        ci_low=maybe(FLOAT), ci_high=maybe(FLOAT), n=INT, n_unparsed=INT, **BEHIND, note=maybe(TEXT),
        chance=maybe(FLOAT),
        kind=maybe(TEXT), part=maybe(TEXT), published=maybe(FLOAT)
    ),
    row="source, model, method, language and name (DialogBench's Tables 2 and 3)",
    title="Accuracy",
    caption="Share of questions answered correctly. An unparsed answer counts as wrong.",
    columns={
        "source": "source of the items; `paper` for the published human accuracies",
        "scope": "task, dimension (group of tasks) or overall",
        "name": "name of the task, dimension or domain",
        "n_tasks": "number of averaged tasks",
        "chance": "accuracy of random guessing",
        "kind": "kind of the model: chat or base",
        "part": "whether the model wrote or filtered these items; if so, do not compare it with other models",
    },
    cells={"accuracy": Interval("ci_low", "ci_high", published="published")},
    numbers="share",
)
DOMAINS = Table(
    "dialogbench/domains", schema(
        source=TEXT, model=TEXT, method=TEXT, language=TEXT, group=TEXT, domain=TEXT, accuracy=maybe(FLOAT),
        ci_low=maybe(FLOAT), ci_high=maybe(FLOAT), n=INT, n_unparsed=INT, **BEHIND, note=maybe(TEXT),
        chance=maybe(FLOAT),
        kind=maybe(TEXT), part=maybe(TEXT), published=maybe(FLOAT)
    ),
    row="source, model, method, language and domain (DialogBench's Table 7)",
    title="Accuracy by domain",
    columns={
        "domain": "domain; mean: unweighted mean of a group of domains",
        "chance": "accuracy of random guessing",
        "kind": "kind of the model: chat or base",
        "part": "whether the model wrote or filtered these items; if so, do not compare it with other models",
    },
    cells={"accuracy": Interval("ci_low", "ci_high", published="published")},
    numbers="share",
)
AVERAGES = Table(
    "dialogbench/averages", schema(
        source=TEXT, group=TEXT, method=TEXT, language=TEXT, scope=TEXT, name=TEXT, n_models=INT, models=TEXT,
        accuracy=maybe(FLOAT), ci_low=maybe(FLOAT), ci_high=maybe(FLOAT), n=INT, n_unparsed=INT, n_clusters=INT,
        note=maybe(TEXT), chance=maybe(FLOAT), published=maybe(FLOAT)
    ),
    row="source, group of models, method, language and name (Avg. of DialogBench's Tables 2, 3 and 7; Figure 8)",
    title="Average accuracy by kind of model",
    caption=(
        "Mean over the models of one kind or tag that answer by the same method. Intervals treat the items as "
        "a random sample and hold the models fixed."
    ),
    columns={
        "group": "kind (chat, base) or tag of the models",
        "scope": "task, dimension, overall, domain, or domains (unweighted mean of a group of domains)",
        "name": "name of the task, dimension or domain",
        "models": "averaged models",
        "n": "number of items",
        "chance": "accuracy of random guessing",
        "published": "mean of the paper's own models of that kind",
    },
    cells={"accuracy": Interval("ci_low", "ci_high", published="published")},
    numbers="share",
)
OVERVIEW = Table(
    "dialogbench/overview", schema(
        source=TEXT, language=TEXT, type=TEXT, model=TEXT, method=TEXT,
        SF=maybe(FLOAT), IC=maybe(FLOAT), KRG=maybe(FLOAT), CRG=maybe(FLOAT), DI=maybe(FLOAT), MRG=maybe(FLOAT),
        PRG=maybe(FLOAT), RC=maybe(FLOAT), ED=maybe(FLOAT), NLI=maybe(FLOAT), DS=maybe(FLOAT), OD=maybe(FLOAT),
        overall=maybe(FLOAT), ci_low=maybe(FLOAT), ci_high=maybe(FLOAT), chance=maybe(FLOAT), n=maybe(INT),
        part=maybe(TEXT),
        published=maybe(FLOAT)
    ),
    row="model and method, with a column for each task (the shape of DialogBench's Tables 2 and 3)",
    title="Overview: accuracy by task",
    columns={
        "source": "source of the items; `paper` for the published human accuracies",
        "type": "people, base or chat; empty if the configuration does not set the model's kind",
        "model": "model; average: unweighted mean over the models of the type and method",
        "overall": "unweighted mean of the tasks",
        "chance": "accuracy of random guessing, overall",
        "part": "whether the model wrote or filtered these items",
        "published": "overall accuracy in the paper",
    },
    cells={"overall": Interval("ci_low", "ci_high", published="published")},
    numbers="share",
)
POSITIONS = Table(
    "dialogbench/positions", schema(
        source=TEXT, model=TEXT, method=TEXT, language=TEXT, n_options=INT, orders=INT, letter=TEXT,
        accuracy=maybe(FLOAT), ci_low=maybe(FLOAT), ci_high=maybe(FLOAT), n=INT, n_unparsed=INT, **BEHIND,
        note=maybe(TEXT),
        n_chosen=INT, share_chosen=maybe(FLOAT), chi_square=maybe(FLOAT), p_uniform=maybe(FLOAT)
    ),
    row="source, model, method, language and letter (DialogBench's Figure 7)",
    title="Accuracy by position of the correct option",
    columns={
        "orders": "number of option orders per item: one, or every rotation",
        "accuracy": "accuracy on the items with this letter as the correct option",
        "share_chosen": "share of parsed answers with this letter",
        "p_uniform": "p-value of the chi-square test of equal shares of the letters, clustered by item",
    },
    cells={"accuracy": Interval("ci_low", "ci_high")},
    numbers="share",
)
EXPERTS = Table(
    "dialogbench/experts", schema(
        source=TEXT, language=TEXT, expert=TEXT, task=TEXT, accuracy=maybe(FLOAT), ci_low=maybe(FLOAT),
        ci_high=maybe(FLOAT),
        n=INT, n_unparsed=INT, **BEHIND, note=maybe(TEXT)
    ),
    row="source, language, expert and task; the table is empty without answers of experts",
    title="Accuracy of each expert",
    caption="In the tables of models, the row `people` has all experts together.",
    columns={
        "expert": "name of the expert; the names of simulated experts end with (simulated)",
        "task": "task; Overall: unweighted mean of the tasks",
    },
    cells={"accuracy": Interval("ci_low", "ci_high")},
    numbers="share",
)
AGREEMENT = Table(
    "dialogbench/agreement", schema(
        source=TEXT, language=TEXT, task=TEXT, n_experts=INT, n=INT, n_pairs=INT, agreement=maybe(FLOAT),
        ci_low=maybe(FLOAT), ci_high=maybe(FLOAT), alpha=maybe(FLOAT), alpha_ci_low=maybe(FLOAT),
        alpha_ci_high=maybe(FLOAT),
        n_clusters=INT, note=maybe(TEXT)
    ),
    row="source, language and task; the table is empty without two experts",
    title="Agreement of the experts",
    columns={
        "task": "task; Overall: all items together",
        "n": "number of items that at least two experts answered",
        "n_pairs": "number of pairs of experts on an item",
        "agreement": "share of pairs that chose the same option",
        "alpha": "Krippendorff's alpha, nominal",
    },
    cells={"agreement": Interval("ci_low", "ci_high"), "alpha": Interval("alpha_ci_low", "alpha_ci_high")},
    numbers="share",
    formats={"alpha": "correlation", "alpha_ci_low": "correlation", "alpha_ci_high": "correlation"},
)
CIRCULAR = Table(
    "dialogbench/circular", schema(
        source=TEXT, model=TEXT, method=TEXT, language=TEXT, task=TEXT, accuracy=maybe(FLOAT), ci_low=maybe(FLOAT),
        ci_high=maybe(FLOAT), n=INT, n_unparsed=INT, **BEHIND, note=maybe(TEXT), single_accuracy=maybe(FLOAT),
        mean_accuracy=maybe(FLOAT)
    ),
    row="source, model, method, language and task; the table is empty unless `circular` is set",
    title="Accuracy over all rotations of the options",
    columns={
        "accuracy": "share of items answered correctly in every rotation",
        "single_accuracy": "accuracy in the first rotation",
        "mean_accuracy": "mean accuracy over all rotations",
    },
    cells={"accuracy": Interval("ci_low", "ci_high")},
    numbers="share",
)
ABLATIONS = Table(
    "dialogbench/ablations", schema(
        variant=TEXT, model=TEXT, method=TEXT, language=TEXT, scope=TEXT, name=TEXT, n_tasks=INT,
        accuracy=maybe(FLOAT), ci_low=maybe(FLOAT), ci_high=maybe(FLOAT), n=INT, n_unparsed=INT, **BEHIND,
        note=maybe(TEXT),
        difference=maybe(FLOAT),
        published_gpt4=maybe(FLOAT)
    ),
    row="variant, model, method, language and name (DialogBench's Table 4); written items only",
    title="Ablations of the written items",
    columns={
        "difference": "accuracy minus the accuracy of the full procedure",
    },
    cells={"accuracy": Interval("ci_low", "ci_high")},
    numbers="share",
)
ITEM_COUNTS = Table(
    "dialogbench/items", schema(
        source=TEXT, language=TEXT, task=TEXT, origin=TEXT, n=INT, mean_turns=FLOAT, n_short=INT,
        published_n=maybe(FLOAT), published_turns=maybe(FLOAT)
    ),
    row="source, language, task and origin (DialogBench's Table 1)",
    title="Test items",
    columns={
        "mean_turns": "mean number of turns (pairs of utterances) per item",
        "n_short": "number of items with fewer than the ten requested turns",
    },
    numbers="rating",
)
STYLES = Table(
    "dialogbench/styles", schema(
        variant=TEXT, judge=TEXT, language=TEXT, speaker=INT, style=TEXT, n=INT, share=maybe(FLOAT),
        ci_low=maybe(FLOAT), ci_high=maybe(FLOAT), n_unparsed=INT
    ),
    row="variant, judge, language, speaker and style (DialogBench's Figure 5)",
    title="Styles of the speakers",
    columns={
        "variant": "variant of the writer's prompt. full: complete; -styles: without personalities; -domains: "
        "without personalities and domain (the basic prompt)",
        "share": "share of the parsed descriptions with this style",
        "n_unparsed": "number of unparsed descriptions, which are left out of `share`",
    },
    cells={"share": Interval("ci_low", "ci_high")},
    numbers="share",
)
DOMAIN_COUNTS = Table(
    "dialogbench/domain_counts", schema(
        variant=TEXT, judge=TEXT, language=TEXT, domain=TEXT, n=INT, share=maybe(FLOAT),
        ci_low=maybe(FLOAT), ci_high=maybe(FLOAT), n_unparsed=INT
    ),
    row="variant, judge, language and domain (DialogBench's Figure 6)",
    title="Domains of the written items",
    columns={
        "variant": "variant of the writer's prompt. full: complete; -styles: without personalities; -domains: "
        "without personalities and domain (the basic prompt)",
        "share": "share of the parsed descriptions with this domain",
        "domain": "domain; other: none of the twenty",
        "n_unparsed": "number of unparsed descriptions, which are left out of `share`",
    },
    cells={"share": Interval("ci_low", "ci_high")},
    numbers="share",
)
FILTER_COUNTS = Table(
    "dialogbench/filter_counts", schema(
        variant=TEXT, language=TEXT, task=TEXT, domain=TEXT, reason=TEXT, n=INT
    ),
    row="variant, language, task, domain and reason",
    title="Written items by reason of rejection",
    columns={
        "n": "number of the writer's responses with this reason. A response with several reasons counts for the first",
        "reason": "accepted; accepted_short (fewer than the ten requested turns); or the reason for rejection",
        "domain": "requested domain; empty for the basic prompt",
    },
    numbers="share",
)
# fmt: on
