"""The folder of a trained metric: everything that scoring needs, so that no network and no other folder is asked.

metric.json            what it is: level, criteria, experts, longest input
config.json            the encoder's architecture
tokenizer.json, ...    its tokenizer
body.safetensors       the encoder's weights, whether they learned or not
experts.safetensors    heads and adapters
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from dialeval.engines.encoder.metric import FILE, Metric, read_metric
from dialeval.errors import UserError

BODY, EXPERTS, CONFIG = "body.safetensors", "experts.safetensors", "config.json"
_WITHOUT_EFFECT = frozenset({"versions", "transformers_version", "_name_or_path", "name_or_path", "body", "revision"})
"""Fields of JSON files that say where something comes from, and change no score."""
_CONTENT = (".json", ".safetensors", ".model", ".txt")


def folder_digest(folder: Path) -> str:
    """Returns the digest of a metric: its weights, its tokenizer and what it is; not its record, name or versions.

    Raises:
        UserError: a file cannot be read.
    """
    digest = hashlib.sha256()
    try:
        for path in sorted(path for path in folder.iterdir() if path.suffix in _CONTENT):
            digest.update(f"{path.name}\0{_content_digest(path)}\n".encode())
    except OSError as error:
        raise UserError(f"{error.filename or folder} cannot be read: {error.strerror}; name another folder") from None
    return f"sha256:{digest.hexdigest()}"


def _content_digest(path: Path) -> str:
    if path.suffix == ".json":
        content = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(content, dict):
            content = {name: value for name, value in content.items() if name not in _WITHOUT_EFFECT}
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def save_network(folder: Path, network: Any, tokenizer: Any, metric: Metric) -> None:
    """Writes a metric's files into a folder that is there.

    Args:
        folder: where they go; what makes it appear whole or not at all is the caller's.
        network: an `ExpertNetwork`.
        tokenizer: of transformers.
        metric: what it is.
    """
    from safetensors.torch import save_file

    states = {name: tensor.detach().cpu().contiguous() for name, tensor in network.state_dict().items()}
    parts = {
        BODY: {name.removeprefix("body."): part for name, part in states.items() if name.startswith("body.")},
        EXPERTS: {name: part for name, part in states.items() if not name.startswith("body.")},
    }
    for file, part in parts.items():
        save_file(part, folder / file, metadata={"format": "pt"})
        (folder / file).chmod(0o644)
    network.body.config.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    (folder / FILE).write_text(metric.to_json(), encoding="utf-8")


def load_network(folder: Path) -> tuple[Any, Any, Metric]:
    """Returns the network, in float32 and for scoring, the tokenizer and what it is.

    Raises:
        UserError: the folder holds no whole metric.
    """
    import transformers
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    from dialeval.engines.encoder.network import ExpertNetwork

    metric = read_metric(folder)
    try:
        config = transformers.AutoConfig.from_pretrained(folder, local_files_only=True)
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
        network = ExpertNetwork(
            transformers.AutoModel.from_config(config), len(metric.experts), adapter_size=metric.adapter_size
        )
        state = {f"body.{name}": part for name, part in load_file(folder / BODY).items()}
        state |= load_file(folder / EXPERTS)
        network.load_state_dict(state)
    except (OSError, ValueError, RuntimeError, SafetensorError) as error:
        raise UserError(
            f"{folder} does not hold a whole metric: {str(error).strip().splitlines()[0]:.300}; train it again, or "
            "name another folder"
        ) from error
    return network.eval(), tokenizer, metric
