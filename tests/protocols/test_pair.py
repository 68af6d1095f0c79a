"""Arena and GTEval: pairs in both orders, cut to one length; the side not called AI wins."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from judged_dialogues import items_of, own_question, planned, shipped_question

from dialeval.config import JudgedData
from dialeval.corpora.items import REFERENCE, Item
from dialeval.protocols.pair import by_case as cases_by_case
from dialeval.protocols.pair import meetings, option_patterns, parse
from dialeval.protocols.verdicts import read_verdict
from dialeval.tables.files import HUMAN

DIALOGUES = {
    "a": {"s1": ("x", "y", "a1", "a2", "a3"), "s2": ("p", "q", "a1", "a2", "a3")},
    "b": {"s1": ("x", "y", "b1", "b2", "b3"), "s2": ("p", "q", "b1", "b2", "b3")},
    "c": {"s1": ("x", "y", "a1", "c2", "c3")},
}


def test_arena_compares_every_pair_in_both_orders_at_each_length() -> None:
    skipped: Counter[str] = Counter()
    requests = list(planned(shipped_question("arena", cut=[3, 5]), items_of(DIALOGUES), skipped))
    ids = [item.request.request_id for item in requests]
    assert len(ids) == len(set(ids))
    # s1: three pairs of which a/c agree in the first three utterances; s2: one pair
    assert len([name for name in ids if name.startswith("arena/3/")]) == 2 * 2 + 2
    assert len([name for name in ids if name.startswith("arena/5/")]) == 2 * 3 + 2
    assert +skipped == {"both dialogues are the same": 1, "a dialogue is missing": 4}
    first = requests[0]
    assert (first.left, first.right, first.n_utterances) == ("a", "b", 3)
    assert first.request.subject == (("x", "y", "a1"), ("x", "y", "b1"))
    assert "arena/3/s1/b/a" in ids


def test_gteval_cuts_both_to_the_shorter() -> None:
    people = {"s1": ("x", "y", "h1", "h2"), "s2": ("p", "q", "h1", "h2", "h3", "h4")}
    skipped: Counter[str] = Counter()
    requests = list(planned(shipped_question("gteval"), items_of({HUMAN: people} | DIALOGUES), skipped))
    lengths = {item.request.request_id: item.n_utterances for item in requests}
    assert lengths == {
        **{f"gteval/s1/{m}/human": 4 for m in "abc"}, **{f"gteval/s1/human/{m}": 4 for m in "abc"},
        **{f"gteval/s2/{m}/human": 5 for m in "ab"}, **{f"gteval/s2/human/{m}": 5 for m in "ab"},
    }  # fmt: skip
    assert +skipped == {"a dialogue is missing": 1}
    assert all(len(one) == len(other) for one, other in (item.request.subject for item in requests))


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
    (row,) = parse(shipped_question("arena"), about, {"status": "ok", "text": text, "finish_reason": "stop"})
    assert (row["outcome"], row["status"], row["left"], row["right"]) == (winner, status, "a", "b")


def test_in_one_order_each_system_stands_first_about_as_often() -> None:
    """A fixed order would lend the system that stands first in it the favour of its place in every comparison."""
    texts = {name: {f"s{n}": ("Hello.", f"{name} {n}") for n in range(400)} for name in "abc"}
    question = own_question("better", form="pair", data={"source": "selfchat"}, both_orders=False)
    requests = {(one.case_id, *sorted((one.left, one.right))): one.left for one in planned(question, items_of(texts))}
    assert len(requests) == 400 * 3
    for pair in ("ab", "ac", "bc"):
        first = sum(left == pair[0] for (_, *names), left in requests.items() if names == list(pair))
        assert 150 < first < 250
    fewer = {name: by_case for name, by_case in texts.items() if name != "c"}
    assert all(
        one.left == requests[one.case_id, "a", "b"]
        for one in planned(question, items_of(dict(reversed(fewer.items()))))
    )


# Which dialogues are shown side by side: a reference only where systems are compared with it.


def dialogue(system: str, case_id: str) -> Item:
    return Item(
        "s", f"{case_id}/{system}", "en", "dialogue", case_id, ("user", "bot"), ("a", system), system, case_id, "bot"
    )


def test_a_reference_competes_with_none() -> None:
    cases = cases_by_case(dialogue(system, case_id) for system in ("a", "b", REFERENCE) for case_id in ("1", "2"))

    def met(of: JudgedData) -> list[tuple[str, str]]:
        return [(one.left.system, one.right.system) for one in meetings(cases, of, Counter())]

    assert met(JudgedData(source=["s"])) == [("a", "b")] * 2
    assert sorted(met(JudgedData(source=["s"], opponent=REFERENCE))) == [("a", REFERENCE)] * 2 + [("b", REFERENCE)] * 2


# Options of a user's own are read as tolerantly as those of the papers, and never taken for one another.


@pytest.mark.parametrize(
    ("labels", "text", "choice"),
    [
        (("A", "B", "Tie"), "Choice: a", "A"),
        (("A", "B", "Tie"), "**Choice:** `Answer B.`", "B"),
        (("A", "B", "Tie"), "Choice: only the TIE", None),
        (("A", "B", "Tie"), "Choice: A and B", None),
        (("A", "B", "Tie"), "Choice: A\nChoice: B", None),
        (("A", "B", "Tie"), "Choice: (Tie)", "Tie"),
        (("A", "Answer A", "B"), "Choice: A", "A"),
        (("A", "Answer A", "B"), "Choice: answer a", "Answer A"),
        (("A", "AB"), "Choice: AB", "AB"),
        (("Very good", "Very", "Good"), "Choice: very good", "Very good"),
        (("System 1", "System 2", "No difference"), "Choice: 2", "System 2"),
        (("甲", "乙"), "Choice：甲。", "甲"),
        (("C++", "C"), "Choice: C++", "C++"),
    ],
)
def test_labels(labels: tuple[str, ...], text: str, choice: str | None) -> None:
    assert read_verdict(text, option_patterns(labels)).choice == choice


PAIR = option_patterns(("A", "B", "Tie"))


@pytest.mark.parametrize(
    "text",
    [
        "> Choice: A\nI choose B",
        "> Choice: A\nChoice B is better",
        "Choice: A\nOn reflection, I choose B.",
        "Choice: A\n\nNo wait, B.",
        "Choice: A, no wait, B",
        "Choice: not A",
        "Choice: not B",
        "~~Choice: A~~\nChoice: B",
        "Choice: ~~A~~ B",
        "Choice: neither A nor B",
        "Choice: both A and B",
        "I’d choose B because it is warm\nChoice: A",
        "Choice: A\nAnswer: B",
        "Choice: A?",
        "Choice: A or B",
        "Choice: A\n\nActually B",
        "Choice: A\nReason: warm\n\nOn reflection B is better",
        "Choice: A\nB",
        "A\nChoice: B",
        "Choice: A → B",
        "Choice: A/B",
        '{"choice": ["A", "B"]}',
        '{"choice": "A", "choice": "B"}',
        "Choice: A\nMy final choice is B",
        "Choice: anything but A",
        "Choice: A, but B is close",
        "Choice: A > B",
        "Choice: A\n> no\nCorrection: B",
        "Choice: A\nFinal choice: B",
        "Choice: A\nSorry, B.",
        "Choice: A\nHmm, maybe B",
        "Choice: A\nOr B.",
        "Choice: A\n→ B",
        "Choice: A\nI meant B.",
        "Choice: A\nIt should be B.",
        "<del>Choice: A</del>\nChoice: B",
    ],
)
def test_two_options_a_denied_one_and_a_quotation_are_no_choice(text: str) -> None:
    verdict = read_verdict(text, PAIR)
    assert (verdict.choice, verdict.reason != "") == (None, True)


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        ("> Choice: B\nChoice: A", "A"),
        ("> Choice: A\n> Reason: warm", "A"),
        ("I'd say A.\nChoice: A", "A"),
        ("Choice: A\nReason: I would choose B for its length, but A is warmer.", "A"),
        ("Both have their strengths.\n\n**Choice: A**\n\nB is longer, A is warmer.", "A"),
        ("Choice: A\n\nReason: B repeats itself.\nA does not.", "A"),
        ("```\nChoice: Tie\n```", "Tie"),
        ("Choice: A\nB is also good.", "A"),
        ("Choice: A\nI would not choose B.", "A"),
        ("I was torn between A and B.\nChoice: A", "A"),
        ("It could be A or B.\nChoice: A", "A"),
    ],
)
def test_other_words_leave_the_choice_clear(text: str, choice: str) -> None:
    assert read_verdict(text, PAIR).choice == choice


@given(
    st.permutations(["A", "B", "Tie"]),
    st.sampled_from(["{}", "**{}**", "`{}`", "({})", "~~{}~~"]),
    st.sampled_from(
        [
            " or ",
            ", ",
            "/",
            " and ",
            " → ",
            ", no, ",
            "\nChoice: ",
            "\nAnswer: ",
            "\nNo, ",
            "\nI choose ",
            "\n",
            " but not ",
        ]
    ),
)
def test_two_options_are_never_read_as_one_of_them(options: list[str], form: str, between: str) -> None:
    one, two, _ = options
    assert read_verdict(f"Choice: {form.format(one)}{between}{form.format(two)}", PAIR).choice is None
