"""Only what depends on a change runs again."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

import pytest
from mutations import Change, code, settings
from workspace import SMALL, Workspace, new_workspace

from dialeval.report.terminal_summary import words_of_results

pytestmark = pytest.mark.workflow
FRESH = [
    ("a field", settings("elo.k", 16)),
    ("the number of seeds", settings("seeds.limit", 11)),
    ("a constant", code("stats/elo.py", "half_k = 0.5 * k / unit", "half_k = 0.25 * k / unit")),
    ("a prompt", code("prompts/unieval.j2", "Turing test", "kind of Turing test")),
    ("a judge's method", code("engines/embedded/judge.py", "STRIKING = 1.0", "STRIKING = 1.1")),
    ("dialogues to learn from", code("corpora/bundled/english.jsonl", "in that parcel", "in that letter")),
]
"""Changes after which what is made anew must be what a first run makes."""


def test_a_second_run_says_nothing_is_to_be_done_and_again_what_came_out(finished: Workspace) -> None:
    said = finished.run()
    assert said.index("Nothing to be done") < said.index("BotChat: who chats best?")
    told = words_of_results(finished.folder / "results").replace(f"{finished.folder}/", "")
    assert (
        told.split() == said[said.index(told.splitlines()[0]) :].split()[: len(told.split())]
    )  # longer paths break lines
    assert "BotChat" not in finished.run("--quiet", "all")


def test_a_run_says_what_its_jobs_do_and_ends_with_its_answer(finished: Workspace) -> None:
    (finished.folder / "results" / "judgements" / "forest" / "gteval.parquet").unlink()
    said = finished.run("--forcerun", "answer", "--until", "answer")
    lines = said.splitlines()
    assert "answer (forest, gteval): begins" in lines
    assert any(line.startswith("answer (forest, gteval): done in ") for line in lines)
    (models,) = {line.split(":")[0] for line in lines if "requests, " in line}
    assert models == "  forest"
    assert next(line for line in reversed(lines) if "requests, " in line).endswith(" cached")
    assert "Execute 1 jobs" not in said
    assert "Finished jobid" not in said
    assert lines[-1].startswith("In this run: 0 requests sent, ")
    said = finished.run()
    shares = [int(share) for share in re.findall(r"\((\d+)%, \d+ of \d+ jobs\)", said)]
    assert shares == sorted(shares)
    assert shares[-1] == 100
    assert "BotChat: who chats best?" in said
    assert said.splitlines()[-1] == "This run made no model calls."


def test_results_of_a_clock_that_was_ahead_are_gone_on_with(finished: Workspace) -> None:
    tomorrow = time.time() + 86_400
    for path in (finished.folder / "results").rglob("*"):
        os.utime(path, (tomorrow, tomorrow))
    finished.configure(elo={**SMALL["elo"], "k": 16})
    said = finished.run("results/tables/arena/ratings.csv")
    assert "had time stamps in the future; DialEval set them to the present time" in said
    assert "Nothing to be done" in finished.run("results/tables/arena/ratings.csv")


@pytest.mark.slow
@pytest.mark.parametrize("change", [change for _, change in FRESH], ids=[name for name, _ in FRESH])
def test_what_is_made_anew_is_what_a_first_run_makes(change: Change, finished: Workspace, tmp_path: Path) -> None:
    before = finished.tables()
    fresh = new_workspace(tmp_path / "fresh")
    for workspace in (finished, fresh):
        change(workspace)
        workspace.run()
    again, first = finished.tables(), fresh.tables()
    assert again != before
    assert {name for name in again.keys() | first.keys() if again.get(name) != first.get(name)} == set()
    assert "Nothing to be done" in finished.run()


def test_prompts_re_run_what_renders_them_and_not_where_they_lie(finished: Workspace) -> None:
    first, second = finished.folder / "prompts", finished.folder / "other prompts"
    first.mkdir()
    (first / "notes.j2").write_text("Nobody renders it.")
    finished.configure(prompts={"directory": "prompts"})
    assert finished.would_run() == {}
    first.rename(second)
    finished.configure(prompts={"directory": "other prompts"})
    assert finished.would_run() == {}
    ours = (finished.folder / "workflow" / "dialeval" / "prompts" / "unieval.j2").read_text(encoding="utf-8")
    (second / "unieval.j2").write_text("{% include 'notes.j2' %}" + ours)
    jobs = finished.would_run()
    assert jobs["plan"] == 1
    assert not {"generate_dialogues", "merge_dialogues", "tabulate_lengths"} & set(jobs)


def test_the_papers_prompts_re_run_what_they_ask_otherwise_and_back_again_nothing(finished: Workspace) -> None:
    finished.configure(prompts={"set": "papers"})
    jobs = finished.would_run()
    assert {"generate_dialogues", "plan", "answer", "parse", "build_report"} <= set(jobs)
    assert not {"learn_embedded", "read_corpus", "select_seeds", "perturb_items"} & set(jobs)
    finished.configure(prompts={"set": "ours"})
    assert finished.would_run() == {}


def test_what_is_of_ones_own_runs_itself_and_nothing_else(finished: Workspace) -> None:
    criteria = {"empathy": {"level": "dialogue", "question": "Are they kind?", "meaning": "how kind they are"}}
    finished.configure(criteria=criteria)
    assert finished.would_run() == {}
    judge = {"engine": "openai", "model": "m", "base_url": "http://127.0.0.1:9/v1", "api_key_env": None}
    helpful = {
        "form": "pair",
        "data": {"source": "selfchat", "n_utterances": [8]},
        "options": {"A": "left", "B": "right", "Tie": "tie"},
        "judges": ["large"],
    }
    finished.configure(
        criteria=criteria,
        models={**SMALL["models"], "large": judge},
        protocols={**SMALL["protocols"], "helpful": helpful},
    )
    jobs = finished.would_run()
    assert (jobs["plan"], jobs["answer"], jobs["parse"]) == (1, 1, 1)
    assert not {"generate_dialogues", "learn_embedded", "read_corpus"} & set(jobs)


@pytest.mark.slow
def test_a_changed_embedded_method_answers_anew_and_no_other(finished: Workspace) -> None:
    before = {name: finished.stored(f"{name}/selfchat") for name in ("generic", "random")}
    said = {name: (finished.folder / f"results/dialogues/{name}.parquet").read_bytes() for name in before}
    method = "workflow/dialeval/engines/embedded/chatbots.py"
    finished.edit(method, "I see.", "I do see.")
    jobs = finished.would_run()
    assert (jobs["learn_embedded"], jobs["generate_dialogues"]) == (1, 1)
    finished.run()
    assert len(finished.stored("generic/selfchat")) == 2 * len(before["generic"])
    assert finished.stored("random/selfchat") == before["random"]
    now = {name: (finished.folder / f"results/dialogues/{name}.parquet").read_bytes() for name in before}
    assert [name for name in said if said[name] != now[name]] == ["generic"]
    assert finished.would_run() == {}


@pytest.mark.slow
def test_unievals_template_changes_unievals_requests_and_leaves_arena(finished: Workspace) -> None:
    arena, unieval = finished.stored("forest/arena"), finished.stored("forest/unieval")
    finished.edit("workflow/dialeval/prompts/unieval.j2", "Turing test", "kind of Turing test")
    jobs = finished.would_run()
    assert (jobs["plan"], jobs["answer"], jobs["parse"]) == (1, 1, 1)
    assert "generate_dialogues" not in jobs
    finished.run()
    assert finished.stored("forest/arena") == arena
    assert len(finished.stored("forest/unieval")) == 2 * len(unieval)


def test_another_chatbot_sends_no_request_to_the_others(finished: Workspace) -> None:
    before = {pattern: finished.stored(pattern) for pattern in ("random/selfchat", "generic/selfchat")}
    n_before = {protocol: len(finished.stored(f"forest/{protocol}")) for protocol in ("unieval", "arena", "gteval")}
    models = {**SMALL["models"], "ngram": {"engine": "embedded", "method": "ngram", "folds": 3}}
    finished.configure(models=models, chatbots=["ngram", "random", "generic"])
    output = finished.run("results/tables/usage.csv")
    assert {pattern: finished.stored(pattern) for pattern in before} == before
    asked = {p: len(finished.stored(f"forest/{p}")) - n for p, n in n_before.items()}
    # 12 seeds: each dialogue alone; against two others, two orders, two lengths; against the human one, two orders
    assert asked == {"unieval": 12, "arena": 12 * 2 * 2 * 2, "gteval": 12 * 2}
    assert "12 sent, 36 cached" in output


@pytest.mark.slow
def test_a_removed_chatbot_sends_no_request(finished: Workspace) -> None:
    before = sorted(finished.stored("*/*"))
    finished.configure(chatbots=["random"])
    finished.run()
    assert sorted(finished.stored("*/*")) == before


@pytest.mark.slow
def test_only_another_judge_gets_requests(finished: Workspace) -> None:
    before = finished.stored("forest/*")
    models = {**SMALL["models"], "second": {"engine": "embedded", "method": "forest", "folds": 4}}
    finished.configure(models=models, judges=["forest", "second"])
    finished.run()
    assert finished.stored("forest/*") == before
    assert len(finished.stored("second/*")) == len(before)


@pytest.mark.slow
def test_a_renamed_judge_gets_no_request(finished: Workspace) -> None:
    before = sorted(finished.stored("*/*"))
    models = {("oak" if name == "forest" else name): model for name, model in SMALL["models"].items()}
    finished.configure(models=models, judges=["oak"])
    finished.run()
    assert sorted(finished.stored("*/*")) == before
    assert finished.stored("oak/*") == finished.stored("forest/*")
