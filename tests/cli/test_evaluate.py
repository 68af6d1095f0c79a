"""What `dialeval.evaluate` refuses before a run: tables, arguments and folders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

import dialeval
from dialeval.cli.init import Wish, make_folder

TURNS = [
    {"dialogue_id": dialogue, "system": system, "case_id": dialogue, "turn": turn, "speaker": speaker, "text": text}
    for dialogue in ("d1", "d2")
    for system in ("able", "weak")
    for turn, (speaker, text) in enumerate([("user", "Hi there."), ("assistant", f"Hello from {system}.")])
]


def frame(**changes: Any) -> pd.DataFrame:
    return pd.DataFrame(TURNS).assign(**changes)


def with_cell(column: str, row: int, value: object) -> pd.DataFrame:
    changed = frame().astype({column: object})
    changed.loc[row, column] = value
    return changed


NAN = float("nan")


@pytest.mark.parametrize(
    ("table", "options", "words"),
    [
        ([{"text": "Hi"}], {}, "frame is a list; give a pandas data frame"),
        (frame().iloc[:0], {}, "frame has no rows"),
        (
            frame().drop(columns=["text"]),
            {},
            r"no column with the text; its columns: dialogue_id, system, case_id, turn, speaker",
        ),
        (frame().drop(columns=["speaker", "system"]), {}, "no column speaker and no column system.*give system='NAME'"),
        (frame().drop(columns=["speaker"]), {}, r"no column speaker \(columns: dialogue_id"),
        (frame(), {"columns": {"text": "Body"}}, "no column 'Body'"),
        (frame(), {"columns": {"txt": "text"}}, "columns: 'txt' is not a field; did you mean 'text'"),
        (with_cell("text", 3, NAN), {}, r"row 3: column 'text' is empty \(1 of 8 rows\); fill it"),
        (with_cell("text", 3, None), {}, "row 3: column 'text' is empty"),
        (with_cell("text", 2, 5), {}, r"row 2: column 'text' is 5 \(int\), not a text; convert it to a string"),
        (with_cell("text", 2, ["Hi"]), {}, r"row 2: column 'text' is \['Hi'\] \(list\)"),
        (with_cell("text", 2, "half \ud800"), {}, "of a surrogate pair"),
        (with_cell("dialogue_id", 1, NAN), {}, "row 1: column 'dialogue_id' is empty"),
        (with_cell("speaker", 1, NAN), {}, "row 1: column 'speaker' is empty"),
        (with_cell("system", 1, NAN), {}, "row 1: column 'system' is empty"),
        (with_cell("turn", 1, "second"), {}, "line 3: column 'turn' is 'second', which is not a number"),
        (
            frame(dialogue_id="d"),
            {},
            "row 4: system able, dialogue_id d, turn 0, speaker user occurs twice",
        ),
        (frame(speaker="x"), {"evaluated_role": "bot"}, "arguments system, evaluated_role and columns"),
        (frame(), {"judge": "gpt-4o"}, "write NAME=MODEL"),
        (frame(), {"judge": []}, "judge is empty"),
        (frame(), {"criteria": ["coherense"]}, "did you mean 'coherence'"),
        (frame(), {"criteria": {"overall": "Is it good?"}}, "remove the question, or choose another name"),
        (frame(), {"criteria": {"tact": "Is it tactful?"}}, "forest"),
        (frame(), {"judge": "gpt=g", "budget": 5}, r"models.gpt.price_input(.|\n)*the run's budget needs prices"),
        (frame(), {"judge": "gpt=g", "price_input": {"gtp": 1}}, r"price_input: 'gtp' is no judge .*\(gpt\)"),
        (frame(), {"judge": "gpt=g", "price_input": -1, "price_output": 1, "budget": 5}, "price_input"),
        (frame(), {"judge": "gpt=g", "price_input": 1, "price_output": 1, "budget": 0}, "budget"),
        (frame(), {"judge": "gpt=g", "price_input": NAN, "price_output": 1}, "price_input"),
        (frame(), {"pairs": True}, r"no judge can compare dialogues \(forest: embedded\)"),
        (
            frame().query("system == 'able'"),
            {"pairs": True, "judge": "gpt=g"},
            "of able, and no two systems share",
        ),
    ],
)
def test_a_wrong_table_or_argument_leaves_nothing(
    tmp_path: Path, table: Any, options: dict[str, Any], words: str
) -> None:
    folder = tmp_path / "evaluation"
    with pytest.raises(dialeval.UserError, match=words):
        dialeval.evaluate(table, **{"judge": "forest", "folder": folder, **options})
    assert not folder.exists()


def test_a_folder_of_another_origin_stays_as_it_is(tmp_path: Path) -> None:
    made, other, file = tmp_path / "made", tmp_path / "other", tmp_path / "file"
    make_folder(made, Wish())
    other.mkdir()
    (other / "notes.txt").write_text("mine")
    file.write_text("mine")
    before = (made / "config.yaml").read_bytes()
    for folder, words in (
        (made, "written or edited by hand"),
        (other, "contains other files"),
        (file, "other files"),
    ):
        with pytest.raises(dialeval.UserError, match=words):
            dialeval.evaluate(frame(), "forest", folder=folder)
    assert (made / "config.yaml").read_bytes() == before
    assert [path.name for path in other.iterdir()] == ["notes.txt"]


def test_a_wrong_second_call_changes_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "evaluation"
    monkeypatch.setattr("dialeval.cli.evaluate._run", lambda *_: None)
    with pytest.raises(dialeval.UserError, match="no tables of a run"):
        dialeval.evaluate(frame(), "forest", folder=folder)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    with pytest.raises(dialeval.UserError, match="which is not a number"):
        dialeval.evaluate(with_cell("turn", 1, "second"), "forest", folder=folder)
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    (folder / "config.yaml").write_bytes(before[folder / "config.yaml"] + b"# mine\n")
    with pytest.raises(dialeval.UserError, match="edited by hand"):
        dialeval.evaluate(frame(), "forest", folder=folder)


def test_prices_and_budget_are_those_of_the_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dialeval.cli.evaluate._run", lambda *_: None)
    for number, (prices, wanted) in enumerate(((2.5, {"a": 2.5, "b": 2.5}), ({"b": 0, "a": 3}, {"a": 3, "b": 0}))):
        with pytest.raises(dialeval.UserError, match="no tables of a run"):
            dialeval.evaluate(
                frame(), ["a=x", "b=y", "forest"], folder=tmp_path / f"{number}", price_input=prices, price_output=10,
                budget=20,
            )  # fmt: skip
        config = dialeval.load_config(
            yaml.safe_load((tmp_path / f"{number}" / "config.yaml").read_text()), files_are_there=False
        )
        models = {name: config.models[name] for name in wanted}
        assert {name: model.price_input for name, model in models.items()} == wanted  # type: ignore[union-attr]
        assert {model.price_output for model in models.values()} == {10}  # type: ignore[union-attr]
        assert config.budget == 20


def test_texts_reach_the_reader_as_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dialeval.corpora.transcripts.items import Options, read_items

    monkeypatch.setattr("dialeval.cli.evaluate._run", lambda *_: None)
    texts = ['He said "no", then left; =1+1', "two\nlines,\r\nthree", "naïve 你好 🙂", "a;b\tc"]
    table = frame(text=[texts[row % 4] for row in range(8)], dialogue_id=[1, 1, 1, 1, 2, 2, 2, 2])
    with pytest.raises(dialeval.UserError, match="no tables of a run"):
        dialeval.evaluate(table.rename(columns={"text": "Body"}), "forest", folder=tmp_path, columns={"text": "Body"})
    items = read_items("d", tmp_path / "dialogues.csv", Options(columns={"text": "Body"})).items
    assert [text for item in items for text in item.utterances] == [*texts, *texts]
    assert [item.item_id for item in items] == ["1/able", "1/weak", "2/able", "2/weak"]


@pytest.mark.parametrize("columns", [{}, {"prompt": "Frage", "response": "Antwort", "dialogue_id": "Fall"}])
def test_a_row_may_be_a_reply(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, columns: dict[str, str]) -> None:
    from dialeval.corpora.transcripts.items import Options, read_items

    monkeypatch.setattr("dialeval.cli.evaluate._run", lambda *_: None)
    table = pd.DataFrame(
        [(system, turn, "d", f"{turn}?", f"{turn}!") for turn in (2, 1) for system in ("able", "weak")],
        columns=["system", "turn", *(columns.get(name, name) for name in ("dialogue_id", "prompt", "response"))],
    )
    for row, value, words in ((0, NAN, "is empty"), (1, 5, r"is 5 \(int\), not a text")):
        wrong = table.astype({columns.get("response", "response"): object})
        wrong.iloc[row, 4] = value
        with pytest.raises(
            dialeval.UserError, match=f"row {row}: column '{columns.get('response', 'response')}' {words}"
        ):
            dialeval.evaluate(wrong, "forest", folder=tmp_path / "wrong", columns=columns)
    with pytest.raises(dialeval.UserError, match="no column system"):
        dialeval.evaluate(table.drop(columns="system"), "forest", folder=tmp_path / "wrong", columns=columns)
    assert not (tmp_path / "wrong").exists()
    with pytest.raises(dialeval.UserError, match="no tables of a run"):
        dialeval.evaluate(table, "forest", folder=tmp_path, columns=columns)
    items = read_items("d", tmp_path / "dialogues.csv", Options(columns=columns)).items
    assert {item.system: item.utterances for item in items} == dict.fromkeys(("able", "weak"), ("1?", "1!", "2?", "2!"))
