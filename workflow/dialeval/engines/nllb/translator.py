"""Translating texts by a model of the NLLB family: its tokens, its languages, and its search."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from dialeval.config.models import NllbModel
from dialeval.engines.nllb.memory import SMALLER, check_memory, free_bytes, weights_bytes
from dialeval.engines.vllm_engine.identity import folder_digest
from dialeval.errors import UserError
from dialeval.translation.languages import LANGUAGES

_ENGLISH = LANGUAGES["en"].nllb


class Translation(NamedTuple):
    """What the model wrote.

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
                f"model '{model.model}' of engine nllb could not be read: {str(error).splitlines()[0]}; give a name at "
                "Hugging Face (and a network, or its files in the cache) or a folder with config.json and tokenizer"
            ) from None
        if not config.is_encoder_decoder:
            raise UserError(
                f"model '{model.model}' ({config.model_type}) is no translation model: engine nllb is for NLLB-200"
            )
        self._config = config
        if not self.knows(_ENGLISH):
            raise UserError(
                f"model '{model.model}' ({config.model_type}) knows no language '{_ENGLISH}': engine nllb is for "
                "NLLB-200, such as facebook/nllb-200-3.3B; M2M100, mBART and T5 name languages in other ways"
            )
        self.weights = folder_digest(folder) if folder.is_dir() else getattr(config, "_commit_hash", "") or ""
        self.window = int(getattr(config, "max_position_embeddings", None) or 1024)

    def knows(self, code: str) -> bool:
        """Returns whether a code, after FLORES-200, is one of the model's languages."""
        return bool(self._tokenizer.convert_tokens_to_ids(code) != self._tokenizer.unk_token_id)

    def encode(self, text: str, source: str) -> list[int]:
        """Returns the tokens of a text in a language, all of them; `</s>` or `<unk>` in it are words like others."""
        self._tokenizer.src_lang = source
        ids: list[int] = self._tokenizer(text, split_special_tokens=True)["input_ids"]
        return ids

    def translate(self, sequences: Sequence[Sequence[int]], target: str, max_tokens: int) -> list[Translation]:
        """Returns the translations of texts, computed together, or by halves where the memory is too small for all.

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
                    f"the memory is too small to translate {len(sequences[0])} tokens by '{self._model.model}' into up "
                    f"to {max_tokens}; take fewer beams or lower max_tokens, {SMALLER}: {str(error).splitlines()[0]}"
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
                    "gpus is 1, and torch sees no GPU here; set gpus: 0 for the CPU (for small models), or run it "
                    "where there is one (docs/running.md)"
                )
            needed, on_gpu = weights_bytes(self._config, self._model.precision), bool(self._model.gpus)
            check_memory(self._model.model, needed, free_bytes(on_gpu=on_gpu), on_gpu=on_gpu)
            network = AutoModelForSeq2SeqLM.from_pretrained(
                self._name, dtype=getattr(torch, self._model.precision), **self._options
            )
            self._network = network.eval().to("cuda" if self._model.gpus else "cpu")
        return self._network
