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
from dialeval.engines.embedded import baselines, chatbots, learning
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
    """Returns the constant that says how a method learns."""
    return EmbeddedModel(engine="embedded", method=method).learned_by


def covered(*modules: str) -> set[Definition]:
    """Returns the definitions that a fingerprint of modules covers."""
    return {(one.module, one.name) for module in modules for one in _reach(module)[0] if one.name is not None}


def requests(method: str, dialogues: list[Dialogue]) -> Iterator[Request]:
    """Yields requests of every kind that a method answers."""
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


@pytest.fixture
def few(english: list[Dialogue], method: str) -> list[Dialogue]:
    """Dialogues enough for a method to learn something."""
    enough = MANY if learning.learner_of(method).needs > 1 else FEW
    return [dialogue for dialogue in english if len(dialogue) > 3][:enough]


# the forest is all in `selection`
SLOW = [pytest.param(name, marks=pytest.mark.slow) if name == "forest" else name for name in METHODS]


@pytest.mark.parametrize("method", SLOW)
def test_what_runs_is_covered(method: str, few: list[Dialogue], tmp_path: Path) -> None:
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
    "chatbots.MAX_TOKENS": {"ngram"},
    "chatbots.SHARPNESS": {"retrieval"},
    "chatbots.TOO_SIMILAR": {"retrieval"},
    "chatbots.STOCK": {"generic"},
    "chatbots.FIRST_IS_LIKELIER": {"generic"},
    "baselines.HALF_LENGTH": {"length"},
    "baselines.ORDINARY": {"perplexity"},
    "statistics.DISCOUNT": {"perplexity", "forest", "selection"},
    "judge.FALSE_ALARMS": {"forest", "selection"},
    "reply_selection.STRENGTH": {"selection"},
    "reply_selection.PENALTY": {"selection"},
    "interfaces.CAUTION": set(METHODS),
    "baselines.Overlap": {"overlap"},
    "chatbots.Random": {"random"},
}


@pytest.mark.parametrize("name", ONLY_OF)
def test_a_constant_or_a_class_concerns_the_methods_that_use_it(name: str) -> None:
    module, _, constant = name.rpartition(".")
    definition = (f"{FOLDER}.{module}", constant)
    assert definition[1] in _parse(definition[0]).statements
    jobs = {method: covered(OPENING, learning_of(method)) for method in METHODS}
    identities = {method: covered(f"{FOLDER}.engine", learning_of(method)) for method in METHODS}
    for of in (jobs, identities):
        assert {method for method in METHODS if definition in of[method]} == ONLY_OF[name]


CHANGED: list[tuple[str, object, str, object]] = [
    ("ngram", chatbots, "TOPIC_BOOST", 50.0),
    ("retrieval", chatbots, "SHARPNESS", 0.5),
    ("generic", chatbots, "FIRST_IS_LIKELIER", 9.0),
    ("length", baselines, "HALF_LENGTH", {"turn": 2, "dialogue": 2}),
    ("perplexity", baselines, "ORDINARY", 0.01),
]


@pytest.mark.parametrize(("method", "module", "name", "value"), CHANGED, ids=lambda one: getattr(one, "__name__", None))
def test_a_changed_constant_changes_answers(
    method: str,
    module: object,
    name: str,
    value: object,
    few: list[Dialogue],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model, file, asked = EmbeddedModel(engine="embedded", method=method, folds=3), tmp_path / "l", []

    def said() -> list[Response]:
        file.write_bytes(learned_bytes(learning.learn(method, few, random_seed=1, folds=3)))
        return answers(open_model(model, [file], None, ""), asked)

    asked += requests(method, few)
    before = said()
    assert getattr(module, name) != value
    monkeypatch.setattr(module, name, value)
    assert said() != before


@pytest.mark.parametrize("method", ["random"])
def test_what_was_learned_is_part_of_the_identity(method: str, few: list[Dialogue], tmp_path: Path) -> None:
    model, file = EmbeddedModel(engine="embedded", method=method, folds=3), tmp_path / "learned"

    def identity(dialogues: list[Dialogue], seed: int = 1) -> str:
        file.write_bytes(learned_bytes(learning.learn(method, dialogues, random_seed=seed, folds=3)))
        return open_model(model, [file], None, "").identity

    before = identity(few)
    assert identity(few) == before
    assert json.loads(before)["method"] == method
    assert len({before, identity(few[1:]), identity(few, seed=2)}) == 3
