"""A job starts with what it needs: most of a short job's time went into libraries that it never called."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dialeval.stages import STAGES

ROOT = Path(__file__).parents[2]
HEAVY = {
    "aiohttp", "httpx", "httpx2", "matplotlib", "openai", "openpyxl", "scipy.optimize", "scipy.sparse", "scipy.stats",
    "sklearn", "statsmodels", "tiktoken", "tokenizers", "torch", "transformers", "vllm",
}  # fmt: skip
"""What no module of stages loads before it is known to be needed."""
GROUPS: dict[str, tuple[set[str], set[str]]] = {
    "writing pages and items": ({"jinja2"}, {"dialogbench", "labels"}),
    "telling": ({"yaml"}, {"report"}),
    "counting": ({"pandas", "numpy.random"}, {"judge_panels", "training"}),
    "measuring": (
        {"scipy"}, {"adaptive", "dialogbench_results", "measures", "metaeval", "planning", "translation"},
    ),
    "drawing": ({"matplotlib"}, {"figures"}),
}  # fmt: skip
"""The modules that load more than arrays and tables, by what they load beyond those of the groups before them."""
DAMAGING = {"perturbations"}
"""What knows the perturbations, which draw by `numpy.random`."""
PLAIN = STAGES.keys() - DAMAGING - {module for _, modules in GROUPS.values() for module in modules}
"""All others: their stages read, plan, ask, join and write."""
ORDER = [("plain", PLAIN), *((name, modules) for name, (_, modules) in GROUPS.items())]


@pytest.fixture(scope="module")
def imported() -> list[dict[str, Any]]:
    """What a fresh process has imported after each group, one after the other."""
    done = subprocess.run(
        [sys.executable, ROOT / "tests" / "support" / "stage_imports.py"],
        input=json.dumps([sorted(modules) for _, modules in ORDER]), capture_output=True, text=True, check=True,
    )  # fmt: skip
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("place", range(len(ORDER)), ids=[name.replace(" ", "_") for name, _ in ORDER])
def test_a_stage_imports_what_it_needs(imported: list[dict[str, Any]], place: int) -> None:
    later = [libraries for libraries, _ in list(GROUPS.values())[place:]]
    brought = (HEAVY - {"matplotlib"}).union(*later) & set(imported[place]["modules"])
    assert not brought, f"a stage of the group '{ORDER[place][0]}' imports {', '.join(sorted(brought))}"


def test_a_group_loads_what_sets_it_apart(imported: list[dict[str, Any]]) -> None:
    for found, (name, (libraries, _)) in zip(imported[1:], GROUPS.items(), strict=True):
        assert libraries <= set(found["modules"]), f"no stage of the group '{name}' loads {', '.join(libraries)} now"


def test_no_plain_stage_loads_the_whole_configuration_or_what_damages(imported: list[dict[str, Any]]) -> None:
    modules = set(imported[0]["modules"])
    assert {"dialeval.config.section", "dialeval.config.protocol_settings"} <= modules
    refused = {"config.whole", "config.everything", "config.protocols", "perturbations.registry"}
    assert not {f"dialeval.{name}" for name in refused} & modules


def test_what_reads_settings_is_built_when_they_are_read(imported: list[dict[str, Any]]) -> None:
    """Models of which a constant is made are built with it, and no settings of a stage are."""
    built = [name for name in imported[-1]["built"] if name.split(".")[1] in ("protocols", "stages")]
    assert built == []
    assert imported[-1]["deferred"] > sum(map(len, STAGES.values())) / 2


def test_figures_are_drawn_without_scipy_and_without_what_opens_windows() -> None:
    """One process imports every module of the figures."""
    code = (
        "import pkgutil, sys, dialeval.figures as figures\n"
        "from importlib import import_module\n"
        "for one in pkgutil.iter_modules(figures.__path__): import_module(f'dialeval.figures.{one.name}')\n"
        "unwanted = {'matplotlib.figure', 'matplotlib.pyplot', 'scipy', 'dialeval.config.configuration'}\n"
        "print(*unwanted & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["matplotlib.figure"]
