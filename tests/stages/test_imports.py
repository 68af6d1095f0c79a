"""A job starts with what it needs: most of a short job's time went into libraries that it never called."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STAGES = {path.stem for path in (ROOT / "workflow" / "dialeval" / "stages").glob("[a-z]*.py")}
READING = [
    "answer", "choose_tokenizer", "construct_rated", "download", "extract_seeds", "fill_ratings", "find_failures",
    "import_answers", "import_dialogues", "merge_shards", "read_corpus", "read_rated", "read_scenarios", "read_scores",
    "read_transcripts", "sample_translation", "seed_lengths", "selfchat_items", "tabulate_translation",
    "tabulate_trust", "tabulate_usage", "utterance_lengths",
]  # fmt: skip
"""Stages that read, join and ask; what an engine needs is imported where the engine is opened."""
WRITING = [
    "answer_items", "damage_items", "dialogbench_filter", "dialogbench_parse", "dialogbench_plan", "dialogbench_write",
    "draw_to_label", "labelling_page", "parse_detect", "parse_pair", "parse_probability", "parse_scale", "plan_again",
    "plan_detect", "plan_mark", "plan_pair", "plan_probability", "plan_scale", "selfchat",
]  # fmt: skip
"""Stages that render templates, or share modules with those that do."""
MEASURING = [
    "dialogbench_tables", "find_ceilings", "ensembles", "measure_agreement", "measure_checklist",
    "measure_differences", "measure_examples", "measure_means", "measure_pass_rates", "measure_rates",
    "measure_ratings", "measure_win_rates", "rank_systems", "robustness", "tabulate_agreement", "tabulate_rated",
]  # fmt: skip
"""Stages that compute on tables with pandas and the special functions of SciPy."""
ASKED_OF = {"openai", "httpx", "torch", "transformers", "vllm", "sklearn", "statsmodels", "matplotlib", "scipy.stats"}
REFUSED = (ASKED_OF | {"jinja2", "pandas", "scipy"}, ASKED_OF | {"pandas", "scipy"}, ASKED_OF)
"""Libraries that no stage of each group may have imported; each group comes after the one before it."""


@pytest.fixture(scope="module")
def imported() -> list[set[str]]:
    """What a fresh process has imported after each group."""
    done = subprocess.run(
        [sys.executable, ROOT / "tests" / "support" / "stage_imports.py"],
        input=json.dumps([READING, WRITING, MEASURING]), capture_output=True, text=True, check=True,
    )  # fmt: skip
    return [set(names) for names in json.loads(done.stdout)]


def test_every_stage_named_here_is_there() -> None:
    assert {*READING, *WRITING, *MEASURING} <= STAGES


@pytest.mark.parametrize(("place", "group"), enumerate(("reading", "writing", "measuring")))
def test_a_stage_imports_what_it_needs(imported: list[set[str]], place: int, group: str) -> None:
    brought = REFUSED[place] & imported[place]
    assert not brought, f"a stage of the group '{group}' imports {', '.join(sorted(brought))}"


def test_no_stage_that_asks_or_measures_loads_the_whole_configuration(imported: list[set[str]]) -> None:
    assert "dialeval.config.section" in imported[-1]
    assert not {"dialeval.config.whole", "dialeval.config.everything"} & imported[-1]
