"""Briefs of writers: balanced, the same whatever else is planned, and another with another seed."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from dialeval.dialogbench.briefs import WITHOUT_DOMAIN, plan_briefs
from dialeval.dialogbench.tasks import (
    ABBREVIATIONS,
    DOMAIN_NAMES,
    DOMAINS,
    EMOTIONS,
    PERSONALITIES,
    RELATIONS,
    SLOTS,
    domain_of,
    find_domain,
)
from dialeval.errors import UserError


def test_every_task_and_domain_has_as_many() -> None:
    briefs = list(plan_briefs(per_cell=2))
    cells = Counter((brief.task, brief.domain) for brief in briefs)
    assert len(briefs) == 12 * 20 * 2 == len({brief.item_id for brief in briefs})
    assert set(cells.values()) == {2}


@pytest.mark.parametrize(
    ("task", "n_values"), [("RC", len(RELATIONS)), ("NLI", 3), ("OD", 2), ("SF", len(SLOTS))], ids=str
)
def test_what_is_drawn_is_balanced(task: str, n_values: int) -> None:
    drawn = Counter(brief.drawn for brief in plan_briefs([task], per_cell=3))
    assert len(drawn) == n_values
    assert max(drawn.values()) - min(drawn.values()) <= 1


def test_requested_emotions_are_balanced_and_differ_from_the_other_speakers() -> None:
    briefs = list(plan_briefs(["ED"], per_cell=4))
    emotions = Counter(brief.emotions[brief.asked_speaker - 1] for brief in briefs)
    assert set(emotions) == {emotion.en for emotion in EMOTIONS}
    assert set(emotions.values()) == {10}
    assert all(brief.emotions[0] != brief.emotions[1] for brief in briefs)
    assert {brief.asked_speaker for brief in briefs} == {1, 2}


def test_about_a_third_of_the_personalities_is_unfriendly_and_no_two_are_alike() -> None:
    style = {personality.en: style for style, of in PERSONALITIES.items() for personality in of}
    briefs = list(plan_briefs(per_cell=3))
    styles = Counter(style[text] for brief in briefs for text in brief.personalities)
    assert 0.28 < styles["unfriendly"] / styles.total() < 0.40
    assert all(brief.personalities[0] != brief.personalities[1] for brief in briefs)


def test_a_brief_does_not_depend_on_what_else_is_planned() -> None:
    whole = {brief.item_id: brief for brief in plan_briefs(per_cell=2, random_seed=5)}
    alone = list(plan_briefs(["RC"], ["Film"], per_cell=1, random_seed=5))
    assert [whole[brief.item_id] for brief in alone] == alone
    other = list(plan_briefs(["RC", "ED"], ["Film"], per_cell=9, random_seed=6))
    assert any(whole.get(brief.item_id, brief) != brief for brief in other)


def test_without_styles_there_are_no_personalities_and_other_ids() -> None:
    plain = next(plan_briefs(["RC"], ["Film"], per_cell=1, styles=False))
    full = next(plan_briefs(["RC"], ["Film"], per_cell=1))
    assert plain.personalities == ("", "")
    assert (plain.item_id, full.item_id) == ("en-nostyles/RC/film/000", "en/RC/film/000")
    assert plain == replace(full, personalities=("", ""), styles=False)


def test_the_basic_prompt_gives_no_domain_and_no_personalities_but_what_a_task_needs() -> None:
    basic = list(plan_briefs(["RC", "DS"], WITHOUT_DOMAIN, per_cell=26, language="zh"))
    assert [brief.item_id for brief in basic[25:27]] == ["zh-basic/RC/025", "zh-basic/DS/000"]
    assert {(brief.domain, brief.personalities, brief.procedure) for brief in basic} == {("", ("", ""), "-domains")}
    assert set(Counter(brief.drawn for brief in basic[:26]).values()) == {2}  # 13 relations, twice each
    assert {brief.drawn for brief in basic[26:]} == {("", "")}
    assert basic[:3] == list(plan_briefs(["RC"], WITHOUT_DOMAIN, per_cell=3, language="zh"))


def test_chinese_briefs_are_in_chinese() -> None:
    brief = next(plan_briefs(["ED"], ["Film"], per_cell=1, language="zh"))
    assert set(brief.emotions) <= {emotion.zh for emotion in EMOTIONS}
    assert set(brief.personalities) <= {personality.zh for of in PERSONALITIES.values() for personality in of}


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"tasks": ["KGR"]}, "no task 'KGR'; did you mean 'KRG'"),
        ({"domains": ["Travels"]}, "no domain 'Travels'; did you mean 'Travel'"),
    ],
)
def test_a_mistake_is_reported(settings: dict[str, object], words: str) -> None:
    with pytest.raises(UserError, match=words):
        list(plan_briefs(**{"per_cell": 1, **settings}))  # type: ignore[arg-type]


def test_twenty_domains_in_two_groups_are_found_by_their_names() -> None:
    assert Counter(domain.group for domain in DOMAINS) == {"daily life": 10, "professional knowledge": 10}
    assert len(ABBREVIATIONS) == 12
    for domain in DOMAINS:
        assert all(find_domain(name) is domain for name in (domain.name, domain.zh, *domain.variants))
    assert domain_of("Musics").name == "Music"
    assert find_domain("Zoology") is None
    assert DOMAIN_NAMES[10] == "History"
