"""Contamination: planted passages are found and no others, and texts that a model knows by heart are counted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import fisher_exact

from dialeval.corpora.contamination import (
    IS_CONTROL,
    LENGTH,
    NO_CONTROL,
    Completed,
    Passage,
    Text,
    contamination_rows,
    memorization_rows,
    passages_to_complete,
)
from dialeval.corpora.items import Item
from dialeval.stats.clustered import clustered_proportion
from dialeval.tables.dialogues import CONTAMINATION, MEMORIZATION
from dialeval.tables.files import to_table

WORDS = (
    "amber", "brook", "cedar", "delta", "ember", "flint", "grove", "heath", "inlet", "jetty", "knoll", "larch", "marsh",
    "north", "orbit",
)  # fmt: skip
PUBLISHED = [" ".join(WORDS[(start + step) % 15] for step in range(14)) + f" number {start}." for start in range(15)]
SHORT = "See you there."


def dialogue(number: int, prompt: str, response: str, system: str = "kiosk", **more: Any) -> Item:
    about = {"corpus": "support", "item_id": f"{number}/{system}", "language": "en", "level": "dialogue", "cluster": ""}
    texts = {"speakers": ("user", "bot"), "utterances": (prompt, response), "system": system, "case_id": str(number)}
    return Item(**about | texts | {"judged": "bot"} | more)


def own(number: int) -> str:
    return f"We have never published the text of our customer with the ticket {number * 7919} before, at no time."


def found(items: list[Item], seeds: dict[str, int] | None = None, corpora: Any = None) -> list[dict[str, Any]]:
    corpora = {"books": PUBLISHED, "other": [SHORT]} if corpora is None else corpora
    return to_table(CONTAMINATION, contamination_rows(items, corpora, seeds or {})).to_pylist()


def test_a_system_that_recites_half_of_its_responses_is_found_out_and_one_that_does_not_is_not() -> None:
    items = [
        dialogue(number, own(number), PUBLISHED[number].upper() if number % 2 else own(number), system)
        if system == "parrot"
        else dialogue(number, own(number), own(number + 50), system)
        for system in ("parrot", "kiosk")
        for number in range(10)
    ]
    shares = {(row["part"], row["system"], row["corpus"]): (row["n"], row["n_shared"]) for row in found(items)}
    assert shares == {
        ("case", None, "books"): (10, 0),
        ("case", None, "other"): (10, 0),
        ("response", "parrot", "books"): (10, 5),
        ("response", "parrot", "other"): (10, 0),
        ("response", "kiosk", "books"): (10, 0),
        ("response", "kiosk", "other"): (10, 0),
    }
    (row,) = (row for row in found(items) if row["n_shared"])
    assert row["share"] == 0.5
    assert len(row["example"]) == 50
    assert any(row["example"] in "".join(text.split()).rstrip(".") for text in PUBLISHED)


def test_cases_of_several_systems_count_once_and_a_passage_of_49_letters_is_none() -> None:
    plain = "".join(letter for letter in PUBLISHED[3] if letter.isalnum())
    items = [dialogue(1, PUBLISHED[3], own(1), system) for system in ("kiosk", "harbour")]
    items += [dialogue(2, f"{plain[:49]}?? {own(2)}", own(3)), dialogue(3, f"{plain[:50]}?? {own(2)}", own(3))]
    case = next(row for row in found(items) if row["part"] == "case" and row["corpus"] == "books")
    assert (case["n"], case["n_shared"]) == (3, 2)


def test_short_texts_cannot_be_checked_and_people_and_seeds_are_no_responses() -> None:
    items = [dialogue(1, SHORT, SHORT), dialogue(2, PUBLISHED[0], PUBLISHED[1], "human")]
    for row in found(items):
        assert (row["n"], row["n_too_short"], row["n_shared"], row["share"]) == (0, 1, 0, None)
    chat = dialogue(1, PUBLISHED[0], own(1), corpus="selfchat", judged="", speakers=("A", "B"))
    rows = {row["part"]: row for row in found([chat], {"selfchat": 1}, {"books": PUBLISHED})}
    assert (rows["case"]["n_shared"], rows["response"]["n_shared"]) == (1, 0)


@pytest.mark.parametrize("text", ["这是一段已经出版的对话文本" * 5, "Ein Text mit Umlauten äöü und ß, " * 3])
def test_any_script_is_searched(text: str) -> None:
    rows = found([dialogue(1, own(1), text)], corpora={"books": [f"... {text} ..."]})
    assert [row["n_shared"] for row in rows if row["part"] == "response"] == [1]


def test_without_items_or_corpora_there_are_no_rows() -> None:
    assert found([]) == found([dialogue(1, own(1), own(2))], corpora={}) == []


# The completion test


def text(number: int, words: int = 60) -> Text:
    rng = np.random.default_rng(number)
    drawn = [f"{WORDS[place]}{rng.integers(100)}" for place in rng.integers(15, size=words)]
    half = words // 2
    return Text(f"d{number}", f"d{number}", (" ".join(drawn[:half]), " ".join(drawn[half:])))


def plain(words: str) -> str:
    return "".join(letter for letter in words.casefold() if letter.isalnum())


def test_a_passage_follows_what_is_shown_in_the_original_and_the_order_of_texts_does_not_matter() -> None:
    texts = [text(number) for number in range(40)]
    passages, n_without = passages_to_complete(texts, 10, 3)
    assert (len(passages), n_without) == (10, 0)
    assert passages == passages_to_complete(texts[::-1], 10, 3)[0]
    assert passages != passages_to_complete(texts, 10, 4)[0]
    assert passages == passages_to_complete(texts, 20, 3)[0][:10]  # a larger draw keeps what was paid for
    whole = {one.name: "\n".join(one.utterances) for one in texts}
    for passage in passages:
        rest = whole[passage.name].removeprefix(passage.shown)
        assert rest != whole[passage.name]
        assert rest[0].isspace()  # no word is cut
        assert plain(rest)[:LENGTH] == passage.following
        assert len(plain(passage.shown)) >= LENGTH


def test_texts_that_cannot_tell_are_left_out_and_one_of_each_cluster_is_drawn() -> None:
    short = Text("short", "short", ("amber " * 15,))
    repetitive = Text("again", "again", ("amber brook cedar delta " * 40,))
    same = [Text(f"turn{n}", "one dialogue", text(7).utterances) for n in range(5)]
    passages, n_without = passages_to_complete([short, repetitive, *same, text(8)], 100, 0)
    assert ({passage.name[:4] for passage in passages}, n_without) == ({"turn", "d8"}, 2)
    twice = [text(9)._replace(name=name, cluster=name) for name in ("a", "b")]
    assert len(passages_to_complete(twice, 100, 0)[0]) == 1
    assert passages_to_complete([Text("e", "e", ())], 1, 0) == ([], 1)
    long = text(1, 2000)
    (passage,), _ = passages_to_complete([long], 1, 0)
    assert 900 < len(plain(passage.shown)) <= 1000 + 20
    chinese = Text("z", "z", ("".join(chr(0x4E00 + 7 * n) for n in range(150)),))
    (passage,), _ = passages_to_complete([chinese], 1, 0)
    assert chinese.utterances[0].startswith(passage.shown + passage.following)


def completions(known: int, n: int, model: str = "m", corpus: str = "c", **more: Any) -> Completed:
    passages, _ = passages_to_complete([text(number) for number in range(n)], n, 0)
    said = [
        f"Sure: {p.following[:20]} - {p.following[20:].upper()}!" if k < known else "No."
        for k, p in enumerate(passages)
    ]
    return Completed(model, corpus, passages, said, **more)


def memorized(*completed: Completed) -> list[dict[str, Any]]:
    return to_table(MEMORIZATION, memorization_rows(completed)).to_pylist()


def test_verbatim_completions_are_counted_whatever_their_blanks_and_tested_against_controls() -> None:
    rows = memorized(
        completions(12, 40), completions(1, 40, corpus="mine", is_control=True), completions(2, 40, corpus="other")
    )
    assert [row["n_verbatim"] for row in rows] == [12, 1, 2]
    share = clustered_proportion(np.arange(40) < 12, np.arange(40))
    assert (rows[0]["estimate"], rows[0]["ci_low"], rows[0]["ci_high"]) == pytest.approx(
        (0.3, share.ci_low, share.ci_high)
    )
    assert (rows[0]["chance"], rows[0]["control"]) == (0.0, 1 / 40)
    theirs = [fisher_exact([[k, 40 - k], [1, 39]], alternative="greater").pvalue for k in (12, 2)]
    assert [rows[0]["p"], rows[2]["p"]] == pytest.approx(theirs)
    assert (rows[0]["p_holm"], rows[2]["p_holm"]) == pytest.approx((2 * theirs[0], theirs[1]))
    assert (rows[1]["p"], rows[1]["control"], rows[1]["note"]) == (None, None, IS_CONTROL)
    assert len(rows[0]["example"]) == LENGTH


def test_chance_is_what_a_response_to_one_text_says_of_others() -> None:
    passages = [Passage(f"d{n}", f"shown {n}", str(n) * LENGTH) for n in range(5)]
    every = " ".join(passage.following for passage in passages)
    (row,) = memorized(Completed("m", "c", passages, [every, "", None, "", ""]))
    assert (row["n"], row["n_missing"], row["n_verbatim"]) == (4, 1, 1)
    assert row["chance"] == 4 / 16
    assert row["note"] == NO_CONTROL


def test_few_or_no_responses_have_no_invented_numbers() -> None:
    (none,) = memorized(Completed("m", "c", completions(0, 3).passages, [None] * 3))
    assert (none["n"], none["estimate"], none["chance"], none["p"], none["note"]) == (
        0,
        None,
        None,
        None,
        "no response",
    )
    (one,) = memorized(completions(1, 1))
    assert (one["n"], one["n_verbatim"], one["estimate"], one["ci_low"], one["chance"]) == (1, 1, 1.0, None, None)
    of_others = memorized(completions(3, 9), completions(0, 9, model="other", corpus="mine", is_control=True))
    assert (of_others[0]["p"], of_others[0]["note"]) == (None, NO_CONTROL)  # another model's control is none
