"""Arena and GTEval: pairs in both orders, cut to one length; the side not called AI wins."""

from __future__ import annotations

from collections import Counter

import pytest
from judged_dialogues import items_of, own_question, planned, shipped_question

from dialeval.forms.pair import parse
from dialeval.tables import HUMAN

DIALOGUES = {
    "a": {"s1": ("x", "y", "a1", "a2", "a3"), "s2": ("p", "q", "a1", "a2", "a3")},
    "b": {"s1": ("x", "y", "b1", "b2", "b3"), "s2": ("p", "q", "b1", "b2", "b3")},
    "c": {"s1": ("x", "y", "a1", "c2", "c3")},
}


def test_arena_asks_every_pair_in_both_orders_at_each_length() -> None:
    skipped: Counter[str] = Counter()
    asked = list(planned(shipped_question("arena", cut=[3, 5]), items_of(DIALOGUES), skipped))
    ids = [item.request.request_id for item in asked]
    assert len(ids) == len(set(ids))
    # s1: three pairs of which a/c agree in the first three utterances; s2: one pair
    assert len([name for name in ids if name.startswith("arena/3/")]) == 2 * 2 + 2
    assert len([name for name in ids if name.startswith("arena/5/")]) == 2 * 3 + 2
    assert +skipped == {"both dialogues are the same": 1, "a dialogue is missing": 4}
    first = asked[0]
    assert (first.left, first.right, first.n_utterances) == ("a", "b", 3)
    assert first.request.subject == (("x", "y", "a1"), ("x", "y", "b1"))
    assert "arena/3/s1/b/a" in ids


def test_gteval_cuts_both_to_the_shorter() -> None:
    people = {"s1": ("x", "y", "h1", "h2"), "s2": ("p", "q", "h1", "h2", "h3", "h4")}
    skipped: Counter[str] = Counter()
    asked = list(planned(shipped_question("gteval"), items_of({HUMAN: people} | DIALOGUES), skipped))
    lengths = {item.request.request_id: item.n_utterances for item in asked}
    assert lengths == {
        **{f"gteval/s1/{m}/human": 4 for m in "abc"}, **{f"gteval/s1/human/{m}": 4 for m in "abc"},
        **{f"gteval/s2/{m}/human": 5 for m in "ab"}, **{f"gteval/s2/human/{m}": 5 for m in "ab"},
    }  # fmt: skip
    assert +skipped == {"a dialogue is missing": 1}
    assert all(len(one) == len(other) for one, other in (item.request.subject for item in asked))


@pytest.mark.parametrize(
    ("text", "winner", "status"),
    [
        ("Choice: Conversation 1", "right", "ok"),
        ("Choice: Conversation 2", "left", "ok"),
        ("Choice: Both", "tie", "ok"),
        ("Choice: Neither", "tie", "ok"),
        ("no idea", None, "unparsed"),
    ],
)
def test_the_side_not_called_ai_wins(text: str, winner: str | None, status: str) -> None:
    about = {
        "request_id": "r", "protocol": "arena", "case_id": "s", "left": "a", "right": "b", "n_utterances": 8
    }  # fmt: skip
    row = parse(shipped_question("arena"), "judge", about, {"status": "ok", "text": text, "finish_reason": "stop"})
    assert (row["outcome"], row["status"], row["left"], row["right"]) == (winner, status, "a", "b")


def test_in_one_order_each_system_stands_first_about_as_often() -> None:
    """A fixed order would lend the system that stands first in it the favour of its place in every comparison."""
    said = {name: {f"s{n}": ("Hello.", f"{name} {n}") for n in range(400)} for name in "abc"}
    question = own_question("better", form="pair", of={"source": "selfchat"}, both_orders=False)
    asked = {(one.case_id, *sorted((one.left, one.right))): one.left for one in planned(question, items_of(said))}
    assert len(asked) == 400 * 3
    for pair in ("ab", "ac", "bc"):
        first = sum(left == pair[0] for (_, *names), left in asked.items() if names == list(pair))
        assert 150 < first < 250
    fewer = {name: by_case for name, by_case in said.items() if name != "c"}
    assert all(
        one.left == asked[one.case_id, "a", "b"] for one in planned(question, items_of(dict(reversed(fewer.items()))))
    )
