"""What each kind of change runs again: exactly what may come out otherwise, and what needs that.

A row is a change and the jobs that it concerns themselves, by rule and wildcards or by pattern; what follows from these
in the graph is worked out, and a dry run over a workspace that looks finished must list exactly that.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from mutations import Change, Mutation, all_of, code, nothing, settings, touched, written
from planned import PlannedJob, planned
from workspace import Workspace

pytestmark = pytest.mark.workflow

RATING = ("measure_arena", "measure_helpful", "rate_battles mine")
ASKED_LARGE = ("answer large/*", "rewrite_items large", "write_items")


def own_prompts(name: str, text: str) -> Change:
    """Give the run a folder of prompts with one that says more."""

    def change(workspace: Workspace) -> None:
        ours = (workspace.folder / "workflow/dialeval/prompts" / name).read_text(encoding="utf-8")
        (workspace.folder / "prompts").mkdir()
        (workspace.folder / "prompts" / name).write_text(text + ours, encoding="utf-8")
        settings("prompts.directory", "prompts")(workspace)

    return change


HOW_JOBS_RUN = all_of(
    settings("models.large.concurrency", 3),
    settings("models.large.max_tries", 2),
    settings("models.forest.concurrency", 3),
    settings("answering.max_failure_share", 0.5),
)
WORDS = all_of(
    code("__init__.py", "0.1.0", "0.2.0"),
    code("stages/command.py", "responses are stored", "answers are stored"),
    code("errors.py", "did you mean", "do you mean"),
    code("jobs/progress.py", "cached", "restored"),
    code("protocols/locate.py", "whether a dialogue shows", "if a dialogue shows"),
    code("stats/elo.py", "def bootstrap_elo(", "# a comment\ndef bootstrap_elo("),
)
ELSEWHERE = settings("store_dir", "elsewhere")
CORES = ("--cores", "7", "--default-resources", "mem_mb=1234")
TMPDIR = {"TMPDIR": "cache"}

TELLING = [
    Mutation("all that changes nothing", all_of(HOW_JOBS_RUN, WORDS, ELSEWHERE), (), CORES, TMPDIR),
    Mutation("a constant of Elo", code("stats/elo.py", "shuffles: int = 1000", "shuffles: int = 1001"), RATING),
    Mutation("a prompt", own_prompts("arena.j2", "More."), ("plan arena",)),
    Mutation(
        "a constant that is reached through what was learned alone",
        code("engines/embedded/chatbots.py", "TOPIC_BOOST = 4.0", "TOPIC_BOOST = 5.0"),
        ("learn_embedded ngram", "examine ngram/*"),
    ),
    Mutation(
        "an older copy of other transcripts",
        written("data/support.jsonl", "parcel", "letter", age=1e8),
        ("read_transcripts support",),
    ),
]
"""Rows that are always tried."""

OTHERS = [
    # by itself
    Mutation("cores, threads and memory", nothing, arguments=CORES),
    Mutation("another folder for temporary files", nothing, environment=TMPDIR),
    Mutation("how jobs run", HOW_JOBS_RUN),
    Mutation("words, comments and the version", WORDS),
    Mutation("where answers are stored", ELSEWHERE),
    Mutation("nothing", nothing),
    Mutation("memory of one rule", nothing, arguments=("--set-resources", "answer:mem_mb=1234")),
    Mutation("threads of one rule", nothing, arguments=("--set-threads", "answer=2")),
    Mutation("time stamps of code", touched("workflow/dialeval/stats/*.py")),
    Mutation("time stamps of prompts", touched("workflow/dialeval/prompts/*.j2")),
    Mutation("time stamps of the user's files", touched("data/*")),
    Mutation("time stamps of tables", touched("results/judgements/*/*.parquet")),
    Mutation("time stamps of rules", touched("rules/*.smk")),
    # settings
    Mutation("Elo's k", settings("elo.k", 16), RATING),
    Mutation("a budget", settings("models.large.budget", 100)),
    Mutation("a price", settings("models.large.price_input", 3.0), ("tabulate_usage", "build_report")),
    Mutation("the name of a key's variable", settings("models.large.api_key_env", "HOME")),
    Mutation("a limit of requests", settings("models.large.requests_per_minute", 60)),
    Mutation("batches", settings("models.large.batch", True)),
    Mutation("another model at the endpoint", settings("models.large.model", "large-2"), ASKED_LARGE),
    Mutation("another address", settings("models.large.base_url", "http://127.0.0.1:10/v1"), ASKED_LARGE),
    Mutation(
        "shards of a judge",
        settings("models.large.shards", 2),
        ("answer large/*/?/2", "parse large/*", "tabulate_usage"),
    ),
    Mutation("a template's folder that holds the same", own_prompts("arena.j2", "")),
    Mutation("a template that nobody renders", own_prompts("translate.j2", "More.")),
    Mutation(
        "a template that a rewriter renders", own_prompts("perturb_contradiction.j2", "More."), ("rewrite_items large",)
    ),
    Mutation("the length of self-chat", settings("selfchat.n_utterances", 10), ("generate_dialogues *",)),
    Mutation("the temperature of self-chat", settings("selfchat.temperature", 0.5), ("generate_dialogues *",)),
    Mutation(
        "lengths of UniEval",
        settings("protocols.unieval.n_utterances", [4]),
        ("measure_unieval", "correct"),
    ),
    Mutation("the number of seeds", settings("seeds.limit", 11), ("extract_seeds",)),
    Mutation("thresholds of robustness", settings("robustness.thresholds", [0.3]), ("tabulate_robustness",)),
    Mutation(
        "resamples of meta-evaluation",
        settings("metaeval.resamples", 77),
        ("tabulate_metaeval",),
    ),
    Mutation("the rule for failures", settings("protocols.failures.length_share", 0.5), ("find_failures",)),
    Mutation(
        "folds of an embedded model", settings("models.ngram.folds", 4), ("learn_embedded ngram", "examine ngram/*")
    ),
    Mutation(
        "a criterion that nobody asks about",
        settings(
            "criteria.empathy", {"level": "dialogue", "question": "Are they kind?", "meaning": "how kind they are"}
        ),
    ),
    Mutation(
        "options of a form",
        settings("protocols.helpful.options", {"A": "left", "B": "right"}),
        ("plan helpful", "parse large/helpful", "read_labels"),
    ),
    # code
    Mutation(
        "a parser",
        code("protocols/locate.py", 'if verdict.choice == "No":', 'if "No" == verdict.choice:'),
        ("parse */unieval",),
    ),
    Mutation(
        "the rounding of robustness",
        code("stats/rates.py", "ROUNDING = 1e-9", "ROUNDING = 1e-8"),
        ("tabulate_robustness",),
    ),
    Mutation(
        "which test items are alike",
        code("dialogbench/written_items.py", "SHINGLE = 3", "SHINGLE = 4"),
        ("write_items",),
    ),
    Mutation("how letters are read", code("dialogbench/examination.py", "{40}", "{41}"), ("tabulate_dialogbench",)),
    Mutation(
        "how endpoints' answers are read",
        code("engines/openai_api/wire_format.py", 'finish == "length"', 'finish == "long"'),
        (*ASKED_LARGE, "generate_dialogues chat", "examine chat/*"),
    ),
    Mutation(
        "the description of a column",
        code("tables/schema.py", "unparsed responses; they stay", "unparsed responses, they stay"),
        ("build_report",),
    ),
    Mutation(
        "the title of a figure",
        code("figures/robustness.py", 'title="Severity levels"', 'title="Levels of severity"'),
        ("draw_robustness*",),
    ),
    Mutation("bundled dialogues", code("corpora/bundled/english.jsonl", "en-001", "en-000"), ("read_corpus bundled",)),
    Mutation(
        "the page's style", code("report/index.html.j2", "Without JavaScript", "With no JavaScript"), ("build_report",)
    ),
    Mutation(
        "which run a store is told of",
        code("engines/store/response_store.py", "shards: {shards}", "in {shards} shards"),
        ("answer *", "examine *", "generate_dialogues *"),
    ),
    # files
    Mutation("transcripts", written("data/support.jsonl", "the", "teh"), ("read_transcripts support",)),
    Mutation(
        "a constant of one chatbot",
        code("engines/embedded/chatbots.py", "FIRST_IS_LIKELIER = 4.0", "FIRST_IS_LIKELIER = 3.0"),
        ("learn_embedded generic", "generate_dialogues generic"),
    ),
    Mutation(
        "a constant of the judge that learns",
        code("engines/embedded/judge.py", "STRIKING = 1.0", "STRIKING = 1.1"),
        ("learn_embedded forest", "answer forest/*", "examine forest/*", "filter_items"),
    ),
    Mutation(
        "how dialogues are made ready to learn from",
        code(
            "engines/embedded/learning.py",
            "if len(cleaned := _clean(dialogue)) >= 2",
            "if len(cleaned := _clean(dialogue)) >= 3",
        ),
        ("learn_embedded *",),
    ),
    Mutation(
        "an older copy of other scores", written("data/mine.csv", "value", "values", age=1e8), ("read_scores mine",)
    ),
    Mutation("an older table of battles", written("data/battles.csv", "a,b", "b,a", age=1e8), ("rate_battles mine",)),
    Mutation(
        "older labels", written("labels/quality-simulated-1.csv", "simulated", "simulated ", age=1e8), ("read_labels",)
    ),
]
"""Rows that are tried with the slow tests."""


@pytest.fixture(scope="session")
def graph(looks_finished: Workspace) -> dict[str, PlannedJob]:
    """All jobs of that workspace by name."""
    return {job.name: job for job in planned(looks_finished, "--forceall")}


def check(
    mutation: Mutation, workspace: Workspace, graph: dict[str, PlannedJob], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Make a change and asks a dry run what it would do."""
    for name, value in mutation.environment.items():
        monkeypatch.setenv(name, value)
    mutation.change(workspace)
    now = {job.name: job for job in planned(workspace, *mutation.arguments)}
    expected = mutation.expected([*(graph | now).values()])
    wrong = {name: now[name].reason for name in now.keys() - expected}
    assert not wrong, "ran without need"
    assert not expected - now.keys(), "did not run"


@pytest.mark.parametrize(
    "mutation",
    [
        *(pytest.param(mutation, id=mutation.name) for mutation in TELLING),
        *(pytest.param(mutation, id=mutation.name, marks=pytest.mark.slow) for mutation in OTHERS),
    ],
)
def test_only_what_changed_runs_again(
    mutation: Mutation,
    looks_finished: Workspace,
    graph: dict[str, PlannedJob],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    check(mutation, looks_finished.copy(tmp_path / "work"), graph, monkeypatch)
