"""The key appears nowhere: not in files, output, logs, exceptions or representations, in no spelling."""

from __future__ import annotations

import asyncio
import base64
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from loopback_endpoint import Call, LoopbackEndpoint, Reply, completion

from dialeval.config import OpenAIModel, load_config
from dialeval.engines.openai_api.connection import Connection
from dialeval.engines.openai_api.engine import OpenAIEngine
from dialeval.engines.openai_api.retries import Redactor
from dialeval.engines.openai_api.wire_format import openai_identity
from dialeval.engines.requests import Message, Request
from dialeval.errors import UserError

KEY = "sk-proj-Zq81+TbW/7yhNcP3~dKe5.RxVm"
SECOND = "header-secret-4711-abcdefgh"

JOB = """
import asyncio, logging, sys, traceback
from pathlib import Path

logging.basicConfig(level=logging.DEBUG, stream=sys.stdout)
from dialeval.config import OpenAIModel
from dialeval.engines.answering import Answering
from dialeval.engines.openai_api.batch_client import BatchClient
from dialeval.engines.openai_api.engine import OpenAIEngine
from dialeval.engines.openai_api.retries import RetryPolicy
from dialeval.engines.requests import AnswerFailure, Message, Request
from dialeval.engines.store import ResponseStore
from dialeval.errors import UserError
from dialeval.jobs.progress import Progress

def everything_about(error):
    seen = set()
    error = error if isinstance(error, BaseException) else None
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        print(repr(error), str(error), vars(error), error.args)
        print("".join(traceback.TracebackException.from_exception(error, capture_locals=True).format()))
        error = error.__cause__ or error.__context__

async def main(url, store):
    model = OpenAIModel(engine="openai", model="m", base_url=url, api_key_env="SOME_KEY", max_tries=2,
                        headers_env={"X-Api-Key": "SOME_HEADER"}, timeout_seconds=1, patience_seconds=0)
    engine = OpenAIEngine(model, retrying=RetryPolicy(2, 10, 0.01, 0.02))
    print(repr(engine), str(engine), repr(engine.connection), repr(engine._limits), engine.identity, repr(model))
    with ResponseStore(store, identity=engine.identity, name="m", protocol="unieval") as kept:
        answering = Answering(engine, kept, Progress("test", None, "answers", every=0), max_failure_share=0.0)
        for kind in KINDS:
            try:
                await answering.ask(Request(f"r/{kind}", "unieval", "chat", (Message("user", kind),)))
            except AnswerFailure as error:
                everything_about(error)
        await engine.close()
        try:
            answering.check_failures()
        except UserError as error:
            everything_about(error)
    for url in ("http://127.0.0.1:1/v1", url):
        engine = OpenAIEngine(model.model_copy(update={"base_url": url}), retrying=RetryPolicy(2, 10, 0.01, 0.02))
        for _ in range(20):
            try:
                await engine.answer(Request("r", "unieval", "chat", (Message("user", "401"),)))
            except AnswerFailure:
                pass
            except UserError as error:
                everything_about(error)
                break
        else:
            raise SystemExit("the breaker did not open")
        await engine.close()
    async with BatchClient(engine.connection, 1) as client:  # the library below it logs headers
        print(repr(client), str(client))
        for kind in KINDS:
            everything_about(await client.post("/batches", {"prompt": kind}))

asyncio.run(main(sys.argv[1], Path(sys.argv[2])))
"""
KINDS = ["200", "201", "400", "401", "402", "403", "404", "500", "html", "list", "429", "cut", "slow"]


def spellings(secret: str) -> list[bytes]:
    """Return the ways in which a secret could be written, and the middle of each, for a part would be too much."""
    found = {secret, quote(secret, safe=""), secret.encode().hex(), f"Bearer {secret}"}
    for before in ("", "Bearer ", "x", "user:", "ab"):
        for after in ("", "x", "yz"):
            text = f"{before}{secret}{after}".encode()
            found |= {base64.b64encode(text).decode().strip("="), base64.urlsafe_b64encode(text).decode().strip("=")}
    cores = {base64.b64encode(b"\0" * shift + secret.encode()).decode()[6:-6] for shift in range(3)}
    return [text.encode() for text in found | cores | {secret[4:24]}]


def echo(call: Call) -> Reply:
    """Repeats everything that it was sent, in every spelling, in headers and body."""
    sent = call.headers.get("authorization", "") + " " + call.headers.get("x-api-key", "")
    in_base64 = base64.b64encode(sent.encode()).decode()
    url_safe = base64.urlsafe_b64encode(b"user" + sent.encode()).decode()
    echoed = f"you sent {sent}, in base64 {in_base64} or {url_safe}, quoted {quote(sent)}, in part {sent[10:26]}..."
    headers = {"X-Echo": sent, "X-Echo-64": in_base64}
    match call.text:
        case "200":
            return Reply(completion(f"a nice answer. {echoed}", reasoning=echoed), headers=headers)
        case "201":
            return Reply({"error": {"message": echoed}}, headers=headers)
        case "html":
            return Reply(f"<html>{echoed}</html>".encode(), headers=headers)
        case "list":
            return Reply([echoed], headers=headers)
        case "cut":
            return Reply(completion(echoed), headers=headers, cut=True)
        case "slow":
            return Reply(completion(echoed), headers=headers, delay=3)
        case status:
            body = {"error": {"message": echoed, "code": echoed, "type": echoed, "param": echoed}, "request": echoed}
            return Reply(body, int(status), headers | {"Retry-After": "0.01"})


def test_the_key_is_nowhere(tmp_path: Path) -> None:
    with LoopbackEndpoint(echo) as endpoint:
        environment = os.environ | {"SOME_KEY": KEY, "SOME_HEADER": SECOND}
        program = f"KINDS = {KINDS!r}\n{JOB}"
        job = subprocess.run(
            [sys.executable, "-X", "dev", "-c", program, endpoint.url, str(tmp_path / "store")],
            env=environment, capture_output=True, check=False, timeout=60,
        )  # fmt: skip
        assert job.returncode == 0, job.stderr.decode()[-2000:]
        assert all(call.headers["authorization"] == f"Bearer {KEY}" for call, _ in endpoint.log)
    texts = {str(path): path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert any(b"a nice answer" in text for text in texts.values())
    assert b"HTTP Response" in job.stdout  # everything was logged
    assert b"[secret]" in job.stdout
    texts |= {"stdout": job.stdout, "stderr": job.stderr} | {path: path.encode() for path in texts}
    for place, text in texts.items():
        for secret in (KEY, SECOND):
            for spelling in spellings(secret):
                assert spelling not in text, (
                    f"{spelling!r} in {place}: {text[max(0, text.find(spelling) - 300) :][:600]!r}"
                )


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"api_key_env": "NO_SUCH_KEY"}, "NO_SUCH_KEY, named by api_key_env, is not set.*api_key_env: null"),
        (
            {"api_key_env": None, "headers_env": {"x-key": "NO_SUCH_KEY"}},
            "NO_SUCH_KEY, named by headers_env.x-key, is not set.*remove headers_env.x-key",
        ),
    ],
)
def test_a_missing_variable_is_named_when_the_first_request_is_to_leave(
    monkeypatch: pytest.MonkeyPatch, fields: dict[str, Any], words: str
) -> None:
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    with LoopbackEndpoint(lambda _: Reply(completion("Yes"))) as endpoint:
        model = {"engine": "openai", "model": "m", "base_url": endpoint.url} | fields
        engine = OpenAIEngine(OpenAIModel.model_validate(model))
        with pytest.raises(UserError, match=f"model 'm' at {endpoint.url}.*{words}"):
            asyncio.run(engine.answer(Request("r", "arena", "chat", (Message("user", "Hi."),))))
        assert not endpoint.log


@pytest.mark.parametrize("value", ["sk-two words", "sk-line\nbreak", "sk-ümlaut"])
def test_a_key_that_no_header_can_hold_is_refused_without_showing_it(
    monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("ODD_KEY", value)
    with pytest.raises(UserError) as caught:
        _ = Connection(OpenAIModel(engine="openai", model="m", api_key_env="ODD_KEY")).headers
    assert "ODD_KEY" in str(caught.value)
    assert "sk-" not in str(caught.value)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("api_key_env", KEY),
        ("api_key_env", "gsk_4GhT7uJ9kLmN2bVc5xZq"),
        ("headers_env", {"X-Api-Key": KEY}),
        ("headers", {"X-Api-Key": KEY}),
        ("headers", {"Authorization": f"Bearer {KEY}"}),
        ("base_url", f"http://user:{KEY}@example.org/v1"),
        ("base_url", f"https://example.org/v1?key={KEY}"),
        ("api_key", KEY),
    ],
)
def test_a_key_in_the_configuration_is_refused_and_not_shown(field: str, value: object) -> None:
    raw = {"engine": "openai", "model": "m", field: value}
    with pytest.raises(UserError) as caught:
        load_config({"models": {"g": raw}, "corpora": {"b": {"reader": "bundled"}}, "seeds": {"corpus": "b"}})
    with pytest.raises(ValueError) as direct:
        OpenAIModel.model_validate(raw)
    for text in (str(caught.value), str(direct.value)):
        assert field in text
        assert "Zq81" not in text
        assert "4GhT7" not in text


def test_ordinary_words_stay() -> None:
    text = "non-deterministically max_completion_tokens, a basic question: risk-averse? task_decomposition EMPTY"
    assert Redactor([KEY, "EMPTY"]).mask(text) == text


def test_others_keys_are_masked_too() -> None:
    assert Redactor([]).mask("Incorrect API key provided: sk-abcd1234*****wxyz.") == (
        "Incorrect API key provided: [secret]."
    )


def test_identity_leaves_out_what_changes_no_answer() -> None:
    def identity(**fields: object) -> str:
        return openai_identity(OpenAIModel.model_validate({"engine": "openai", "model": "m"} | fields))

    same = [
        {}, {"base_url": "https://API.openai.com:443/v1/"}, {"api_key_env": "OTHER"}, {"timeout_seconds": 1},
        {"price_input": 1}, {"requests_per_minute": 5}, {"max_tokens_field": "max_tokens"}, {"concurrency": 2},
        {"organisation": "o"}, {"headers_env": {"X": "Y"}}, {"send_temperature": True}, {"context_window": 9},
    ]  # fmt: skip
    others = [
        {"model": "n"}, {"base_url": "http://api.openai.com/v1"}, {"base_url": "https://api.openai.com/v2"},
        {"reasoning_effort": "low"}, {"extra_body": {"top_k": 1}}, {"send_temperature": False},
        {"label_logprobs": "vllm"}, {"headers": {"X": "Y"}}, {"send_seed": False},
        {"system_message": "merge"},
    ]  # fmt: skip
    assert len({identity(**fields) for fields in same}) == 1
    assert len({identity(**fields) for fields in [{}, *others]}) == len(others) + 1
    assert identity() == identity(base_url="https://api.openai.com/v1")
