"""The README's example and the tutorials on transcripts and labels, typed as they are printed."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import yaml
from doc_claims import FENCE
from loopback_endpoint import Call, LoopbackEndpoint, Reply, completion
from workspace import ROOT, Workspace, new_workspace

from dialeval.cli.main import main
from dialeval.labels import simulated

pytestmark = pytest.mark.workflow
NUMBER = re.compile(r"\d+\.\d+")


def judge(call: Call) -> Reply:
    """Prefers the first dialogue and gives each criterion of the prompt a 4."""
    if first := re.search(r"Choice: (.+), if the first dialogue is better", call.text):
        return Reply(completion(f"Choice: {first[1]}\nReason: It helps."))
    return Reply(completion("\n".join(f"{name} - 4" for name in re.findall(r"^(\w+) - x$", call.text, re.MULTILINE))))


@dataclass
class Reader:
    """Types the commands of a page in a folder, and edits the files that it shows.

    Attributes:
        folder: where the next command is typed.
        url: the address of the endpoint that stands in for OpenAI's.
        output: what Snakemake printed last.
    """

    folder: Path
    url: str
    output: str = ""
    typed: list[str] = field(default_factory=list)

    def follow(self, page: str, start: str = "", end: str = "\0") -> None:
        """Follow a page from one heading to another."""
        text = (ROOT / page).read_text(encoding="utf-8")
        text = text.partition(start)[2] if start else text
        for kind, name, content in FENCE.findall(text.partition(end)[0]):
            if kind == "bash":
                for line in content.splitlines():
                    self.type(shlex.split(line, comments=True))
            elif kind == "yaml" and name:
                self.write(name.strip(), content)
            elif kind == "text":
                self.compare(content)

    def type(self, words: list[str]) -> None:
        """Type one command."""
        self.typed.append(shlex.join(words))
        program, *arguments = words
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(self.folder)
            if program == "cd":
                self.folder /= arguments[0]
            elif program == "dialeval":
                assert main(arguments) == 0
                if arguments[0] == "init":
                    made = self.folder / arguments[1]
                    (made / "workflow").symlink_to(Path(os.environ["WORKSPACE_PROJECT"]) / "workflow")
                    self.ask_here(made / "config.yaml")
            elif program == "snakemake":
                process = Workspace(self.folder).start(*arguments, cores=None, warm=True)
                self.output = process.communicate()[0]
                assert process.returncode == 0, self.output
            elif words[:3] == ["python", "-m", "dialeval.labels.simulated"]:
                simulated.main(words[3:])
            else:
                assert program in ("pip", "export"), words

    def write(self, name: str, content: str) -> None:
        """Write a file that the page shows, or the sections of one that is there."""
        path = self.folder / Path(name).name
        sections = yaml.safe_load(path.read_text("utf-8")) if path.exists() else {}
        path.write_text(yaml.safe_dump(sections | yaml.safe_load(content)), encoding="utf-8")
        self.ask_here(path)

    def ask_here(self, path: Path) -> None:
        """Replace OpenAI's address by the test's."""
        config = yaml.safe_load(path.read_text("utf-8"))
        for model in config["models"].values():
            if model["engine"] == "openai":
                model["base_url"] = self.url
        path.write_text(yaml.safe_dump(config), encoding="utf-8")

    def compare(self, shown: str) -> None:
        """Check that the run printed the numbers of every line that the page shows."""
        printed = [(line.split()[:1], set(NUMBER.findall(line))) for line in self.output.splitlines()]
        for line in shown.splitlines():
            assert any(
                name == line.split()[:1] and set(NUMBER.findall(line)) <= numbers for name, numbers in printed
            ), f"{line}\n{self.output}"


@pytest.fixture
def reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Reader]:
    """Someone who reads the documentation in the project's folder."""
    workspace = new_workspace(tmp_path / "project")
    shutil.copytree(ROOT / "configs", workspace.folder / "configs")
    shutil.copy(ROOT / "configs" / "transcripts" / "support.jsonl", workspace.folder / "chats.jsonl")
    monkeypatch.setenv("OPENAI_API_KEY", "secret-0123456789")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with LoopbackEndpoint(judge) as endpoint:
        yield Reader(workspace.folder, endpoint.url)


def test_the_tutorials_on_transcripts_and_labels(reader: Reader) -> None:
    project = reader.folder
    reader.follow("docs/tutorial-transcripts.md", end="## 5.")
    reader.follow("docs/tutorial-labels.md")
    assert reader.folder == project / "study"
    assert (
        len(Workspace(reader.folder).stored("forest/*")) == 36
    )  # one request for each dialogue, before and after labels
    assert len([words for words in reader.typed if words.startswith("snakemake")]) == 3


def test_the_tutorials_own_file_with_an_llm_judge(reader: Reader) -> None:
    reader.follow("docs/tutorial-transcripts.md", start="## 5.")
    assert all(
        (reader.folder / f"results/tables/{table}.csv").is_file() for table in ("quality/means", "better/win_rates")
    )


def test_the_readmes_example(reader: Reader) -> None:
    reader.follow("README.md", start="## Your transcripts", end="## The four papers")
    assert {path.name for path in (reader.folder / "results/labels/pages").iterdir()} == {"anna", "ben"}
    assert all(
        (reader.folder / f"results/tables/{table}.csv").is_file() for table in ("quality/means", "better/win_rates")
    )
