"""Every file of the user's counts by its content: an older copy of other content is read anew, a touched one is not."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from loaded_rules import loaded_rules
from planned import planned, pretend_to_finish
from wide_configuration import WIDE, make_wide
from workspace import Workspace

pytestmark = pytest.mark.workflow
PUBLISHED = {"engine": "published", "dialogues": "talks.tsv", "unieval": "unieval.tsv", "arena": {8: "arena.tsv"}}
SETS = [f"turn_level_robust_data/rel/{name}_text.txt" for name in ("nonentailment", "entailment")]
PARTS = ("noun", "verb", "adj", "adv")
WORDNET = [f"wordnet/{kind}.{part}" for part in PARTS for kind in ("index", "data")]
WORDNET += ["wordnet/cntlist.rev", *(f"wordnet/{part}.exc" for part in PARTS)]
DATA: dict[str, str] = {  # of each kind that the wide configuration has not
    "talks.jsonl": "read_corpus own",
    "mutual/test_1.txt": "read_corpus mutual",
    "talks.tsv": "import_dialogues known",
    "own_talks/a.jsonl": "read_transcripts folder",
    "rated.jsonl": "read_rated own_rated",
    "comp/fed-turn_text.txt": "read_rated comp",
    "dstc/turn.csv": "read_rated dstc",
    "items/one.jsonl": "read_items",
    "experts.csv": "read_expert_answers",
    "people.csv": "translation_quality",
    "comet.csv": "translation_quality",
    "unieval.tsv": "import_answers known/unieval",
    "arena.tsv": "import_answers known/arena",
    **dict.fromkeys([*SETS, *WORDNET], "perturb_items"),
}
READ_BY = {
    **{f"data/{name}": job for name, job in DATA.items()},
    "data/support.jsonl": "read_transcripts support",
    "data/mine.csv": "read_scores mine",
    "data/battles.csv": "rate_battles mine",
    "labels/draw-quality.csv": "read_labels",
    "labels/quality-simulated-1.csv": "read_labels",
}
"""Every file of the user's and the job that reads it."""
READ_TOGETHER = (
    {"read_corpus", "read_transcripts", "read_rated", "read_items", "rate_battles"},
    {"import_dialogues", "perturb_items"},
    {"import_answers", "read_expert_answers", "translation_quality", "read_scores", "read_labels"},
)
"""Rules that read files of the user's, those together of which none needs what another makes."""


def configuration() -> dict[str, Any]:
    """Return a configuration that reads a file of every kind."""
    return {
        **WIDE,
        "models": {**WIDE["models"], "known": PUBLISHED, "chat": {**WIDE["models"]["chat"]}},
        "chatbots": ["random", "known"],
        "judges": ["forest", "known"],
        "corpora": {
            **WIDE["corpora"],
            "own": {"reader": "jsonl", "path": "talks.jsonl"},
            "mutual": {"reader": "mutual_folder", "path": "mutual"},
        },
        "seeds": {"corpus": "own", "limit": 12},
        "protocols": {
            "unieval": {"n_utterances": [4, 8]},
            "arena": {"n_utterances": [8]},
            "rating": {"judges": ["forest"]},
            "quality": WIDE["protocols"]["quality"] | {"judges": ["forest"]},
            "other": {"form": "locate", "data": {"source": "folder"}, "judges": ["forest"]},
        },
        "transcripts": {**WIDE["transcripts"], "folder": {"path": "own_talks"}},
        "metaeval": {
            **WIDE["metaeval"],
            "corpora": {
                **WIDE["metaeval"]["corpora"],
                "own_rated": {"reader": "rated_jsonl", "path": "rated.jsonl"},
                "comp": {"reader": "comp_turn", "path": "comp/fed-turn_text.txt"},
                "dstc": {"reader": "dstc11_csv", "path": "dstc/turn.csv"},
            },
        },
        "robustness": {
            "corpora": ["mutual"],
            "perturbations": ["random_response"],
            "limit": 4,
            "wordnet": "wordnet",
            "published": ".",
        },
        "translate": {
            "own": {
                "into": ["zh"],
                "translator": "chat",
                "quality": {"ratings": "people.csv", "scores": {"x": "comet.csv"}},
            }
        },
        "dialogbench": {
            "bundled": ["en"],
            "published": {"kwai": {"path": "items", "language": "en"}},
            "experts": {"answers": "experts.csv"},
            "examine": {"choice": ["forest"]},
        },
    }


@pytest.fixture
def reading(workspace: Workspace) -> Workspace:
    """A workspace with a file of every kind, in which everything looks made."""
    make_wide(workspace)
    data = workspace.folder / "data"
    for name in DATA:
        (data / name).parent.mkdir(parents=True, exist_ok=True)
        (data / name).write_text("{}\n", encoding="utf-8")
    workspace.configure(**configuration())
    pretend_to_finish(workspace)
    return workspace


@pytest.mark.slow  # test_mutations.py has two of these files
def test_older_copies_of_other_content_are_read_anew_and_touched_files_are_not(reading: Workspace) -> None:
    jobs = planned(reading, "--forceall")
    made = frozenset[str]().union(*(job.outputs for job in jobs))
    assert frozenset[str]().union(*(job.inputs for job in jobs)) - made == READ_BY.keys()
    for name in READ_BY:
        os.utime(reading.folder / name)
    assert planned(reading) == []
    own = {name: (reading.folder / name).read_bytes() for name in READ_BY}
    for together in READ_TOGETHER:
        names = [name for name, job in READ_BY.items() if job.partition(" ")[0] in together]
        for name in names:
            replace_by_older(reading.folder / name, own[name] + b"\n")
        # of a job that runs since another does, Snakemake does not say what else changed
        again = {job.name for job in planned(reading) if "Params have changed" in job.reason}
        assert again == {READ_BY[name] for name in names}
        for name in names:
            replace_by_older(reading.folder / name, own[name])
    assert planned(reading) == []


def replace_by_older(path: Path, content: bytes) -> None:
    """Put a file with a time stamp of years ago in the place of another, as `cp -p` and `rsync -a` do."""
    other = path.with_name("other")
    other.write_bytes(content)
    os.utime(other, (1e9, 1e9))
    shutil.copy2(other, path)
    other.unlink()
    assert path.stat().st_mtime == 1e9


def test_rules_that_load_models_count_these_models_files() -> None:
    loading = [rule for rule in loaded_rules().values() if rule.names_gpu]
    assert len(loading) > 10
    assert [rule.name for rule in loading if "content" not in rule.params] == []
