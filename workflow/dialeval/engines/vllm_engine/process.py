"""The process that computes with vLLM: its arguments, messages and steps.

`driver` starts it and sends the model's configuration, then requests. It ends on None, and at once at the end of its
standard input, when the process that started it is gone.
"""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

from dialeval.config.models import VllmModel
from dialeval.errors import UserError

FEWEST_FIRST = {"scheduling_policy": "priority"}
"""Of waiting dialogues the one with the fewest messages goes first, so that all end together, in full batches."""


class Computing:
    """vLLM's engine and its requests."""

    def __init__(self, model: VllmModel) -> None:
        from vllm import EngineArgs
        from vllm.lora.request import LoRARequest
        from vllm.platforms import current_platform
        from vllm.usage.usage_lib import UsageContext
        from vllm.v1.engine.llm_engine import LLMEngine

        self._engine = LLMEngine.from_engine_args(
            EngineArgs(**(FEWEST_FIRST | engine_arguments(model, on_cpu=current_platform.is_cpu()))),
            usage_context=UsageContext.LLM_CLASS,  # vLLM's limits for tables of requests; without it, its smallest
        )
        self._lora = None
        if model.lora_path is not None:
            self._lora = LoRARequest("adapter", 1, str(model.lora_path.expanduser()))
        self._in_hand: dict[str, GenerationRequest] = {}
        self.size = _size(self._engine.vllm_config)

    def serve(self, connection: Connection) -> None:
        """Answer requests until None comes."""
        while True:
            refused: list[Computed] = []
            while not (self._in_hand or refused) or connection.poll():
                requests: list[ToCompute] | None = connection.recv()
                if requests is None:
                    return
                refused += self._take_in(requests)
            if outcomes := refused + self._step():
                connection.send(outcomes)

    def close(self) -> None:
        """End the engine and the processes that it may have started."""
        self._engine.engine_core.shutdown()

    def _take_in(self, requests: Sequence[ToCompute]) -> Iterator[Computed]:
        """Begin requests and drop cancelled ones; yield those that vLLM refuses."""
        for number, generation in requests:
            name = str(number)
            if generation is None:
                if self._in_hand.pop(name, None):
                    self._engine.abort_request([name])
                continue
            try:
                prompt: Any = {"type": "token", "prompt_token_ids": generation.prompt}
                parameters = _parameters(*generation[1:-1])
                self._engine.add_request(name, prompt, parameters, lora_request=self._lora, priority=generation.depth)
                self._in_hand[name] = generation
            except Exception as error:  # it refuses with errors of many classes
                yield number, Refused(str(error))

    def _step(self) -> list[Computed]:
        return [
            (int(output.request_id), _result_of(self._in_hand.pop(output.request_id), output))
            for output in (self._engine.step() if self._in_hand else ())
            if output.finished and output.request_id in self._in_hand
        ]


def compute(descriptor: int) -> int:
    """Run the process: serve the connection of a descriptor and return the exit status."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    connection = Connection(descriptor)
    try:
        computing = Computing(VllmModel.model_validate_json(connection.recv()))
        connection.send(computing.size)
        computing.serve(connection)
    except (Exception, SystemExit) as error:
        connection.send(Ended(str(error) if isinstance(error, UserError) else f"{type(error).__name__}: {error}"))
        return 1
    computing.close()
    return 0


def _size(config: Any) -> EngineSize:
    """Return the size of the started engine by vLLM's configuration."""
    from vllm import __version__

    cache, model, scheduler = config.cache_config, config.model_config, config.scheduler_config
    return EngineSize(
        cache_tokens=(cache.num_gpu_blocks or 0) * cache.block_size,
        block_size=cache.block_size,
        window=model.max_model_len,
        sequences=scheduler.max_num_seqs,
        batched_tokens=scheduler.max_num_batched_tokens,
        dtype=str(model.dtype).removeprefix("torch."),
        quantization=str(model.quantization or ""),
        version=__version__,
    )


@lru_cache(maxsize=1024)
def _parameters(
    max_tokens: int,
    temperature: float,
    top_p: float,
    seed: int | None,
    stop: tuple[str, ...],
    stop_token_ids: tuple[int, ...],
    labels: tuple[int, ...],
    scored_from: int | None,
    answer_schema: str,
    further: tuple[tuple[str, float], ...],
) -> Any:
    """Return vLLM's parameters, which requests for the same labels share."""
    from vllm import SamplingParams
    from vllm.sampling_params import RequestOutputKind, StructuredOutputsParams

    return SamplingParams(
        max_tokens=max_tokens,
        temperature=temperature,
        top_p=top_p,
        seed=seed,
        stop=list(stop),
        stop_token_ids=list(stop_token_ids),
        logprob_token_ids=list(labels) or None,
        prompt_logprobs=None if scored_from is None else 0,
        structured_outputs=StructuredOutputsParams(json=answer_schema) if answer_schema else None,
        detokenize=bool(stop),
        output_kind=RequestOutputKind.FINAL_ONLY,
        skip_clone=True,  # copying takes longer than all other steps
        **dict(further),
    )


def _result_of(generation: GenerationRequest, output: Any) -> GenerationResult:
    completion = output.outputs[0]
    logprobs: list[float] = []
    if completion.finish_reason in ("stop", "length"):
        if generation.labels:
            logprobs = [completion.logprobs[0][token].logprob for token in generation.labels]
        elif generation.scored_from is not None:
            scored = zip(generation.prompt, output.prompt_logprobs, strict=True)
            logprobs = [found[token].logprob for token, found in list(scored)[generation.scored_from :]]
    return GenerationResult(
        token_ids=list(completion.token_ids),
        text=completion.text if generation.stop else None,
        finish_reason=str(completion.finish_reason),
        cached_tokens=output.num_cached_tokens or 0,
        logprobs=logprobs,
    )


def _end_with_parent() -> None:
    """End the process group, with the processes of vLLM, at the end of standard input, which the parent holds open."""
    while os.read(0, 1024):
        pass
    os.killpg(0, signal.SIGKILL)


# A model's configuration as arguments of vLLM's engine.

CPU_BLOCK_SIZE = 32
CPU_CACHE_BYTES = 1 << 29
LORA_RANKS = (1, 8, 16, 32, 64, 128, 256, 320, 512)
"""Values that vLLM accepts as the highest rank; a rank between them gets the next."""
LABELS_AT_ONCE = 128
"""Most tokens whose probability vLLM gives in one step."""


def computing_environment(model: VllmModel, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of vLLM's process; variables of the user stay."""
    ours = {
        "VLLM_ENABLE_V1_MULTIPROCESSING": "0",  # it is a process of its own already
        "VLLM_LOGGING_LEVEL": "ERROR",
        "VLLM_NO_USAGE_STATS": "1",
        "TOKENIZERS_PARALLELISM": "false",
    }
    if model.enforce_eager:
        ours["TORCHDYNAMO_DISABLE"] = "1"
    return ours | dict(environment)


def engine_arguments(model: VllmModel, *, on_cpu: bool) -> dict[str, Any]:
    """Return keyword arguments of vLLM's EngineArgs.

    Args:
        on_cpu: whether vLLM computes on the CPU, where a chunked prefill fails for requests with a sampling seed, and
            the share of memory is a share of all memory.
    """
    arguments: dict[str, Any] = {
        "model": os.path.expanduser(model.model),  # noqa: PTH111 - a name at Hugging Face is no path
        "revision": model.revision,
        "tokenizer_revision": model.revision,
        "dtype": model.dtype,
        "quantization": model.quantization,
        "tensor_parallel_size": model.tensor_parallel_size,
        "max_model_len": model.max_model_len,
        "gpu_memory_utilization": model.gpu_memory_utilization,
        "kv_cache_memory_bytes": model.kv_cache_memory_bytes,
        "trust_remote_code": model.trust_remote_code,
        "enforce_eager": model.enforce_eager,
        "enable_prefix_caching": True,
        "disable_log_stats": True,
        "seed": 0,
        # between the fields of a structured answer a model could otherwise write blanks until its budget is gone
        "structured_outputs_config": {"backend": "xgrammar", "disable_any_whitespace": True},
    }
    if on_cpu:
        arguments |= {
            "block_size": CPU_BLOCK_SIZE,
            "enable_chunked_prefill": False,
            "kv_cache_memory_bytes": model.kv_cache_memory_bytes or CPU_CACHE_BYTES,
        }
    if model.lora_path is not None:
        arguments |= {"enable_lora": True, "max_loras": 1, "max_lora_rank": _lora_rank(model)}
    return arguments | model.engine_args


def _lora_rank(model: VllmModel) -> int:
    assert model.lora_path is not None
    path = model.lora_path.expanduser() / "adapter_config.json"
    try:
        rank = int(json.loads(path.read_text(encoding="utf-8"))["r"])
    except (OSError, KeyError, ValueError) as error:
        raise UserError(
            f"lora_path: {model.lora_path} is not a LoRA adapter ({path.name} with its rank 'r' is needed): {error}"
        ) from error
    if rank > LORA_RANKS[-1]:
        raise UserError(
            f"lora_path: the adapter in {model.lora_path} has rank {rank}, and vLLM supports up to {LORA_RANKS[-1]}; "
            f"train it with a lower rank, or merge it into the model"
        )
    return next(possible for possible in LORA_RANKS if possible >= rank)


# Messages between the driver and this process: lists of pickled tuples.


class EngineSize(NamedTuple):
    """The capacity of an engine, as vLLM set it.

    Attributes:
        cache_tokens: tokens of its KV cache.
        block_size: tokens of a block of it.
        window: tokens of one request (`max_model_len`).
        sequences: requests that one step computes (`max_num_seqs`).
        batched_tokens: tokens that one step computes (`max_num_batched_tokens`).
        dtype: number format of the computation.
        quantization: method of the weights' quantisation; empty for none.
        version: vLLM's version.
    """

    cache_tokens: int
    block_size: int
    window: int
    sequences: int = 0
    batched_tokens: int = 0
    dtype: str = ""
    quantization: str = ""
    version: str = ""


class GenerationRequest(NamedTuple):
    """A prompt in tokens and its sampling parameters.

    Attributes:
        prompt: its tokens.
        stop: texts that end the answer; only with them the result has text.
        stop_token_ids: tokens that end it, beside the model's end of sequence.
        labels: tokens whose log-probability at the first position of the answer is returned.
        scored_from: index of the first token of the prompt whose log-probability is returned.
        answer_schema: JSON schema that the answer must follow; empty for free text.
        further: sampling parameters beyond those of a request, by vLLM's names, sorted.
        depth: number of messages of the prompt; vLLM begins the waiting request with the fewest.
    """

    prompt: list[int]
    max_tokens: int
    temperature: float = 0.0
    top_p: float = 1.0
    seed: int | None = None
    stop: tuple[str, ...] = ()
    stop_token_ids: tuple[int, ...] = ()
    labels: tuple[int, ...] = ()
    scored_from: int | None = None
    answer_schema: str = ""
    further: tuple[tuple[str, float], ...] = ()
    depth: int = 0


ToCompute = tuple[int, GenerationRequest | None]
"""A request with its number, or the number of one that was cancelled."""


class GenerationResult(NamedTuple):
    """The model's answer to a prompt.

    Attributes:
        token_ids: the answer, with its end token if it has one.
        text: the answer, if the request has texts that end it.
        finish_reason: vLLM's: `stop`, `length`, or another for an aborted request.
        cached_tokens: tokens of the prompt in the prefix cache.
        logprobs: of the labels' tokens, or of the scored tokens of the prompt, in their order.
    """

    token_ids: list[int]
    text: str | None
    finish_reason: str
    cached_tokens: int
    logprobs: list[float]


class Refused(NamedTuple):
    """vLLM does not take this one request."""

    reason: str


Computed = tuple[int, GenerationResult | Refused]


class Ended(NamedTuple):
    """The engine did not start, or stopped, and why."""

    reason: str
