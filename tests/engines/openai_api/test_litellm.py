"""A real LiteLLM proxy, whose models say what its configuration tells them: no maker is asked.

It is another program with many libraries, so it has an environment of its own:

    python -m venv litellm && litellm/bin/pip install 'litellm[proxy]'
    DIALEVAL_LITELLM=litellm/bin/litellm pytest -m slow tests/engines/openai_api/test_litellm.py
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from scripted import chat_request

from dialeval.engines.requests import AnswerFailure, Response

pytestmark = pytest.mark.slow
CONFIGURATION = """
model_list:
  - model_name: told
    litellm_params: {model: openai/told, api_key: none, mock_response: "Choice: Yes"}
  - model_name: busy
    litellm_params: {model: openai/busy, api_key: none, mock_response: litellm.RateLimitError}
general_settings: {master_key: os.environ/PROXY_KEY}
litellm_settings: {num_retries: 0}
"""


@pytest.fixture(scope="module")
def proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a proxy that runs."""
    program = os.environ.get("DIALEVAL_LITELLM") or shutil.which("litellm")
    if not program:
        pytest.skip("needs LiteLLM: pip install 'litellm[proxy]', and its path in DIALEVAL_LITELLM")
    folder: Path = tmp_path_factory.mktemp("litellm")
    (folder / "litellm.yaml").write_text(CONFIGURATION)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [program, "--config", "litellm.yaml", "--host", "127.0.0.1", "--port", str(port)]
    environment = {**os.environ, "PROXY_KEY": "sk-of-the-proxy", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
    try:
        for _ in range(1200):
            assert process.poll() is None, (folder / "log").read_text()[-3000:]
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/health/liveliness", timeout=5).close()
                break
            except (urllib.error.URLError, OSError):
                time.sleep(0.1)
        else:
            raise AssertionError((folder / "log").read_text()[-3000:])
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        process.wait(30)


def test_an_answer_and_its_tokens(proxy, ask_all, monkeypatch) -> None:
    monkeypatch.setenv("PROXY_KEY", "sk-of-the-proxy")
    (answer,) = ask_all(proxy, [chat_request("Is it a machine?")], model="told", api_key_env="PROXY_KEY")
    assert isinstance(answer, Response)
    assert answer.text == "Choice: Yes"
    assert answer.prompt_tokens
    assert answer.completion_tokens


@pytest.mark.parametrize(
    ("key", "model", "kind", "words"),
    [
        # status 400 for both: without a database behind it LiteLLM cannot look a key up, and it has no 404 for models
        ("sk-of-another", "told", "bad_request", "No connected db"),
        ("sk-of-the-proxy", "nobody", "bad_request", "Invalid model name passed in model=nobody"),
        ("sk-of-the-proxy", "busy", "rate_limit", "RateLimitError"),
    ],
)
def test_what_the_proxy_refuses(proxy, ask_all, monkeypatch, key: str, model: str, kind: str, words: str) -> None:
    monkeypatch.setenv("PROXY_KEY", key)
    few = {"max_tries": 2, "max_total_seconds": 5.0}  # refusals as too many are borne longer than tries that fail
    (failure,) = ask_all(proxy, [chat_request("Hello?")], model=model, api_key_env="PROXY_KEY", **few)
    assert isinstance(failure, AnswerFailure)
    assert failure.kind == kind
    assert words in str(failure)
    assert key not in str(failure)
