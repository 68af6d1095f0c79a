"""What a run needs is told line by line: what is here, and what is missing with its remedy."""

from __future__ import annotations

import fcntl
import io
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from loopback_endpoint import Call, LoopbackEndpoint, Reply, completion, refusal
from workspace import ROOT, SMALL

from dialeval.cli.check import MAX_TOKENS, Finding, State, probe_models
from dialeval.cli.main import main
from dialeval.config.configuration import Config
from dialeval.config.loading import load_config
from dialeval.engines.spending import prices

ENDPOINT = {"engine": "openai", "model": "m", "base_url": "http://localhost:9/v1"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the small configuration, in which the command is typed."""
    monkeypatch.chdir(tmp_path)
    configure(tmp_path)
    return tmp_path


def configure(folder: Path, **changes: Any) -> None:
    (folder / "config.yaml").write_text(yaml.safe_dump({**SMALL, **changes}))


def lines_by_status(capsys: pytest.CaptureFixture[str], *options: str, status: int) -> dict[str, list[str]]:
    """Return the lines of the command, by state, but for the first word."""
    assert main(["check", *options]) == status
    lines: dict[str, list[str]] = {"ok": [], "note": [], "missing": []}
    found, _, following = capsys.readouterr().out.partition("next:\n")
    assert ("run the same command again" in following) is bool(status)
    assert ("snakemake estimate" in following) is (not status)
    for line in found.splitlines():
        state, _, rest = line.partition(" ")
        if state:
            lines[state].append(" ".join(rest.split()))
        else:  # a line that goes on
            lines["more"] = [*lines.get("more", []), rest.strip()]
    return lines


def test_where_all_is_here_it_says_so(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = lines_by_status(capsys, status=0)
    assert lines["missing"] == []
    assert "models.forest engine embedded" in lines["ok"]
    assert not list((folder / "results").rglob("*"))


def test_another_folder_and_another_file(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "elsewhere").mkdir()
    monkeypatch.chdir(folder / "elsewhere")
    assert "configuration config.yaml is valid" in " ".join(lines_by_status(capsys, "..", status=0)["ok"])
    (folder / "other.yaml").write_text((folder / "config.yaml").read_text())
    monkeypatch.chdir(folder)
    assert "other.yaml is valid" in " ".join(
        lines_by_status(capsys, "elsewhere", "--configfile", "other.yaml", status=0)["ok"]
    )


def test_a_variable_that_is_not_set(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("MY_KEY", raising=False)
    configure(folder, models={**SMALL["models"], "gpt": {**ENDPOINT, "api_key_env": "MY_KEY"}}, judges=["gpt"])
    (line,) = lines_by_status(capsys, status=1)["missing"]
    assert line.startswith("models.gpt the environment variable MY_KEY")
    assert "export it" in line
    monkeypatch.setenv("MY_KEY", "secret-0123456789")
    assert lines_by_status(capsys, status=0)["missing"] == []


def sending(folder: Path, address: str = ENDPOINT["base_url"]) -> None:
    """Write a configuration whose two models send keys to an address."""
    models = {
        "gpt": {**ENDPOINT, "base_url": address, "api_key_env": "MY_KEY"},
        "other": {**ENDPOINT, "base_url": address, "api_key_env": "MY_KEY", "headers_env": {"x-team": "MY_TEAM"}},
        "unused": {**ENDPOINT, "base_url": "https://unused.example/v1", "api_key_env": "UNUSED"},
    }
    configure(folder, models={**SMALL["models"], **models}, judges=["gpt", "other"])


@pytest.mark.parametrize(
    ("address", "host"),
    [
        ("https://models.example.org:8443/v1", "models.example.org:8443"),
        ("http://localhost:9/v1", "localhost:9 (unencrypted, http)"),
        ("https://аpi.openai.com/v1", "xn--pi-6kc.openai.com"),  # the first letter is Cyrillic
    ],
)
def test_the_destination_of_each_key_is_reported(
    address: str, host: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MY_KEY", "secret-0123456789")
    monkeypatch.setenv("MY_TEAM", "team-0123456789")
    sending(folder, address)
    notes = [line for line in lines_by_status(capsys, status=0)["note"] if line.startswith("keys ")]
    assert notes == [
        f"keys the value of $MY_KEY is sent to {host} as the key, by models.gpt, models.other",
        f"keys the value of $MY_TEAM is sent to {host} in the header x-team, by models.other",
    ]
    monkeypatch.delenv("MY_KEY")
    assert [line for line in lines_by_status(capsys, status=1)["note"] if line.startswith("keys ")] == notes


@pytest.mark.parametrize("answer", [None, "", "n", "y", "YES"])
def test_no_key_is_sent_before_the_user_says_so(
    answer: str | None, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    loaded: list[Config] = []

    def probe_models(config: Config) -> list[Finding]:
        loaded.append(config)
        return [Finding(State.OK, "models.gpt", "was asked")]

    monkeypatch.setattr("dialeval.cli.check.probe_models", probe_models)
    monkeypatch.setenv("MY_KEY", "secret-0123456789")
    monkeypatch.setenv("MY_TEAM", "team-0123456789")
    monkeypatch.setattr("sys.stdin", TerminalOrNot(answer))
    sending(folder)
    accepts = answer in ("y", "YES")
    assert main(["check", "--ask"]) == (0 if accepts else 1)
    out, err = capsys.readouterr()
    assert len(loaded) == accepts
    assert ("was asked" in out) == accepts
    assert "the value of $MY_KEY is sent to localhost:9" in out
    assert ("add --yes" in err) == (not accepts)
    assert main(["check", "--ask", "--yes"]) == 0
    assert len(loaded) == accepts + 1
    configure(folder)
    assert main(["check", "--ask"]) == 0  # no key is to be sent


class TerminalOrNot(io.StringIO):
    """Standard input: what a user types, or no terminal."""

    def __init__(self, answer: str | None) -> None:
        super().__init__(f"{answer}\n")
        self.is_terminal = answer is not None

    def isatty(self) -> bool:
        return self.is_terminal


def test_what_a_foreign_configuration_could_do_is_reported(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "data").mkdir()
    configure(folder, data_dir="data", store_dir="../store", results_dir=str(folder / "results"))
    (line,) = [line for line in lines_by_status(capsys, status=0)["note"] if line.startswith("files ")]
    assert line.startswith(
        "files the configuration names files outside this folder: ../store; a run reads them, or writes"
    )
    configure(folder, data_dir="data")
    assert [line for line in lines_by_status(capsys, status=0)["note"] if line.startswith("files ")] == []


def test_transcripts_are_read(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copy(ROOT / "configs" / "transcripts" / "support.jsonl", folder / "mine.jsonl")
    configure(
        folder,
        chatbots=[],
        data_dir=".",
        transcripts={"mine": {"path": "mine.jsonl"}},
        protocols={"quality": {"form": "scale", "data": {"source": "mine"}, "criteria": ["overall"]}},
    )
    lines = lines_by_status(capsys, status=0)
    assert "transcripts.mine mine.jsonl can be read" in lines["ok"]
    assert "judged: assistant 72 (utterances)" in lines["more"]
    assert any(line.startswith("example ") and "user: " in line for line in lines["more"])
    with (folder / "mine.jsonl").open("a") as file:
        file.write(json.dumps({"dialogue_id": "x", "utterances": 7}) + "\n")
    (line,) = lines_by_status(capsys, status=1)["missing"]
    assert "mine.jsonl, line 37" in line


def test_a_full_disk_is_reported(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: type("Usage", (), {"free": 2e8}))
    lines = lines_by_status(capsys, status=1)["missing"]
    assert lines == [f"{name} only 0.2 GB are free; make room, or name another folder" for name in ("results", "store")]


def test_a_run_that_is_under_way_is_reported(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "results").mkdir()
    with (folder / "results" / ".run.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        (line,) = lines_by_status(capsys, status=1)["missing"]
    assert "another run" in line


def test_a_configuration_with_mistakes_ends_the_look(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    configure(folder, chatbots=["nobody"])
    assert main(["check"]) == 1
    assert "error in check: the configuration has" in capsys.readouterr().err
    assert main(["check", "nowhere"]) == 1
    assert "nowhere cannot be entered" in capsys.readouterr().err


# One short question to each model: what it shows of key, name and address, and that it is never more than one.

KEY = "secret-0123456789"


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", KEY)
    monkeypatch.setenv(prices.VARIABLE, "{}")  # so that what is announced does not outlive the test


def answered(call: Call) -> Reply:
    """Answers as an endpoint that knows one key and one model does."""
    if call.headers.get("authorization") != f"Bearer {KEY}":
        return Reply(refusal("no such key", code="invalid_api_key"), 401)
    if call.body["model"] == "shy":
        return Reply(completion("", finish="length"))
    if call.body["model"] != "known":
        return Reply(refusal("no such model"), 404)
    return Reply(completion("Yes, indeed."))


def configured(url: str, tmp_path: Path, models: dict[str, dict[str, Any]], **more: Any) -> Config:
    whole = {
        name: {"engine": "openai", "model": "known", "base_url": url, "api_key_env": "MY_KEY", **fields}
        for name, fields in models.items()
    }
    raw = {
        "models": {**whole, "forest": {"engine": "embedded", "method": "forest"}},
        "chatbots": list(whole),
        "judges": ["forest"],
        "corpora": {"bundled": {"reader": "bundled", "language": "en"}},
        "seeds": {"corpus": "bundled"},
        "store_dir": str(tmp_path / "store"),
        **more,
    }
    return load_config(raw)


@pytest.mark.usefixtures("key")
def test_each_model_gets_one_cheap_request(tmp_path: Path) -> None:
    with LoopbackEndpoint(answered) as endpoint:
        found = probe_models(configured(endpoint.url, tmp_path, {"one": {}, "two": {"batch": True}}))
    assert [(one.state, one.about) for one in found] == [(State.OK, "models.one"), (State.OK, "models.two")]
    assert found[0].words == "was sent a request; response: 'Yes, indeed.' (11 tokens read, 3 written)"
    assert [call.body["max_tokens"] for call, _ in endpoint.log] == [MAX_TOKENS, MAX_TOKENS]


@pytest.mark.usefixtures("key")
def test_errors_have_the_remedy_and_not_the_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WRONG_KEY", "wrong-0123456789")
    models: dict[str, dict[str, Any]] = {
        "unknown": {"model": "unknown"},
        "stranger": {"api_key_env": "WRONG_KEY"},
        "nowhere": {"base_url": "http://127.0.0.1:9/v1"},
        "shy": {"model": "shy"},
    }
    with LoopbackEndpoint(answered) as endpoint:
        found = {one.about: one for one in probe_models(configured(endpoint.url, tmp_path, models))}
    remedies = {about.removeprefix("models."): one.words for about, one in found.items()}
    assert "correct `model`, or `base_url`" in remedies["unknown"]
    assert "set the variable that `api_key_env` names to the right key" in remedies["stranger"]
    assert "start the endpoint, or correct `base_url`" in remedies["nowhere"]
    assert [one.state for one in found.values()] == [State.MISSING, State.MISSING, State.MISSING, State.OK]
    assert not any("0123456789" in words for words in remedies.values())
    assert len(endpoint.log) == 3, "nothing is tried again"


@pytest.mark.usefixtures("key")
def test_prices_are_printed_and_spending_is_written_down(tmp_path: Path) -> None:
    priced = {"price_input": 1000.0, "price_output": 2000.0}
    with LoopbackEndpoint(answered) as endpoint:
        (found,) = probe_models(configured(endpoint.url, tmp_path, {"one": priced}, budget=1.0))
        assert found.words.endswith(" for 0.017000")
        spent = [path.read_text() for path in (tmp_path / "store").rglob("*") if path.is_file()]
        assert any(json.dumps("check") in text for text in spent), spent


@pytest.mark.usefixtures("key")
def test_a_used_up_budget_sends_no_request(tmp_path: Path) -> None:
    priced = {"price_input": 1e6, "price_output": 1e6}
    with LoopbackEndpoint(answered) as endpoint:
        (found,) = probe_models(configured(endpoint.url, tmp_path, {"one": priced}, budget=1.0))
    assert found.state is State.MISSING
    assert "budget" in found.words
    assert endpoint.log == []
