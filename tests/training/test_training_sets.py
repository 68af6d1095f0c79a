"""Pairs of a set: balanced, closed within their part, drawn by their ids, and each negative another text."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from training_dialogues import corpora, dialogue, recipe, saying, write

from dialeval.criteria import Level
from dialeval.errors import UserError
from dialeval.tables.files import to_table, write_table
from dialeval.tables.training import JUDGED_TEXTS, TRAINING_OVERLAP
from dialeval.training.human_dialogues import HumanDialogue, judged_rows, plain, split
from dialeval.training.pairs import BORROWED, Pair, chosen_perturbations
from dialeval.training.training_sets import (
    left_out_dialogues,
    make_pairs,
    overlap_rows,
    refuse_overlap,
    training_rows,
)

DIALOGUES = [dialogue(number, n=4 + number % 3) for number in range(80)]


def pairs_of(
    dialogues: list[HumanDialogue], level: Level = "turn", n: int | None = None, kinds: list[str] | None = None
) -> list[Pair]:
    placed = split(dialogues, development=0.25, held_out=0.25, random_seed=1)
    known = list(zip(dialogues, placed, strict=True))
    wanted = recipe(level=level, perturbations=kinds, pairs_per_language=n, max_context=3, random_seed=7)
    return list(make_pairs(known, wanted))


def check(pairs: list[Pair], dialogues: list[HumanDialogue]) -> None:
    placed = split(dialogues, development=0.25, held_out=0.25, random_seed=1)
    part_of = {(one.name, one.language): there for one, there in zip(dialogues, placed, strict=True)}
    said: dict[str, set[str]] = {}
    for one, there in zip(dialogues, placed, strict=True):
        said.setdefault(there.part, set()).update(one.utterances)
    for pair in pairs:
        true, negative = list(map(plain, pair.true.utterances)), list(map(plain, pair.negative.side.utterances))
        assert true != negative
        assert len(pair.negative.side.speakers) == len(negative)
        assert len(true) == len(negative), "length tells nothing"
        assert all(text.strip() for text in pair.negative.side.utterances)
        if pair.turn is not None:
            assert true[:-1] == negative[:-1]
            assert negative[-1] not in (true[-1], "")
            assert pair.true.utterances[-1] == pair.dialogue.utterances[pair.turn]
            assert pair.true.speakers[-1] == "chatbot" or len(set(pair.dialogue.speakers)) != 2
        if pair.negative.kind in BORROWED:
            assert pair.negative.side.utterances[-1] in said[pair.placed.part]
        for name in (pair.negative.made_from or "").split(", "):
            if name:
                assert part_of[name, pair.dialogue.language].part == pair.placed.part


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(corpora(), st.sampled_from(["turn", "dialogue"]))
def test_negatives_differ_and_borrow_within_their_part_alone(dialogues: list[HumanDialogue], level: Level) -> None:
    check(pairs_of(dialogues, level), dialogues)


@pytest.mark.parametrize("level", ["turn", "dialogue"])
def test_every_kind_is_made_in_like_shares(level: Level) -> None:
    pairs = pairs_of(DIALOGUES, level)
    check(pairs, DIALOGUES)
    counts = Counter((pair.criterion, pair.negative.kind) for pair in pairs)
    for criterion, kinds in chosen_perturbations(None, None, level).items():
        assert set(kinds) >= {kind for of, kind in counts if of == criterion}
        # these dialogues have few names, and all say nearly the same
        made = [counts[criterion, kind] for kind in kinds if kind not in ("replace_named_entity", "near")]
        assert min(made) > 0.3 * max(made), counts
    if level == "turn":
        assert len(pairs) == sum(len(one.utterances) - 1 for one in DIALOGUES), "every response once"


def test_a_context_is_cut_at_its_front() -> None:
    longest = max(pairs_of(DIALOGUES), key=lambda pair: pair.turn or 0)
    assert longest.turn == 5
    assert longest.true.utterances == longest.dialogue.utterances[2:6]
    assert longest.true.speakers == ("human", "chatbot", "human", "chatbot")


def test_another_corpus_leaves_the_pairs_of_one_as_they_were() -> None:
    elsewhere = [dialogue(number, corpus="away", domain="other") for number in range(40)]
    assert pairs_of([*DIALOGUES, *elsewhere])[: len(pairs_of(DIALOGUES))] == pairs_of(DIALOGUES)
    same_domain = [dialogue(number, corpus="away") for number in range(4)]
    before, after = pairs_of(DIALOGUES), pairs_of([*DIALOGUES, *same_domain])
    kept = sum(one == other for one, other in zip(before, after, strict=False))
    assert kept > 0.85 * len(before), "only what the new dialogues lend, or what is nearest, differs"


def test_pairs_are_drawn_by_id_and_spread_over_domains_and_languages() -> None:
    small = [dialogue(number, corpus="away", domain="other", n=2) for number in range(10)]
    chinese = [dialogue(number, corpus="zh", language="zh") for number in range(30)]
    everything = [*DIALOGUES, *small, *chinese]
    drawn = pairs_of(everything, n=60)
    counts = Counter((pair.dialogue.language, pair.dialogue.domain) for pair in drawn)
    assert counts == {("en", "daily"): 50, ("en", "other"): 10, ("zh", "daily"): 60}
    fewer = pairs_of(everything, n=30)
    assert {(pair.dialogue, pair.turn) for pair in fewer} <= {(pair.dialogue, pair.turn) for pair in drawn}
    assert drawn == [pair for pair in pairs_of(everything) if pair in drawn], "in the order of the dialogues"


def test_more_than_there_is_is_all() -> None:
    assert pairs_of(DIALOGUES, n=10**6) == pairs_of(DIALOGUES)
    assert pairs_of([]) == []


def test_marks_and_tabs_are_kept() -> None:
    odd = [saying([f"Take\tthe <b>lamp</b> {n}; \"now\", please?", f"The lamp {n}:\t(blue)  or «red» one — which?"],
                  f"d{n}") for n in range(30)]  # fmt: skip
    for pair in pairs_of(odd, kinds=["random", "similar_length", "word_order"]):
        assert "\t" in pair.negative.side.utterances[-1], pair.negative
        assert pair.true.utterances in {one.utterances for one in odd}


def test_rows_stand_in_pairs_and_repeated_dialogues_count_once(tmp_path: Path) -> None:
    again = [saying(one.utterances, f"{one.dialogue_id}-again") for one in DIALOGUES[:9]]
    table = write(tmp_path / "home.parquet", [*DIALOGUES, *again])
    notices: list[str] = []
    rows = list(training_rows(recipe(held_out=0.2, development=0.2), [table], set(), say=notices.append))
    assert [row["good"] for row in rows] == [1, 0] * (len(rows) // 2)
    assert all(one["pair_id"] == two["pair_id"] for one, two in zip(rows[::2], rows[1::2], strict=True))
    assert len({row["example_id"] for row in rows}) == len(rows)
    assert {row["dialogue_id"] for row in rows} == {one.dialogue_id for one in DIALOGUES}
    assert "9 repeated dialogues of a domain are left out" in notices
    assert rows == list(training_rows(recipe(held_out=0.2, development=0.2), [table], set(), say=notices.append))


def test_a_domain_without_enough_dialogues_is_refused_with_how_many_are_needed(tmp_path: Path) -> None:
    table = write(tmp_path / "home.parquet", DIALOGUES[:3])
    with pytest.raises(UserError, match=r"of 3 dialogues none is in part '\w+'; about 50 dialogues"):
        list(training_rows(recipe(held_out=0.1), [table], set(), say=print))
    names = {one.name for one in DIALOGUES[:3]}
    with pytest.raises(UserError, match=r"of 0 dialogues \(3 more are left out, since they are judged\)"):
        list(training_rows(recipe(held_out=0.1), [table], names, say=print))
    with pytest.raises(UserError, match="none of the dialogues is in 'fr'; they are in en"):
        list(training_rows(recipe(languages=["fr"]), [table], set(), say=print))


def test_translations_are_in_the_part_of_their_original(tmp_path: Path) -> None:
    chinese = [dialogue(n, language="zh", n=3) for n in range(80)]
    original = write(tmp_path / "home.parquet", DIALOGUES)
    translated = write(tmp_path / "zh.parquet", chinese)
    both = list(training_rows(recipe(), [original, translated], set(), say=print))
    alone = list(training_rows(recipe(languages=["zh"]), [original, translated], set(), say=print))
    part = {row["dialogue_id"]: row["part"] for row in both}
    assert all(part[row["dialogue_id"]] == row["part"] for row in both)
    assert [row for row in both if row["language"] == "zh"] == alone


# What is judged is not learned from, however it was cut, tokenised or labelled.

HOME = [dialogue(number) for number in range(20)]
SAID = HOME[3].utterances


def overlap(tmp_path: Path, judged: list[list[str]], dialogues: list[HumanDialogue] = HOME) -> list[dict[str, Any]]:
    placed = split(dialogues, development=0.1, held_out=0.1, random_seed=0)
    rows = judged_rows(("rated", f"i{number}", texts) for number, texts in enumerate(judged))
    write_table(tmp_path / "judged.parquet", JUDGED_TEXTS, to_table(JUDGED_TEXTS, rows))
    known = list(zip(dialogues, placed, strict=True))
    return list(overlap_rows("mine", known, tmp_path / "judged.parquet"))


@pytest.mark.parametrize(
    "item",
    [
        [*SAID[:2], "A chatbot's response that nobody else gave."],
        [*SAID[:1], "A chatbot's response."],
        [SAID[2]],
        list(SAID[1:3]),
        [f"human: {SAID[0].upper()}", f"chatbot: {SAID[1]}"],
        [text.replace(",", " ,").replace("?", " ?").replace(".", " .").lower() for text in SAID],
        ["Hi.", *SAID, "Bye."],
    ],
)
def test_contexts_cuts_and_other_spellings_are_known_again(tmp_path: Path, item: list[str]) -> None:
    assert [row["dialogue_id"] for row in overlap(tmp_path, [item])] == ["d3"]


def test_what_people_say_all_the_time_is_no_overlap(tmp_path: Path) -> None:
    greeting = ["Hi!", "Hello, how are you?", "Fine, thanks. And you?"]
    dialogues = [saying([*greeting, *one.utterances], one.dialogue_id) for one in HOME]
    judged = [greeting[:2], ["Hi, how are you?", "I'm good."], ["Yes."], ["hello"], [""], []]
    assert overlap(tmp_path, judged, dialogues) == []


def test_short_dialogues_are_known_as_a_whole(tmp_path: Path) -> None:
    short = saying(["Is it raining in Oslo?", "Not yet, no."], "short")
    assert [row["dialogue_id"] for row in overlap(tmp_path, [["is it raining in oslo", "not yet no"]], [short])] == [
        "short"
    ]


def test_chinese_is_known_again(tmp_path: Path) -> None:
    said = ["你这二胡能不能换个时间拉？", "我一天就拉四十分钟，不算晚吧？"]
    rows = overlap(tmp_path, [[*said, "好。"]], [saying(["喂。", *said], "zh", language="zh")])
    assert [row["dialogue_id"] for row in rows] == ["zh"]


def test_a_cluster_is_left_out_as_a_whole_in_all_languages(tmp_path: Path) -> None:
    dialogues = [
        *HOME,
        saying(["…", *SAID[1:3], "Something else was said in this one at great length."], "cut"),
        dialogue(3, language="zh"),
    ]
    rows = overlap(tmp_path, [list(SAID[:2])], dialogues)
    assert [(row["dialogue_id"], row["language"]) for row in rows] == [("d3", "en"), ("cut", "en"), ("d3", "zh")]
    assert {row["item_id"] for row in rows} == {"i0"}
    path = tmp_path / "overlap.parquet"
    write_table(path, TRAINING_OVERLAP, to_table(TRAINING_OVERLAP, rows))
    assert left_out_dialogues([path]) == {"home/d3", "home/cut"}


def test_what_is_judged_is_written_by_content_alone(tmp_path: Path) -> None:
    items = [("a", "1", SAID[:2]), ("b", "2", SAID[1:]), ("a", "3", SAID[:2])]
    rows = judged_rows(items)
    assert rows == sorted(rows, key=lambda row: row["passage"])
    assert len({row["passage"] for row in rows}) == len(rows)
    assert {row["passage"] for row in judged_rows(items[:2])} == {row["passage"] for row in rows}
    assert rows == judged_rows([*items, ("c", "4", SAID[:1])])


def test_a_refusal_has_the_number_examples_and_the_remedy(tmp_path: Path) -> None:
    rows = overlap(tmp_path, [list(one.utterances) for one in HOME[:7]])
    refuse_overlap("mine", [], 20)
    with pytest.raises(UserError) as notices:
        refuse_overlap("mine", rows, 20)
    assert "training.mine: 7 of 20 dialogues" in str(notices.value)
    assert "'d0' of home is in item 'i0' of rated" in str(notices.value)
    assert "and 2 more" in str(notices.value)
    assert "overlap: leave_out" in str(notices.value)
