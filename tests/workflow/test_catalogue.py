"""What Snakemake's catalogue of workflows looks for in a repository."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from workspace import ROOT

from dialeval.config import load_config, read_config_file

pytestmark = pytest.mark.workflow


def test_the_catalogue_finds_what_it_shows() -> None:
    usage = yaml.safe_load((ROOT / ".snakemake-workflow-catalog.yml").read_text(encoding="utf-8"))["usage"]
    assert set(usage) == {"mandatory-flags", "software-stack-deployment", "report"}
    assert set(usage["mandatory-flags"]) == {"desc", "flags"}
    assert usage["software-stack-deployment"]["conda"] is True
    assert usage["report"] is True
    assert any(ROOT.glob("envs/*.yaml"))
    for path in ("workflow/Snakefile", "config/README.md", "README.md", "LICENSE"):
        assert (ROOT / path).is_file(), path


def test_the_configuration_that_is_deployed_is_that_of_the_project() -> None:
    deployed = ROOT / "config" / "config.yaml"
    assert deployed.read_bytes() == (ROOT / "config.yaml").read_bytes()
    assert load_config(read_config_file(deployed)).models


def test_links_of_the_pages_lead_to_files() -> None:
    page = ROOT / "config" / "README.md"
    links = re.findall(r"\]\(([^)#:]+)", page.read_text(encoding="utf-8"))
    assert links
    missing = [link for link in links if not Path(page.parent, link).exists()]
    assert missing == []
