"""The engine of models that vLLM runs."""

from __future__ import annotations

import asyncio
import gc
import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from dialeval.config.models import VllmModel
from dialeval.engines.installation import (
    free_memory,
    gpu_memory,
    no_device,
    vllm_build,
    vllm_missing,
    vllm_version_note,
)
from dialeval.engines.label_probabilities import LabelTree, label_logprobs, label_tree
from dialeval.engines.requests import PENALTIES, AnswerFailure, Engine, Message, Request, Response
from dialeval.engines.vllm_engine.chat_templates import DEFAULT, Reasoning
from dialeval.engines.vllm_engine.driver import Driver, start
from dialeval.engines.vllm_engine.model_files import (
    beyond_window,
    sampling_defaults,
    text_digest,
    too_large,
    vllm_identity,
)
from dialeval.engines.vllm_engine.process import (
    CPU_CACHE_BYTES,
    LABELS_AT_ONCE,
    EngineSize,
    GenerationRequest,
    GenerationResult,
)
from dialeval.engines.vllm_engine.prompts import Prompts
from dialeval.engines.vllm_engine.scheduling import Admission, DialogueRoom
from dialeval.errors import UserError

IN_FLIGHT = 2048
"""Requests per copy of a model that may wait for room in the KV cache: twice the most that vLLM computes together."""

FIRST_DIALOGUES = 8
"""Dialogues that begin before the engine has started."""


def open_model(model: VllmModel, learned: Sequence[Path], store: Path | None, protocol: str) -> Engine:
    """Return the engine of a model; see `answering.open_engine`.

    For a model with an adapter that the run has trained, `learned` begins with the adapter's folder, which becomes its
    `lora_path`.
    """
    if model.lora and learned:
        model = model.model_copy(update={"lora_path": learned[0], "lora": None})
    return VllmEngine(model)


class VllmEngine:
    """Answers requests with a model that vLLM runs in processes of its own.

    The constructor loads the tokenizer only; the engine starts with the first request without a stored response.

    Attributes:
        identity: canonical JSON of everything about the model that can change an answer.
        reads_subject: always false.
        concurrency: largest number of requests in flight; those without room in the KV cache wait in `admission`.
        normalisation: how messages are rearranged for the model's chat template.
        prompt_tokens: tokens of all computed prompts.
        cached_tokens: those of them in the prefix cache.
        too_long: number of requests that did not fit the window.

    Raises:
        UserError: vLLM is not installed, the model cannot be found, or it has no chat template.
    """

    reads_subject = False

    def __init__(self, model: VllmModel) -> None:
        missing = vllm_missing()
        if missing:
            raise UserError(missing)
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        prompts = Prompts(model)
        model, template, reasoning = prompts.model, prompts.template, prompts.reasoning
        self.normalisation = template.normalisation
        sampling = sampling_defaults(model)
        self.identity = vllm_identity(
            model,
            template.normalisation,
            weights=prompts.weights,
            template=text_digest(template.text),
            sampling=sampling,
            reasoning=reasoning.name,
        )
        self.concurrency = model.concurrency or _in_flight(model)
        self.prompt_tokens = self.cached_tokens = self.too_long = 0
        self._model = model
        self._sampling = sampling
        self._reasoning = reasoning
        self._template = template
        self._prompts = prompts
        stop = template.stop_token
        self._stop_token_ids = () if stop is None else (int(prompts.tokenizer.convert_tokens_to_ids(stop)),)
        self._label_trees: dict[tuple[str, ...], LabelTree] = {}
        self._driver: Driver | None = None
        self._admission: Admission | None = None

    @property
    def context_window(self) -> int | None:
        """Tokens of prompt and answer together; starts the engine if the configuration does not give them."""
        return self._model.max_model_len or self.start().size.window

    @property
    def prefix_hit_rate(self) -> float:
        """Share of all prompt tokens that were in the prefix cache."""
        return self.cached_tokens / self.prompt_tokens if self.prompt_tokens else 0.0

    def progress_words(self) -> str:
        """Return the engine's part of a line of progress."""
        return f"{self.prefix_hit_rate:.0%} of prompt tokens cached" if self.prompt_tokens else ""

    @property
    def admission(self) -> Admission:
        """The requests and dialogues in flight; starts the engine."""
        self.start()
        assert self._admission is not None
        return self._admission

    def start(self) -> Driver:
        """Start vLLM, which takes from seconds to minutes, and return its driver; start it only once.

        Raises:
            UserError: it does not start.
        """
        if self._driver is not None:
            return self._driver
        if reason := no_device(self._model) or beyond_window(self._model) or no_room(self._model):
            raise UserError(reason)
        if warning := self._prompts.lacks_bos():
            print(warning, flush=True)
        driver = start(self._model)
        print(limits_in_effect(driver.size, self._model, self._sampling), flush=True)
        print(reasoning_in_effect(self._reasoning, self._model), flush=True)
        gc.freeze()  # garbage collection of loaded objects took a third of a request's time
        self._driver = driver
        self._admission = Admission(driver.size.cache_tokens, driver.size.block_size, self._model.concurrency)
        return driver

    def room_for_dialogues(self, n_utterances: int, max_tokens: int, *, histories: int = 1) -> DialogueRoom:
        """Return the admission of dialogues by room in the cache.

        Args:
            n_utterances: utterances that they have in the end.
            max_tokens: longest utterance.
            histories: copies of each dialogue in the cache: two where the model speaks in two roles.
        """

        def fits(going_on: Mapping[int, int]) -> bool:
            lengths = {length: histories * number for length, number in going_on.items()}
            if self._admission is None:  # before the engine has started: stored dialogues need no engine
                return sum(lengths.values()) <= FIRST_DIALOGUES
            return self._admission.fits(lengths, n_utterances, max_tokens)

        return DialogueRoom(fits)

    async def answer(self, request: Request) -> Response:
        """Answer, or raise AnswerFailure: `labels`, `unsupported`, `refused`.

        A prompt that does not fit the window with its answer is not sent: the response is empty, with `finish_reason`
        `length`, so that it counts as `truncated`.
        """
        try:
            match request.kind:
                case "chat":
                    return await self._chat(request)
                case "choice":
                    return await self._choice(request)
                case "loglikelihood":
                    return await self._loglikelihood(request)
        except _TooLongError:
            self.too_long += 1
            return Response(text="", finish_reason="length")

    def count_tokens(self, messages: tuple[Message, ...]) -> int:
        """Return the length of the rendered prompt in the model's own tokens."""
        return len(self._prompts.prompt(messages)[1])

    async def close(self) -> None:
        """End vLLM and give back its memory."""
        if self.too_long:
            print(
                f"note: {self.too_long} of the requests do not fit the window of {self.context_window} tokens with "
                f"their responses; they were not sent, and count as truncated. Raise max_model_len if the model allows "
                "it, or lower max_tokens",
                flush=True,
            )
            self.too_long = 0
        driver, self._driver, self._admission = self._driver, None, None
        if driver is not None:
            await asyncio.to_thread(driver.close)

    async def _chat(self, request: Request) -> Response:
        rendered, prompt = self._prompts.prompt(request.messages)
        if request.answer_schema:
            prompt = self._prompts.behind_reasoning(rendered, prompt)  # a schema leaves no place for thinking
        sampling = request.sampling
        further = dict(self._sampling)
        further |= {name: getattr(sampling, name) for name in PENALTIES if getattr(sampling, name)}
        top_p, longest = further.pop("top_p", 1.0), further.pop("max_new_tokens", sampling.max_tokens)
        generation = GenerationRequest(
            prompt,
            max_tokens=min(sampling.max_tokens, int(longest)),
            temperature=sampling.temperature,
            top_p=top_p if sampling.top_p == 1.0 else sampling.top_p,
            further=tuple(sorted(further.items())),
            seed=sampler_seed(request) if sampling.temperature > 0 else None,
            stop=(*sampling.stop, *self._template.stops(request.messages)),
            stop_token_ids=self._stop_token_ids,
            answer_schema=request.answer_schema,
        )
        answered = await self._generate(request, rendered, generation)
        ended = answered.finish_reason == "stop"
        if request.answer_schema:
            text, reasoning = answered.text or self._prompts.text(answered.token_ids, ended=ended), ""
        else:
            text, reasoning = self.split_reasoning(answered, rendered, generation.stop)
        return Response(
            text=text,
            reasoning=reasoning,
            finish_reason="stop" if ended else "length",
            prompt_tokens=len(prompt),
            completion_tokens=len(answered.token_ids),
            reasoning_tokens=len(self._prompts.encode(reasoning)) if reasoning else None,
        )

    def split_reasoning(self, answered: GenerationResult, rendered: str, stop: tuple[str, ...]) -> tuple[str, str]:
        """Return the answer and the reasoning before it."""
        opened = self._reasoning.opened_by(rendered)
        if not self._reasoning.keeps_special:
            ended = answered.finish_reason == "stop"
            text = answered.text
            if text is None:
                text = self._prompts.text(answered.token_ids, ended=ended)
            return self._reasoning.split(text, opened=opened)
        text = self._prompts.text(answered.token_ids, special=True)
        answer, thought = map(self._prompts.without_special, self._reasoning.split(text, opened=opened))
        if not thought:  # earlier models of a family may write <think> as plain text
            answer, thought = DEFAULT.split(answer, opened=False)
        for end in stop:
            answer = answer.partition(end)[0]
        return answer, thought

    async def _choice(self, request: Request) -> Response:
        if request.labels not in self._label_trees:
            self._label_trees[request.labels] = label_tree(request.labels, self._prompts.encode)
        tree = self._label_trees[request.labels]
        rendered, prompt = self._prompts.prompt(request.messages)
        prompt = self._prompts.behind_reasoning(rendered, prompt)
        nodes = list(tree.next_tokens)
        steps = [self._step(request, rendered, [*prompt, *node], tree.next_tokens[node]) for node in nodes]
        shown = await asyncio.gather(*steps) if len(steps) > 1 else [await steps[0]]
        logprobs, mass = label_logprobs(tree, dict(zip(nodes, shown, strict=True)))
        text = max(logprobs, key=logprobs.__getitem__, default="")
        return Response(
            text=text,
            prompt_tokens=len(prompt),
            completion_tokens=len(nodes),
            label_logprobs=logprobs,
            label_mass=mass,
        )

    async def _step(self, request: Request, rendered: str, prompt: list[int], tokens: list[int]) -> dict[int, float]:
        """Return the log-probabilities of some tokens at the end of a prompt."""
        if len(tokens) > LABELS_AT_ONCE:
            raise AnswerFailure(
                "labels",
                f"the labels have {len(tokens)} different tokens in one place, more than the maximum {LABELS_AT_ONCE}",
            )
        answered = await self._generate(
            request, rendered, GenerationRequest(prompt, max_tokens=1, labels=tuple(tokens))
        )
        return dict(zip(tokens, answered.logprobs, strict=True))

    async def _loglikelihood(self, request: Request) -> Response:
        rendered, prompt, start = self._prompts.with_continuation(request.messages, request.continuation)
        if start == 0 or start == len(prompt):
            missing = "text before it" if start == 0 else "a continuation"
            raise AnswerFailure("unsupported", f"a log-likelihood needs {missing}")
        answered = await self._generate(request, rendered, GenerationRequest(prompt, max_tokens=1, scored_from=start))
        logprobs = answered.logprobs
        return Response(text="", prompt_tokens=start, logprob=sum(logprobs), n_tokens=len(logprobs))

    async def _generate(self, request: Request, rendered: str, generation: GenerationRequest) -> GenerationResult:
        """Return vLLM's answer to a prompt, once there is room for it."""
        window, n_prompt = self.context_window, len(generation.prompt)
        if window is not None and n_prompt + generation.max_tokens > window:
            raise _TooLongError
        driver, admission = self.start(), self.admission
        async with admission.place(len(request.messages), rendered, generation.prompt, generation.max_tokens):
            generation = generation._replace(depth=len(request.messages))
            answered = await driver.generate(generation, dialogue=_dialogue(request.messages))
        if answered.finish_reason not in ("stop", "length"):
            raise AnswerFailure("refused", f"vLLM ended the request: {answered.finish_reason}")
        self.prompt_tokens += n_prompt
        self.cached_tokens += answered.cached_tokens
        admission.count_answer(len(answered.token_ids))
        return answered


def no_room(model: VllmModel) -> str | None:
    """Return why the model or its longest request does not fit the memory, with the remedy, or None."""
    on_cpu = vllm_build() == "cpu"
    cache = model.kv_cache_memory_bytes or (CPU_CACHE_BYTES if on_cpu else None)
    return too_large(model, cache, free_memory(on_cpu=True) if on_cpu else _gpu_room(model))


def _gpu_room(model: VllmModel) -> int | None:
    """Return the most bytes that a model may take of its GPUs; None where these are unknown."""
    memory = gpu_memory()
    if memory is None:
        return None
    share = 1.0 if model.kv_cache_memory_bytes else model.gpu_memory_utilization  # a fixed cache ignores the share
    on_each = memory * share + float(model.engine_args.get("cpu_offload_gb", 0)) * 2**30
    return int(on_each * model.tensor_parallel_size * int(model.engine_args.get("pipeline_parallel_size", 1)))


def sampler_seed(request: Request) -> int:
    """Return a sampling seed of the request's own: one seed for all would make dialogues fall into one."""
    content = json.dumps([request.sampling.seed, request.repeat, request.messages], ensure_ascii=False)
    return int.from_bytes(hashlib.sha256(content.encode("utf-8", "surrogatepass")).digest()[:6])


def _in_flight(model: VllmModel) -> int:
    """Return how many requests may be on their way, so that no copy of the model waits for the next one."""
    wanted = model.engine_args.get("max_num_seqs")
    return max(IN_FLIGHT, 2 * wanted if isinstance(wanted, int) else 0) * model.data_parallel_size


class _TooLongError(Exception):
    """A prompt and its answer do not fit the model's window together."""


def _dialogue(messages: tuple[Message, ...]) -> int | None:
    """Return a number that all turns of a dialogue share; None for a single question."""
    return hash(tuple(message.content for message in messages[:2])) if len(messages) > 2 else None


# The settings of a started engine, for the job's log.


def limits_in_effect(size: EngineSize, model: VllmModel, sampling: Mapping[str, float]) -> str:
    """Return the line of the log with vLLM's effective settings, by vLLM's own names.

    Args:
        sampling: sampling values beyond a request's own.
    """
    values = ", ".join(f"{name}={value:g}" for name, value in sorted(sampling.items())) or "no values of its own"
    each = f" in each of {model.data_parallel_size} copies" if model.data_parallel_size > 1 else ""
    all_copies = " in all" if model.data_parallel_size > 1 else ""
    return (
        f"vLLM {size.version} has started {model.model}: max_num_seqs={size.sequences} and "
        f"max_num_batched_tokens={size.batched_tokens}{each}, max_model_len={size.window}, KV cache of "
        f"{size.cache_tokens} tokens{all_copies}, dtype={size.dtype}, quantization={size.quantization or 'none'}, "
        f"generation_config={model.generation_config} ({values}){vllm_version_note()}"
    )


def reasoning_in_effect(reasoning: Reasoning, model: VllmModel) -> str:
    """Return the line of the log on the separation of reasoning and answer."""
    how = "detected from the model" if model.reasoning_parser is None else "as configured"
    return (
        f"reasoning is separated from the answer by {reasoning.words} (reasoning_parser, {how}: "
        f"{reasoning.name or 'none'})"
    )
