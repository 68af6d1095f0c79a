"""Loading what this process needs of a model: its tokenizer, and what its weights are known by."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dialeval.config.vllm_model import VllmModel
from dialeval.engines.vllm_engine.identity import folder_digest
from dialeval.engines.vllm_engine.start_failures import remedy
from dialeval.errors import UserError


def name_or_folder(model: VllmModel) -> str:
    """Returns the model's folder, if it is one, and else its name at Hugging Face."""
    folder = Path(model.model).expanduser()
    return str(folder) if folder.is_dir() else model.model


def load_tokenizer(model: VllmModel) -> tuple[Any, str]:
    """Returns the tokenizer, and the digest of a model folder's content or the commit at Hugging Face.

    Raises:
        UserError: there is no such folder and no such name, or it holds no model.
    """
    from transformers import AutoConfig, AutoTokenizer

    name = name_or_folder(model)
    options: dict[str, Any] = {"revision": model.revision, "trust_remote_code": model.trust_remote_code}
    try:
        if Path(name).is_dir():
            return AutoTokenizer.from_pretrained(name, **options), folder_digest(Path(name))
        commit = getattr(AutoConfig.from_pretrained(name, **options), "_commit_hash", None) or ""
        return AutoTokenizer.from_pretrained(name, **options | {"revision": commit or model.revision}), commit
    except Exception as error:  # code that comes with a model fails with errors of any kind
        said = str(error) if isinstance(error, OSError | ValueError | ImportError) else repr(error)
        raise UserError(
            f"model '{model.model}' cannot be loaded: {said}; it must be a folder with a model or a name at Hugging "
            f"Face (with HF_TOKEN set where the model asks for consent){_about_code(said)}"
        ) from error


def _about_code(said: str) -> str:
    return f"; {remedy(said)}" if "trust_remote_code" in said else ""
