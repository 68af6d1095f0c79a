"""Translation models of the NLLB family, computed by transformers."""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from dialeval.config.models import NllbModel
from dialeval.engines.installation import TRANSLATES, by_length, free_memory, missing_libraries
from dialeval.engines.requests import AnswerFailure, Message, Request, Response
from dialeval.engines.vllm_engine.model_files import folder_digest
from dialeval.errors import UserError
from dialeval.languages import LANGUAGES
from dialeval.prompts.rendering import one_line
from dialeval.provenance.fingerprints import fingerprint

if TYPE_CHECKING:  # else the identity, and with it every translation, would change with the store's code
    from dialeval.engines.requests import Engine
    from dialeval.engines.store import ResponseStore

Outcome = tuple[str, Response | AnswerFailure]


class NllbEngine:
    """Answers requests `translate`; it reads the utterance alone, without its context.

    Attributes:
        identity: canonical JSON of everything about the model that can change an answer.
        reads_subject: always true: the prompt is for models that chat.
        concurrency: how many utterances are sorted by length together.
        context_window: always None.
    """

    reads_subject = True
    context_window: int | None = None

    def __init__(self, model: NllbModel, translator: Translator, *, identity: str) -> None:
        self.identity, self.concurrency = identity, model.concurrency
        self._batch_tokens, self._translator = model.batch_tokens, translator

    async def answer(self, request: Request) -> Response:
        """Answer, or raise AnswerFailure."""
        ((_, outcome),) = list(self._outcomes([("", request)]))
        if isinstance(outcome, AnswerFailure):
            raise outcome
        return outcome

    async def answer_all(
        self, requests: Iterable[tuple[str, Request]], store: ResponseStore
    ) -> AsyncGenerator[Outcome, None]:
        """Yield key and outcome of every request, each once; see `engines.answering.TableEngine`."""
        waiting = iter(requests)
        while window := list(islice(waiting, self.concurrency)):
            outcomes = self._outcomes(window)
            while (outcome := await asyncio.to_thread(next, outcomes, None)) is not None:
                yield outcome

    def count_tokens(self, messages: tuple[Message, ...]) -> int:
        """Return 0: the model reads a request's subject, not its messages."""
        return 0

    async def close(self) -> None:
        """Do nothing; the model is freed with the process."""

    def _outcomes(self, window: Sequence[tuple[str, Request]]) -> Iterator[Outcome]:
        alike: dict[tuple[str, int], list[_Pending]] = defaultdict(list)
        for key, request in window:
            try:
                pending = self._read(key, request)
            except AnswerFailure as failure:
                yield key, failure
            else:
                if len(pending.ids) <= self._translator.window:
                    alike[pending.target, pending.max_tokens].append(pending)
                else:  # to translate a part of it and lose the rest would be worse
                    cut = Response("", finish_reason="length", prompt_tokens=len(pending.ids), completion_tokens=0)
                    yield key, cut
        for (target, max_tokens), group in alike.items():
            for places in by_length([len(pending.ids) for pending in group], self._batch_tokens):
                batch = [group[place] for place in places]
                found = self._translator.translate([pending.ids for pending in batch], target, max_tokens)
                for pending, translation in zip(batch, found, strict=True):
                    yield (
                        pending.key,
                        Response(
                            text=translation.text,
                            finish_reason="stop" if translation.ended else "length",
                            prompt_tokens=len(pending.ids),
                            completion_tokens=translation.n_tokens,
                        ),
                    )

    def _read(self, key: str, request: Request) -> _Pending:
        if request.protocol != "translate" or len(request.subject) != 2:
            raise AnswerFailure(
                "unsupported", f"a translation model cannot answer '{request.protocol}'; it only translates"
            )
        (text,), (source, target) = request.subject
        for language in (source, target):
            if language not in LANGUAGES or not self._translator.knows(LANGUAGES[language].nllb):
                raise AnswerFailure("unsupported", f"the model knows no language '{language}'")
        ids = self._translator.encode(one_line(text), LANGUAGES[source].nllb)
        return _Pending(key, ids, LANGUAGES[target].nllb, request.sampling.max_tokens)


class _Pending(NamedTuple):
    """An utterance to be translated: its key, its tokens and the code of its new language."""

    key: str
    ids: list[int]
    target: str
    max_tokens: int


# Opens a translation model of the NLLB family.


def open_model(model: NllbModel, learned: Sequence[Path], store: Path | None, protocol: str) -> Engine:
    """Return the engine of a model; see `answering.open_engine`.

    Raises:
        UserError: a library is missing, or the model cannot be had.
    """
    if problem := missing_libraries("engine 'nllb'", TRANSLATES):
        raise UserError(problem)
    translator = Translator(model)
    identity = {
        "engine": "nllb",
        "weights": translator.weights,
        "beams": model.beams,
        "precision": model.precision,
        "code": fingerprint("dialeval.engines.nllb:NllbEngine", "dialeval.engines.nllb:Translator"),
    }
    return NllbEngine(model, translator, identity=json.dumps(identity, sort_keys=True))


# Translating texts by a model of the NLLB family: its tokens, its languages, and its search.

_ENGLISH = LANGUAGES["en"].nllb


class Translation(NamedTuple):
    """The model's translation.

    Attributes:
        ended: whether it ended by itself, and not by its token budget.
    """

    text: str
    ended: bool
    n_tokens: int


class Translator:
    """A translation model; its tokenizer is there at once, its weights when it first translates.

    Attributes:
        weights: the commit of a model from Hugging Face, or the digest of a folder's content.
        window: tokens that it reads at most.

    Raises:
        UserError: the model cannot be had, or is none of this family.
    """

    def __init__(self, model: NllbModel) -> None:
        from transformers import AutoConfig, AutoTokenizer

        self._options = {"revision": model.revision} if model.revision else {}
        folder = Path(model.model).expanduser()
        self._name = str(folder) if folder.is_dir() else model.model
        self._model, self._network = model, None
        try:
            config = AutoConfig.from_pretrained(self._name, **self._options)
            self._tokenizer: Any = AutoTokenizer.from_pretrained(self._name, **self._options)
        except (OSError, ValueError) as error:
            raise UserError(
                f"model '{model.model}' of engine nllb cannot be loaded: {str(error).splitlines()[0]}; name a model "
                f"at Hugging Face (with a network connection, or its files in the cache) or a folder with "
                f"config.json and tokenizer"
            ) from None
        if not config.is_encoder_decoder:
            raise UserError(
                f"model '{model.model}' ({config.model_type}) is not a translation model; engine nllb needs NLLB-200"
            )
        self._config = config
        if not self.knows(_ENGLISH):
            raise UserError(
                f"model '{model.model}' ({config.model_type}) has no language '{_ENGLISH}'; engine nllb needs "
                f"NLLB-200, such as facebook/nllb-200-3.3B, since M2M100, mBART and T5 name languages differently"
            )
        self.weights = folder_digest(folder) if folder.is_dir() else getattr(config, "_commit_hash", "") or ""
        self.window = int(getattr(config, "max_position_embeddings", None) or 1024)

    def knows(self, code: str) -> bool:
        """Return whether a code, after FLORES-200, is one of the model's languages."""
        return bool(self._tokenizer.convert_tokens_to_ids(code) != self._tokenizer.unk_token_id)

    def encode(self, text: str, source: str) -> list[int]:
        """Return the tokens of a text in a language, all of them; `</s>` or `<unk>` in it are words like others."""
        self._tokenizer.src_lang = source
        ids: list[int] = self._tokenizer(text, split_special_tokens=True)["input_ids"]
        return ids

    def translate(self, sequences: Sequence[Sequence[int]], target: str, max_tokens: int) -> list[Translation]:
        """Return the translations of texts, computed together, or by halves where the memory is too small for all.

        Args:
            sequences: the tokens of each.
            target: the language's code, after FLORES-200.
            max_tokens: longest translation.

        Raises:
            UserError: the memory is too small for one of them alone.
        """
        import torch

        try:
            return self._translated(sequences, target, max_tokens)
        except torch.OutOfMemoryError as error:
            if len(sequences) == 1:
                raise UserError(
                    f"the memory is too small to translate {len(sequences[0])} tokens with '{self._model.model}' "
                    f"(beams {self._model.beams}, max_tokens {max_tokens}); lower beams or max_tokens, {SMALLER}: "
                    f"{str(error).splitlines()[0]}"
                ) from error
        torch.cuda.empty_cache()
        half = len(sequences) // 2
        print(f"the memory is too small for {len(sequences)} utterances at once: {half} now (batch_tokens)", flush=True)
        return [
            translation
            for part in (sequences[:half], sequences[half:])
            for translation in self.translate(part, target, max_tokens)
        ]

    def _translated(self, sequences: Sequence[Sequence[int]], target: str, max_tokens: int) -> list[Translation]:
        import torch

        network, tokenizer = self._load(), self._tokenizer
        width = max(map(len, sequences))
        ids = torch.full((len(sequences), width), tokenizer.pad_token_id, dtype=torch.long)
        mask = torch.zeros((len(sequences), width), dtype=torch.long)
        for row, sequence in enumerate(sequences):
            ids[row, : len(sequence)] = torch.tensor(sequence, dtype=torch.long)
            mask[row, : len(sequence)] = 1
        with torch.inference_mode():
            written = network.generate(
                input_ids=ids.to(network.device),
                attention_mask=mask.to(network.device),
                forced_bos_token_id=tokenizer.convert_tokens_to_ids(target),
                num_beams=self._model.beams,
                do_sample=False,
                max_new_tokens=min(max_tokens, self.window - 1),
            ).tolist()
        special = {tokenizer.eos_token_id, tokenizer.pad_token_id}
        found = []
        for row in written:
            tokens = row[1:]  # the first is where decoding begins
            n_tokens = sum(token not in special for token in tokens)
            text = tokenizer.decode(tokens, skip_special_tokens=True).strip()
            found.append(Translation(text, tokenizer.eos_token_id in tokens, n_tokens))
        return found

    def _load(self) -> Any:
        if self._network is None:
            import torch
            from transformers import AutoModelForSeq2SeqLM

            if self._model.gpus and not torch.cuda.is_available():
                raise UserError(
                    "gpus is 1, and torch finds no GPU; set gpus: 0 for the CPU (for small models), or run the job "
                    "on a machine with a GPU (docs/cluster.md)"
                )
            needed, on_gpu = weights_bytes(self._config, self._model.precision), bool(self._model.gpus)
            check_memory(self._model.model, needed, free_memory(on_cpu=not on_gpu), on_gpu=on_gpu)
            network = AutoModelForSeq2SeqLM.from_pretrained(
                self._name, dtype=getattr(torch, self._model.precision), **self._options
            )
            self._network = network.eval().to("cuda" if self._model.gpus else "cpu")
        return self._network


# Whether a translation model fits into memory: checked before its weights are read.

BYTES = {"float32": 4, "bfloat16": 2, "float16": 2}
SMALLER = (
    "set precision: bfloat16, use a smaller model such as facebook/nllb-200-distilled-600M, or run the job on a "
    "machine with more memory"
)
_GIGABYTE = 2**30


def weights_bytes(config: Any, precision: str) -> int:
    """Return the bytes of a model's weights, laid out without any content."""
    import torch
    from transformers import AutoModelForSeq2SeqLM

    with torch.device("meta"):
        empty = AutoModelForSeq2SeqLM.from_config(config)
    return BYTES[precision] * sum(int(part.numel()) for part in empty.parameters())


def check_memory(name: str, needed: int, free: int | None, *, on_gpu: bool) -> None:
    """End where the weights do not fit.

    Args:
        needed: bytes of its weights.
        free: bytes that are there; None: not known.
        on_gpu: where.

    Raises:
        UserError: they do not fit, and what to do.
    """
    if free is not None and needed > free:
        where = "the GPU" if on_gpu else "this machine"
        raise UserError(
            f"the weights of '{name}' need {needed / _GIGABYTE:.1f} GB, and {where} has {free / _GIGABYTE:.1f} GB of "
            f"memory free; {SMALLER}"
        )
