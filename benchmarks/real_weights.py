"""Answers of one model with learned weights in the job, behind vLLM's own server, and behind another server.

The prompts are DialEval's own on bundled dialogues and items: P(Yes) of responses, half of them of another dialogue,
log-likelihoods of options, and UniEval's verdicts at temperature 0. `examples/small_weights.py` fetches a small model;
`--server` compares a further endpoint, such as llama.cpp's with the same weights. Takes 5 min with vLLM.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

os.environ.setdefault("HF_HUB_OFFLINE", "1")

from vllm_direct import cpu_settings  # isort: skip

from dialeval.config import OpenAIModel
from dialeval.config.protocols import shipped
from dialeval.corpora.dialogues import bundled_dialogues
from dialeval.corpora.items import Item
from dialeval.criteria import SHIPPED
from dialeval.dialogbench import examination
from dialeval.dialogbench.items import read_bundled
from dialeval.engines.openai_api.engine import OpenAIEngine
from dialeval.engines.requests import AnswerFailure, Engine, Message, Request, Response, Sampling
from dialeval.engines.vllm_engine import VllmEngine
from dialeval.prompts.rendering import Templates
from dialeval.protocols import scores
from dialeval.protocols.locate import OPTIONS
from dialeval.protocols.questions import Question
from dialeval.protocols.verdicts import read_verdict
from gates import Gates, arguments

YES_NO = Question("yes_no", shipped("yes_no"), shipped=True)
IN_FLIGHT = 32
WINDOW, CACHE = 1024, 1 << 28
"""Tokens of a request, and of a step: log-likelihoods take 4 bytes of memory per token and vocabulary entry."""
Answers = Mapping[str, Response | AnswerFailure]


def requests(number: int, texts_scored: int) -> list[Request]:
    """Return requests about so many dialogues, and log-likelihoods of so many options."""
    templates, dialogues = Templates(), bundled_dialogues("en").dialogues
    texts = [tuple(part.text for part in dialogue.utterances) for dialogue in dialogues]
    others = texts[1:] + texts[:1]
    items = [
        Item(
            corpus="bundled", item_id=str(place), language="en", level="turn", cluster=str(place),
            speakers=("human", "chatbot", "human", "chatbot"), utterances=(*text[:3], (text, other)[place % 2][3]),
        )
        for place, (text, other) in enumerate(itertools.islice(zip(texts, others, strict=True), number))
    ]  # fmt: skip
    relevance = [SHIPPED["relevance"]]
    choices = [planned.request for planned in scores.plan_probability(YES_NO, items, templates, lambda _: relevance)]
    options = examination.plan(read_bundled("en").items, "perplexity", templates)
    scored = [planned.request for planned in itertools.islice(options, texts_scored)]
    sampling = Sampling(temperature=0.0, max_tokens=24)
    prompts = [templates.render("unieval.j2", utterances=text[:4], speakers=None) for text in texts[:number]]
    verdicts = [
        Request(f"unieval/{place}", "unieval", "chat", (Message("user", prompt),), sampling)
        for place, prompt in enumerate(prompts)
    ]
    return [*choices, *scored, *verdicts]


def answers(engine: Engine, asked: Sequence[Request]) -> tuple[Answers, float]:
    """Return each request's response or failure by its id, and the seconds that they took."""
    found: dict[str, Response | AnswerFailure] = {}

    async def one(request: Request, room: asyncio.Semaphore) -> None:
        async with room:
            try:
                found[request.request_id] = await engine.answer(request)
            except AnswerFailure as failure:
                found[request.request_id] = failure

    async def everything() -> float:
        room = asyncio.Semaphore(IN_FLIGHT)
        await engine.answer(asked[0])  # starts the engine
        start = time.perf_counter()
        await asyncio.gather(*(one(request, room) for request in asked))
        seconds = time.perf_counter() - start
        await engine.close()
        return seconds

    return found, asyncio.run(everything())


@contextmanager
def vllm_server(model: str, log: Path) -> Iterator[str]:
    """Run vLLM's own server with a model, and give its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", model, "--served-model-name", "m"]
    command += ["--host", "127.0.0.1", "--port", str(port), "--dtype", "float32", "--enforce-eager"]
    command += ["--max-model-len", str(WINDOW), "--max-num-batched-tokens", str(WINDOW), "--no-enable-chunked-prefill"]
    command += ["--block-size", "32", "--max-num-seqs", "32", "--kv-cache-memory-bytes", str(CACHE)]
    command += ["--generation-config", "vllm"]
    quiet = {"VLLM_NO_USAGE_STATS": "1", "VLLM_LOGGING_LEVEL": "WARNING", "TORCHDYNAMO_DISABLE": "1"}
    with log.open("wb") as output:
        process = subprocess.Popen(command, env=os.environ | quiet, stdout=output, stderr=output)
    try:
        for _ in range(600):
            if process.poll() is not None:
                raise SystemExit(f"the server has ended:\n{log.read_text()[-3000:]}")
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5):
                    break
            except OSError:
                time.sleep(1)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        process.wait()


def endpoint(address: str, name: str, labels: str, *, scores: bool) -> OpenAIModel:
    """Return the configuration of a model behind a server."""
    return OpenAIModel(
        engine="openai", model=name, base_url=address, api_key_env=None, label_logprobs=labels,  # type: ignore[arg-type]
        prompt_logprobs=scores, concurrency=16,
    )  # fmt: skip


def compare(gates: Gates, name: str, ours: Answers, theirs: Answers, *, exact: bool) -> None:
    """Tells how far two sets of answers lie apart, kind by kind."""
    _probabilities(gates, name, ours, theirs, exact=exact)
    _scores(gates, name, ours, theirs)
    _verdicts(gates, name, ours, theirs, exact=exact)
    failures = [answer for answer in theirs.values() if isinstance(answer, AnswerFailure)]
    if failures:
        reasons = sorted({f"{failure.kind}: {failure}"[:120] for failure in failures})
        gates.told(f"{name}: requests without an answer", len(failures), note=" / ".join(reasons))


def _both(kind: str, ours: Answers, theirs: Answers) -> list[tuple[Response, Response]]:
    prefix = {"choice": "yes_no/", "loglikelihood": "dialogbench/", "chat": "unieval/"}[kind]
    pairs = [(one, theirs[name]) for name, one in ours.items() if name.startswith(prefix)]
    return [(one, two) for one, two in pairs if isinstance(one, Response) and isinstance(two, Response)]


def _probabilities(gates: Gates, name: str, ours: Answers, theirs: Answers, *, exact: bool) -> None:
    pairs = _both("choice", ours, theirs)
    shown = [(_p_yes(one), _p_yes(two)) for one, two in pairs]
    known = np.array([(one, two) for one, two in shown if one is not None and two is not None])
    if not len(known):
        gates.told(f"{name}: prompts whose P(Yes) both give", 0)
        return
    apart = np.abs(known[:, 0] - known[:, 1])
    note = f"{len(known)} of {len(pairs)} prompts; mean {apart.mean():.2g}, Pearson {np.corrcoef(known.T)[0, 1]:.5f}"
    if exact:
        gates.at_most(f"{name}: largest difference of P(Yes)", float(apart.max()), 1e-3, note=note)
    else:
        gates.told(f"{name}: largest difference of P(Yes)", float(apart.max()), note=note)


def _p_yes(response: Response) -> float | None:
    logprobs = response.label_logprobs or {}
    if not {"Yes", "No"} <= set(logprobs):
        return None
    yes, no = (float(np.exp(logprobs[label])) for label in ("Yes", "No"))
    return yes / (yes + no)


def _scores(gates: Gates, name: str, ours: Answers, theirs: Answers) -> None:
    pairs = [(one, two) for one, two in _both("loglikelihood", ours, theirs) if two.logprob is not None]
    if not pairs:
        return
    apart = [abs((one.logprob or 0.0) - (two.logprob or 0.0)) for one, two in pairs]
    note = f"{len(pairs)} texts; mean {np.mean(apart):.2g}"
    gates.at_most(f"{name}: largest difference of a log-likelihood", float(max(apart)), 1e-2, note=note)


def _verdicts(gates: Gates, name: str, ours: Answers, theirs: Answers, *, exact: bool) -> None:
    pairs = _both("chat", ours, theirs)
    same = sum(one.text == two.text for one, two in pairs)
    agree = sum(_verdict(one) == _verdict(two) for one, two in pairs)
    parsed = sum(_verdict(one) is not None for one, _ in pairs)
    note = f"{len(pairs)} responses; {same} equal word by word; {parsed} of the job's could be parsed"
    if exact:
        gates.at_least(f"{name}: equal verdicts", agree, len(pairs), note=note)
    else:
        gates.told(f"{name}: equal verdicts", agree, note=note)


def _verdict(response: Response) -> str | None:
    return read_verdict(response.text, OPTIONS, cut=response.finish_reason == "length").choice


def main() -> int:
    """Compare the ways, and return 1 if vLLM's server answers otherwise than the job."""
    parser = arguments(__doc__)
    parser.add_argument("--model", default="weights/gemma", help="folder of the model, with a chat template")
    parser.add_argument("--items", type=int, default=64, help="dialogues, each with a P(Yes) and a verdict")
    parser.add_argument("--texts", type=int, default=32, help="log-likelihoods, which cost most")
    parser.add_argument(
        "--server", help="address of a further endpoint with the same weights, such as http://127.0.0.1:8080/v1"
    )
    parser.add_argument("--served-as", default="m", help="the model's name there")
    options = parser.parse_args()
    gates = Gates(__file__, options, part="other" if options.server else "")
    asked = requests(options.items, 0 if options.server else options.texts)
    few = {"max_num_seqs": 32, "max_num_batched_tokens": WINDOW}
    settings = cpu_settings(options.model, max_model_len=WINDOW, kv_cache_memory_bytes=CACHE, engine_args=few)
    ours, seconds = answers(VllmEngine(settings), asked)
    missing = [answer for answer in ours.values() if isinstance(answer, AnswerFailure)]
    assert not missing, missing[0]
    gates.told("in the job", len(asked) / seconds, unit="answers/s", note=f"{len(asked)} requests")
    if options.server:
        other = OpenAIEngine(endpoint(options.server, options.served_as, "top_logprobs", scores=False))
        theirs, seconds = answers(other, asked)
        gates.told("the other server", len(asked) / seconds, unit="answers/s")
        compare(gates, "the other server", ours, theirs, exact=False)
        return gates.finish()
    with tempfile.TemporaryDirectory() as folder, vllm_server(options.model, Path(folder) / "log") as address:
        exact, seconds = answers(OpenAIEngine(endpoint(address, "m", "vllm", scores=True)), asked)
        gates.told("vLLM's server", len(asked) / seconds, unit="answers/s")
        compare(gates, "vLLM's server", ours, exact, exact=True)
        likeliest = [request for request in asked if request.kind == "choice"]
        top, _ = answers(OpenAIEngine(endpoint(address, "m", "top_logprobs", scores=True)), likeliest)
        _probabilities(gates, "vLLM's server, twenty likeliest tokens", ours, top, exact=False)
    return gates.finish()


if __name__ == "__main__":
    sys.exit(main())
