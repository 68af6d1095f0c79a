"""The writer without a language model: its clozes are sound items, and it declines what it cannot do."""

from __future__ import annotations

from collections import Counter

import pytest
from dialogbench_examples import answer, item

from dialeval.corpora import bundled
from dialeval.dialogbench import embedded_writer, subjects
from dialeval.dialogbench.briefs import plan_briefs
from dialeval.dialogbench.checking import checked
from dialeval.dialogbench.filtering import read_verdict
from dialeval.dialogbench.written import Outcome, read_written
from dialeval.engines.request import Dialogue
from dialeval.text.folds import fold_of

Dialogues = dict[str, list[Dialogue]]


@pytest.fixture(scope="module")
def dialogues() -> Dialogues:
    return {
        language: [tuple(said.text for said in one.utterances) for one in bundled.read(language).dialogues]
        for language in ("en", "zh")
    }


def written(dialogues: Dialogues, task: str, language: str, per_cell: int, repeat: int = 0) -> list[Outcome]:
    outcomes = []
    for brief in plan_briefs([task], per_cell=per_cell, language=language):
        text = embedded_writer.write_embedded(subjects.of_brief(brief, repeat), dialogues[language])
        outcomes.append(read_written(brief, answer(text), embedded_writer.ORIGIN))
    return checked(outcomes)


@pytest.mark.parametrize("task", embedded_writer.CLOZE_TASKS)
def test_clozes_pass_every_check(dialogues: Dialogues, task: str) -> None:
    outcomes = written(dialogues, task, "en", 2)
    assert len(outcomes) == 40
    assert all(outcome.accepted for outcome in outcomes), [one.details for one in outcomes if one.reasons]
    items = [outcome.item for outcome in outcomes if outcome.item]
    assert {one.origin for one in items} == {"embedded"}
    assert {one.personalities for one in items} == {("", "")}
    assert len(Counter(one.label for one in items)) == 4


def test_the_right_option_is_what_was_said(dialogues: Dialogues) -> None:
    for task in embedded_writer.CLOZE_TASKS:
        for outcome in written(dialogues, task, "en", 1):
            found = outcome.item
            assert found is not None
            n = len(found.utterances)
            (source,) = [one for one in dialogues["en"] if one[:n] == found.utterances]
            assert found.options[found.right] == source[n]
            assert not {text for text in found.options if text in source} - {source[n]}
            if task == "DI":
                assert found.extra["response"] == source[n + 1]


def test_options_come_from_one_fold_so_that_none_is_known_to_an_embedded_model(dialogues: Dialogues) -> None:
    folds_of: dict[str, set[int]] = {}
    for one in dialogues["en"]:
        for text in one:
            folds_of.setdefault(text, set()).add(fold_of(one))
    for outcome in written(dialogues, "MRG", "en", 1):
        assert outcome.item is not None
        fold = fold_of(outcome.item.utterances)
        assert all(fold in folds_of[text] for text in outcome.item.options)


def test_chinese_clozes_are_sound_but_few(dialogues: Dialogues) -> None:
    outcomes = written(dialogues, "MRG", "zh", 1)
    assert {one.reasons for one in outcomes} <= {(), ("near_duplicate",)}
    assert sum(one.accepted for one in outcomes) >= 15


def test_asked_again_it_writes_another_one(dialogues: Dialogues) -> None:
    first, second = written(dialogues, "MRG", "en", 1), written(dialogues, "MRG", "en", 1, repeat=1)
    same = [a.item == b.item for a, b in zip(first, second, strict=True)]
    assert not any(same)
    assert [one.item for one in written(dialogues, "MRG", "en", 1)] == [one.item for one in first]


def test_what_cannot_be_made_by_rule_is_declined(dialogues: Dialogues) -> None:
    assert {one.reasons for one in written(dialogues, "KRG", "en", 1)} == {("refused",)}
    brief = next(plan_briefs(["MRG"], ["Film"], per_cell=1))
    short = embedded_writer.write_embedded(subjects.of_brief(brief, 0), [("Hi.", "Ho.")])
    assert read_written(brief, answer(short), "embedded").reasons == ("refused",)


def test_the_filter_calls_an_answer_incorrect_only_if_it_fits_worst() -> None:
    def verdict(label: str, *fits: float) -> str:
        return embedded_writer.filter_embedded(subjects.of_item(item(label=label), answer=True), fits)

    assert [verdict(label, -0.5, -1.5, -1.7, -3.0) for label in "ABCD"] == ["correct"] * 3 + ["incorrect"]
    assert [read_verdict(verdict(label, -0.5, -3.0)) for label in "AB"] == ["correct", "incorrect"]
    assert verdict("B", -1.0, -1.0) == "correct"
