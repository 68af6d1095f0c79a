"""Trains an encoder to score turns or dialogues, on pairs of which one was spoiled on purpose."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from dialeval.config.models import EncoderModel
from dialeval.config.training import EncoderTraining
from dialeval.engines.encoder.folder import folder_digest, save_network
from dialeval.engines.encoder.metric import Metric
from dialeval.engines.local_models import LEARNS_TO_SCORE, missing_libraries
from dialeval.errors import UserError
from dialeval.schemas.training import TRAINING_EXAMPLES
from dialeval.tables import iterate_rows
from dialeval.training.checkpoints import FINISHED, remove_checkpoints, versions_of
from dialeval.training.determinism import settle
from dialeval.training.digest import write_digest
from dialeval.training.encoder.base import Base
from dialeval.training.encoder.examples import COLUMNS, ExampleSet, read_set
from dialeval.training.encoder.held_back import held_back_scores
from dialeval.training.encoder.identity import LIBRARIES, encoder_fingerprint
from dialeval.training.encoder.learning import Learned, train_network
from dialeval.training.failures import in_words
from dialeval.training.finishing import finished_folder, keep, take, write_record
from dialeval.training.launching import device_name, is_first, spread
from dialeval.training.memory import check_memory, free_memory


class Settings(BaseModel, defer_build=True):
    """The judge, and its model as far as its training goes."""

    name: str
    model: EncoderModel
    random_seed: int = 0

    @property
    def learning(self) -> EncoderTraining:
        """How it learns."""
        if self.model.train is None:
            raise UserError(f"models.{self.name} has no `train`, so there is nothing to train")
        return self.model.train


def stage(settings: Settings, examples: Path, trained: Path, digest: Path, checkpoints: Path, code: str) -> None:
    """Writes the folder of the metric, with its scores, its curve and its run, and the metric's digest.

    Args:
        settings: see `Settings`.
        examples: table of the set that it learns from.
        trained: the folder.
        digest: file for the digest.
        checkpoints: folder of the judge's checkpoints, outside what Snakemake knows of.
        code: fingerprint of this stage's code: what other code has trained is not taken up.
    """
    if missing := missing_libraries("train", LEARNS_TO_SCORE):
        raise UserError(f"models.{settings.name}: {missing}")
    spread(settings.learning.gpus)
    _quieten()
    settle(settings.random_seed, on_cpu=settings.learning.gpus == 0)
    base = Base(settings.name, settings.model)
    read = read_set(iterate_rows(examples, TRAINING_EXAMPLES, COLUMNS), base.encoding, str(examples))
    _say(settings, read)
    fingerprint = encoder_fingerprint(settings.name, settings.model, base.weights, read, settings.random_seed, code)
    kept = checkpoints / fingerprint / FINISHED
    if not kept.is_dir():
        with in_words(settings.name):
            _train(settings, base, read, kept, trained)
    elif is_first():
        print(f"{settings.name}: the same training has ended before; what it gave is taken", flush=True)
        take(kept, trained)
    if is_first():
        write_digest(folder_digest(trained), digest)
        remove_checkpoints(kept.parent)


def _train(settings: Settings, base: Base, examples: ExampleSet, kept: Path, trained: Path) -> None:
    learning, model = settings.learning, settings.model
    on_cpu = learning.gpus == 0
    check_memory(
        settings.name,
        base.memory(examples.level, len(examples.experts)),
        free_memory(on_cpu=on_cpu),
        on_cpu=on_cpu,
        checkpointing=learning.gradient_checkpointing,
    )
    settle(settings.random_seed, on_cpu=on_cpu)  # heads and adapters are drawn, whatever was drawn before
    network = base.network(len(examples.experts))
    settle(settings.random_seed, on_cpu=on_cpu)
    before = held_back_scores(network, examples, learning, score=model.score, batch_tokens=model.batch_tokens)
    result = train_network(
        settings.name,
        network,
        examples,
        learning,
        kept.parent,
        batch_tokens=model.batch_tokens,
        random_seed=settings.random_seed,
    )
    after = held_back_scores(network, examples, learning, score=model.score, batch_tokens=model.batch_tokens)
    if not is_first():
        return
    metric = Metric(
        level=examples.level,
        criteria=examples.criteria,
        experts=examples.experts,
        max_tokens=model.max_tokens,
        adapter_size=learning.adapter_size,
        body=Path(model.model or "").name if base.weights.startswith("sha256:") else model.model or "",
        revision=base.weights or model.revision,
        versions=tuple(versions_of(*LIBRARIES).items()),
    )
    with finished_folder(trained) as folder:
        save_network(folder, network, base.tokenizer, metric)
        scores = [
            {"example_id": name, "moment": moment, "score": float(score)}
            for moment, found in (("before", before), ("after", after))
            for name, score in zip(examples.parts["held_back"].names, found, strict=True)
        ]
        write_record(folder, settings.name, scores, result.curve, _run_row(settings, examples, network, result))
    keep(trained, kept)


def _run_row(settings: Settings, examples: ExampleSet, network: Any, result: Learned) -> dict[str, Any]:
    learning, seconds = settings.learning, max(result.seconds, 1e-9)
    weights = list(network.parameters())
    return {
        "judge": settings.name,
        "model": settings.model.model,
        "training": learning.data,
        "n_examples": 2 * len(examples.parts["train"]),
        "steps": result.steps,
        "best_step": result.best_step,
        "epochs": result.epochs,
        "parameters": sum(weight.numel() for weight in weights),
        "trained_parameters": sum(weight.numel() for weight in weights if weight.requires_grad),
        "seconds": result.seconds,
        "examples_per_second": result.n_inputs / seconds,
        "tokens_per_second": result.n_tokens / seconds,
        "device": device_name(learning.gpus),
        "precision": learning.precision,
        "label_mass_before": None,
        "label_mass_after": None,
    }


def _say(settings: Settings, examples: ExampleSet) -> None:
    if not is_first():
        return
    parts: Mapping[str, Any] = examples.parts
    counts = ", ".join(f"{len(pairs):,} {part.replace('_', ' ')}" for part, pairs in parts.items())
    print(
        f"{settings.name} learns {', '.join(examples.criteria)} of a {examples.level} from pairs: {counts}; experts: "
        f"{', '.join(examples.experts)}",
        flush=True,
    )
    if n_cut := sum(pairs.n_cut for pairs in parts.values()):
        total = 2 * sum(map(len, parts.values()))
        print(
            f"note: {n_cut:,} of {total:,} examples are longer than max_tokens: {settings.model.max_tokens}, and lose "
            "their beginning",
            flush=True,
        )


def _quieten() -> None:
    """Keeps libraries' bars, and reports on weights that are not used, out of the log."""
    import transformers

    transformers.utils.logging.disable_progress_bar()
    transformers.utils.logging.set_verbosity_error()
