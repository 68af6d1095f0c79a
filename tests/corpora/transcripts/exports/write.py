"""Writes the files in this folder with the tools whose formats they are.

    python -m venv env
    env/bin/pip install inspect_ai datasets lm-eval langsmith langchain-core openai \
        opentelemetry-exporter-otlp-proto-http opentelemetry-instrumentation-openai-v2 \
        opentelemetry-instrumentation-openai openinference-instrumentation-openai "langfuse<4"
    env/bin/python write.py inspect inspect_graded datasets lm_eval langsmith opentelemetry openllmetry openinference
    env/bin/python write.py langfuse

Where two of these packages need different versions of a third, use two environments.

Models and endpoints are stubs of those tools, and the dialogues are ours. Ids and times differ with every call.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from base64 import b64decode
from collections import Counter
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
QUESTIONS = {"When do you open?": "We open at 9.", "Until when?": "Until 5, on Sundays until 3."}
PROMPT = "You are a librarian."


def write_json(name: str, value: Any) -> None:
    (HERE / name).write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def count_bytes() -> None:
    """Replace tiktoken's vocabularies, which would be fetched."""
    import tiktoken

    class Bytes:
        def encode(self, text: str, **_: Any) -> list[int]:
            return list(text.encode())

    tiktoken.get_encoding = lambda _: Bytes()


def inspect() -> None:
    count_bytes()
    from inspect_ai import Task, eval
    from inspect_ai.dataset import Sample
    from inspect_ai.log import read_eval_log, write_eval_log
    from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageUser, ModelOutput, get_model
    from inspect_ai.scorer import Score, includes, mean, scorer
    from inspect_ai.solver import generate, use_tools
    from inspect_ai.tool import tool

    @tool
    def opening_hours() -> Any:
        async def execute(day: str) -> str:
            """Look up opening hours.

            Args:
                day: weekday
            """
            return f"{day}: 9 to 5"

        return execute

    @scorer(metrics=[mean()])
    def politeness() -> Any:
        async def score(state: Any, _: Any) -> Score:
            return Score(value=4 if "please" in state.output.completion.lower() else 2)

        return score

    def answer(messages: list[Any], *_: Any) -> ModelOutput:
        last = messages[-1]
        if last.role == "tool":
            return ModelOutput.from_content("mockllm/model", "We open at 9. Please come early.")
        if "open" in last.text:
            return ModelOutput.for_tool_call("mockllm/model", "opening_hours", {"day": "Monday"})
        return ModelOutput.from_content("mockllm/model", "Yes, by the pond.")

    talk = [ChatMessageSystem(content=PROMPT), ChatMessageUser(content="Do you like birds?")]
    talk += [ChatMessageAssistant(content="I do."), ChatMessageUser(content="Is there a heron?")]
    task = Task(
        name="desk",
        dataset=[
            Sample(id="hours", input="When do you open on Monday?", target="9"),
            Sample(id="birds", input=talk, target="owl"),
        ],
        solver=[use_tools(opening_hours()), generate()],
        scorer=[includes(), politeness()],
        epochs=2,
    )
    model = get_model("mockllm/model", custom_outputs=answer)
    with tempfile.TemporaryDirectory() as folder:
        log = eval(task, model=model, log_dir=folder, display="none", max_samples=1)[0]
        shutil.copy(log.location, HERE / "inspect.eval")
        whole = read_eval_log(log.location)
    for sample in whole.samples or []:
        sample.events = []
        sample.attachments = {}
        sample.events_data = None
    write_eval_log(whole, str(HERE / "inspect.json"))


def inspect_graded() -> None:
    """A model grades three answers in two epochs, and once gives no grade."""
    count_bytes()
    from inspect_ai import Task, eval
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput, get_model
    from inspect_ai.scorer import model_graded_qa
    from inspect_ai.solver import generate

    grades = {"one": ["C", "I"], "two": ["P", "C"], "three": ["I"]}
    n_calls = Counter[str]()

    def grade(messages: list[Any], *_: Any) -> ModelOutput:
        name = next(name for name in grades if f"Is {name} open?" in messages[-1].text)
        n_calls[name] += 1
        found = grades[name][: n_calls[name]][-1] if n_calls[name] <= len(grades[name]) else ""
        text = f"GRADE: {found}" if found else "I would rather not."
        return ModelOutput.from_content("mockllm/grader", f"The answer is compared.\n\n{text}")

    task = Task(
        name="desk",
        dataset=[Sample(id=name, input=f"Is {name} open?", target="Yes") for name in ("one", "two", "three")],
        solver=generate(),
        scorer=model_graded_qa(partial_credit=True, model=get_model("mockllm/grader", custom_outputs=grade)),
        epochs=2,
    )
    with tempfile.TemporaryDirectory() as folder:
        log = eval(task, model="mockllm/model", log_dir=folder, display="none", max_samples=1)[0]
        assert log.status == "success", log.error
        shutil.copy(log.location, HERE / "inspect_graded.eval")


def datasets() -> None:
    from datasets import Dataset, DatasetDict

    rows: list[dict[str, Any]] = []
    for number, (question, reply) in enumerate(QUESTIONS.items()):
        for model in ("heron", "reed"):
            turns = [("user", question), ("assistant", f"{reply} ({model})")]
            messages = [{"role": role, "content": text} for role, text in turns]
            rows.append({"id": f"d{number}", "model": model, "messages": messages})
    whole = Dataset.from_list(rows)
    whole.save_to_disk(str(HERE / "datasets_one"), num_shards=2)
    parts = DatasetDict({"train": whole.select(range(2)), "test": whole.select(range(2, 4))})
    parts.save_to_disk(str(HERE / "datasets_splits"))


def lm_eval() -> None:
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        docs = [{"id": number, "question": question} for number, question in enumerate(QUESTIONS)]
        (folder / "data.jsonl").write_text("\n".join(map(json.dumps, docs)), encoding="utf-8")
        about = f"dataset_path: json\ndataset_kwargs: {{data_files: {{test: {folder}/data.jsonl}}}}\ntest_split: test\n"
        about += 'doc_to_text: "{{question}}"\n'
        (folder / "desk.yaml").write_text(
            f"task: desk\n{about}output_type: generate_until\ndoc_to_target: pond\n"
            "metric_list: [{metric: exact_match}]\n",
            encoding="utf-8",
        )
        (folder / "choice.yaml").write_text(
            f'task: choice\n{about}output_type: multiple_choice\ndoc_to_choice: ["owl", "heron"]\ndoc_to_target: 0\n'
            "metric_list: [{metric: acc}]\n",
            encoding="utf-8",
        )
        command = [str(Path(sys.executable).parent / "lm_eval"), "run", "--model", "dummy", "--tasks", "desk,choice"]
        command += ["--include_path", text, "--log_samples", "--output_path", f"{text}/out"]
        subprocess.run(command, check=True, env=os.environ | {"HF_HUB_OFFLINE": "1"})
        (HERE / "lm_eval").mkdir(exist_ok=True)
        for task in ("desk", "choice"):
            shutil.copy(next(folder.glob(f"out/*/samples_{task}_*.jsonl")), HERE / f"lm_eval/samples_{task}_1.jsonl")
        results = json.loads(next(folder.glob("out/*/results_*.json")).read_text(encoding="utf-8"))
        kept = {
            name: results[name] for name in ("model_source", "model_name", "model_name_sanitized", "lm_eval_version")
        }
        write_json("lm_eval/results_1.json", kept | {"model_name": "desk-1"})  # the stub has a random name


def client(**more: Any) -> Any:
    """Return a client of OpenAI's package whose endpoint is a function."""
    import openai

    try:
        import httpx2 as httpx
    except ImportError:  # of openai below 3
        import httpx

    def answer(request: httpx.Request) -> httpx.Response:
        text = QUESTIONS[json.loads(request.content)["messages"][-1]["content"]]
        message = {"role": "assistant", "content": text}
        about = {"id": "c1", "object": "chat.completion", "created": 0, "model": "heron-1"}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
        return httpx.Response(200, json={**about, "choices": choices, "usage": usage})

    http = httpx.Client(transport=httpx.MockTransport(answer))
    return openai.OpenAI(api_key="none", base_url="http://desk.invalid/v1", http_client=http, **more)


def converse(of_openai: Any, **more: Any) -> None:
    messages: list[Any] = [{"role": "system", "content": PROMPT}]
    for question in QUESTIONS:
        messages.append({"role": "user", "content": question})
        reply = of_openai.chat.completions.create(model="heron", messages=messages, **more)
        messages.append({"role": "assistant", "content": reply.choices[0].message.content})


def langsmith() -> None:
    from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
    from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
    from langchain_core.tracers.langchain import LangChainTracer
    from langsmith import Client, traceable, tracing_context
    from langsmith.schemas import Run
    from langsmith.wrappers import wrap_openai

    runs: dict[str, dict[str, Any]] = {}

    class Kept(Client):
        def create_run(self, name: str, inputs: Any, run_type: str, **more: Any) -> None:
            run = {"name": name, "inputs": inputs, "run_type": run_type, **more}
            runs[str(more["id"])] = json.loads(json.dumps(run, default=str))

        def update_run(self, run_id: Any, **more: Any) -> None:
            new = {name: value for name, value in more.items() if value is not None}
            runs[str(run_id)] |= json.loads(json.dumps(new, default=str))

    kept = Kept(api_key="none", api_url="http://desk.invalid", auto_batch_tracing=False)
    model = FakeMessagesListChatModel(responses=[AIMessage(text) for text in QUESTIONS.values()])
    messages: list[Any] = [SystemMessage(PROMPT)]
    for question in QUESTIONS:
        messages.append(HumanMessage(question))
        about = {"thread_id": "thread-1", "ls_model_name": "heron"}
        messages.append(model.invoke(messages, config={"callbacks": [LangChainTracer(client=kept)], "metadata": about}))

    @traceable(client=kept, run_type="chain", metadata={"session_id": "thread-2"})
    def desk(question: str) -> str:
        reply = wrapped.chat.completions.create(model="heron", messages=[{"role": "user", "content": question}])
        return str(reply.choices[0].message.content)

    with tracing_context(enabled=True, client=kept):
        wrapped = wrap_openai(client())
        for question in QUESTIONS:
            desk(question)
    fields = Run.model_fields
    chosen = [Run(**{name: run[name] for name in run if name in fields}) for run in runs.values()]
    lines = [
        json.dumps(run.model_dump(mode="json", exclude_none=True, exclude={"serialized", "events"})) for run in chosen
    ]
    (HERE / "langsmith.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def spans(name: str, instrument: Any, **more: Any) -> None:
    from google.protobuf.json_format import MessageToDict
    from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    kept = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    instrument.instrument(tracer_provider=provider, **more)
    with provider.get_tracer("desk").start_as_current_span("conversation"):
        converse(client())
    instrument.uninstrument()
    provider.force_flush()
    exported = MessageToDict(encode_spans(kept.get_finished_spans()))
    for scope in exported["resourceSpans"][0]["scopeSpans"]:
        for span in scope["spans"]:
            span |= {
                name: b64decode(span[name]).hex() for name in ("traceId", "spanId", "parentSpanId") if name in span
            }
    write_json(name, exported)


def opentelemetry() -> None:
    os.environ["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"] = "span_only"
    os.environ["OTEL_SEMCONV_STABILITY_OPT_IN"] = "gen_ai_latest_experimental"
    from opentelemetry.instrumentation.openai_v2 import OpenAIInstrumentor

    spans("opentelemetry.json", OpenAIInstrumentor())


def openllmetry() -> None:
    from opentelemetry.instrumentation.openai import OpenAIInstrumentor

    spans("openllmetry.json", OpenAIInstrumentor())


def openinference() -> None:
    from openinference.instrumentation.openai import OpenAIInstrumentor

    spans("openinference.json", OpenAIInstrumentor())


def langfuse() -> None:
    from langfuse.api import ObservationsView, TraceWithFullDetails

    about = {"public": False, "environment": "default", "tags": [], "htmlPath": "/t", "latency": 0.1, "totalCost": 0.0}
    zero = dict.fromkeys(("inputPrice", "outputPrice", "totalPrice", "latency"), 0.0)
    traces = []
    messages: list[Any] = [{"role": "system", "content": PROMPT}]
    for number, (question, reply) in enumerate(QUESTIONS.items()):
        messages.append({"role": "user", "content": question})
        time = f"2026-11-24T15:0{number}:00Z"
        call = ObservationsView(
            id=f"o{number}", traceId=f"t{number}", type="GENERATION", name="call", startTime=time, model="heron",
            modelParameters=None, input=[*messages], output={"role": "assistant", "content": reply}, metadata=None,
            usage={"input": 1, "output": 1, "total": 2, "unit": "TOKENS"}, level="DEFAULT", usageDetails={},
            costDetails={}, environment="default", **zero,
        )  # fmt: skip
        messages.append({"role": "assistant", "content": reply})
        trace = TraceWithFullDetails(
            id=f"t{number}", timestamp=time, name="desk", input=question, output=reply, sessionId="session-1",
            userId="u1", observations=[call], scores=[], metadata={}, **about,
        )  # fmt: skip
        traces.append(json.loads(trace.json(by_alias=True, exclude_none=True)))
    write_json(
        "langfuse.json", {"data": traces[::-1], "meta": {"page": 1, "limit": 50, "totalItems": 2, "totalPages": 1}}
    )


if __name__ == "__main__":
    for tool in sys.argv[1:]:
        globals()[tool]()
