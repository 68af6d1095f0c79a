"""Learning an embedded model, and the file in which it is kept.

For every fold one model is learned without it, for every kind of script on its own: words and single characters have
other statistics.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

from dialeval.corpora.clusters import DEFAULT_FOLDS, fold_of, split, without
from dialeval.engines.embedded.interfaces import Learner, Model
from dialeval.engines.embedded.judge import ReportRow
from dialeval.engines.embedded.serialization import packed, unpacked, versions_of
from dialeval.engines.requests import Dialogue
from dialeval.errors import UserError, nearest
from dialeval.text import Script, by_script, script_of

VERSION = 5
"""Raised by hand when the same dialogues lead to other answers than before."""


@dataclass(frozen=True)
class Learned:
    """A model learned once without each fold.

    Attributes:
        method: its name.
        folds: number of folds.
        digest: hexadecimal; over method, settings, training texts and `VERSION`.
        models: by kind of script and left-out fold.
        report: of a judge, how well it separates held-out dialogues from perturbed ones, by perturbation.
    """

    method: str
    folds: int
    digest: str
    models: dict[tuple[Script, int], Model]
    report: tuple[ReportRow, ...] = field(default=())

    def model_for(self, dialogue: Sequence[str]) -> Model:
        """Return the model that learned nothing from dialogues with the same first utterance."""
        return self.models[self._key(dialogue)]

    def _key(self, dialogue: Sequence[str]) -> tuple[Script, int]:
        """Return script and fold; a script that was not learned is answered for by the other one."""
        fold = fold_of(dialogue, self.folds)
        key = (script_of(dialogue), fold)
        return key if key in self.models else next(known for known in self.models if known[1] == fold)


def learn(method: str, dialogues: Sequence[Dialogue], *, random_seed: int, folds: int = DEFAULT_FOLDS) -> Learned:
    """Learn a model once without each fold of the dialogues; their order does not matter.

    Args:
        method: one of `methods`, in small letters.
        dialogues: human dialogues; those with fewer than two utterances teach nothing and are left out.
        random_seed: of everything that is drawn, in learning and in answering.
        folds: number of folds.

    Raises:
        UserError: the method is unknown, or there are too few dialogues to learn it from.
    """
    learner = learner_of(method)
    if folds < learner.min_folds:
        raise UserError(f"{folds} folds are too few to train '{method}'; use {DEFAULT_FOLDS}")
    usable = sorted({cleaned for dialogue in dialogues if len(cleaned := _clean(dialogue)) >= 2})
    groups = {script: split(group, folds) for script, group in by_script(usable).items()}
    enough = {script: parts for script, parts in groups.items() if _suffice(parts, learner)}
    if not enough and learner.needs:
        raise UserError(
            f"{len(usable)} different dialogues of two or more utterances are too few to train '{method}'; add "
            f"dialogues that begin differently (the method needs {learner.needs} outside of each fold)"
        )
    nothing: dict[Script, list[list[Dialogue]]] = {"spaced": [[]] * folds}
    models = {
        (script, fold): model
        for script, parts in (enough or nothing).items()
        for fold, model in enumerate(learner.learn(parts, random_seed))
    }
    report = learner.report(models, enough, random_seed) if learner.report else ()
    digest = _digest(method, usable, random_seed, folds)
    return Learned(method=method, folds=folds, digest=digest, models=models, report=report)


def learner_of(method: str) -> Learner:
    """Return how a method learns.

    Raises:
        UserError: there is no such method.
    """
    methods = vars(import_module("dialeval.engines.embedded.methods"))  # by name: each has its own fingerprint
    known = {name.lower(): value for name, value in methods.items() if isinstance(value, Learner)}
    if method not in known:
        raise UserError(f"unknown embedded method '{method}'; {nearest(method, known)}")
    return known[method]


def _clean(dialogue: Sequence[str]) -> Dialogue:
    """Return the dialogue without blanks around utterances and without empty ones; nothing, if it begins with one."""
    if not dialogue or not dialogue[0].strip():
        return ()
    return tuple(stripped for utterance in dialogue if (stripped := utterance.strip()))


def _suffice(parts: Sequence[Sequence[Dialogue]], learner: Learner) -> bool:
    """Say whether enough is left to learn from without any one of the folds."""
    if sum(1 for part in parts if part) < learner.min_folds:
        return False
    return all(len(without(parts, fold)) >= max(1, learner.needs) for fold in range(len(parts)))


def _digest(method: str, dialogues: Sequence[Dialogue], random_seed: int, folds: int) -> str:
    content = {"method": method, "random_seed": random_seed, "folds": folds, "version": VERSION, "texts": dialogues}
    canonical = json.dumps(content, ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()


# The file of an embedded model: numbers and texts, which others can open without risk.

FORMAT = 2
"""Raised by hand when what is written here is laid out otherwise."""
_REMEDY = "delete the file, and the next run trains the model again"


def learned_bytes(learned: Learned) -> bytes:
    """Return the content of a learned model's file; equal models give equal bytes."""
    return packed(learned, _classes(learned.method), _versions())


def read_learned(path: Path, method: str) -> Learned:
    """Read the file of a learned model; it may come from an untrusted source.

    Raises:
        UserError: it is not such a model, a damaged one, or one that another version wrote.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror or error}; {_REMEDY}") from error
    if not content.startswith(b"PK"):
        raise UserError(
            f"{path} is not a trained embedded model, or is a pickle of an earlier version, which is not opened "
            f"because a pickle can run any code; {_REMEDY}"
        )
    try:
        versions = versions_of(content)
        if versions == _versions():
            learned = unpacked(content, _classes(method))
            if isinstance(learned, Learned) and learned.method == method:
                return learned
            raise ValueError("it contains another model")
    except ValueError as error:
        raise UserError(f"{path} is corrupt, or not a trained embedded model ({error!s:.200}); {_REMEDY}") from error
    raise UserError(
        f"{path} was trained with other versions ({versions}) than the present ones ({_versions()}); {_REMEDY}"
    )


def _versions() -> dict[str, int]:
    return {"file": FORMAT, "learning": VERSION}


def _classes(method: str) -> dict[str, type]:
    return {of.__name__: of for of in (Learned, ReportRow, *learner_of(method).classes)}
