"""Stages that train judges: training data, encoders, LoRA adapters, and their tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pydantic import BaseModel

from dialeval.config.models import EncoderModel, VllmModel
from dialeval.config.training import EncoderTraining, Learning, LoraTraining
from dialeval.criteria import Criterion, with_own
from dialeval.engines.encoder.engine import folder_digest, save_network
from dialeval.engines.encoder.metric import Metric
from dialeval.engines.installation import LEARNS_TO_ANSWER, LEARNS_TO_SCORE, free_memory, missing_libraries
from dialeval.engines.label_probabilities import LabelTree
from dialeval.engines.vllm_engine.prompts import Prompts
from dialeval.errors import UserError
from dialeval.prompts.rendering import Templates
from dialeval.tables.files import (
    TableWriter,
    iterate_rows,
    read_table,
    read_tables,
    write_rows,
)
from dialeval.tables.training import (
    TRAINING_CURVE,
    TRAINING_DATA,
    TRAINING_EXAMPLES,
    TRAINING_RECORD,
    TRAINING_RUNS,
    TRAINING_SAMPLES,
    TRAINING_SCORES,
)
from dialeval.training import lora
from dialeval.training.encoder import LIBRARIES, Base, encoder_fingerprint, held_out_scores, train_network
from dialeval.training.encoder_examples import COLUMNS, ExampleSet, read_set
from dialeval.training.lora_questions import LoraQuestion, LoraQuestions, label_scores, parts_of_sets
from dialeval.training.results import SCORED_EXAMPLES, data_rows, record_rows, sample_rows
from dialeval.training.running import (
    Learned,
    check_memory,
    device_name,
    in_words,
    is_first,
    make_deterministic,
    micro_batch,
    spread,
)
from dialeval.training.training_sets import Recipe, left_out_dialogues, training_rows
from dialeval.training.weights import (
    FINISHED,
    copy_finished,
    finished_folder,
    normalise_adapter,
    remove_checkpoints,
    versions_of,
    weights_digest,
    write_digest,
    write_record,
)


def make_training_data(settings: Recipe, utterances: list[Path], left_out: list[Path], examples: Path) -> None:
    """Write the table `training_examples`: pairs of human and perturbed dialogues (xDial-Eval, appendix C)."""
    with TableWriter(examples, TRAINING_EXAMPLES) as table:
        table.write_all(training_rows(settings, utterances, left_out_dialogues(left_out), say=print))


class TrainEncoderSettings(BaseModel, defer_build=True):
    """The judge, and its model as far as its training goes."""

    name: str
    model: EncoderModel
    random_seed: int = 0

    @property
    def learning(self) -> EncoderTraining:
        """How it learns."""
        if self.model.train is None:
            raise UserError(f"models.{self.name} has no `train`; add `train` or remove the model from training")
        return self.model.train


def train_encoder(
    settings: TrainEncoderSettings, examples: Path, trained: Path, digest: Path, checkpoints: Path, code: str
) -> None:
    """Train an encoder to score turns or dialogues; write its folder with scores, curve and run, and its digest.

    Args:
        settings: see `TrainEncoderSettings`.
        examples: table of the set that it learns from.
        trained: the folder.
        digest: file for the digest.
        checkpoints: folder of the judge's checkpoints, outside what Snakemake knows of.
        code: fingerprint of this stage's code; a training by other code is not resumed.
    """
    if missing := missing_libraries("train", LEARNS_TO_SCORE):
        raise UserError(f"models.{settings.name}: {missing}")
    spread(settings.learning.gpus)
    _quieten()
    make_deterministic(settings.random_seed, on_cpu=settings.learning.gpus == 0)
    base = Base(settings.name, settings.model)
    read = read_set(iterate_rows(examples, TRAINING_EXAMPLES, COLUMNS), base.encoding, str(examples))
    _print_encoder_sets(settings, read)
    fingerprint = encoder_fingerprint(settings.name, settings.model, base.weights, read, settings.random_seed, code)
    kept = checkpoints / fingerprint / FINISHED
    if not kept.is_dir():
        with in_words(settings.name):
            _train_encoder(settings, base, read, kept, trained)
    elif is_first():
        print(f"{settings.name}: the same training has finished before; DialEval uses its weights", flush=True)
        copy_finished(kept, trained)
    if is_first():
        write_digest(folder_digest(trained), digest)
        remove_checkpoints(kept.parent)


def _train_encoder(settings: TrainEncoderSettings, base: Base, examples: ExampleSet, kept: Path, trained: Path) -> None:
    learning, model = settings.learning, settings.model
    on_cpu = learning.gpus == 0
    check_memory(
        settings.name,
        base.memory(examples.level, len(examples.experts)),
        free_memory(on_cpu=on_cpu),
        on_cpu=on_cpu,
        checkpointing=learning.gradient_checkpointing,
    )
    make_deterministic(settings.random_seed, on_cpu=on_cpu)  # heads and adapters are drawn, whatever was drawn before
    network = base.network(len(examples.experts))
    make_deterministic(settings.random_seed, on_cpu=on_cpu)
    before = held_out_scores(network, examples, learning, score=model.score, batch_tokens=model.batch_tokens)
    result = train_network(
        settings.name,
        network,
        examples,
        learning,
        kept.parent,
        batch_tokens=model.batch_tokens,
        random_seed=settings.random_seed,
    )
    after = held_out_scores(network, examples, learning, score=model.score, batch_tokens=model.batch_tokens)
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
        pooling=learning.pooling,
    )
    with finished_folder(trained) as folder:
        save_network(folder, network, base.tokenizer, metric)
        scores = [
            {"example_id": name, "moment": moment, "score": float(score)}
            for moment, found in (("before", before), ("after", after))
            for name, score in zip(examples.parts["held_out"].names, found, strict=True)
        ]
        weights = list(network.parameters())
        row = _run_row(
            settings.name,
            model.model,
            learning.data,
            learning,
            result,
            n_examples=2 * len(examples.parts["train"]),
            parameters=sum(weight.numel() for weight in weights),
            trained_parameters=sum(weight.numel() for weight in weights if weight.requires_grad),
            examples_seen=2 * len(examples.parts["train"]) * result.epochs,
            tokens_seen=result.n_tokens,
        )
        write_record(folder, settings.name, scores, result.curve, row)
    copy_finished(trained, kept)


def _run_row(
    name: str,
    model: str | None,
    training: str,
    learning: Learning,
    result: Learned,
    **more: Any,
) -> dict[str, Any]:
    """Return the row of the table of runs; `more` are the columns that encoders and adapters count differently."""
    seconds = max(result.seconds, 1e-9)
    return {
        "judge": name,
        "model": model,
        "training": training,
        "steps": result.steps,
        "best_step": result.best_step,
        "epochs": result.epochs,
        "seconds": result.seconds,
        "device": device_name(learning.gpus),
        "precision": learning.precision,
        "label_mass_before": None,
        "label_mass_after": None,
        "examples_per_second": more.pop("examples_seen") / seconds,
        "tokens_per_second": more.pop("tokens_seen") / seconds,
        **more,
    }


def _print_encoder_sets(settings: TrainEncoderSettings, examples: ExampleSet) -> None:
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
    """Keep libraries' progress bars and reports on unused weights out of the log."""
    import transformers

    transformers.utils.logging.disable_progress_bar()
    transformers.utils.logging.set_verbosity_error()


class TrainLoraSettings(BaseModel, defer_build=True):
    """The judge, its model with `lora`, and the user's own criteria that it may learn."""

    name: str
    model: VllmModel
    criteria: tuple[Criterion, ...] = ()
    random_seed: int = 0

    @property
    def learning(self) -> LoraTraining:
        """How it learns."""
        if self.model.lora is None:
            raise UserError(f"models.{self.name} has no `lora`; add `lora` or remove the model from training")
        return self.model.lora


def train_lora(
    settings: TrainLoraSettings,
    examples: list[Path],
    trained: Path,
    digest: Path,
    checkpoints: Path,
    templates: Templates,
    code: str,
) -> None:
    """Train a LoRA adapter to judge; write its folder with scores, curve and run, and its digest.

    Args:
        settings: see `TrainLoraSettings`.
        examples: tables of the sets that it learns from.
        trained: the folder.
        digest: file for the digest.
        checkpoints: folder of the judge's checkpoints, outside what Snakemake knows of.
        templates: the prompts.
        code: fingerprint of this stage's code; a training by other code is not resumed.
    """
    if missing := missing_libraries("lora", LEARNS_TO_ANSWER):
        raise UserError(f"models.{settings.name}: {missing}")
    learning = settings.learning
    spread(learning.gpus)
    make_deterministic(settings.random_seed, on_cpu=learning.gpus == 0)
    prompts = Prompts(settings.model)
    questions = LoraQuestions(prompts, templates, with_own(settings.criteria), learning.cutoff)
    parts = {
        name: list(questions.rendered(rows))
        for name, rows in parts_of_sets([iterate_rows(path, TRAINING_EXAMPLES) for path in examples]).items()
    }
    _print_lora_sets(settings.name, parts, questions)
    kept = checkpoints / lora.lora_fingerprint(settings.name, prompts, parts, settings.random_seed, code) / FINISHED
    if not kept.is_dir():
        with in_words(settings.name):
            _train_lora(settings, prompts, questions.tree, parts, kept, trained)
    elif is_first():
        print(f"{settings.name}: the same training has finished before; DialEval uses its weights", flush=True)
        copy_finished(kept, trained)
    if is_first():
        write_digest(weights_digest(trained), digest)
        remove_checkpoints(kept.parent)


def _train_lora(
    settings: TrainLoraSettings,
    prompts: Prompts,
    tree: LabelTree,
    parts: Mapping[str, Sequence[LoraQuestion]],
    kept: Path,
    trained: Path,
) -> None:
    learning, on_cpu = settings.learning, settings.learning.gpus == 0
    base = lora.Base(prompts, learning)
    check_memory(
        settings.name,
        base.check(),
        free_memory(on_cpu=on_cpu),
        on_cpu=on_cpu,
        checkpointing=learning.gradient_checkpointing,
    )
    model = base.load()
    n_parameters = model.num_parameters()
    make_deterministic(settings.random_seed, on_cpu=on_cpu)  # loading may have drawn; the adapter begins at random
    model = lora.with_adapter(model, learning)
    trained_parameters = sum(part.numel() for part in model.parameters() if part.requires_grad)
    result = lora.train_adapter(
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
    held_out = [question.prompt for question in parts["held_out"]]
    batch_tokens = micro_batch(learning)[0] * learning.cutoff
    after = label_scores(model, held_out, tree, filling=base.filling, batch_tokens=batch_tokens)
    with model.disable_adapter():
        before = label_scores(model, held_out, tree, filling=base.filling, batch_tokens=batch_tokens)
    with finished_folder(trained) as folder:
        model.save_pretrained(folder, safe_serialization=True)
        normalise_adapter(folder, Path(prompts.model.model).name if _is_folder(prompts) else prompts.model.model)
        rows = [
            {"example_id": question.example_id, "moment": moment, "score": one.score}
            for moment, scores in (("before", before), ("after", after))
            for question, one in zip(parts["held_out"], scores, strict=True)
            if one.score is not None
        ]
        row = _run_row(
            settings.name,
            settings.model.model,
            ", ".join(learning.train),
            learning,
            result,
            n_examples=len(parts["train"]),
            parameters=n_parameters,
            trained_parameters=trained_parameters,
            examples_seen=len(parts["train"]) * result.epochs,
            tokens_seen=sum(one.length for one in parts["train"]) * result.epochs,
            label_mass_before=fmean(one.mass for one in before) if before else None,
            label_mass_after=fmean(one.mass for one in after) if after else None,
        )
        write_record(folder, settings.name, rows, result.curve, row)
    copy_finished(trained, kept)


def _is_folder(prompts: Prompts) -> bool:
    return prompts.weights.startswith("sha256:")


def _print_lora_sets(name: str, parts: Mapping[str, Sequence[LoraQuestion]], questions: LoraQuestions) -> None:
    if not parts["train"]:
        raise UserError(
            f"{name}: no example is left for training; see results/tables/training/data.csv, or raise lora.cutoff"
        )
    if not is_first():
        return
    counts = ", ".join(f"{len(found):,} {part.replace('_', ' ')}" for part, found in parts.items())
    print(f"{name} learns to judge from examples: {counts}", flush=True)
    shorter = sum(one.dropped > 0 for found in parts.values() for one in found)
    if shorter or questions.too_long:
        print(
            f"note: {shorter:,} examples lose their oldest utterances, to fit cutoff: {questions.cutoff} "
            f"tokens; {questions.too_long:,} do not fit even then, and are left out",
            flush=True,
        )


def tabulate_training_data(examples: list[Path], overlaps: list[Path], folder: Path) -> None:
    """Write the table `training/data`: the examples that judges learn from, as Parquet and CSV."""
    write_rows(folder, TRAINING_DATA, data_rows(examples, overlaps))


class TabulateTrainingSettings(BaseModel, defer_build=True):
    """The sets that each judge is trained on, and how intervals are made and samples drawn."""

    judges: dict[str, list[str]]
    confidence: float = 0.95
    random_seed: int = 0


def tabulate_training(
    settings: TabulateTrainingSettings, examples: list[Path], trained: list[Path], folder: Path
) -> None:
    """Write the tables `training/record`, `curve`, `runs` and `samples` into a folder, each as Parquet and as CSV.

    Args:
        settings: see `TabulateTrainingSettings`.
        examples: of every set that is trained on.
        trained: folder of every judge, which is called as the judge.
        folder: where the tables go.
    """
    known = read_tables(examples, TRAINING_EXAMPLES, SCORED_EXAMPLES)
    record = [
        row
        for path in trained
        for row in record_rows(
            path.name,
            _of_sets(known, settings.judges[path.name]),
            read_table(path / "scores.parquet", TRAINING_SCORES),
            settings.confidence,
        )
    ]
    curve, runs = (
        read_tables([path / f"{kind.file.removesuffix('s')}.parquet" for path in trained], kind).to_pylist()
        for kind in (TRAINING_CURVE, TRAINING_RUNS)
    )
    samples = [
        row for path in examples for row in sample_rows(read_table(path, TRAINING_EXAMPLES), settings.random_seed)
    ]
    for table, rows in (
        (TRAINING_RECORD, record),
        (TRAINING_CURVE, curve),
        (TRAINING_RUNS, runs),
        (TRAINING_SAMPLES, samples),
    ):
        write_rows(folder, table, rows)


def _of_sets(examples: pa.Table, sets: list[str]) -> pa.Table:
    return examples.filter(pc.is_in(examples["training"], value_set=pa.array(sets, pa.string())))
