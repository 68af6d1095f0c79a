"""A configuration that options make is one that a run takes, whatever names are in it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from workspace import ROOT

from dialeval.cli.init import Model, Wish, as_model, configuration_text, make_folder, quoted
from dialeval.cli.main import main
from dialeval.config.configuration import Config
from dialeval.config.endpoints import OpenAIModel
from dialeval.config.loading import load_config
from dialeval.errors import UserError
from dialeval.paths import PROJECT, check_can_be_installed, check_name

TWO = [Model("able", "maker/able-7b"), Model("weak", "weak:1b")]
JUDGE = Model("clerk", "clerk-2026-01-01")
TRANSCRIPTS = ROOT / "configs" / "transcripts" / "support.jsonl"


def made(wish: Wish, folder: Path = Path("mine")) -> Config:
    return load_config(yaml.safe_load(configuration_text(wish, folder)), files_are_there=False)


def test_without_a_wish_it_is_that_of_the_default_run() -> None:
    assert configuration_text(Wish(), Path("mine")) == (ROOT / "config.yaml").read_text(encoding="utf-8")


def test_chatbots_and_a_judge_behind_an_endpoint() -> None:
    config = made(Wish("http://localhost:8000/v1", "MY_KEY", TWO, [JUDGE]))
    assert config.chatbots == ["able", "weak"]
    assert config.judges == ["clerk"]
    models = {name: model for name, model in config.models.items() if isinstance(model, OpenAIModel)}
    assert {name: model.model for name, model in models.items()} == {
        "able": "maker/able-7b", "weak": "weak:1b", "clerk": "clerk-2026-01-01",
    }  # fmt: skip
    assert {model.base_url for model in models.values()} == {"http://localhost:8000/v1"}
    assert {model.api_key_env for model in models.values()} == {"MY_KEY"}
    assert set(config.resolved_protocols()) == {"unieval", "arena", "gteval"}


def test_openai_is_the_default_address() -> None:
    model = made(Wish(chatbots=TWO, judges=[JUDGE])).models["able"]
    assert isinstance(model, OpenAIModel)
    assert (model.base_url, model.api_key_env) == ("https://api.openai.com/v1", "OPENAI_API_KEY")


def test_one_chatbot_meets_no_other() -> None:
    config = made(Wish(chatbots=TWO[:1], judges=[JUDGE]))
    assert set(config.resolved_protocols()) == {"unieval", "gteval"}


def test_a_model_that_talks_and_judges_is_named_once() -> None:
    config = made(Wish(chatbots=[*TWO, JUDGE], judges=[JUDGE, Model("forest")]))
    assert list(config.models) == ["able", "weak", "clerk", "forest"]
    assert config.judges == ["clerk", "forest"]


def test_transcripts_are_read_and_named_after_their_file(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    config = made(Wish(judges=[JUDGE], dialogues=TRANSCRIPTS), folder)
    assert list(config.transcripts) == ["support"]
    assert (folder / config.transcripts_path("support")).samefile(TRANSCRIPTS)
    assert set(config.resolved_protocols()) == {"quality", "better"}
    assert not config.talks()
    one = tmp_path / "one.jsonl"
    one.write_text(TRANSCRIPTS.read_text(encoding="utf-8").splitlines()[0], encoding="utf-8")
    for path, words in (
        (TRANSCRIPTS, "36 dialogues of 3 systems: harbour, kiosk, mosaic"),
        (one, "1 dialogue of 1 system: harbour"),
    ):
        assert words in configuration_text(Wish(judges=[JUDGE], dialogues=path), folder)


def test_pairs_are_judged_by_models_behind_endpoints() -> None:
    text = configuration_text(Wish(judges=[Model("forest")], dialogues=TRANSCRIPTS), Path("mine"))
    assert set(made(Wish(judges=[Model("forest")], dialogues=TRANSCRIPTS)).resolved_protocols()) == {"quality"}
    assert "# better:" in text
    both = made(Wish(judges=[Model("forest"), JUDGE], dialogues=TRANSCRIPTS))
    assert both.resolved_protocols()["better"].judges == ["clerk"]


@pytest.mark.parametrize("inside", [True, False])
def test_files_near_the_folder_are_named_as_seen_from_it(tmp_path: Path, inside: bool) -> None:
    folder = tmp_path / "study"
    file = (folder if inside else tmp_path / "data") / "my talks.jsonl"
    file.parent.mkdir()
    file.write_bytes(TRANSCRIPTS.read_bytes())
    config = made(Wish(judges=[JUDGE], dialogues=file), folder)
    (section,) = config.transcripts.values()
    assert str(section.path) == ("my talks.jsonl" if inside else "../data/my talks.jsonl")
    assert list(config.transcripts) == ["my-talks"]


def test_the_evaluated_system_can_be_named(tmp_path: Path) -> None:
    file = tmp_path / "talks.jsonl"
    talk = {"dialogue_id": "1", "utterances": [{"speaker": "ann", "text": "Hi."}, {"speaker": "bob", "text": "Hello."}]}
    file.write_text(json.dumps(talk) + "\n")
    with pytest.raises(UserError, match="line 1"):
        made(Wish(judges=[JUDGE], dialogues=file), tmp_path)
    config = made(Wish(judges=[JUDGE], dialogues=file, system="north: [x] #1", evaluated_role="bob"), tmp_path)
    assert (config.transcripts["talks"].system, config.transcripts["talks"].evaluated_role) == ("north: [x] #1", "bob")


def test_the_language_of_dialogues_can_be_named(tmp_path: Path) -> None:
    file = tmp_path / "talks.jsonl"
    utterances = [{"speaker": "user", "text": "你好，请问几点开门？"}, {"speaker": "bot", "text": "我们早上九点开门。"}]
    file.write_text(json.dumps({"dialogue_id": "1", "system": "able", "utterances": utterances}) + "\n")
    notes: list[str] = []
    text = configuration_text(Wish(judges=[JUDGE], dialogues=file), tmp_path, notes)
    assert any("not in the letters of their language" in note for note in notes)
    assert load_config(yaml.safe_load(text), files_are_there=False).transcripts["talks"].language == "en"
    notes.clear()
    text = configuration_text(Wish(judges=[JUDGE], dialogues=file, language="zh"), tmp_path, notes)
    assert not any("not in the letters of their language" in note for note in notes)
    assert load_config(yaml.safe_load(text), files_are_there=False).transcripts["talks"].language == "zh"
    assert main(["init", str(tmp_path / "mine"), "--language", "zh"]) == 1


def test_an_error_that_no_option_mends_names_none(tmp_path: Path) -> None:
    file = tmp_path / "talks.jsonl"
    file.write_text("")
    with pytest.raises(UserError, match=r"talks\.jsonl has no dialogues; add some, or correct the path$"):
        made(Wish(judges=[JUDGE], dialogues=file), tmp_path)


def test_columns_of_a_table_can_be_named(tmp_path: Path) -> None:
    file = tmp_path / "talks.csv"
    file.write_text("Case;Bot;Author;Body: all\n1;able;bot;Hello\n1;weak;bot;Hi\n")
    with pytest.raises(UserError, match="no column with the dialogue id(.|\n)*--column FIELD=NAME"):
        made(Wish(judges=[JUDGE], dialogues=file), tmp_path)
    notes: list[str] = []
    wish = Wish(judges=[JUDGE], dialogues=file, columns={"dialogue_id": "Case", "text": "Body: all"})
    config = load_config(yaml.safe_load(configuration_text(wish, tmp_path, notes)), files_are_there=False)
    assert config.transcripts["talks"].options()["columns"] == {"dialogue_id": "Case", "text": "Body: all"}
    assert any("2 dialogues with 2 utterances of 2 systems" in note for note in notes)


def test_fields_of_json_can_be_named_and_what_was_understood_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    turns = [{"by": "user", "body": {"plain": "Hi"}}, {"by": "bot", "body": {"plain": "Hello"}}]
    Path("talks.json").write_text(json.dumps({"data": [{"meta": {"bot": "able", "nr": 7}, "log": {"turns": turns}}]}))
    named = {"utterances": "log.turns", "speaker": "by", "text": "body.plain", "system": "meta.bot"}
    options = [word for what, path in named.items() for word in ("--column", f"{what}={path}")]
    assert main(["init", "mine", "--judge", "forest", "--dialogues", "talks.json", *options]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "read: judged: bot 1 (utterances)" in lines
    assert "read: not judged: user 1 (utterances)" in lines
    assert "read: example row-1/able: user: Hi | bot: Hello" in lines
    assert any("utterances from log.turns, speaker from by, text from body.plain" in line for line in lines)
    config = load_config(yaml.safe_load(Path("mine/config.yaml").read_text()), files_are_there=False)
    assert config.transcripts["talks"].options()["columns"] == named
    with pytest.raises(UserError, match="no field 'log.said' and no field 'meta.bat'"):
        made(
            Wish(
                judges=[JUDGE],
                dialogues=Path("talks.json"),
                columns=named | {"utterances": "log.said", "system": "meta.bat"},
            )
        )
    with pytest.raises(UserError, match=r"org/talks does not exist.*hf://datasets/org/talks"):
        made(Wish(judges=[JUDGE], dialogues=Path("org/talks")))


@pytest.mark.parametrize(
    ("wish", "words"),
    [
        (Wish(chatbots=TWO), "add --judge NAME=MODEL"),
        (Wish(judges=[JUDGE]), "add --chatbot NAME=MODEL"),
        (Wish(base_url="http://localhost/v1"), "add --judge"),
        (Wish(judges=[JUDGE], dialogues=Path("nowhere.jsonl")), "nowhere.jsonl does not exist"),
        (Wish(chatbots=TWO, judges=[Model("able", "other")]), "'able' names both maker/able-7b and other"),
        (Wish(chatbots=[Model("a/b", "x")], judges=[JUDGE]), "models.a/b"),
        (Wish(chatbots=TWO, judges=[Model("ngram")]), "ngram"),
        (Wish("localhost:8000", None, TWO, [JUDGE]), "base_url"),
    ],
)
def test_what_cannot_be_made_is_reported(wish: Wish, words: str) -> None:
    with pytest.raises(UserError, match=words.replace("(", "\\(")):
        configuration_text(wish, Path("mine"))


def test_a_key_in_place_of_a_name_is_not_repeated() -> None:
    key = "sk-" + "0123456789" * 4
    with pytest.raises(UserError, match="api_key_env") as refused:
        configuration_text(Wish(None, key, TWO, [JUDGE]), Path("mine"))
    assert key not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "model"),
    [
        ("gpt=gpt-4o", Model("gpt", "gpt-4o")),
        ("x=maker/name:tag=1", Model("x", "maker/name:tag=1")),
        ("forest", Model("forest")),
    ],
)
def test_models_are_written_with_their_names(text: str, model: Model) -> None:
    assert as_model(text) == model


@pytest.mark.parametrize("text", ["gpt-4o", "=gpt", "gpt=", "", "forrest"])
def test_what_is_no_model_is_reported(text: str) -> None:
    with pytest.raises(UserError, match="NAME=MODEL"):
        as_model(text)


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_any_text_is_quoted_on_one_line(text: str) -> None:
    assert yaml.safe_load(f"value: {quoted(text)}  # comment")["value"] == text
    assert yaml.safe_load(f"[{quoted(text)}, b]") == [text, "b"]
    assert len(quoted(text).splitlines()) == 1


# What a folder of one's own holds, and that nothing in it is lost.

FILES = {"config.yaml", "Snakefile", "profiles/default/config.yaml", "README.md", ".gitignore"}


def test_a_folder_is_made_with_those_above_it(tmp_path: Path) -> None:
    folder = tmp_path / "studies" / "one"
    assert {str(path) for path in make_folder(folder, Wish())} == FILES
    assert {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()} == FILES


def test_snakemake_reads_there_what_it_reads_in_the_project(tmp_path: Path) -> None:
    make_folder(tmp_path, Wish())
    ours = yaml.safe_load((ROOT / "profiles" / "default" / "config.yaml").read_text())
    assert yaml.safe_load((tmp_path / "profiles" / "default" / "config.yaml").read_text()) == ours | {"cores": "all"}


@pytest.mark.parametrize("name", ["Snakefile", "config.yaml", "profiles/default/config.yaml"])
def test_nothing_is_overwritten_and_nothing_half_made(tmp_path: Path, name: str) -> None:
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_text("mine")
    with pytest.raises(UserError, match=f"{name} already") as refused:
        make_folder(tmp_path, Wish())
    assert "name another folder" in str(refused.value)
    assert [path.read_text() for path in tmp_path.rglob("*") if path.is_file()] == ["mine"]


def test_a_project_of_the_users_keeps_its_page_and_what_git_passes_over(tmp_path: Path) -> None:
    for name in ("README.md", ".gitignore"):
        (tmp_path / name).write_text("mine")
    made = make_folder(tmp_path, Wish())
    assert {str(path) for path in made} == {"config.yaml", "Snakefile", "profiles/default/config.yaml"}
    assert [(tmp_path / name).read_text() for name in ("README.md", ".gitignore")] == ["mine", "mine"]


def test_what_else_lies_there_stays(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    make_folder(tmp_path, Wish())
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_a_wish_that_cannot_be_met_makes_nothing(tmp_path: Path) -> None:
    with pytest.raises(UserError):
        make_folder(tmp_path / "new", Wish(chatbots=[Model("a", "b")]))
    assert not (tmp_path / "new").exists()


def test_a_file_in_place_of_a_folder_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="cannot be written"):
        make_folder(tmp_path / "file" / "folder", Wish())


def test_environments_of_jobs_need_the_project(tmp_path: Path) -> None:
    assert PROJECT.samefile(ROOT)
    check_can_be_installed(PROJECT)
    with pytest.raises(UserError, match="--sdm"):
        check_can_be_installed(tmp_path)


def test_a_project_whose_folder_snakemake_cannot_read_is_reported(tmp_path: Path) -> None:
    check_name(PROJECT)
    with pytest.raises(
        UserError, match="and Snakemake reads the braces in its name as a wildcard; rename or move that folder"
    ):
        check_name(tmp_path / "{mine}" / "DialEval")


def test_only_endpoints_need_a_key(tmp_path: Path) -> None:
    chatbots = [Model("retrieval"), Model("ngram")]
    make_folder(tmp_path / "offline", Wish(chatbots=chatbots, judges=[Model("forest")]))
    make_folder(tmp_path / "asking", Wish(chatbots=chatbots, judges=[Model("gpt", "gpt-4o-2024-11-20")]))
    assert "export OPENAI" not in (tmp_path / "offline" / "README.md").read_text()
    assert "export OPENAI_API_KEY" in (tmp_path / "asking" / "README.md").read_text()


# Criteria, pairs and labels.


def test_criteria_pairs_and_labels_reach_the_configuration(tmp_path: Path) -> None:
    question = 'Is it "tactful": kind, and #1?'
    wish = Wish(judges=[JUDGE], dialogues=TRANSCRIPTS, criteria={"tact": question, "overall": ""}, labels=20)
    config = made(wish, tmp_path)
    assert config.criteria["tact"].question == question
    protocols = config.resolved_protocols()
    assert protocols["quality"].criteria == ["tact", "overall"]
    assert "better" in protocols
    assert config.labels is not None
    assert (str(config.labels.path), config.labels.n) == ("labels", 20)
    alone = made(Wish(judges=[JUDGE], dialogues=TRANSCRIPTS, pairs=False), tmp_path)
    assert set(alone.resolved_protocols()) == {"quality"}
    assert alone.labels is None


def test_chatbots_are_scored_and_compared_on_request() -> None:
    config = made(Wish(chatbots=TWO, judges=[JUDGE], criteria={"engagingness": ""}, pairs=True))
    protocols = config.resolved_protocols()
    assert set(protocols) == {"unieval", "arena", "gteval", "quality", "better"}
    assert protocols["quality"].data.source == protocols["better"].data.source == ["selfchat"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--criterion", "coherense"], "did you mean 'coherence'.*--criterion 'coherense=QUESTION'"),
        (["--criterion", "overall=Is it good?"], "'overall' is a criterion of DialEval"),
        (["--criterion", "is it good?"], "write --criterion 'NAME=QUESTION'"),
        (["--criterion", "tact="], "write --criterion 'NAME=QUESTION'"),
        (["--judge", "forest", "--criterion", "tact=Is it tactful?"], "forest"),
        (["--judge", "forest", "--pairs"], "--pairs: the dialogues are of one, and no two systems share a case"),
        (["--system", "one", "--judge", "j=m", "--pairs"], "no two systems share a case"),
        (["--labels", "0"], "labels.n"),
        (["--labels", "20"], "there is no judge"),
    ],
)
def test_a_wrong_criterion_pair_or_number_of_labels_makes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    from dialeval.cli.main import main

    file = tmp_path / "talks.csv"
    system = "" if "--system" in arguments else "system,"
    file.write_text(f"dialogue_id,{system}speaker,text\n1,{'' if not system else 'one,'}assistant,Hello\n")
    judge = [] if "--judge" in arguments or arguments == ["--labels", "20"] else ["--judge", "j=m"]
    assert main(["init", str(tmp_path / "new"), "--dialogues", str(file), *judge, *arguments]) == 1
    assert re.search(words, capsys.readouterr().err)
    assert not (tmp_path / "new").exists()
