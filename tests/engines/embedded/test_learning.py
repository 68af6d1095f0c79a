from __future__ import annotations

import pickle
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from dialeval.config.models import METHODS
from dialeval.corpora.clusters import fold_of, split
from dialeval.engines.embedded import learning
from dialeval.engines.embedded.judge import _parts_of_utterances
from dialeval.engines.embedded.learning import VERSION, Learned, learn, learned_bytes, read_learned
from dialeval.engines.embedded.serialization import packed
from dialeval.engines.embedded.training_examples import KINDS
from dialeval.engines.requests import Dialogue
from dialeval.errors import UserError
from dialeval.text import normalised
from embedded_ratings import human_probability


def test_the_report_has_a_row_for_each_kind_of_damage(forest: Learned, english: list[Dialogue]) -> None:
    assert [row.perturbation for row in forest.report] == ["all", *KINDS]
    assert forest.report[0].n == sum(row.n for row in forest.report[1:])
    assert forest.report[0].auc > 0.65
    assert all(0 <= row.accuracy <= 1 for row in forest.report)


def test_no_judge_learned_from_its_fold(forest: Learned, english: list[Dialogue]) -> None:
    for dialogue in english[:30]:
        known = forest.model_for(dialogue)._part_of
        once = [u for u in dialogue if sum(u in other for other in english) == 1]
        assert once
        assert not any(normalised(utterance) in known for utterance in once)


def test_what_is_in_two_folds_is_nobodys() -> None:
    parts = _parts_of_utterances([[("Hello.", "Yes.")], [("Hi.", "yes!")]])
    assert parts == {"hello": 0, "hi": 1, "yes": -1}


def test_the_order_of_dialogues_does_not_matter(english: list[Dialogue]) -> None:
    one = learn("ngram", english, random_seed=1)
    two = learn("ngram", english[::-1] + english[:3], random_seed=1)
    assert one.digest == two.digest
    place = english[5][:2]
    assert one.model_for(place).reply(place) == two.model_for(place).reply(place)


def test_the_digest_is_over_all_that_matters(english: list[Dialogue], monkeypatch: pytest.MonkeyPatch) -> None:
    digests = {
        learn("random", english, random_seed=1).digest,
        learn("generic", english, random_seed=1).digest,
        learn("random", english, random_seed=2).digest,
        learn("random", english, random_seed=1, folds=4).digest,
        learn("random", english[1:], random_seed=1).digest,
    }
    monkeypatch.setattr(learning, "VERSION", 0)
    digests.add(learn("random", english, random_seed=1).digest)
    assert len(digests) == 6


def test_refusals_name_the_remedy(english: list[Dialogue], forest: Learned) -> None:
    with pytest.raises(UserError, match="did you mean 'forest'"):
        learn("forrest", english, random_seed=1)
    with pytest.raises(UserError, match="too few to train 'forest'"):
        learn("forest", english[:10], random_seed=1)
    with pytest.raises(UserError, match="too few to train 'retrieval'"):
        learn("retrieval", [], random_seed=1)
    with pytest.raises(UserError, match="2 folds are too few"):
        learn("forest", english, random_seed=1, folds=2)


def test_a_dialogue_without_utterances_is_refused(forest: Learned, english: list[Dialogue]) -> None:
    assert human_probability(forest, []).shape == (0,)
    with pytest.raises(ValueError, match=r"dialogue \d+ .* no utterance"):
        human_probability(forest, [*english[:5], ()])


def test_a_dialogue_that_begins_with_nothing_teaches_nothing(english: list[Dialogue]) -> None:
    added = [*english, (" ", "This would be in another fold than it seems.")]
    assert learn("random", added, random_seed=1).digest == learn("random", english, random_seed=1).digest


def test_the_page_says_what_methods_serve() -> None:
    page = (Path(__file__).parents[3] / "docs" / "embedded.md").read_text(encoding="utf-8")
    rows = (line.split("|")[1:3] for line in page.splitlines() if line.startswith("| `"))
    said = {name.strip(" `"): frozenset(serves.strip().split(", ")) for name, serves in rows}
    assert {name: said.get(name) for name in METHODS} == {name: one.serves for name, one in METHODS.items()}


def test_chinese_is_learned_apart(chinese: list[Dialogue], english: list[Dialogue]) -> None:
    learned = learn("forest", chinese, random_seed=1)
    assert {script for script, _ in learned.models} == {"unspaced"}
    spoiled = [(dialogue[0], *["好的。"] * (len(dialogue) - 1)) for dialogue in chinese]
    assert human_probability(learned, chinese).mean() > human_probability(learned, spoiled).mean() + 0.1
    assert 0 < human_probability(learned, english[:1])[0] < 1


def test_dialogues_that_begin_alike_are_in_one_fold(english: list[Dialogue]) -> None:
    for fold, part in enumerate(split(english)):
        assert all(fold_of((dialogue[0], "anything")) == fold for dialogue in part)


# What was learned is kept as numbers and texts: it comes back as it was, and a file of anyone can run nothing.


def kept(learned: Learned, folder: Path) -> Learned:
    (folder / "model.learned").write_bytes(learned_bytes(learned))
    return read_learned(folder / "model.learned", learned.method)


@pytest.mark.parametrize("method", sorted(METHODS))
def test_a_model_comes_back_as_it_was(
    method: str, raters: dict[str, Learned], english: list[Dialogue], chinese: list[Dialogue], tmp_path: Path
) -> None:
    is_judge = method in ("forest", "selection")
    learned = raters[method] if is_judge else learn(method, [*english[:40], *chinese[:40]], random_seed=1)
    back = kept(learned, tmp_path)
    assert (back.method, back.folds, back.digest, back.report) == (method, 5, learned.digest, learned.report)
    assert learned_bytes(back) == learned_bytes(learned), "what is learned alike is the same file"
    asked = english[35:40] if is_judge else [*english[35:50], *chinese[35:50]]
    for dialogue in asked:
        assert answers(back, dialogue) == answers(learned, dialogue)
    if is_judge:
        np.testing.assert_array_equal(human_probability(back, asked), human_probability(learned, asked))


def answers(learned: Learned, dialogue: Sequence[str]) -> list[Any]:
    """Return all that a model says of a dialogue, numbers to the last bit."""
    found: list[Any] = []
    if "selfchat" in METHODS[learned.method].serves:
        found.append(learned.model_for(dialogue).reply(dialogue[:3]))
    if "multiple_choice" in METHODS[learned.method].serves and "unieval" not in METHODS[learned.method].serves:
        chooser: Any = learned.model_for(dialogue)
        found.append(chooser.prefer(dialogue[:3], dialogue[:4]).tolist())
    if "rating" in METHODS[learned.method].serves:
        found += [learned.model_for(dialogue).rate([tuple(dialogue)], level).tolist() for level in ("turn", "dialogue")]
    return found


def test_a_file_of_another_version_is_refused(
    english: list[Dialogue], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    learned = learn("random", english, random_seed=1)
    for name in ("VERSION", "FORMAT"):
        with monkeypatch.context() as changed:
            changed.setattr(learning, name, 0)
            (tmp_path / "model.learned").write_bytes(learned_bytes(learned))
        with pytest.raises(UserError, match=r"model\.learned was trained with other versions.*delete the file"):
            read_learned(tmp_path / "model.learned", "random")


class _OfBefore(NamedTuple):
    """What a judge once learned, of a class that there is no more."""

    trees: int


def test_a_file_of_a_version_with_other_classes_is_reported_as_such_and_not_as_damaged(tmp_path: Path) -> None:
    def written(version: int) -> bytes:
        versions = {"file": learning.FORMAT, "learning": version}
        return packed(_OfBefore(trees=3600), {"UtteranceClassifier": _OfBefore}, versions)

    (tmp_path / "model.learned").write_bytes(written(VERSION - 1))
    with pytest.raises(UserError, match=rf"trained with other versions .*'learning': {VERSION - 1}.*delete the file"):
        read_learned(tmp_path / "model.learned", "forest")
    (tmp_path / "model.learned").write_bytes(written(VERSION))
    with pytest.raises(UserError, match=r"is corrupt, .*UtteranceClassifier.*delete the file"):
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
        with pytest.raises(UserError, match=r"model\.learned .*a pickle.*the next run trains the model again"):
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
        lambda content: packed({"method": "random"}, {}, {"file": 1, "learning": 2}),
        lambda content: packed({"method": "random"}, {}, {"file": learning.FORMAT, "learning": VERSION}),
        lambda content: packed(None, {}, {}),
    ],
)
def test_a_damaged_file_is_refused(english: list[Dialogue], tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    (tmp_path / "model.learned").write_bytes(damage(learned_bytes(learn("random", english, random_seed=1))))
    with pytest.raises(UserError, match=r"model\.learned .*delete the file"):
        read_learned(tmp_path / "model.learned", "random")


def test_a_file_that_is_not_there_is_reported(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"model\.learned cannot be read: No such file"):
        read_learned(tmp_path / "model.learned", "random")
