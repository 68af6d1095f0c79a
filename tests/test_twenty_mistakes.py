"""Twenty ordinary mistakes: what stands in the last five lines on the screen must suffice to mend each.

Each row is a mistake, what a user sees of it last, and the words that say what to do. Mistakes of a configuration or of
data are made for real; of jobs, the log is what a stage or an engine really says, and the last words are made of it.
`tests/workflow/test_mistakes_when_started.py` makes some of them with Snakemake itself.
"""

from __future__ import annotations

import asyncio
import errno
import io
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from config_example import BASE
from loopback_endpoint import LoopbackEndpoint, Reply, refusal

from dialeval.config import OpenAIModel, load_config
from dialeval.config.files import check_files
from dialeval.engines import cl100k, installation
from dialeval.engines.answering import Answering
from dialeval.engines.availability import cannot_compute_here
from dialeval.engines.openai_api.engine import OpenAIEngine
from dialeval.engines.openai_api.retries import RetryPolicy
from dialeval.engines.requests import AnswerFailure, Message, Request
from dialeval.engines.store import ResponseStore
from dialeval.errors import UserError
from dialeval.jobs import lifecycle
from dialeval.jobs.failure_summary import FailedJob, cause_in, exit_message, summary_text
from dialeval.jobs.progress import Progress
from dialeval.jobs.run_progress import unknown_target
from dialeval.planning.preflight import check_transcripts, checked_config
from dialeval.stages import command

LAST = 5
SNAKEFILE = Path(__file__).parents[1] / "Snakefile"


@dataclass
class Desk:
    """Where a mistake is made: a folder of the user's own, and what a test may change for a while."""

    folder: Path
    patch: pytest.MonkeyPatch

    def config(self, **changes: Any) -> str:
        """Return what is said of a configuration with changes of its top level."""
        return message_of(
            lambda: checked_config({**BASE, **changes}, (), asks=True, reads=True, own_environments=False)
        )

    def file(self, name: str, content: str | bytes) -> Path:
        path = self.folder / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def transcripts(self, content: str | bytes) -> str:
        """Return what is said of a file of transcripts."""
        self.file("talks.jsonl", content)
        raw = {"data_dir": str(self.folder), "models": {"forest": BASE["models"]["forest"]}, "judges": ["forest"]}
        raw |= {"transcripts": {"talks": {"path": "talks.jsonl"}}}
        raw |= {"protocols": {"mine": {"form": "scale", "data": {"source": "talks"}, "criteria": ["overall"]}}}
        config = load_config(raw)
        return message_of(lambda: check_transcripts(config, ["talks"]))

    def asked(self, url: str, key: str | None = None) -> str:
        """Return the end of a run whose judge is asked at an address with the key of a variable."""
        return end_of_job(asyncio.run(self._ask(url, key)))

    async def _ask(self, url: str, key: str | None) -> str:
        model = OpenAIModel(engine="openai", model="gpt-x", base_url=url, api_key_env=key, patience_seconds=0)
        engine = OpenAIEngine(model, retrying=RetryPolicy(2, 1, 0.01, 0.02))
        with ResponseStore(self.folder / "store", identity=engine.identity, name="gpt", protocol="unieval") as store:
            answering = Answering(engine, store, Progress("unieval by gpt", 1, "answers", stream=io.StringIO()))
            try:
                with suppress(AnswerFailure):
                    await answering.ask(Request("unieval/1", "unieval", "chat", (Message("user", "Hi"),)))
                answering.check_failures()
            except UserError as error:
                return f"error in answer: {error}\n"
            finally:
                await engine.close()
        raise AssertionError("nothing failed")


def message_of(act: Callable[[], object]) -> str:
    with pytest.raises(UserError) as caught:
        act()
    return str(caught.value)


def end_of_job(log: str, *, ended: str = "exit status 1") -> str:
    """Return the last words of a run in which a job with this log failed."""
    cause = cause_in(log)
    cause += exit_message(ended, known=bool(cause))
    job = FailedJob("answer (gpt, unieval)", cause, [Path("results/logs/responses/gpt/unieval/1-of-1.log")])
    return summary_text([job], ["snakemake", "--cores", "8"])


def stage_that(fails: Callable[[], None], desk: Desk) -> str:
    """Return the end of a run in which a stage failed so."""
    written = io.StringIO()
    desk.patch.setattr(sys, "argv", ["answer.py"])
    desk.patch.setattr(command.signal, "signal", lambda *_: None)
    with redirect_stderr(written), pytest.raises(SystemExit):
        command.run(fails)
    return end_of_job(written.getvalue())


def full_disk(desk: Desk) -> str:
    def fails() -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "store/gpt/answers.jsonl")

    return stage_that(fails, desk)


def dead_endpoint(desk: Desk) -> str:
    with LoopbackEndpoint(lambda _: Reply(refusal("upstream is down"), status=503)) as endpoint:
        return desk.asked(endpoint.url)


def wrong_key(desk: Desk) -> str:
    with LoopbackEndpoint(lambda _: Reply(refusal("Incorrect API key provided"), status=401)) as endpoint:
        return desk.asked(endpoint.url)


def unknown_model(desk: Desk) -> str:
    with LoopbackEndpoint(lambda _: Reply(refusal("The model `gpt-x` does not exist"), status=404)) as endpoint:
        return desk.asked(endpoint.url)


def no_gpu(desk: Desk) -> str:
    desk.patch.setattr(installation, "version", lambda name: "0.32.0")
    desk.patch.setattr(installation, "entry_points", lambda group: ())
    desk.patch.setattr(installation, "vllm_build", lambda: "cuda")
    desk.patch.setattr(installation, "gpus_of_the_driver", lambda: 0)
    model = load_config(BASE).models["local"]
    return f"models.local: {cannot_compute_here(model)}"


def no_vocabulary(desk: Desk) -> str:
    """A file that is named and is not the vocabulary; without one, words are counted, and the page says so."""
    wrong = desk.file("cl100k_base.tiktoken", "not it")
    return message_of(lambda: cl100k.folder_with_vocabulary(wrong))


def another_run(desk: Desk) -> str:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(desk.folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        try:
            return message_of(lambda: lifecycle.refuse_second_run(desk.folder))
        finally:
            holder.kill()


HOLDER = """
import sys
from pathlib import Path
from dialeval.jobs import lifecycle
lifecycle.lock_results(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""


def old_python(desk: Desk) -> str:
    """The first lines of the Snakefile, as Python 3.10 would run them."""
    head = SNAKEFILE.read_text(encoding="utf-8").partition("from snakemake.utils")[0]
    desk.patch.setattr(sys, "version_info", (3, 10, 12, "final", 0))
    with pytest.raises(SystemExit) as caught:
        exec(compile(head, "Snakefile", "exec"), {})
    return str(caught.value)


TALK = '{"dialogue_id": "d1", "system": "amber", "utterances": ["Hi.", "Hello."]}\n'

MISTAKES: dict[str, tuple[Callable[[Desk], str], list[str]]] = {
    "unknown target": (
        lambda desk: unknown_target("metaevl", ["all", "metaeval", "report"]),
        ["'metaevl'", "did you mean 'metaeval'?", "Targets: all, metaeval, report"],
    ),
    "old Python": (old_python, ["this is Python 3.10", "needs 3.11 or newer", "pip install"]),
    "TAB in YAML": (
        lambda desk: message_of(lambda: check_files([desk.file("mine.yaml", "models:\n\ta: {}\n")])),
        ["mine.yaml, line 2", "TAB", "spaces"],
    ),
    "configuration not in UTF-8": (
        lambda desk: message_of(lambda: check_files([desk.file("mine.yaml", b"# caf\xe9\nmodels: {}\n")])),
        ["mine.yaml, line 1", "UTF-8", "save the file"],
    ),
    "empty configuration": (
        lambda desk: message_of(lambda: check_files([desk.file("mine.yaml", "")])),
        ["mine.yaml is empty", "docs/configuration.md"],
    ),
    "text where a list belongs": (
        lambda desk: desk.config(judges="forest", chatbots=["retrieval"]),
        ["judges: 'forest'", "list", "[forest]"],
    ),
    "misspelt field": (
        lambda desk: desk.config(jugdes=["forest"], chatbots=["retrieval"]),
        ["jugdes", "no such field", "did you mean 'judges'?"],
    ),
    "judge that is no model": (
        lambda desk: desk.config(judges=["florest"], chatbots=["retrieval"]),
        ["florest", "did you mean 'forest'?"],
    ),
    "key that is not set": (
        lambda desk: desk.asked("http://127.0.0.1:9/v1", "A_KEY_THAT_IS_NOT_SET"),
        ["model 'gpt-x'", "A_KEY_THAT_IS_NOT_SET", "export A_KEY", "run the same command again", "api_key_env: null"],
    ),
    "data file that is not there": (
        lambda desk: desk.config(
            data_dir=str(desk.folder), transcripts={"talks": {"path": "tlaks.jsonl"}}, chatbots=["retrieval"]
        ),
        ["transcripts.talks", "tlaks.jsonl"],
    ),
    "data not in UTF-8": (
        lambda desk: desk.transcripts(TALK.encode() + b'{"dialogue_id": "caf\x8e"}\n'),
        ["transcripts.talks", "talks.jsonl", "line 2", "UTF-8"],
    ),
    "repeated ids": (
        lambda desk: desk.transcripts(TALK + TALK.replace("Hello.", "Who is it?")),
        ["transcripts.talks", "talks.jsonl", "'d1'", "line 1; line 2", "other ids"],
    ),
    "missing column": (
        lambda desk: desk.transcripts('{"dialogue_id": "d1", "utterances": ["Hi.", "Hello."]}\n'),
        ["transcripts.talks", "talks.jsonl", "system"],
    ),
    "endpoint that is down": (dead_endpoint, ["503", "upstream is down", "log", "stored", "unieval/1-of-1.log"]),
    "wrong key": (wrong_key, ["401", "Incorrect API key", "api_key_env", "unieval/1-of-1.log"]),
    "unknown model": (unknown_model, ["404", "The model `gpt-x` does not exist", "base_url"]),
    "port where nobody listens": (
        lambda desk: desk.asked("http://127.0.0.1:9/v1"),
        ["127.0.0.1", "is running", "base_url"],
    ),
    "full disk": (full_disk, ["store/gpt/answers.jsonl", "No space left on device", "fix this"]),
    "killed job": (
        lambda desk: end_of_job("", ended="signal 9"),
        ["answer (gpt, unieval)", "killed (signal 9)", "memory", "--cores"],
    ),
    "run in the same folder": (another_run, ["another run (process ", "wait for it", "--config results_dir="]),
    "wrong vocabulary": (no_vocabulary, ["cl100k_base.tiktoken", "cl100k_base vocabulary"]),
    "vLLM without a GPU": (no_gpu, ["models.local", "this machine has none", "engine: openai"]),
}


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "unused")
    monkeypatch.delenv("A_KEY_THAT_IS_NOT_SET", raising=False)
    monkeypatch.setattr("dialeval.engines.availability.vllm_missing", lambda: None)
    return Desk(tmp_path, monkeypatch)


@pytest.mark.parametrize("mistake", MISTAKES)
def test_the_last_five_lines_suffice_to_mend(mistake: str, desk: Desk) -> None:
    make, words = MISTAKES[mistake]
    shown = [line for line in make(desk).splitlines() if line.strip()]
    end = "\n".join(shown[-LAST:])
    for word in words:
        assert word in end, "\n".join(shown)
    assert "Traceback" not in end


def test_there_are_twenty() -> None:
    assert len(MISTAKES) >= 20
