"""Where the files of a run lie, without Snakemake."""

from __future__ import annotations

import ast
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dialeval import layout as patterns
from dialeval.config.configuration import Config
from dialeval.layout.run import Layout
from dialeval.layout.tables import LABEL_TABLES
from dialeval.tables.catalogue import TABLES

API = {"engine": "openai", "model": "m", "base_url": "http://127.0.0.1:9/v1", "api_key_env": None}
BOT = {"engine": "embedded", "method": "random"}
RAW: dict[str, Any] = {
    "results_dir": "out",
    "models": {"bot": BOT, "cheap": API | {"shards": 2}, "dear": API},
    "chatbots": ["bot", "cheap"],
    "judges": ["cheap", "dear"],
    "corpora": {"bundled": {"reader": "bundled", "language": "en"}},
    "seeds": {"corpus": "bundled"},
    "protocols": {
        "arena": {},
        "failures": {},
        "rating": {},
        "again": {"form": "scale", "data": {"source": ["selfchat"]}, "criteria": ["overall"], "retry_unparsed": True},
        "closer": {
            "form": "pair", "data": {"source": "selfchat"},
            "cascade": {"first": "cheap", "then": "dear", "share": 0.2},
        },
    },
    "ensembles": {"both": ["cheap", "dear"]},
    "robustness": {"corpora": ["bundled"], "rewriter": "cheap"},
    "translate": {"bundled": {"into": ["fr", "de"], "translator": "dear"}},
}  # fmt: skip


def layout_of(**changes: Any) -> Layout:
    raw = {name: value for name, value in {**RAW, **changes}.items() if value is not None}
    return Layout(Config.model_validate(raw))


@pytest.fixture(scope="module")
def layout() -> Layout:
    return layout_of()


def test_responses_are_one_table_per_shard(layout: Layout) -> None:
    assert layout.REQUESTS == "out/requests/{protocol}.parquet"
    assert layout.responses("cheap", "rating") == [
        "out/responses/cheap/rating/1-of-2.parquet",
        "out/responses/cheap/rating/2-of-2.parquet",
    ]
    assert layout.dialogue_shards("cheap")[1] == "out/dialogues/cheap.shards/2-of-2.parquet"
    assert layout.sharded_chatbots() == ["cheap"]


def test_the_second_judge_of_a_cascade_has_requests_of_its_own(layout: Layout) -> None:
    assert layout.requests("cheap", "closer") == layout.requests("dear", "arena").replace("arena", "closer")
    assert layout.requests("dear", "closer") == "out/requests/cascades/closer.parquet"
    assert layout.first_judgements("closer") == "out/judgements/cheap/closer.parquet"
    assert layout.second_judgements("closer") == "out/judgements/dear/closer.parquet"


def test_only_protocols_with_retries_have_responses_to_them(layout: Layout) -> None:
    assert layout.retried("dear", "again") == ["out/responses/again/dear/again.parquet"]
    assert layout.retried("dear", "rating") == []


def test_an_ensemble_reads_the_judgements_of_its_members(layout: Layout) -> None:
    assert layout.member_judgements("both", "again") == [
        "out/judgements/cheap/again.parquet",
        "out/judgements/dear/again.parquet",
    ]


def test_models_have_learned_files_where_they_learn(layout: Layout) -> None:
    assert layout.learned("bot") == ["out/embedded/bot.learned"]
    assert layout.learned("dear") == layout.learned(None) == []


def test_a_simulated_user_has_a_record_of_its_own() -> None:
    with_partner = layout_of(selfchat={"partner": "dear"})
    records = with_partner.chat_usage("bot", 1, 1)
    assert records == ["out/usage/bot/selfchat-1-of-1.json", "out/usage/dear/partner-of-bot-1-of-1.json"]
    assert set(records) <= set(with_partner.usage())


def test_translations_follow_the_items_of_their_corpus(layout: Layout) -> None:
    assert layout.items_of(["bundled"]) == [
        "out/items/bundled.parquet",
        "out/translations/bundled/fr.parquet",
        "out/translations/bundled/de.parquet",
    ]
    assert layout.translation_responses("bundled", "de") == ["out/responses/dear/translate-bundled-de/1-of-1.parquet"]


def test_perturbed_items_are_made_by_rule_and_by_the_rewriter(layout: Layout) -> None:
    assert layout.perturbed_pairs() == ["out/perturbed/by_rule.pairs.parquet", "out/perturbed/by_cheap.pairs.parquet"]
    assert layout.protocol_perturbed_items("rating") == layout.perturbed_items()
    assert layout.protocol_perturbed_items("arena") == []


def test_what_is_not_configured_is_not_made() -> None:
    small = layout_of(robustness=None, translate=None, ensembles=None, protocols={"arena": {}})
    all_files = small.all_files()
    assert all_files
    assert not [path for path in all_files if "robustness" in path or "translation" in path or "metaeval" in path]


def test_the_whole_run_is_made_of_files_below_its_results(layout: Layout) -> None:
    all_files = layout.all_files()
    assert all(path.startswith("out/") for path in all_files)
    assert layout.REPORT in all_files
    assert layout.SUMMARY in all_files
    for name in ("arena/ratings", "failures/rates", "robustness/score_drops", "translation/corpora", "again/means"):
        assert f"out/tables/{name}.parquet" in all_files, name
    read = layout.report_inputs()
    assert any("closer" in path for path in read["verdicts"])
    assert "out/tables/robustness/pairs.parquet" in read["tables"]


def test_an_estimate_reads_what_an_earlier_run_left(tmp_path: Path) -> None:
    fresh = layout_of(results_dir=str(tmp_path))
    assert fresh.judged_before() == []
    judged = Path(fresh.JUDGEMENTS.format(judge="dear", protocol="arena"))
    judged.parent.mkdir(parents=True)
    judged.touch()
    assert fresh.judged_before() == [str(judged)]
    corrected = tmp_path / "tables" / "labels" / "estimates.parquet"
    corrected.parent.mkdir(parents=True)
    corrected.touch()
    assert fresh.estimated_before() == []  # all label files were removed since
    assert replace(fresh, has_labels=True).estimated_before() == [str(corrected)]


def test_tables_of_labels_are_made_where_there_are_labels() -> None:
    labels = {"path": "labels", "n": 3, "annotators": ["ada"]}
    config = Config.model_validate({**RAW, "labels": labels})
    assert Layout(config).label_tables() == []
    labelled = Layout(config, has_labels=True)
    assert "out/tables/labels/ranks.parquet" in labelled.label_tables()
    assert labelled.labelling_sheets()[0].startswith("out/labels/pages/ada/")


LIBRARY = Path(patterns.__file__).parents[1]
FOLDERS = {
    patterns.folder_of(pattern)
    for name, pattern in vars(patterns).items()
    if name.isupper() and pattern not in (patterns.TEST_ITEMS, patterns.COMPARISON)  # tables have names with these
}


def paths_by_hand(code: str) -> list[str]:
    """Return the texts of a module that begin with a folder of the results, or are one joined to a path."""
    nodes = list(ast.walk(ast.parse(code)))
    texts = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    joined = [node.right for node in nodes if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)]
    begun = [text for text in texts if text.lstrip("/").partition("/")[::2][0] in FOLDERS and "/" in text.lstrip("/")]
    return begun + [str(one.value) for one in joined if isinstance(one, ast.Constant) and one.value in FOLDERS]


def test_a_path_that_is_written_by_hand_is_found() -> None:
    code = 'a = results / "responses" / name\nb = f"{results}/tables/{name}.csv"\nc = "labels/corrected"\n'
    assert sorted(paths_by_hand(code)) == ["/tables/", "responses"]


def test_paths_of_a_run_are_written_in_the_layout_alone() -> None:
    """A paper's numbers name tables and figures by path; the configuration reads papers, and the layout it."""
    allowed = {*(LIBRARY / "papers").glob("*.py"), *(LIBRARY / "layout").glob("*.py")}
    found = {
        str(path.relative_to(LIBRARY)): texts
        for path in sorted(LIBRARY.rglob("*.py"))
        if path not in allowed and (texts := paths_by_hand(path.read_text(encoding="utf-8")))
    }
    assert found == {}


def test_patterns_load_no_configuration() -> None:
    code = "import sys, dialeval.layout; print(*[one for one in sys.modules if one.startswith('dialeval.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["dialeval.layout"]


def test_the_report_gets_every_table_that_labels_give() -> None:
    of_labels = {name.partition("/")[2] for name in TABLES if name.startswith("labels/")}
    assert of_labels - {"draw", "labels", "planning"} == set(LABEL_TABLES) - {"ranks"}
