"""What an endpoint refuses to be asked is answered with the field that mends it, and is not tried again."""

from __future__ import annotations

from typing import Any

import pytest
from loopback_endpoint import LoopbackEndpoint, Reply, completion
from scripted import chat_request

from dialeval.config import OpenAIModel
from dialeval.engines.openai_api.engine import OpenAIEngine
from dialeval.engines.openai_api.faults import status_fault
from dialeval.engines.openai_api.redaction import Redactor
from dialeval.engines.request import AnswerFailure, Request
from dialeval.errors import UserError

OPENAI = "Unsupported parameter: '{}' is not supported with this model."
SAID = [
    # OpenAI
    (400, {"message": OPENAI.format("temperature"), "param": "temperature", "code": None}, "send_temperature: false"),
    (400, {"message": "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value "
     "is supported.", "param": "temperature", "code": "unsupported_value"}, "send_temperature: false"),
    (400, {"message": OPENAI.format("top_p"), "param": "top_p"}, "send_temperature: false"),
    (400, {"message": OPENAI.format("max_tokens") + " Use 'max_completion_tokens' instead.", "param": "max_tokens"},
     "max_tokens_field: max_completion_tokens"),
    (400, {"message": "max_tokens is too large: 9000. This model supports at most 4096 completion tokens, whereas you "
     "provided 9000.", "param": "max_tokens"}, "lower max_tokens of the protocol"),
    (400, {"message": OPENAI.format("logprobs"), "param": "logprobs"}, "label_logprobs: none"),
    (403, {"message": "You are not allowed to request logprobs from this model", "param": None},
     "label_logprobs: none"),
    (400, {"message": "This model does not support the 'logprobs' parameter.", "param": "logprobs"},
     "label_logprobs: none"),
    (400, {"message": "Unsupported value: 'reasoning_effort' does not support 'minimal' with this model.",
           "param": "reasoning_effort"}, "correct reasoning_effort"),
    (400, {"message": "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
           "param": None}, "answers: free"),
    # Azure
    (400, {"message": "Unrecognized request argument supplied: logprobs", "param": None}, "label_logprobs: none"),
    (400, {"message": "Unrecognized request argument supplied: max_completion_tokens", "param": None},
     "max_tokens_field: max_tokens"),
    (400, {"message": "Invalid value for 'top_logprobs': must be less than or equal to 5."}, "lower top_logprobs"),
    (400, {"requestid": "5b8d", "code": 400, "message": "Validation error at #/logprobs: Extra inputs are not "
     "permitted"}, "label_logprobs: none"),
    # Groq
    (400, {"message": "'logprobs' is not supported with this model", "type": "invalid_request_error"},
     "label_logprobs: none"),
    (400, {"message": "property 'seed' is unsupported", "type": "invalid_request_error"}, "send_seed: false"),
    (400, {"message": "This model does not support response format `json_schema`.", "type": "invalid_request_error"},
     "answers: free"),
    # Google: a list of one error; Anthropic
    (400, {"code": 400, "message": 'Invalid JSON payload received. Unknown name "seed": Cannot find field.',
           "status": "INVALID_ARGUMENT"}, "send_seed: false"),
    (400, {"message": "`temperature` and `top_p` cannot both be specified for this model. Please use only one.",
           "type": "invalid_request_error"}, "send_temperature: false"),
    (400, {"message": "`temperature` is deprecated for this model."}, "send_temperature: false"),
    # vLLM
    (400, {"message": "Requested sample logprobs of 20, which is greater than max allowed: 5",
           "type": "BadRequestError"}, "lower top_logprobs, or start a vLLM server with --max-logprobs"),
    # LiteLLM
    (500, {"message": "ollama does not support parameters: {'seed': 1}, for model=llama3:latest. To drop these, set "
     "`litellm.drop_params=True`"}, "send_seed: false"),
]  # fmt: skip
BODIES = [(status, {"error": error}, words) for status, error, words in SAID] + [
    # Mistral, as FastAPI says it
    (422, {"detail": [{"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}]},
     "send_seed: false"),
    (400, {"detail": "Unsupported parameter: max_completion_tokens"}, "max_tokens_field: max_tokens"),
    (400, {"object": "error", "message": "seed is not supported", "code": 400}, "send_seed: false"),
]  # fmt: skip


@pytest.mark.parametrize(("status", "body", "words"), BODIES)
def test_the_field_that_mends_it_is_named(status: int, body: dict[str, Any], words: str) -> None:
    fault = status_fault(status, body, {}, Redactor([]))
    assert (fault.kind, fault.passing, fault.billed == "nothing") == ("parameter", False, status < 500)
    assert words in str(fault)


@pytest.mark.parametrize(
    ("status", "message", "kind"),
    [
        (400, "This model's maximum context length is 4096 tokens; max_tokens is too large", "context_length"),
        (400, "The model doubao-seed-1.6 does not support images", "bad_request"),
        (400, "Invalid type for 'messages[0].content'", "bad_request"),
        (500, "The server had an error", "server"),
        (403, "Country not supported", "authentication"),
        (429, "Rate limit: max_tokens must be lower", "rate_limit"),
        (401, "Incorrect API key; temperature is not supported", "authentication"),
    ],
)
def test_what_is_about_something_else_stays_that(status: int, message: str, kind: str) -> None:
    assert status_fault(status, {"error": {"message": message}}, {}, Redactor([])).kind == kind


def test_a_long_message_does_not_hide_the_remedy() -> None:
    fault = status_fault(400, {"error": {"message": "seed is not supported " + "x" * 5000}}, {}, Redactor([]))
    assert str(fault).endswith("(set send_seed: false)")


def test_it_is_asked_once_and_the_job_ends_after_ten(ask_all: Any) -> None:
    body = {"error": {"message": OPENAI.format("temperature"), "param": "temperature"}}
    with LoopbackEndpoint(lambda _: Reply(body, 400)) as endpoint:
        (failure,) = ask_all(endpoint, [chat_request("one")])
        assert isinstance(failure, AnswerFailure)
        assert (failure.kind, len(endpoint.log)) == ("parameter", 1)
        with pytest.raises(UserError, match="failed 10 times in a row.*set send_temperature: false"):
            ask_all(endpoint, [chat_request(f"r{number}") for number in range(50)], concurrency=1)
        assert len(endpoint.log) == 11


def test_the_likeliest_tokens_are_as_many_as_configured(ask_all: Any) -> None:
    def model(**fields: Any) -> OpenAIModel:
        return OpenAIModel.model_validate({"engine": "openai", "model": "m", "api_key_env": None, **fields})

    request = Request("r", "yes_no", "choice", chat_request("r").messages, labels=("Yes", "No"))
    with LoopbackEndpoint(lambda _: Reply(completion("Yes"))) as endpoint:
        ask_all(endpoint, [request], top_logprobs=5)
        ask_all(endpoint, [request])
        assert [asked.body["top_logprobs"] for asked, _ in endpoint.log] == [5, 20]
    assert OpenAIEngine(model(top_logprobs=20)).identity == OpenAIEngine(model()).identity
    assert 'top_logprobs":5' in OpenAIEngine(model(top_logprobs=5)).identity
