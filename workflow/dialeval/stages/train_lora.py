"""Trains a LoRA adapter with which a language model judges, on dialogues that were spoiled on purpose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from pydantic import BaseModel

from dialeval.config.training import LoraTraining
from dialeval.config.vllm_model import VllmModel
from dialeval.criteria import Criterion, with_own
from dialeval.engines.labels import LabelTree
from dialeval.engines.local_models import LEARNS_TO_ANSWER, missing_libraries
from dialeval.engines.vllm_engine.prompts import Prompts
from dialeval.errors import UserError
from dialeval.prompts.rendering import Templates
from dialeval.schemas.training import TRAINING_EXAMPLES
from dialeval.tables import iterate_rows
from dialeval.training.arguments import micro_batch
from dialeval.training.checkpoints import FINISHED, remove_checkpoints
from dialeval.training.determinism import settle
from dialeval.training.digest import normalise_adapter, weights_digest, write_digest
from dialeval.training.failures import check_numbers, in_words
from dialeval.training.finishing import finished_folder, keep, take, write_record
from dialeval.training.launching import device_name, is_first, spread
from dialeval.training.lora.base import Base
from dialeval.training.lora.identity import lora_fingerprint
from dialeval.training.lora.label_scores import LabelScore, label_scores
from dialeval.training.lora.learning import LoraResult, train_adapter, with_adapter
from dialeval.training.lora.questions import LoraQuestion, LoraQuestions
from dialeval.training.memory import check_memory, free_memory
from dialeval.training.parts import parts_of_sets


class Settings(BaseModel, defer_build=True):
    """The judge, its model with `lora`, and the user's own criteria that it may learn."""

    name: str
    model: VllmModel
    criteria: tuple[Criterion, ...] = ()
    random_seed: int = 0

    @property
    def learning(self) -> LoraTraining:
        """How it learns."""
        if self.model.lora is None:
            raise UserError(f"models.{self.name} has no `lora`, so there is nothing to train")
        return self.model.lora


def stage(
    settings: Settings,
    examples: list[Path],
    trained: Path,
    digest: Path,
    checkpoints: Path,
    templates: Templates,
    code: str,
) -> None:
    """Writes the folder of the adapter, with its scores, its curve and its run, and the digest of the adapter.

    Args:
        settings: see `Settings`.
        examples: tables of the sets that it learns from.
        trained: the folder.
        digest: file for the digest.
        checkpoints: folder of the judge's checkpoints, outside what Snakemake knows of.
        templates: the prompts.
        code: fingerprint of this stage's code: what other code has trained is not taken up.
    """
    if missing := missing_libraries("lora", LEARNS_TO_ANSWER):
        raise UserError(f"models.{settings.name}: {missing}")
    learning = settings.learning
    spread(learning.gpus)
    settle(settings.random_seed, on_cpu=learning.gpus == 0)
    prompts = Prompts(settings.model)
    questions = LoraQuestions(prompts, templates, with_own(settings.criteria), learning.cutoff)
    parts = {
        name: list(questions.of(rows))
        for name, rows in parts_of_sets([iterate_rows(path, TRAINING_EXAMPLES) for path in examples]).items()
    }
    _say(settings.name, parts, questions)
    kept = checkpoints / lora_fingerprint(settings.name, prompts, parts, settings.random_seed, code) / FINISHED
    if not kept.is_dir():
        with in_words(settings.name):
            _train(settings, prompts, questions.tree, parts, kept, trained)
    elif is_first():
        print(f"{settings.name}: the same training has ended before; what it gave is taken", flush=True)
        take(kept, trained)
    if is_first():
        write_digest(weights_digest(trained), digest)
        remove_checkpoints(kept.parent)


def _train(
    settings: Settings,
    prompts: Prompts,
    tree: LabelTree,
    parts: Mapping[str, Sequence[LoraQuestion]],
    kept: Path,
    trained: Path,
) -> None:
    learning, on_cpu = settings.learning, settings.learning.gpus == 0
    base = Base(prompts, learning)
    check_memory(
        settings.name,
        base.check(),
        free_memory(on_cpu=on_cpu),
        on_cpu=on_cpu,
        checkpointing=learning.gradient_checkpointing,
    )
    model = base.load()
    n_parameters = model.num_parameters()
    settle(settings.random_seed, on_cpu=on_cpu)  # loading may have drawn; the adapter begins at random
    model = with_adapter(model, learning)
    result = train_adapter(
        settings.name,
        model,
        learning,
        parts["train"],
        parts["development"],
        tree,
        kept.parent,
        random_seed=settings.random_seed,
        filling=base.filling,
    )
    if not is_first():
        return
    check_numbers(settings.name, result.curve)
    held_back = [question.prompt for question in parts["held_back"]]
    batch_tokens = micro_batch(learning)[0] * learning.cutoff
    after = label_scores(model, held_back, tree, filling=base.filling, batch_tokens=batch_tokens)
    with model.disable_adapter():
        before = label_scores(model, held_back, tree, filling=base.filling, batch_tokens=batch_tokens)
    with finished_folder(trained) as folder:
        model.save_pretrained(folder, safe_serialization=True)
        normalise_adapter(folder, Path(prompts.model.model).name if _is_folder(prompts) else prompts.model.model)
        rows = [
            {"example_id": question.example_id, "moment": moment, "score": one.score}
            for moment, scores in (("before", before), ("after", after))
            for question, one in zip(parts["held_back"], scores, strict=True)
            if one.score is not None
        ]
        row = _run_row(settings, result, parts["train"], n_parameters, before, after)
        write_record(folder, settings.name, rows, result.curve, row)
    keep(trained, kept)


def _run_row(
    settings: Settings,
    result: LoraResult,
    train: Sequence[LoraQuestion],
    n_parameters: int,
    before: Sequence[LabelScore],
    after: Sequence[LabelScore],
) -> dict[str, Any]:
    learning, seconds = settings.learning, max(result.seconds, 1e-9)
    return {
        "judge": settings.name,
        "model": settings.model.model,
        "training": ", ".join(learning.train),
        "n_examples": len(train),
        "steps": result.steps,
        "best_step": result.best_step,
        "epochs": result.epochs,
        "parameters": n_parameters,
        "trained_parameters": result.trained_parameters,
        "seconds": result.seconds,
        "examples_per_second": len(train) * result.epochs / seconds,
        "tokens_per_second": sum(one.length for one in train) * result.epochs / seconds,
        "device": device_name(learning.gpus),
        "precision": learning.precision,
        "label_mass_before": fmean(one.mass for one in before) if before else None,
        "label_mass_after": fmean(one.mass for one in after) if after else None,
    }


def _is_folder(prompts: Prompts) -> bool:
    return prompts.weights.startswith("sha256:")


def _say(name: str, parts: Mapping[str, Sequence[LoraQuestion]], questions: LoraQuestions) -> None:
    if not parts["train"]:
        raise UserError(
            f"{name}: no example is left to learn from; see results/tables/training/data.csv, or raise lora.cutoff"
        )
    if not is_first():
        return
    counts = ", ".join(f"{len(found):,} {part.replace('_', ' ')}" for part, found in parts.items())
    print(f"{name} learns to judge from examples: {counts}", flush=True)
    shorter = sum(one.dropped > 0 for found in parts.values() for one in found)
    if shorter or questions.too_long:
        print(
            f"note: of {shorter:,} examples the oldest utterances are left out, to fit cutoff: {questions.cutoff} "
            f"tokens; {questions.too_long:,} do not fit even so, and are left out",
            flush=True,
        )
