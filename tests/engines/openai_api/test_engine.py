"""What the engine sends, and what it makes of what comes back."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import pytest
from loopback_endpoint import Call, LoopbackEndpoint, Reply, completion, refusal

from dialeval.engines.openai_api import retries
from dialeval.engines.requests import AnswerFailure, Message, Request, Response, Sampling
from dialeval.measures.usage import remarks_on

QUESTION = (Message("system", "Be brief."), Message("user", "Is it human?"))


def chat(**sampling: Any) -> Request:
    return Request("r", "unieval", "chat", QUESTION, Sampling(**sampling))


def choice(*labels: str) -> Request:
    return Request("r", "yes_no", "choice", QUESTION, labels=labels)


def only(outcomes: list[Any]) -> Any:
    assert len(outcomes) == 1
    return outcomes[0]


def body_of(ask_all: Any, request: Request, **options: Any) -> Any:
    with LoopbackEndpoint(lambda _: Reply(completion("Hi."))) as endpoint:
        assert isinstance(only(ask_all(endpoint, [request], **options)), Response)
        return endpoint.log[0][0]


def test_a_request_is_sent_as_configured(ask_all: Any) -> None:
    request = chat(temperature=0.7, top_p=0.9, max_tokens=50, seed=3, stop=("\n",))
    call: Call = body_of(
        ask_all,
        request,
        extra_body={"top_k": 5},
        headers={"X-Title": "t"},
        organisation="org-1",
        reasoning_effort="low",
    )
    assert call.path == "/v1/chat/completions"
    assert call.body == {
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Is it human?"}],
        "model": "m", "max_tokens": 50, "temperature": 0.7, "top_p": 0.9, "seed": 3, "stop": ["\n"],
        "reasoning_effort": "low", "top_k": 5,
    }  # fmt: skip
    assert (call.headers["x-title"], call.headers["openai-organization"]) == ("t", "org-1")
    assert "authorization" not in call.headers


def test_penalties_are_sent_where_there_are_any(ask_all: Any) -> None:
    body = body_of(ask_all, chat(presence_penalty=0.6)).body
    assert body["presence_penalty"] == 0.6
    assert "frequency_penalty" not in body
    both = body_of(ask_all, chat(presence_penalty=0.6, frequency_penalty=-1.0), model="o3-mini").body
    assert not {"presence_penalty", "frequency_penalty"} & both.keys()  # as temperature, which these refuse


@pytest.mark.parametrize("name", ["o3-mini", "gpt-5", "openai/o1", "gpt-4o", "gpt-5-chat-latest", "olmo-7b"])
def test_reasoning_models_get_no_temperature_and_another_budget_field(ask_all: Any, name: str) -> None:
    sent = body_of(ask_all, chat(max_tokens=9, temperature=0.5, top_p=0.5), model=name).body.keys()
    if name in ("o3-mini", "gpt-5", "openai/o1"):
        assert "max_completion_tokens" in sent
        assert not {"max_tokens", "temperature", "top_p"} & sent
    else:
        assert sent >= {"max_tokens", "temperature", "top_p"}


def test_options_overrule_names(ask_all: Any) -> None:
    body = body_of(
        ask_all, chat(seed=1), max_tokens_field="max_completion_tokens", send_temperature=False, send_seed=False
    ).body
    assert body.keys() == {"model", "messages", "max_completion_tokens"}


def test_nothing_of_the_environment_reaches_another_endpoint(ask_all: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-openai-0123456789")
    monkeypatch.setenv("OPENAI_ADMIN_KEY", "sk-of-admin-0123456789")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-mine")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-mine")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "Authorization: Bearer ambient\nX-Mine: yes")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    headers = body_of(ask_all, chat()).headers
    assert not {"authorization", "openai-organization", "openai-project", "x-mine"} & set(headers)


def test_key_and_secret_headers_come_from_variables(ask_all: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", " sk-mine \n")
    monkeypatch.setenv("MY_OTHER", "other-secret")
    headers = body_of(ask_all, chat(), api_key_env="MY_KEY", headers_env={"X-Api-Key": "MY_OTHER"}).headers
    assert (headers["authorization"], headers["x-api-key"]) == ("Bearer sk-mine", "other-secret")


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        (completion("Hi."), ("Hi.", "stop", "")),
        (completion("Hi", finish="length"), ("Hi", "length", "")),
        (completion("", finish="length"), ("", "length", "")),
        (completion(None, finish="content_filter"), ("", "refusal", "")),
        (completion(None, refusal="No."), ("No.", "refusal", "")),
        (completion("Yes", reasoning_content="hm"), ("Yes", "stop", "hm")),
        (completion("Yes", reasoning="hm"), ("Yes", "stop", "hm")),
        (completion("<think>\nhm\n</think>\n\nYes"), ("Yes", "stop", "hm")),
        (completion("odd </think>Choice: No"), ("odd </think>Choice: No", "stop", "")),
        (completion("<think>hm</think>Yes, odd </think>No"), ("Yes, odd </think>No", "stop", "hm")),
        (completion("Choice: N", finish="content_filter"), ("Choice: N", "refusal", "")),
        (completion("Choice: N", finish="SAFETY"), ("Choice: N", "refusal", "")),
        (completion("Index: 1", finish="MAX_TOKENS"), ("Index: 1", "length", "")),
        (completion("Index: 1", finish="model_length"), ("Index: 1", "length", "")),
        (completion("<think>\nhm", finish="length"), ("", "length", "hm")),
        (completion("I wrote <think> and </think>."), ("I wrote <think> and </think>.", "stop", "")),
    ],
)
def test_answers_are_read(ask_all: Any, payload: Any, expected: tuple[str, str, str]) -> None:
    with LoopbackEndpoint(lambda _: Reply(payload)) as endpoint:
        response = only(ask_all(endpoint, [chat()]))
    assert (response.text, response.finish_reason, response.reasoning) == expected
    assert (response.prompt_tokens, response.completion_tokens) == (11, 3)
    assert response.reasoning_tokens == (1 if response.reasoning else None)


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        (completion("hm\n</think>\n\nYes </think>"), ("Yes </think>", "stop", "hm")),
        (completion("hm, hm", finish="length"), ("", "length", "hm, hm")),
        (completion("Yes"), ("Yes", "stop", "")),  # it did not think
        (completion("Yes, and", reasoning="hm", finish="length"), ("Yes, and", "length", "hm")),
    ],
)
def test_reasoning_that_an_endpoint_leaves_in_its_answers_ends_at_the_mark_that_is_configured(
    ask_all: Any, payload: Any, expected: tuple[str, str, str]
) -> None:
    with LoopbackEndpoint(lambda _: Reply(payload)) as endpoint:
        response = only(ask_all(endpoint, [chat()], reasoning_end="</think>"))
    assert (response.text, response.finish_reason, response.reasoning) == expected


def test_parts_and_token_counts_are_read(ask_all: Any) -> None:
    parts = [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "Yes"}]
    usage = {"prompt_tokens": 5, "completion_tokens": 9, "completion_tokens_details": {"reasoning_tokens": 7}}
    with LoopbackEndpoint(lambda _: Reply(completion(parts, usage=usage))) as endpoint:  # type: ignore[arg-type]
        response = only(ask_all(endpoint, [chat()]))
    assert response == Response(
        "Yes", reasoning="hm", prompt_tokens=5, completion_tokens=9, reasoning_tokens=7, finish_reason="stop"
    )


@pytest.mark.parametrize(
    ("reply", "kind", "tries"),
    [
        (Reply(refusal("bad key"), 401), "authentication", 1),
        (Reply(refusal("not for you"), 403), "authentication", 1),
        (Reply(refusal("Your input was flagged"), 403), "refusal", 1),
        (Reply(refusal("no money", code="insufficient_quota"), 429), "quota", 1),
        (Reply(refusal("pay"), 402), "quota", 1),
        (Reply(refusal("You exceeded your current quota"), 429), "rate_limit", 6),
        (Reply(refusal("no such model"), 404), "not_found", 1),
        (Reply(refusal("bad field"), 400), "bad_request", 1),
        (Reply(refusal("too long", code="context_length_exceeded"), 400), "context_length", 1),
        (Reply(refusal("The decoder prompt is longer than the maximum model length of 9"), 400), "context_length", 1),
        (Reply(refusal("no", code="content_filter"), 400), "refusal", 1),
        (Reply(refusal("no", innererror={"code": "ResponsibleAIPolicyViolation"}), 400), "refusal", 1),
        (Reply(b"oops", 500), "server", 3),
        (Reply(refusal("wait", code=503)), "server", 3),
        (Reply({}, 302, {"Location": "http://127.0.0.1:1/"}), "bad_request", 1),
        (Reply(completion("Hi"), cut=True), "connection", 3),
        (Reply(completion("Hi"), delay=1.0), "timeout", 3),
        (Reply(completion("  ")), "empty", 1),
        (Reply(completion("", reasoning="hm")), "empty", 1),
        (Reply(b'{"choices": ['), "malformed", 3),
        (Reply([]), "malformed", 3),
        (Reply({"choices": [{"message": {"content": 5}}]}), "malformed", 3),
        (Reply(completion("Hi", finish="abort")), "server", 3),
    ],
)
def test_every_failure_has_its_kind_and_its_number_of_tries(
    monkeypatch: pytest.MonkeyPatch, ask_all: Any, reply: Reply, kind: str, tries: int
) -> None:
    monkeypatch.setattr(retries, "REFUSALS_PER_TRY", 2)
    with LoopbackEndpoint(lambda _: reply) as endpoint:
        timeout = 0.1 if reply.delay else 10
        failure = only(ask_all(endpoint, [chat()], max_tries=3, timeout_seconds=timeout))
    assert isinstance(failure, AnswerFailure)
    assert failure.kind == kind
    assert len(endpoint.log) == tries


@pytest.mark.parametrize("reply", [Reply(b"<html>hello</html>"), Reply({}), Reply(completion("", finish="abort"))])
def test_an_empty_answer_is_requested_again(ask_all: Any, reply: Reply) -> None:
    with LoopbackEndpoint(lambda call: reply if call.number < 3 else Reply(completion("Hi."))) as endpoint:
        assert only(ask_all(endpoint, [chat()])).text == "Hi."
        assert len(endpoint.log) == 3


def test_a_narrow_endpoint_is_not_stormed(ask_all: Any) -> None:
    """Eight at once are answered, everyone else is sent away: what comes in vain stays a small part."""

    def script(_: Call) -> Reply:
        full = endpoint.in_flight >= 8
        return Reply(refusal("full"), 429, {"Retry-After": "0.05"}) if full else Reply(completion("Hi"), delay=0.01)

    with LoopbackEndpoint(script) as endpoint:
        outcomes = ask_all(endpoint, [chat()] * 350, concurrency=64)
        refused = sum(reply.status == 429 for _, reply in endpoint.log)
    assert all(isinstance(outcome, Response) for outcome in outcomes)
    assert refused < 125


def test_a_template_without_a_system_role_is_served(ask_all: Any) -> None:
    def script(call: Call) -> Reply:
        if call.body["messages"][0]["role"] == "system":
            return Reply(refusal("System role not supported"), 400)
        return Reply(completion("Hi"))

    with LoopbackEndpoint(script) as endpoint:
        failure = only(ask_all(endpoint, [chat()]))
        response = only(ask_all(endpoint, [chat()], system_message="merge"))
        assert endpoint.log[-1][0].body["messages"] == [{"role": "user", "content": "Be brief.\n\nIs it human?"}]
    assert "system_message: merge" in str(failure)
    assert response.text == "Hi"


def test_half_a_character_is_refused(ask_all: Any) -> None:
    broken = Request("r", "unieval", "chat", (Message("user", "\ud800"),))
    assert only(ask_all("http://127.0.0.1:1/v1", [broken])).kind == "bad_request"


def with_logprobs(top: dict[str, float], chosen: str) -> Any:
    payload = completion(chosen, finish="length")
    entries = [{"token": token, "logprob": math.log(share), "bytes": None} for token, share in top.items()]
    place = {"token": chosen, "logprob": math.log(top.get(chosen, 0.01)), "bytes": None, "top_logprobs": entries}
    payload["choices"][0]["logprobs"] = {"content": [place]}
    return payload


def test_labels_are_summed_over_their_variants_and_an_unseen_one_is_absent(ask_all: Any) -> None:
    payload = with_logprobs({"Yes": 0.5, " yes": 0.125, "yes": 0.0625, "Yesterday": 0.1, "▁Yes": 0.0625}, "Yes")
    with LoopbackEndpoint(lambda _: Reply(payload)) as endpoint:
        response = only(ask_all(endpoint, [choice("Yes", "No")]))
        body = endpoint.log[0][0].body
    assert (body["max_tokens"], body["logprobs"], body["top_logprobs"]) == (1, True, 20)
    assert response.label_logprobs == pytest.approx({"Yes": math.log(0.75)})
    assert response.label_mass == pytest.approx(0.75)
    assert response.finish_reason == "stop"


def test_labels_that_differ_in_case_only_are_kept_apart(ask_all: Any) -> None:
    payload = with_logprobs({"A": 0.5, " a": 0.25, " A": 0.125}, "A")
    with LoopbackEndpoint(lambda _: Reply(payload)) as endpoint:
        response = only(ask_all(endpoint, [choice("A", "a")]))
    assert response.label_logprobs == pytest.approx({"A": math.log(0.625), "a": math.log(0.25)})


@pytest.mark.parametrize(
    ("top", "chosen", "mass"),
    [
        ({"Hm": 0.9}, "Well", 0.0),
        ({"<think>": 0.9999, "Yes": 7.5e-6, "No": 2.5e-6}, "<think>", 1e-5),  # it opens its thinking by itself
    ],
)
def test_labels_that_are_unlikely_are_remarked_upon(
    ask_all: Any, top: dict[str, float], chosen: str, mass: float
) -> None:
    with LoopbackEndpoint(lambda _: Reply(with_logprobs(top, chosen))) as endpoint:
        response = only(ask_all(endpoint, [choice("Yes", "No")]))
    assert response.label_mass == pytest.approx(mass)
    assert set(response.label_logprobs) == {"Yes", "No"} & top.keys()
    assert list(remarks_on(response)) == ["low_mass"]


def test_what_an_endpoint_cannot_is_refused_with_the_remedy(ask_all: Any) -> None:
    score = Request("r", "options", "loglikelihood", QUESTION, continuation="Yes")
    with LoopbackEndpoint(lambda _: Reply(completion("Yes"))) as endpoint:
        choice_failure = only(ask_all(endpoint, [choice("Yes", "No")]))
        switched_off = only(ask_all(endpoint, [choice("Yes", "No")], label_logprobs="none"))
        scored = only(ask_all(endpoint, [score]))
        assert len(endpoint.log) == 1
    assert {failure.kind for failure in (choice_failure, switched_off, scored)} == {"unsupported"}
    assert "label_logprobs: none" in str(choice_failure)
    assert "prompt_logprobs: true" in str(scored)


def vllm(call: Call) -> Reply:
    """Answers as a vLLM server whose tokens are letters."""
    body = call.body
    if call.path == "/tokenize":
        text = body["prompt"] if "prompt" in body else "".join(message["content"] for message in body["messages"])
        return Reply({"tokens": [ord(letter) for letter in text], "count": len(text)})
    if call.path == "/detokenize":
        return Reply({"prompt": "".join(map(chr, body["tokens"]))})
    if call.path == "/v1/completions" and "prompt_logprobs" in body:
        places = [None, *({str(token): {"logprob": -token / 100}} for token in body["prompt"][1:])]
        return Reply({"choices": [{"text": "x", "prompt_logprobs": places}], "usage": {"prompt_tokens": len(places)}})
    shown = {f"token_id:{token}": math.log(token / 1000) for token in body["logprob_token_ids"]}
    if call.path == "/v1/completions":
        return Reply({"choices": [{"text": "x", "logprobs": {"top_logprobs": [shown]}}]})
    payload = completion("Y", finish="length")
    entries = [{"token": token, "logprob": logprob} for token, logprob in shown.items()]
    payload["choices"][0]["logprobs"] = {"content": [{"token": "token_id:1", "logprob": -9.0, "top_logprobs": entries}]}
    return Reply(payload)


def test_a_vllm_server_gives_every_label_exactly(ask_all: Any) -> None:
    with LoopbackEndpoint(vllm) as endpoint:
        first, second = ask_all(endpoint, [choice("Y", "N"), choice("Y", "N")], label_logprobs="vllm")
        tokenised = sum(call.path == "/tokenize" for call, _ in endpoint.log)
    assert first == second
    shares = {label: sum(math.exp(math.log(ord(case) / 1000)) for case in (label, label.lower())) for label in "YN"}
    blank = 0.032  # a blank is a token of its own here, after which the letters follow
    assert first.label_logprobs == pytest.approx({label: math.log(s * (1 + blank)) for label, s in shares.items()})
    assert tokenised < 20  # the labels once for both requests


def test_a_vllm_server_scores_a_given_text(ask_all: Any) -> None:
    request = Request("r", "options", "loglikelihood", QUESTION, continuation="ab")
    with LoopbackEndpoint(vllm) as endpoint:
        response = only(ask_all(endpoint, [request], prompt_logprobs=True))
    assert (response.logprob, response.n_tokens) == (pytest.approx(-0.97 - 0.98), 2)


def test_a_schema_goes_with_the_request_and_only_where_there_is_one(ask_all: Any) -> None:
    schema = '{"type":"object","properties":{"choice":{"type":"string"}}}'
    free = body_of(ask_all, chat()).body
    body = dict(body_of(ask_all, replace(chat(), answer_schema=schema)).body)
    assert body.pop("response_format") == {
        "type": "json_schema",
        "json_schema": {"name": "answer", "strict": True, "schema": json.loads(schema)},
    }
    assert body == free
