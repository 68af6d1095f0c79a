"""What no table can hold, and JSON without end, is reported or repaired by the response; nothing of it is stored."""

from __future__ import annotations

import io
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from loopback_endpoint import Call, LoopbackEndpoint, Reply, completion, refusal

from dialeval.config import OpenAIModel
from dialeval.engines.answering import Answering, response_row
from dialeval.engines.cl100k import Tokenizer
from dialeval.engines.openai_api.batch_files import RequestFields as InBatch
from dialeval.engines.openai_api.batch_files import read_lines
from dialeval.engines.openai_api.engine import OpenAIEngine
from dialeval.engines.openai_api.retries import Redactor, RetryPolicy
from dialeval.engines.requests import Message, Request, Response
from dialeval.engines.spending.prices import Bound
from dialeval.engines.store import ResponseStore
from dialeval.errors import UserError
from dialeval.jobs.progress import Progress
from dialeval.measures.usage import remark_lines, remarks_on
from dialeval.tables.dialogues import RESPONSES
from dialeval.tables.files import TableWriter, read_table

POLICY = RetryPolicy(max_tries=2, first_wait=0.01, longest_wait=0.02)
WORDS = Tokenizer("words", lambda texts: [len(text.encode()) for text in texts])
CHAT = Request("r", "unieval", "chat", (Message("user", "question"),))
CHOICE = Request("r", "yes_no", "choice", (Message("user", "question"),), labels=("Yes", "No"))
DEEP = b"[" * 100_000
CLOSED = DEEP + b"]" * 100_000
NESTED = b'{"error": {"message": ' + b"[" * 900 + b"]" * 900 + b"}}"
PARTS = b'{"type": "text", "text": [' * 400 + b"]}" * 400


def usage(tokens: Any) -> Any:
    return {"prompt_tokens": tokens, "completion_tokens": tokens, "completion_tokens_details": {"reasoning_tokens": 3}}


def shown(*logprobs: Any) -> dict[str, Any]:
    """Return an answer of one token with log-probabilities of Yes, No and another token."""
    tokens = [
        {"token": token, "logprob": value} for token, value in zip(("Yes", "No", "Perhaps"), logprobs, strict=True)
    ]
    answer = completion("Yes")
    answer["choices"][0]["logprobs"] = {"content": [{**tokens[0], "top_logprobs": tokens}]}
    return answer


def ask(folder: Path, reply: Reply, request: Request = CHAT) -> tuple[Answering, Response | None, LoopbackEndpoint]:
    """Has a request answered through a store; writes the table that a job writes, from the store read anew."""

    def script(call: Call) -> Reply:
        return reply

    with LoopbackEndpoint(script) as endpoint:
        model = OpenAIModel(engine="openai", model="m", base_url=endpoint.url, api_key_env=None)
        engine = OpenAIEngine(model, tokenizer=WORDS, retrying=POLICY)
        with ResponseStore(folder, identity="same", name="m", protocol="unieval") as store:
            answering = Answering(engine, store, Progress("t", None, "a", stream=io.StringIO()))
            answering.run(answering.ask_all([request]))
    with ResponseStore(folder, identity="same", name="m", protocol="unieval") as store:
        key = answering.key(request)
        response = store.get(key)
        with TableWriter(folder / "responses.parquet", RESPONSES) as table:
            table.write([response_row(request, key, response) | {"dropped": 0}])
    assert len(read_table(folder / "responses.parquet", RESPONSES)) == 1
    return answering, response, endpoint


def test_half_an_emoji_is_marked_and_reported(tmp_path: Path) -> None:
    answer = Reply(completion("half \ud83d an emoji", reasoning_content="thought \udc00"))
    answering, response, _ = ask(tmp_path, answer)
    assert response is not None
    assert (response.text, response.reasoning) == ("half \ufffd an emoji", "thought \ufffd")
    assert not answering.failures
    (line,) = remark_lines(Counter(remarks_on(response)), "m")
    assert "response of m: U+FFFD replaces" in line


@pytest.mark.parametrize("tokens", [3_000_000_000, 1e20, -1, 1.5, True, "12", [12], None])
def test_absurd_counts_of_tokens_are_not_known_and_the_text_is_kept(tmp_path: Path, tokens: Any) -> None:
    _, response, _ = ask(tmp_path, Reply(completion("paid for", usage=usage(tokens))))
    assert response == Response("paid for", reasoning_tokens=3)


@pytest.mark.parametrize("logprob", [1000, 0.5, float("nan"), float("inf")])
def test_an_invalid_logarithm_is_a_failure_requested_once(tmp_path: Path, logprob: float) -> None:
    answering, response, endpoint = ask(tmp_path, Reply(shown(-0.1, logprob, -3)), CHOICE)
    assert (dict(answering.failures), response) == ({"impossible": 1}, None)
    assert "not the logarithm of a probability" in answering.first_message["impossible"]
    assert len(endpoint.log) == 1, "it is at temperature 0: another try is paid for and gives the same"


def test_tokens_that_are_no_labels_may_have_any_number(tmp_path: Path) -> None:
    _, response, _ = ask(tmp_path, Reply(shown(-0.1, -3, 1000)), CHOICE)
    assert response is not None
    assert response.label_logprobs == {"Yes": -0.1, "No": -3.0}


def test_a_label_of_probability_0_was_not_seen(tmp_path: Path) -> None:
    _, response, _ = ask(tmp_path, Reply(shown(-0.1, float("-inf"), -3)), CHOICE)
    assert response is not None
    assert response.label_logprobs == {"Yes": -0.1}


@pytest.mark.parametrize("status", [200, 400, 500])
@pytest.mark.parametrize(
    "body",
    [
        DEEP,
        CLOSED,
        NESTED,
        b'{"choices": ' + CLOSED + b"}",
        b"[" * 900 + b"]" * 900,
        b'{"choices": [{"message": {"content": [' + PARTS + b"]}}]}",
        b'{"choices": [{"message": {"content": "x"}, "finish_reason": ' + b"[" * 900 + b"]" * 900 + b"}]}",
        b'{"choices": [{"message": {"content": "x"}}], "usage": {"prompt_tokens": ' + b"9" * 5000 + b"}}",
    ],
)
def test_json_without_end_is_a_failure_in_words(tmp_path: Path, status: int, body: bytes) -> None:
    answering, response, _ = ask(tmp_path, Reply(body, status))
    assert (sum(answering.failures.values()) == 1) == (response is None)
    for message in answering.first_message.values():
        assert len(message) < 600
    if status != 200:
        assert response is None


def test_half_an_emoji_in_an_error_can_be_printed(tmp_path: Path) -> None:
    answering, _, _ = ask(tmp_path, Reply(refusal("half \ud800"), 400))
    assert "\ufffd" in answering.first_message["bad_request"]
    answering.first_message["bad_request"].encode()


def test_lines_of_a_batch_are_checked_alike() -> None:
    in_batch = {"chat": InBatch("chat", ()), "choice": InBatch("choice", ("Yes", "No"))}

    def line(key: str, body: Any) -> bytes:
        return json.dumps({"custom_id": key, "response": {"status_code": 200, "body": body}}).encode() + b"\n"

    content = b"".join(
        [
            line("chat", completion("half \ud800", usage=usage(10**20))),
            CLOSED + b"\n",
            line("choice", shown(1000, -1, -1)),
            b'{"custom_id": "chat", "response": {"status_code": 500, "body": ' + NESTED + b"}}\n",
            b'{"custom_id": "chat", "error": {"code": ["batch_expired"]}}\n',
        ]
    )
    bounds = {key: Bound(9, 9) for key in in_batch}
    outcomes = [(key, outcome) for key, outcome, _ in read_lines(content, in_batch, bounds, Redactor([]))]
    assert outcomes[0] == ("chat", Response("half \ufffd", reasoning_tokens=3))
    assert [getattr(outcome, "kind", None) for _, outcome in outcomes[1:]] == ["impossible", "server", "server"]


def test_an_answer_that_is_cut_out_of_the_store_while_the_job_reads_is_reported(tmp_path: Path) -> None:
    with ResponseStore(tmp_path, identity="same", name="m", protocol="unieval") as store:
        store.append("0" * 32, Response("x"))
    with ResponseStore(tmp_path, identity="same", name="m", protocol="unieval") as store:
        answering = Answering(None, store, Progress("t", None, "a", stream=io.StringIO()))  # type: ignore[arg-type]
        assert answering.answer_to("0" * 32) == Response("x")
        (path,) = tmp_path.rglob("*.jsonl")
        path.write_bytes(b"")
        with pytest.raises(UserError, match="was truncated, changed or removed while this job"):
            answering.answer_to("0" * 32)


def test_a_request_that_failed_has_no_answer_and_no_fault(tmp_path: Path) -> None:
    answering, _, _ = ask(tmp_path, Reply(refusal("no"), 400))
    with ResponseStore(tmp_path, identity="same", name="m", protocol="unieval") as answering.store:
        assert answering.answer_to(answering.key(CHAT)) is None
