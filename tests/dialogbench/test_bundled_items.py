"""Our own items: as many as promised, and sound by our own rules."""

from __future__ import annotations

from collections import Counter

import pytest

from dialeval.dialogbench.items import TestItem, read_bundled
from dialeval.dialogbench.tasks import ABBREVIATIONS, DOMAIN_NAMES, task_of
from dialeval.dialogbench.written_items import Rules, near_duplicates, problems
from dialeval.errors import UserError


def items(language: str) -> list[TestItem]:
    reading = read_bundled(language)
    assert not reading.skipped
    return reading.items


@pytest.mark.parametrize(("language", "per_task"), [("en", 4), ("zh", 1)])
def test_there_are_as_many_for_each_task(language: str, per_task: int) -> None:
    found = items(language)
    assert Counter(one.task for one in found) == dict.fromkeys(ABBREVIATIONS, per_task)
    assert {one.language for one in found} == {language}
    assert {one.origin for one in found} == {"bundled"}
    assert {one.domain for one in found} <= set(DOMAIN_NAMES)


def test_the_english_ones_cover_every_domain() -> None:
    assert min(Counter(one.domain for one in items("en")).values()) >= 2
    assert {one.domain for one in items("en")} == set(DOMAIN_NAMES)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_they_pass_the_strict_rules(language: str) -> None:
    rules = Rules(max_length_ratio=2.0, max_question_share=0.0)
    assert {one.item_id: found for one in items(language) if (found := problems(one, rules))} == {}
    assert near_duplicates(items(language), 0.3) == {}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_each_is_complete(language: str) -> None:
    for one in items(language):
        task = task_of(one.task)
        assert 8 <= len(one.utterances) <= 12, one.item_id
        assert all(one.extra.get(name) for name in (*task.shown, *task.hidden)), one.item_id
        assert all(one.personalities), one.item_id
        assert one.analysis, one.item_id
        assert all(one.emotions) == (one.task == "ED"), one.item_id


def test_the_right_answers_are_spread_over_the_places() -> None:
    of_four = Counter(one.label for one in items("en") if len(one.options) == 4)
    assert of_four == {"A": 10, "B": 10, "C": 10, "D": 10}


@pytest.mark.parametrize("pick", [min, max])
def test_length_gives_no_english_answer_away(pick) -> None:  # type: ignore[no-untyped-def]
    free = [one for one in items("en") if not task_of(one.task).values]
    hits = 0.0
    for one in free:
        best = pick(map(len, one.options))
        places = [place for place, text in enumerate(one.options) if len(text) == best]
        hits += (one.right in places) / len(places)
    assert hits / len(free) < 0.35


def test_another_language_is_refused() -> None:
    with pytest.raises(UserError, match="no bundled test items are in language 'de'"):
        read_bundled("de")
