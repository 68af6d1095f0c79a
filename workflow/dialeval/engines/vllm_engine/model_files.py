"""The files of a model: its identity, tokenizer, chat template, memory and sampling values.

vLLM's server (`vllm serve`) takes sampling values that a request lacks from the model's `generation_config.json`; its
engine does not. `generation_config: auto` makes the engine answer as the server: a request gives its temperature, its
budget and a `top_p` other than 1; `top_k`, `min_p` and penalties come from the file. Both read the tokens that end an
answer (`eos_token_id`) from the file in any case.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from dialeval.config.models import VllmModel
from dialeval.engines.installation import start_remedy
from dialeval.errors import UserError

WHOLE_UP_TO = 1 << 28
"""Bytes up to which a file is hashed completely; of a larger one, its size and samples."""
_SAMPLE, _SAMPLES = 1 << 16, 256
_CONTENT = ("*.safetensors", "*.bin", "*.json", "*.model", "*.jinja", "*.py", "*.gguf", "*.txt")

WITHOUT_EFFECT = frozenset(
    {
        "block_size",
        "cpu_offload_gb",
        "disable_log_stats",
        "distributed_executor_backend",
        "download_dir",
        "enable_chunked_prefill",
        "enable_prefix_caching",
        "max_num_batched_tokens",
        "max_num_seqs",
        "max_parallel_loading_workers",
        "num_gpu_blocks_override",
        "scheduling_policy",
        "seed",
    }
)
"""Engine arguments that change no answer. `seed` is always derived per request."""


def vllm_identity(
    model: VllmModel,
    normalisation: str,
    *,
    weights: str = "",
    template: str = "",
    sampling: Mapping[str, float] | None = None,
    reasoning: str = "",
) -> str:
    """Return the identity of a model as canonical JSON.

    The distribution over GPUs and batches is no part of it, since it changes rounding only.

    Args:
        normalisation: how messages are rearranged for its chat template.
        weights: the commit of a model from Hugging Face, or the digest of a folder's content, which then stands for
            the folder's name.
        template: digest of the chat template.
        sampling: sampling values beyond a request's own, if the configuration has them.
        reasoning: name of the marks of the model's reasoning; empty for `<think>`.
    """
    from_folder = weights.startswith("sha256:")
    content: dict[str, Any] = {
        "engine": "vllm",
        "model": weights if from_folder else model.model,
        "revision": None if from_folder else weights or model.revision,
        "dtype": model.dtype,
        "quantization": model.quantization,
        "max_model_len": model.max_model_len,
        "lora": None if model.lora_path is None else folder_digest(model.lora_path.expanduser()),
        "trust_remote_code": model.trust_remote_code,
        "chat_template": template,
        "chat_template_options": model.chat_template_options,
        "normalisation": normalisation,
        "engine_args": {name: value for name, value in model.engine_args.items() if name not in WITHOUT_EFFECT},
    }
    if sampling:
        content["sampling"] = dict(sampling)
    if reasoning:
        content["reasoning_parser"] = reasoning
    return json.dumps(content, sort_keys=True, ensure_ascii=False, default=str)


def folder_digest(folder: Path) -> str:
    """Return a digest of a model folder's content, independent of its path."""
    digest = hashlib.sha256()
    for path in sorted({path for pattern in _CONTENT for path in folder.glob(pattern)}):
        digest.update(f"{path.name}\0{path.stat().st_size}\0".encode())
        for part in _parts(path):
            digest.update(part)
    return f"sha256:{digest.hexdigest()[:32]}"


def text_digest(text: str) -> str:
    """Return a short digest of a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _parts(path: Path) -> Iterator[bytes]:
    size = path.stat().st_size
    with path.open("rb") as file:
        if size <= WHOLE_UP_TO:
            while part := file.read(1 << 20):
                yield part
            return
        for number in range(_SAMPLES):
            file.seek((size - _SAMPLE) * number // (_SAMPLES - 1))
            yield file.read(_SAMPLE)


def name_or_folder(model: VllmModel) -> str:
    """Return the model's folder, if it is one, and else its name at Hugging Face."""
    folder = Path(model.model).expanduser()
    return str(folder) if folder.is_dir() else model.model


_PLAIN = (OSError, ValueError, ImportError)


def load_tokenizer(model: VllmModel) -> tuple[Any, str]:
    """Return the tokenizer, and the digest of a model folder's content or the commit at Hugging Face.

    Raises:
        UserError: there is no such folder and no such name, or it holds no model.
    """
    from transformers import AutoConfig, AutoTokenizer

    name = name_or_folder(model)
    if reason := not_a_model(model.model, weights="load_format" not in model.engine_args):
        raise UserError(reason)
    options: dict[str, Any] = {"revision": model.revision, "trust_remote_code": model.trust_remote_code}
    try:
        if Path(name).is_dir():
            tokenizer = AutoTokenizer.from_pretrained(name, **options)
            if reason := other_vocabulary(Path(name), tokenizer.vocab_size):
                raise UserError(reason)
            return tokenizer, folder_digest(Path(name))
        commit = getattr(AutoConfig.from_pretrained(name, **options), "_commit_hash", None) or ""
        return AutoTokenizer.from_pretrained(name, **options | {"revision": commit or model.revision}), commit
    except UserError:
        raise
    except Exception as error:  # code that comes with a model fails with errors of any kind
        message = " ".join(str(error).split()) if isinstance(error, _PLAIN) else repr(error)
        raise UserError(
            f"model '{model.model}' cannot be loaded: {no_folder(model.model)}{message}; it must be a folder with a "
            f"model or a name at Hugging Face (with HF_TOKEN for a gated model){_about_code(message)}"
        ) from error


def _about_code(message: str) -> str:
    return f"; {start_remedy(message)}" if "trust_remote_code" in message else ""


# Checks of a model's folder before anything is loaded

_WEIGHTS = ("*.safetensors", "*.bin", "*.pt", "*.pth")
_TOKENIZERS = (
    "tokenizer.json", "tokenizer.model", "vocab.txt", "vocab.json", "spiece.model", "sentencepiece.bpe.model",
    "tekken.json", "*.tiktoken", "*.spm", "*.model",
)  # fmt: skip
_WINDOWS = ("max_position_embeddings", "n_positions", "n_ctx", "max_seq_len", "max_sequence_length", "seq_length")
_INDEX = "model.safetensors.index.json"
_LONGEST_HEADER = 100_000_000
"""Bytes that safetensors allows for a header."""


def no_folder(name: str) -> str:
    """Return the beginning of a message that a local folder does not exist; empty if it exists."""
    folder = Path(name).expanduser()
    return "" if folder.is_dir() else f"there is no folder {folder.absolute()}, and Hugging Face gives: "


def missing_folder(name: str) -> str | None:
    """Return that the folder a name can only mean is not there, with the remedy; a hub's name has at most one slash."""
    folder = Path(name).expanduser()
    if folder.exists() or not (folder.is_absolute() or name[:1] in (".", "~") or name.count("/") > 1):
        return None
    return (
        f"model: {name}: there is no folder {folder.absolute()}; correct the path, or put the model there "
        f"(hf download NAME --local-dir {folder}, or examples/small_weights.py)"
    )


def not_a_model(name: str, *, weights: bool = True) -> str | None:
    """Return why a local path holds no complete model, with the remedy; None if it does or is not there.

    Args:
        name: the field `model`.
        weights: whether it must hold weights.
    """
    folder = Path(name).expanduser()
    if missing := missing_folder(name):
        return missing
    if not folder.exists() or (folder / "params.json").exists():  # a hub's name; Mistral's own format
        return None
    found = _what_lacks(folder, weights=weights)
    return found and f"model: {name}: {found}"


def _what_lacks(folder: Path, *, weights: bool) -> str | None:
    if folder.suffix == ".gguf" or (any(folder.glob("*.gguf")) and not (folder / "config.json").exists()):
        return (
            "this is a GGUF file, and vLLM and transformers need a folder with config.json and safetensors; convert it "
            "as examples/small_weights.py does, or run a server on it (engine: openai)"
        )
    if not folder.is_dir():
        return "this is a file; name the folder that holds the model"
    if not (folder / "config.json").is_file():
        base = "; this is a LoRA adapter: name its base in model, and this folder in lora_path"
        advice = base if (folder / "adapter_config.json").exists() else "; name the folder that holds the model's files"
        return f"the folder has no config.json{advice}"
    if not any(path for pattern in _TOKENIZERS for path in folder.glob(pattern)) and not any(folder.glob("*.py")):
        return (
            "the folder has no tokenizer (tokenizer.json, tokenizer.model, vocab.txt or vocab.json); copy the model's "
            "own tokenizer into it"
        )
    return _incomplete_weights(folder) if weights else None


def _incomplete_weights(folder: Path) -> str | None:
    if not any(path for pattern in _WEIGHTS for path in folder.glob(pattern)):
        return "the folder has no weights (*.safetensors or *.bin); copy the model's weights into it"
    try:
        parts = {*json.loads((folder / _INDEX).read_text(encoding="utf-8"))["weight_map"].values()}
    except (OSError, ValueError, KeyError, AttributeError):
        parts = set()
    if missing := sorted(part for part in parts if not (folder / part).is_file()):
        return f"{_INDEX} names {missing[0]}, which the folder lacks; copy it there"
    for path in sorted(folder.glob("*.safetensors")):
        size, announced = path.stat().st_size, _announced(path)
        if size != announced:
            announcement = "no header of safetensors" if announced is None else f"a header that announces {announced:,}"
            return f"{path.name} has {size:,} bytes and {announcement}; the file is incomplete: copy it again"
    return None


def _announced(path: Path) -> int | None:
    """Return the bytes that a file of safetensors has by its header; None if it has no header."""
    try:
        length, header = _header(path)
        return 8 + length + max((part["data_offsets"][1] for part in header), default=0)
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _header(path: Path) -> tuple[int, list[dict[str, Any]]]:
    """Return the length of the header of a safetensors file, and its description of each tensor."""
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(min(length, _LONGEST_HEADER)))
    return length, [part for name, part in header.items() if name != "__metadata__"]


def other_vocabulary(folder: Path, of_tokenizer: int) -> str | None:
    """Return that a tokenizer is not that of a model in a folder, by the sizes of their vocabularies, or None.

    Models pad their vocabularies, and tokenizers add a few tokens; neither doubles a vocabulary.
    """
    of_model = _configuration(folder).get("vocab_size")
    if not isinstance(of_model, int) or of_model / 2 <= of_tokenizer <= of_model:
        return None
    return (
        f"model: {folder}: its tokenizer has {of_tokenizer:,} tokens and its weights are for {of_model:,} "
        f"(vocab_size in config.json), so it belongs to another model; copy this model's own tokenizer into the folder"
    )


def beyond_window(model: VllmModel) -> str | None:
    """Return that `max_model_len` is beyond the window of a model in a local folder, with the remedy, or None."""
    config = _configuration(Path(model.model).expanduser())
    windows = {name: config[name] for name in _WINDOWS if isinstance(config.get(name), int)}
    overridden = "hf_overrides" in model.engine_args or os.environ.get("VLLM_ALLOW_LONG_MAX_MODEL_LEN", "0") != "0"
    if model.max_model_len is None or not windows or overridden:
        return None
    scaling = config.get("rope_scaling") or config.get("rope_parameters") or {}
    factors = [part.get("factor", 1) for part in (scaling, *scaling.values()) if isinstance(part, dict)]
    name, window = max(windows.items(), key=lambda one: one[1])
    if model.max_model_len <= window * max(factors):
        return None
    return (
        f"max_model_len: {model.max_model_len} is beyond the window of {model.model}, {window} tokens ({name} in its "
        f"config.json); set max_model_len: {window} or less"
    )


def _configuration(folder: Path) -> dict[str, Any]:
    """Return the part of a folder's config.json about text; empty without one."""
    try:
        config: dict[str, Any] = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        return config.get("text_config") or config
    except (OSError, ValueError, AttributeError):
        return {}


_TEMPLATES = ("chat_template.jinja", "chat_template.json", "additional_chat_templates", "tekken.json")
_HALF = ("float16", "half", "bfloat16", "auto")
_FEWEST = 2
"""Fewest bytes of a number of a model that is not quantised: vLLM's `auto` takes 2 for weights of 4, too."""
_PER_BYTE = 2
"""Most numbers in a byte of a model that vLLM quantises while it loads it."""


def no_chat_template(name: str) -> str:
    """Return the message about a model without a chat template."""
    return (
        f"the tokenizer of {name} has no chat template; name a file with one in the model's field chat_template, or "
        f"set chat_template: none for a base model, which then continues a plain transcript"
    )


def without_chat_template(model: VllmModel) -> str | None:
    """Return why a model in a local folder cannot render messages, with the remedy; None if it can or is not there."""
    folder = Path(model.model).expanduser()
    if model.chat_template is not None or model.trust_remote_code or not (folder / "config.json").is_file():
        return None
    if any((folder / name).exists() for name in _TEMPLATES):
        return None
    try:
        settings = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):  # transformers says more when it loads the tokenizer
        return None
    return None if settings.get("chat_template") else no_chat_template(model.model)


def too_large(model: VllmModel, cache: int | None, free: int | None) -> str | None:
    """Return why a model in a local folder does not fit the memory, with the remedy, or None.

    Both needs are lower bounds: activations and vLLM itself come on top.

    Args:
        cache: bytes of the KV cache on each device, if they are known.
        free: bytes of memory for weights and cache, over all devices, if they are known.
    """
    folder = Path(model.model).expanduser()
    config = _configuration(folder)
    one = _request_bytes(model, config)
    if cache is not None and one is not None and one > cache:
        return (
            f"max_model_len: {model.max_model_len} needs {_gigabytes(one)} of KV cache for one request, and the "
            f"cache has {_gigabytes(cache)}; set kv_cache_memory_bytes: {one} or more, or lower max_model_len"
        )
    weights = _weights_bytes(folder, model, config)
    smallest = (cache or one or 0) * model.tensor_parallel_size
    needed = weights + smallest
    if not weights or free is None or needed <= free:
        return None
    smaller = "" if model.dtype in _HALF or model.quantization else "set dtype: bfloat16, "
    of_one = "" if cache else f" for one request of max_model_len: {model.max_model_len}" if one else ""
    less = "kv_cache_memory_bytes with max_model_len" if cache else "max_model_len" if one else ""
    return (
        f"{model.model} needs at least {_gigabytes(needed)} of memory ({_gigabytes(weights)} of weights as dtype: "
        f"{model.dtype}, {_gigabytes(smallest)} of KV cache{of_one}), and {_gigabytes(free)} are free; {smaller}"
        + (f"lower {less}, " if less else "")
        + ("" if cache else "raise tensor_parallel_size, ")
        + "or use a smaller or quantised model"
    )


def _weights_bytes(folder: Path, model: VllmModel, config: Mapping[str, Any]) -> int:
    """Return the bytes of a folder's weights in the number format of the computation; 0 without safetensors."""
    files = list(folder.glob("model*.safetensors")) or list(folder.glob("*.safetensors"))  # some keep other copies
    if "quantization_config" in config:
        return sum(path.stat().st_size for path in files)
    numbers = sum(map(_numbers, files))
    return numbers // _PER_BYTE if model.quantization else _number_bytes(model.dtype) * numbers


def _numbers(path: Path) -> int:
    """Return how many numbers a file of safetensors holds, by its header."""
    return sum(math.prod(part["shape"]) for part in _header(path)[1])


def _request_bytes(model: VllmModel, config: Mapping[str, Any]) -> int | None:
    """Return the bytes that the longest request takes in the KV cache; None where the configuration does not say it."""
    names = ("num_hidden_layers", "num_attention_heads", "hidden_size")
    if model.max_model_len is None or "kv_lora_rank" in config or any(config.get(name) is None for name in names):
        return None
    layers, heads, width = (int(config[name]) for name in names)
    types = config.get("layer_types")
    full = layers if types is None else sum(layer == "full_attention" for layer in types)
    shared = int(config.get("num_key_value_heads") or heads)
    size = int(config.get("head_dim") or width // heads)
    stored = 1 if "kv_cache_dtype" in model.engine_args else _number_bytes(model.dtype)
    return 2 * full * shared * size * stored * model.max_model_len // model.tensor_parallel_size


def _number_bytes(dtype: str) -> int:
    return _FEWEST if dtype in _HALF else 4


def _gigabytes(number: float) -> str:
    return f"{number / 2**30:.2g} GB" if number < 2**30 else f"{number / 2**30:.1f} GB"


# The sampling values that a model's makers publish with it, in `generation_config.json`.

OVERRIDE = "override_generation_config"
"""vLLM's engine argument with values that replace the file's, and count without it."""
_APPLIED = ("frequency_penalty", "min_p", "presence_penalty", "repetition_penalty", "top_k", "top_p")
_CAP = "max_new_tokens"


def sampling_defaults(model: VllmModel) -> dict[str, float]:
    """Return the sampling values beyond a request's own, by vLLM's names.

    They come from the file (`generation_config: auto`) and from the engine argument `override_generation_config`. Only
    the latter's `max_new_tokens` bounds answers, as at the server.

    Args:
        model: its configuration, with the commit of its weights as `revision`.

    Raises:
        UserError: a value is no number.
    """
    override = model.engine_args.get(OVERRIDE) or {}
    values = (_published(model) if model.generation_config == "auto" else {}) | override
    found = {name: values[name] for name in _APPLIED if values.get(name) is not None}
    if override.get(_CAP) is not None:
        found[_CAP] = override[_CAP]
    for name, value in found.items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            place = f"engine_args.{OVERRIDE}" if name in override else "the model's generation_config.json"
            raise UserError(f"{name}: {value!r} in {place} is not a number; correct it")
    return found


def _published(model: VllmModel) -> dict[str, Any]:
    """Return the values of a model's generation_config.json beside the defaults, or else of its old config.json."""
    from transformers import AutoConfig, GenerationConfig

    name = name_or_folder(model)
    try:
        found = GenerationConfig.from_pretrained(name, revision=model.revision)
    except OSError:  # there is none: older models have such values in their config.json
        config = AutoConfig.from_pretrained(name, revision=model.revision, trust_remote_code=model.trust_remote_code)
        found = GenerationConfig.from_model_config(config)
    values: dict[str, Any] = found.to_diff_dict()
    return values
