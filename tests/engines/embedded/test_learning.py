from __future__ import annotations

from pathlib import Path
from pkgutil import iter_modules

import numpy as np
import pytest

from dialeval.config.embedded_methods import METHODS
from dialeval.engines.embedded import learning, methods
from dialeval.engines.embedded.damage import KINDS
from dialeval.engines.embedded.judge import _parts_of_utterances
from dialeval.engines.embedded.learning import Learned, human_probability, learn
from dialeval.engines.request import Dialogue
from dialeval.errors import UserError
from dialeval.text.folds import fold_of, split
from dialeval.text.tokens import normalised


def test_the_report_has_a_row_for_each_kind_of_damage(forest: Learned, english: list[Dialogue]) -> None:
    assert [row.damage for row in forest.report] == ["all", *KINDS]
    assert forest.report[0].n == sum(row.n for row in forest.report[1:])
    assert forest.report[0].auc > 0.65
    assert all(0 <= row.accuracy <= 1 for row in forest.report)


def test_probabilities_do_not_depend_on_the_batch(forest: Learned, english: list[Dialogue]) -> None:
    dialogues = [dialogue[:n] for dialogue in english[:15] for n in (2, 5, len(dialogue))] + [english[0] * 3]
    together = human_probability(forest, dialogues)
    alone = [human_probability(forest, [dialogue])[0] for dialogue in dialogues]
    np.testing.assert_array_equal(together, alone)
    assert ((together > 0) & (together < 1)).all()


def test_no_judge_learned_from_its_fold(forest: Learned, english: list[Dialogue]) -> None:
    for dialogue in english[:30]:
        known = forest.judge_for(dialogue)._part_of
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
    assert one.chatbot_for(place).reply(place) == two.chatbot_for(place).reply(place)


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
    with pytest.raises(UserError, match="too few to learn 'forest' from"):
        learn("forest", english[:10], random_seed=1)
    with pytest.raises(UserError, match="too few to learn 'retrieval' from"):
        learn("retrieval", [], random_seed=1)
    with pytest.raises(UserError, match="2 folds are too few"):
        learn("forest", english, random_seed=1, folds=2)
    with pytest.raises(UserError, match="'forest' cannot chat"):
        forest.chatbot_for(english[0])
    with pytest.raises(UserError, match="'generic' cannot judge"):
        learn("generic", [], random_seed=1).judge_for(english[0])
    with pytest.raises(UserError, match="'generic' cannot rate"):
        learn("generic", [], random_seed=1).rater_for(english[0])
    with pytest.raises(UserError, match="'length' cannot choose between options"):
        learn("length", [], random_seed=1).chooser_for(english[0])


def test_a_dialogue_without_utterances_is_refused(forest: Learned, english: list[Dialogue]) -> None:
    assert human_probability(forest, []).shape == (0,)
    with pytest.raises(ValueError, match=r"dialogue \d+ .* no utterance"):
        human_probability(forest, [*english[:5], ()])


def test_a_dialogue_that_begins_with_nothing_teaches_nothing(english: list[Dialogue]) -> None:
    added = [*english, (" ", "This would be in another fold than it seems.")]
    assert learn("random", added, random_seed=1).digest == learn("random", english, random_seed=1).digest


def test_methods_are_said_to_do_what_they_can_do(raters: dict[str, Learned], chatbots: dict[str, Learned]) -> None:
    learned = chatbots | raters
    assert {name: learned[name].serves for name in METHODS} == {name: one.serves for name, one in METHODS.items()}
    assert {one.name for one in iter_modules(methods.__path__)} == set(METHODS)
    assert all(one.says for one in METHODS.values())


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
