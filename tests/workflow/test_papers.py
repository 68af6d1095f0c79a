"""The configurations that the registry of the papers names really make the files that it names: planned, not run."""

from __future__ import annotations

import re
import shutil

import pytest
from empty_data import with_data
from workspace import ROOT, Workspace, new_workspace

from dialeval.config import read_config_file
from dialeval.papers.registry import PAPERS

pytestmark = [pytest.mark.workflow, pytest.mark.slow]
ITEMS = [(paper.name, item) for paper in PAPERS for item in paper.items if item.is_result]
CONFIGS = sorted({item.config for _, item in ITEMS})


@pytest.fixture(scope="module")
def planned_in(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """The workflow with all configurations, empty data, and stand-ins for the libraries that models need."""
    workspace = new_workspace(tmp_path_factory.mktemp("papers") / "work")
    shutil.copytree(ROOT / "configs", workspace.folder / "configs")
    shutil.copy(ROOT / "config.yaml", workspace.folder / "config.yaml")
    workspace.pretend_models_can_run()
    with_data(workspace.folder / "public")
    return workspace


def test_every_configuration_makes_what_the_registry_says(planned_in: Workspace) -> None:
    made = {}
    for config in CONFIGS:
        command = ("snakemake", "--configfile", config, "--summary", "--config", "data_dir=public")
        status, output = planned_in.outcome(*command)
        assert status == 0, f"{config}\n{output[-3000:]}"
        results = str(read_config_file(ROOT / config).get("results_dir", "results"))
        made[config] = [line.split("\t")[0].removeprefix(f"{results}/") for line in output.splitlines()]
    missing = [
        f"{paper}, {item.number}: {item.config} does not make {file}"
        for paper, item in ITEMS
        for file in item.files()
        if not any(fits(file, one) for one in made[item.config])
    ]
    assert not missing, "\n".join(missing)


def fits(file: str, path: str) -> bool:
    """Return whether a path is a file of the registry, in which {n} and {protocol} stand for anything."""
    return bool(re.fullmatch(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(file)), path))
