"""What stands in the files and folders of this machine that a model's answers rest on."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from dialeval.config.models import EncoderModel, Model
from dialeval.engines.vllm_engine.identity import folder_digest
from dialeval.errors import UserError
from dialeval.fingerprints.content import content_digest, kept


def local_content(model: Model) -> str:
    """Returns a digest of a model's own files: adapter, chat template, weights; empty where it has none here.

    It tells apart whatever the model's identity in the store tells apart: of weights that vLLM and NLLB load, files of
    more than 256 MB count by their size and by samples all over them, and all others whole.

    Raises:
        UserError: a file cannot be read.
    """
    digests = [_content(path, whole=isinstance(model, EncoderModel)) for path in model.reads]
    return "-".join(digest[:32] for digest in digests)


def _content(path: Path, *, whole: bool) -> str:
    if not path.is_dir():
        return content_digest([path])
    try:
        files = sorted(file for file in path.iterdir() if file.is_file())
        if whole:
            return content_digest(files)
        return kept("model", files, partial(folder_digest, path)).removeprefix("sha256:")
    except OSError as error:
        raise UserError(
            f"{error.filename or path} cannot be read: {error.strerror or error}; see to its rights"
        ) from error
