"""What docs say in back-ticks exists: files, tables, paths of results, fields of the configuration, names."""

from __future__ import annotations

import re
from typing import get_args

import pytest
from doc_claims import (
    PAGES,
    ROOT,
    SCHEMA,
    Said,
    is_made,
    made_below_results,
    spans,
    unknown_fields,
    words_of_the_code,
    yaml_blocks,
)
from loaded_rules import loaded_rules
from shown_commands import shown_commands

from dialeval.cli.main import COMMANDS, main
from dialeval.config.corpora import Corpus, Reader
from dialeval.tables.catalogue import TABLES, table_named

OWN = ("benchmarks", "configs", "docs", "envs", "examples", "profiles", "rules", "tests", "workflow", ".ci")
FOLDERS = {name.split("/")[0] for name in TABLES if "/" in name} | {"unieval", "arena", "gteval"}
BY_ANOTHER_WAY = {
    ".": "hidden folders, by dialeval.provenance.records and dialeval.jobs.progress",
    "provenance": "beside every file, by dialeval.provenance.records",
    "comparison": "by the stage that compares two runs, which is told a folder",
    "dialogbench/experts/sheet.csv": "beside the digest that its rule names",
    "trained-desk": "another folder of results, in docs/training.md",
    "small-metaeval": "another folder of results, in docs/tutorial-weights.md",
}
"""Paths below the results that no rule names as they are, and who makes them."""
MADE_UP = {"word": "the field of the engine that docs/extending.md adds"}
MADE_OF_PARTS = {"no_persona", "no_knowledge", "no_hypothesis", "no_response"}
"""Names that the code puts together."""
OTHERS = {"num_retries"}
"""Names of other programs."""


def own_path(said: Said) -> bool:
    return bool(re.fullmatch(rf"(?:{'|'.join(map(re.escape, OWN))})/[\w./*-]+", said.text))


def test_files_of_the_project_exist() -> None:
    assert [str(said) for said in spans() if own_path(said) and not any(ROOT.glob(said.text.rstrip("/")))] == []


def test_paths_of_results_are_made() -> None:
    paths = [(said, said.text.removeprefix("results/")) for said in spans() if said.text.startswith("results/")]
    missing = [
        str(said) for said, path in paths if path and not path.startswith(tuple(BY_ANOTHER_WAY)) and not is_made(path)
    ]
    assert missing == []
    assert is_made("judgements/<judge>/<protocol>.parquet")
    assert not is_made("judgement/forest/arena.parquet")


def is_table(text: str) -> bool:
    """Return whether a text names a table that there is, or is no name of a table at all."""
    name = re.fullmatch(r"(results/)?(tables/)?(([a-z_]+)/[a-z_]+)(?:\.csv|\.parquet)?", text)
    if not name or name[4] not in FOLDERS - {"battles"} or table_named(name[3]):
        return True
    return not name[2] and is_made(f"{name[3]}.parquet")  # what passes between stages lies elsewhere


def test_tables_exist() -> None:
    assert [str(said) for said in spans() if not is_table(said.text)] == []
    assert is_table("results/tables/arena/ratings.csv")
    assert not is_table("results/tables/arena/rating.csv")
    assert not is_table("metaeval/average")


def test_fields_of_configurations_exist() -> None:
    top = set(SCHEMA["properties"])
    wrong = []
    for said, block in yaml_blocks():
        if isinstance(block, dict) and set(block) & top:
            wrong += [f"{said}: {name}" for name in unknown_fields(block) if name.split(".")[-1] not in MADE_UP]
    for said in spans():
        *sections, last = said.text.split(".")
        if re.fullmatch(r"[a-z_]+(?:\.[a-z_]+)+", said.text) and sections[0] in top and last not in ("parquet", "csv"):
            nested: object = {last: {}}
            for name in reversed(sections):
                nested = {name: nested}
            wrong += [f"{said}: {name}" for name in unknown_fields(nested)]
    assert wrong == []
    assert list(unknown_fields({"elo": {"kk": 3}, "metaeval": {"corpora": {"mine": {"reeder": "x"}}}})) == [
        "elo.kk",
        "metaeval.corpora.mine.reeder",
    ]


def test_names_stand_in_the_code() -> None:
    known = words_of_the_code() | MADE_OF_PARTS | OTHERS
    names = [said for said in spans() if re.fullmatch(r"[a-z]+(?:_[a-z0-9]+)+", said.text)]
    assert [str(said) for said in names if said.text not in known] == []
    assert len(names) > 300


def test_every_target_is_shown_by_a_command() -> None:
    commands = [
        shown for shown in shown_commands() if shown.words[0] == "snakemake" and shown.place.startswith("docs/")
    ]
    targets = {rule.name for rule in loaded_rules().values() if not rule.outputs and rule.name != "all"}
    assert len(targets) > 12
    assert {target for target in targets if not any(target in shown.words for shown in commands)} == set()


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_of_a_command_is_explained(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main([command, "--help"])
    page = (ROOT / "docs" / "command.md").read_text(encoding="utf-8")
    options = set(re.findall(r"^  (--[a-z][a-z-]*)", capsys.readouterr().out, re.MULTILINE))
    assert options or command == "summary"
    assert [option for option in options if option not in page] == []


def test_every_reader_has_a_row() -> None:
    formats = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    seeds = (ROOT / "docs" / "self-chat.md").read_text(encoding="utf-8")
    assert [name for name in get_args(Reader) if f"\n| `{name}` |" not in formats] == ["auto"]
    assert [name for name in get_args(Corpus.model_fields["reader"].annotation) if f"\n| `{name}` |" not in seeds] == []


def test_there_is_much_to_look_at() -> None:
    assert len(PAGES) > 25
    assert len(list(spans())) > 1000
    assert len(list(yaml_blocks())) > 40
    assert len(made_below_results()) > 50


def _after(words: tuple[str, ...], option: str) -> list[str]:
    """Return the words behind an option up to the next one."""
    if option not in words:
        return []
    behind = words[words.index(option) + 1 :]
    end = next((place for place, word in enumerate(behind) if word.startswith("-")), len(behind))
    return list(behind[:end])


def test_no_shown_command_has_a_target_where_snakemake_takes_it_for_a_value() -> None:
    commands = [shown for shown in shown_commands() if shown.words[0] in ("snakemake", "docker", "sbatch")]
    assert sum("--configfile" in shown.words for shown in commands) > 20
    wrong = [str(shown) for shown in commands if len(_after(shown.words, "--configfile")) > 1]
    wrong += [str(shown) for shown in commands if any("=" not in word for word in _after(shown.words, "--config"))]
    assert not wrong, "put the target before --configfile and --config, which take several values"
