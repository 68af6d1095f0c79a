"""Whatever of our code an embedded model learns and answers with is in its jobs' fingerprints and in its identity.

How a method learns and what it learned are reached by names that the run finds (a module's, a class's in a file), which
no reading of code shows. So what runs is held against what is covered, method by method.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from running_code import Definition, noting

from dialeval.config import EmbeddedModel
from dialeval.config.models import METHODS
from dialeval.engines.embedded import learning
from dialeval.engines.embedded.engine import open_model
from dialeval.engines.embedded.learning import learned_bytes
from dialeval.engines.requests import Dialogue, Engine, Message, Request, Response
from dialeval.provenance.fingerprints import _parse, _reach
from dialeval.stages import stage_function

FEW, MANY = 12, 36
LEARNING = stage_function("learn_embedded")
OPENING = "dialeval.engines.embedded.engine"
FOLDER = "dialeval.engines.embedded"


def learning_of(method: str) -> str:
    """Return the constant that says how a method learns."""
    return EmbeddedModel(engine="embedded", method=method).learned_by


def covered(*modules: str) -> set[Definition]:
    """Return the definitions that a fingerprint of modules covers."""
    return {(one.module, one.name) for module in modules for one in _reach(module)[0] if one.name is not None}


def requests(method: str, dialogues: list[Dialogue]) -> Iterator[Request]:
    """Yield requests of every kind that a method answers."""
    message = (Message("user", "Is it so?"),)
    for number, dialogue in enumerate(dialogues):
        other = dialogues[number - 1]
        of: dict[str, tuple[Dialogue, ...]] = {
            "selfchat": (dialogue[:3],),
            "unieval": (dialogue,),
            "arena": (dialogue, other),
            "gteval": (dialogue, other),
            "multiple_choice": (dialogue[:3], (dialogue[3], other[-1])),
        }
        for protocol in sorted(METHODS[method].serves):
            if protocol == "rating":
                for level, dimension in (("turn", "relevance"), ("dialogue", "overall")):
                    subject = (dialogue, (level,))
                    yield Request("r", protocol, "chat", message, subject=subject, labels=(dimension,))
            elif protocol == "yes_no":
                subject = (dialogue, ("turn", "relevance"))
                yield Request("r", protocol, "choice", message, subject=subject, labels=("Yes", "No"))
            elif protocol == "multiple_choice":
                yield Request("r", protocol, "choice", message, subject=of[protocol], labels=("A", "B"))
            else:
                yield Request("r", protocol, "chat", message, subject=of[protocol])


def answers(engine: Engine, asked: list[Request]) -> list[Response]:
    async def all_at_once() -> list[Response]:
        return list(await asyncio.gather(*map(engine.answer, asked)))

    return asyncio.run(all_at_once())


# the forest is all in `selection`
SLOW = [pytest.param(name, marks=pytest.mark.slow) if name == "forest" else name for name in METHODS]


@pytest.mark.parametrize("method", SLOW)
def test_what_runs_is_covered(method: str, english: list[Dialogue], tmp_path: Path) -> None:
    enough = MANY if learning.learner_of(method).needs > 1 else FEW
    few = [dialogue for dialogue in english if len(dialogue) > 3][:enough]
    model, file = EmbeddedModel(engine="embedded", method=method, folds=3), tmp_path / "learned"
    with noting() as learns:
        file.write_bytes(learned_bytes(learning.learn(method, few, random_seed=1, folds=3)))
    with noting() as opens:
        engine = open_model(model, [file], None, "")
    asked = list(requests(method, few[:6]))
    with noting() as tells:
        assert len(answers(engine, asked)) == len(asked) > 0
    assert {("dialeval.engines.embedded.learning", "learn"), (OPENING, "open_model")} <= learns | opens
    assert not learns - covered(LEARNING, learning_of(method))
    job = covered(stage_function("answer"), OPENING, learning_of(method))
    assert not {one for one in opens | tells if one[0].startswith(FOLDER)} - job
    # what was learned counts by its content, so of the identity's code what answers is enough
    assert not {one for one in tells if one[0].startswith(FOLDER)} - covered(f"{FOLDER}.engine", learning_of(method))


WITHOUT_EFFECT = {
    "training_examples.KINDS_OF_ONE",
    "learning._REMEDY",
    "reply_selection.REPLY_FEATURES",
    "reply_selection.UPTAKE_FEATURES",
}
"""What no model learns or answers with: measurements of the models themselves, types, and words of messages."""


def test_no_constant_and_no_function_is_outside_every_method() -> None:
    reached = set().union(*(covered(LEARNING, OPENING, learning_of(method)) for method in METHODS))
    folder = Path(learning.__file__).parent
    modules = [f"{FOLDER}.{path.stem}" for path in folder.glob("*.py") if path.stem != "__init__"] + [FOLDER]
    ours = {(module, name) for module in modules for name in _parse(module).statements if name is not None}
    assert {f"{module.rpartition('.')[2]}.{name}" for module, name in ours - reached} == WITHOUT_EFFECT


ONLY_OF = {
    "chatbots.TOPIC_BOOST": {"ngram"},
    "chatbots.SHARPNESS": {"retrieval"},
    "chatbots.STOCK": {"generic"},
    "baselines.HALF_LENGTH": {"length"},
    "statistics.DISCOUNT": {"perplexity", "forest", "selection"},
    "reply_selection.STRENGTH": {"selection"},
    "interfaces.CAUTION": set(METHODS),
    "baselines.Overlap": {"overlap"},
    "chatbots.Random": {"random"},
}


def test_a_constant_or_a_class_concerns_the_methods_that_use_it() -> None:
    jobs = {method: covered(OPENING, learning_of(method)) for method in METHODS}
    identities = {method: covered(f"{FOLDER}.engine", learning_of(method)) for method in METHODS}
    for of in (jobs, identities):
        assert {
            name: {method for method in METHODS if (f"{FOLDER}.{module}", constant) in of[method]}
            for name in ONLY_OF
            for module, constant in [name.split(".")]
        } == ONLY_OF


def test_what_was_learned_is_part_of_the_identity(english: list[Dialogue], tmp_path: Path) -> None:
    model, file = EmbeddedModel(engine="embedded", method="random", folds=3), tmp_path / "learned"

    def identity(dialogues: list[Dialogue], seed: int = 1) -> str:
        file.write_bytes(learned_bytes(learning.learn("random", dialogues, random_seed=seed, folds=3)))
        return open_model(model, [file], None, "").identity

    few = english[:FEW]
    before = identity(few)
    assert identity(few) == before
    assert json.loads(before)["method"] == "random"
    assert len({before, identity(few[1:]), identity(few, seed=2)}) == 3
