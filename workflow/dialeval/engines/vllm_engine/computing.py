"""The process that computes: vLLM's engine, driven step by step, with Python's lock to itself.

It is started by `driving.py`, from which it gets the model's configuration and then the requests. It ends when it is
told to, and at once when the process that started it is gone, however that ended: it then reads the end of its
standard input.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator, Sequence
from functools import lru_cache
from multiprocessing.connection import Connection
from typing import Any

from dialeval.config.vllm_model import VllmModel
from dialeval.engines.vllm_engine.arguments import engine_arguments
from dialeval.engines.vllm_engine.exchange import Answered, Ask, Computed, Ended, EngineSize, Refused, ToCompute
from dialeval.errors import UserError

FEWEST_FIRST = {"scheduling_policy": "priority"}
"""Of dialogues that wait for their turn the one that is farthest from its end goes first: all then end together, and
there are no steps at the end with a few stragglers."""


class Computing:
    """vLLM's engine and what it has in hand.

    Args:
        model: the model's configuration.
    """

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
        self._in_hand: dict[str, Ask] = {}
        self.size = _size(self._engine.vllm_config)

    def serve(self, connection: Connection) -> None:
        """Answers what comes, until None does."""
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
        """Ends the engine and the processes that it may have started."""
        self._engine.engine_core.shutdown()

    def _take_in(self, requests: Sequence[ToCompute]) -> Iterator[Computed]:
        """Begins requests and forgets those that nobody waits for; yields those that vLLM refuses."""
        for number, ask in requests:
            name = str(number)
            if ask is None:
                if self._in_hand.pop(name, None):
                    self._engine.abort_request([name])
                continue
            try:
                prompt: Any = {"type": "token", "prompt_token_ids": ask.prompt}
                parameters = _parameters(*ask[1:-1])
                self._engine.add_request(name, prompt, parameters, lora_request=self._lora, priority=ask.depth)
                self._in_hand[name] = ask
            except Exception as error:  # it refuses with errors of many kinds
                yield number, Refused(str(error))

    def _step(self) -> list[Computed]:
        return [
            (int(output.request_id), _answered(self._in_hand.pop(output.request_id), output))
            for output in (self._engine.step() if self._in_hand else ())
            if output.finished and output.request_id in self._in_hand
        ]


def _size(config: Any) -> EngineSize:
    """Returns what vLLM's configuration says once the engine has started."""
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
    """Returns vLLM's parameters; judging requests for the same labels share them, to which vLLM adds only their end."""
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
        skip_clone=True,  # a copy of all that they hold takes longer than all else that is done with them
        **dict(further),
    )


def _answered(ask: Ask, output: Any) -> Answered:
    completion = output.outputs[0]
    logprobs: list[float] = []
    if completion.finish_reason in ("stop", "length"):
        if ask.labels:
            logprobs = [completion.logprobs[0][token].logprob for token in ask.labels]
        elif ask.scored_from is not None:
            scored = zip(ask.prompt, output.prompt_logprobs, strict=True)
            logprobs = [found[token].logprob for token, found in list(scored)[ask.scored_from :]]
    return Answered(
        token_ids=list(completion.token_ids),
        text=completion.text if ask.stop else None,
        finish_reason=str(completion.finish_reason),
        cached_tokens=output.num_cached_tokens or 0,
        logprobs=logprobs,
    )


def _end_with_parent() -> None:
    """Waits for the end of standard input, which the process that started this one holds open; then ends at once.

    So do the processes that vLLM has started, which are of the same group.
    """
    while os.read(0, 1024):
        pass
    os.killpg(0, signal.SIGKILL)


def compute(descriptor: int) -> int:
    """Is the whole process: serves the connection of a descriptor and returns the status to end with."""
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
