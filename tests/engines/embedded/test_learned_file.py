"""What was learned is kept as numbers and texts: it comes back as it was, and a file of anyone can run nothing."""

from __future__ import annotations

import pickle
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from dialeval.config.embedded_methods import METHODS
from dialeval.engines.embedded import learned_file
from dialeval.engines.embedded.learned_file import learned_bytes, read_learned
from dialeval.engines.embedded.learning import VERSION, Learned, human_probability, learn
from dialeval.engines.embedded.plain_data import packed
from dialeval.engines.request import Dialogue
from dialeval.errors import UserError


def kept(learned: Learned, folder: Path) -> Learned:
    (folder / "model.learned").write_bytes(learned_bytes(learned))
    return read_learned(folder / "model.learned", learned.method)


@pytest.mark.parametrize("method", sorted(set(METHODS) - {"forest", "selection"}))
def test_a_model_comes_back_as_it_was(
    method: str, english: list[Dialogue], chinese: list[Dialogue], tmp_path: Path
) -> None:
    learned = learn(method, [*english[:40], *chinese[:40]], random_seed=1)
    back = kept(learned, tmp_path)
    assert (back.method, back.folds, back.digest, back.report) == (method, 5, learned.digest, ())
    assert learned_bytes(back) == learned_bytes(learned), "what is learned alike is the same file"
    for dialogue in [*english[35:50], *chinese[35:50]]:
        assert answers(back, dialogue) == answers(learned, dialogue)


def answers(learned: Learned, dialogue: Sequence[str]) -> list[Any]:
    """Returns all that a model says of a dialogue, numbers to the last bit."""
    found: list[Any] = []
    if "selfchat" in learned.serves:
        found.append(learned.chatbot_for(dialogue).reply(dialogue[:3]))
    if "multiple_choice" in learned.serves:
        chooser: Any = learned.chooser_for(dialogue)
        found.append(chooser.prefer(dialogue[:3], dialogue[:4]).tolist())
    if "rating" in learned.serves:
        found += [learned.rater_for(dialogue).rate([tuple(dialogue)], level).tolist() for level in ("turn", "dialogue")]
    return found


@pytest.mark.parametrize("method", ["forest", "selection"])
def test_a_judge_comes_back_as_it_was(
    raters: dict[str, Learned], method: str, english: list[Dialogue], tmp_path: Path
) -> None:
    judge = raters[method]
    back = kept(judge, tmp_path)
    assert (back.digest, back.report) == (judge.digest, judge.report)
    np.testing.assert_array_equal(human_probability(back, english[:5]), human_probability(judge, english[:5]))
    for level in ("turn", "dialogue"):
        np.testing.assert_array_equal(
            back.rater_for(english[0]).rate(english[:5], level), judge.rater_for(english[0]).rate(english[:5], level)
        )
    assert learned_bytes(back) == learned_bytes(judge)


def test_a_file_of_another_version_is_refused(
    english: list[Dialogue], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    learned = learn("random", english, random_seed=1)
    for name in ("VERSION", "FORMAT"):
        with monkeypatch.context() as changed:
            changed.setattr(learned_file, name, 0)
            (tmp_path / "model.learned").write_bytes(learned_bytes(learned))
        with pytest.raises(UserError, match=r"model\.learned was learned with other versions.*delete it"):
            read_learned(tmp_path / "model.learned", "random")


class _OfBefore(NamedTuple):
    """What a judge once learned, of a class that there is no more."""

    trees: int


def test_a_file_of_a_version_with_other_classes_is_said_to_be_one_not_to_be_damaged(tmp_path: Path) -> None:
    def written(version: int) -> bytes:
        content = {"versions": {"file": learned_file.FORMAT, "learning": version}, "learned": _OfBefore(trees=3600)}
        return packed(content, {"UtteranceClassifier": _OfBefore})

    (tmp_path / "model.learned").write_bytes(written(VERSION - 1))
    with pytest.raises(UserError, match=rf"learned with other versions .*'learning': {VERSION - 1}.*delete it"):
        read_learned(tmp_path / "model.learned", "forest")
    (tmp_path / "model.learned").write_bytes(written(VERSION))
    with pytest.raises(UserError, match=r"is damaged, .*UtteranceClassifier.*delete it"):
        read_learned(tmp_path / "model.learned", "forest")


class _Trap:
    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> Any:
        return (Path.touch, (self.mark,))


def test_a_pickle_of_an_earlier_version_is_not_opened(tmp_path: Path) -> None:
    trap = pickle.dumps(_Trap(tmp_path / "opened"))
    for content in (b"dialeval embedded model\n{}\n" + zlib.compress(trap), trap):
        (tmp_path / "model.learned").write_bytes(content)
        with pytest.raises(UserError, match=r"model\.learned .*a pickle.*delete it, and the next run learns it again"):
            read_learned(tmp_path / "model.learned", "random")
    assert not (tmp_path / "opened").exists()
    pickle.loads(trap)
    assert (tmp_path / "opened").exists(), "the trap would have sprung"


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"text",
        lambda content: b"",
        lambda content: content[:-10],
        lambda content: content[: len(content) // 2],
        lambda content: content.replace(b"structure.npy", b"strvcture.npy"),
        lambda content: packed({"versions": {"file": 1, "learning": 2}, "learned": {"method": "random"}}, {}),
        lambda content: packed({"versions": {"file": 1, "learning": 2}}, {}),
        lambda content: packed([1, 2], {}),
    ],
)
def test_a_damaged_file_is_refused(english: list[Dialogue], tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    (tmp_path / "model.learned").write_bytes(damage(learned_bytes(learn("random", english, random_seed=1))))
    with pytest.raises(UserError, match=r"model\.learned .*delete it"):
        read_learned(tmp_path / "model.learned", "random")


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"model\.learned cannot be read: No such file"):
        read_learned(tmp_path / "model.learned", "random")
