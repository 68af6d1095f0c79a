"""Items put to models: what they see, and what their answers come to."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from dialogbench_examples import OPTIONS as DIALOGBENCH_EXAMPLES_OPTIONS
from dialogbench_examples import UTTERANCES, answer, item
from hypothesis import given
from hypothesis import strategies as st

from dialeval.dialogbench.briefs import fields_of
from dialeval.dialogbench.examination import parse, parse_all, place_of, plan, read_letter, rotations, shuffled
from dialeval.prompts.rendering import Templates

TEMPLATES = Templates()
OPEN = item("KRG", utterances=UTTERANCES[:9], extra={"knowledge": "Plates show a number."}, question="")


def test_the_dialogue_is_the_models_own_chat_with_the_user() -> None:
    (planned,) = plan([item()], "letter", TEMPLATES)
    messages = planned.request.messages
    assert [message.role for message in messages] == [*("user", "assistant") * 5, "user"]
    assert [message.content for message in messages[:10]] == list(UTTERANCES)
    assert "What does speaker 2 mean to do?" in messages[-1].content
    assert "A. to ring the plumber about the valve\nB. to wash" in messages[-1].content
    assert planned.request.sampling.temperature == 0.0
    assert planned.request.sampling.max_tokens == 256
    assert planned.request.request_id == "dialogbench/letter/en/i1/0"


def test_a_last_utterance_of_speaker_1_and_the_question_are_one_message() -> None:
    (planned,) = plan([OPEN], "letter", TEMPLATES)
    messages = planned.request.messages
    assert [message.role for message in messages] == [*("user", "assistant") * 4, "user"]
    assert messages[-1].content.startswith(f"{UTTERANCES[8]}\n\nBackground knowledge: Plates show a number.\n\n")


def test_as_text_the_dialogue_is_in_one_message() -> None:
    (planned,) = plan([OPEN], "letter", TEMPLATES, presentation="text")
    (message,) = planned.request.messages
    assert "Speaker 1: The boiler is cold again.\nSpeaker 2: It was fine when I left.\n" in message.content


def test_what_would_give_the_answer_away_is_not_shown() -> None:
    hidden = {"knowledge": "Plates.", "relation": "SECRET", "commonsense": "SECRET", "premise": "SECRET"}
    secret = item("KRG", extra=hidden, emotions=("SECRET", ""), analysis="SECRET", personalities=("SECRET", "SECRET"))
    for method in ("letter", "choice", "perplexity"):
        for planned in plan([secret], method, TEMPLATES):  # type: ignore[arg-type]
            assert "SECRET" not in str(planned.request)


def test_a_choice_requests_the_letters_of_the_options() -> None:
    (planned,) = plan([item("OD", options=("offensive", "non-offensive"))], "choice", TEMPLATES)
    assert (planned.request.kind, planned.request.labels) == ("choice", ("A", "B"))


def test_perplexity_scores_each_option_on_its_own() -> None:
    planned = list(plan([item(), OPEN], "perplexity", TEMPLATES, circular=True))
    assert len(planned) == 8
    assert [one.request.continuation for one in planned[:4]] == [f" {text}" for text in DIALOGBENCH_EXAMPLES_OPTIONS]
    assert planned[0].request.messages == planned[3].request.messages
    assert planned[0].request.messages[0].content.endswith("What does speaker 2 mean to do?\nAnswer:")
    assert planned[4].request.messages[0].content.endswith("\nSpeaker 2:")
    assert all(text not in planned[0].request.messages[0].content for text in DIALOGBENCH_EXAMPLES_OPTIONS)
    assert planned[3].request.request_id == "dialogbench/perplexity/en/i1/0/3"
    chinese = next(plan([item(language="zh")], "perplexity", TEMPLATES))
    assert chinese.request.continuation == DIALOGBENCH_EXAMPLES_OPTIONS[0]


def test_circular_plans_every_rotation_with_its_own_subject() -> None:
    planned = list(plan([item()], "letter", TEMPLATES, circular=True))
    assert [place_of(one.request.request_id, "letter") for one in planned] == [
        (0, None),
        (1, None),
        (2, None),
        (3, None),
    ]
    assert [one.request.subject[1] for one in planned] == [one.options for one in rotations(item())]
    assert fields_of(planned[0].request.subject[2:])["task"] == "IC"
    assert "label" not in fields_of(planned[0].request.subject[2:])


def rows(method: Any, answers: list[dict[str, Any]], rotation: int = 0) -> list[dict[str, Any]]:
    return list(parse("m", method, item(), rotation, answers))


def test_a_letter_is_compared_with_the_rotated_label() -> None:
    (row,) = rows("letter", [answer("The answer is B.")], rotation=1)
    assert (row["choice"], row["label"], row["correct"], row["status"]) == ("B", "B", True, "ok")
    (row,) = rows("letter", [answer("The answer is B.")])
    assert (row["choice"], row["label"], row["correct"]) == ("B", "A", False)


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"text": "A or B"}, "unparsed"),
        ({"text": "Let me think", "finish_reason": "length"}, "truncated"),
        ({"text": "", "finish_reason": "refusal"}, "refused"),
        ({"text": "", "status": "missing"}, "missing"),
    ],
)
def test_what_cannot_be_read_has_a_status_and_is_not_right(fields: dict[str, Any], status: str) -> None:
    (row,) = rows("letter", [answer(**fields)])
    assert (row["choice"], row["correct"], row["status"]) == (None, False, status)


@pytest.mark.parametrize(
    ("logprobs", "choice"),
    [
        ({"A": -0.1, "B": -3.0, "C": -4.0, "D": -5.0}, "A"),
        ({"C": -4.0, "D": -5.0}, "C"),
        ([("B", -1.0), ("C", -2.0)], "B"),
        ({"A": -1.0, "B": -1.0}, None),
        ({}, None),
        (None, None),
        ({"A": None, "B": -2.0}, "B"),
    ],
)
def test_the_most_probable_letter_is_chosen(logprobs: Any, choice: str | None) -> None:
    (row,) = rows("choice", [answer("", label_logprobs=logprobs, label_mass=0.9)])
    assert (row["choice"], row["status"]) == (choice, "ok" if choice else "unparsed")


def test_letters_with_little_probability_are_no_choice() -> None:
    (row,) = rows("choice", [answer("", label_logprobs={"A": -11.6, "B": -12.0}, label_mass=1.5e-5)])
    assert (row["choice"], row["correct"], row["status"]) == (None, False, "low_mass")
    (row,) = rows("choice", [answer("", label_logprobs={}, label_mass=0.0)])  # none among the likeliest tokens
    assert row["status"] == "low_mass"


@pytest.mark.parametrize(
    ("text", "finish_reason", "choice", "status"),
    [
        ("B", "length", None, "truncated"),  # perhaps of `Both`
        ("The answer is B", "length", None, "truncated"),
        ("B. Because the others contradict what was sa", "length", "B", "ok"),
        ("B", "refusal", None, "refused"),
        ("odd </think>B", "stop", None, "unparsed"),
        ("<think>A?</think>B", "stop", "B", "ok"),
    ],
)
def test_a_letter_that_may_not_be_meant_is_not_read(
    text: str, finish_reason: str, choice: str | None, status: str
) -> None:
    (row,) = rows("letter", [answer(text, finish_reason=finish_reason)])
    assert (row["choice"], row["status"]) == (choice, status)


def scored(*pairs: tuple[float, int]) -> list[dict[str, Any]]:
    return [answer("", logprob=logprob, n_tokens=n) for logprob, n in pairs]


def test_perplexity_prefers_the_short_option_only_in_total() -> None:
    """Option A has twelve tokens of -1.0, B two of -2.0: A is likelier per token, B in total."""
    per_token, total = rows("perplexity", scored((-12.0, 12), (-4.0, 2), (-30.0, 10), (-30.0, 10)))
    assert (per_token["method"], per_token["choice"], per_token["correct"]) == ("perplexity", "A", True)
    assert (total["method"], total["choice"], total["correct"]) == ("perplexity_total", "B", False)


def test_an_option_without_a_score_leaves_the_item_unread() -> None:
    answers = scored((-1.0, 1), (-2.0, 1), (-3.0, 1), (-4.0, 1))
    answers[2] = answer("", status="missing")
    assert [row["status"] for row in rows("perplexity", answers)] == ["missing", "missing"]
    answers[2] = answer("", logprob=None, n_tokens=None)
    assert [row["status"] for row in rows("perplexity", answers)] == ["unparsed", "unparsed"]
    answers[2] = answer("", logprob=None, n_tokens=None, finish_reason="length")  # it did not fit the window
    assert [row["status"] for row in rows("perplexity", answers)] == ["truncated", "truncated"]
    tied = scored((-1.0, 1), (-1.0, 1), (-3.0, 1), (-4.0, 1))
    assert [row["choice"] for row in rows("perplexity", tied)] == [None, None]


@pytest.mark.parametrize(("method", "n_rows"), [("letter", 8), ("choice", 8), ("perplexity", 4)])
def test_all_answers_of_a_plan_are_read(method: Any, n_rows: int) -> None:
    items = {"i1": item(), "i2": item(item_id="i2", label="D")}
    planned = [one.to_row() for one in plan(items.values(), method, TEMPLATES, circular=True)]
    given = [answer("B", label_logprobs={"B": 0.0}, logprob=float(-n), n_tokens=1) for n in range(len(planned))]
    found = list(parse_all("m", method, items, zip(planned, given, strict=True)))
    assert len(found) == n_rows
    assert {row["item_id"] for row in found} == {"i1", "i2"}
    assert all(row["choice"] == ("A" if method == "perplexity" else "B") for row in found)
    if method != "perplexity":
        assert sum(row["correct"] for row in found) == 2  # once per item: where the right option stands at B


# Finding the chosen letter: what is clear is read, what could be an article, a word or two letters is not.

OPTIONS = ("to hire a cleaner", "to wait", "to repay a loan", "A dog is a friend")

CLEAR = (
    ("B", "B"), ("B.", "B"), ("(B)", "B"), ("b", "B"), ("A", "A"), ("a", "A"), ("Ｂ", "B"), ("B。", "B"), ('"B"', "B"),
    ("`C`", "C"), ("Answer: B", "B"), ("Answer:\nB", "B"), ("**Answer: B**", "B"), ("The answer is B", "B"),
    ("The answer is A", "A"), ("The best answer is A because it fits.", "A"),
    ("The answer is B due to the lunch.", "B"), ("The correct answer is (C).", "C"), ("The answer is **D**.", "D"),
    ("The answer is option C.", "C"), ("The answer is B, not C.", "B"), ("The most coherent reply is B.", "B"),
    ("My choice: D", "D"), ("The letter is C", "C"), ("I would choose B because it fits.", "B"), ("Option B", "B"),
    ("Choice B is the best.", "B"), ("B is the correct answer.", "B"), ("B, because they said so", "B"),
    ("A. to hire a cleaner", "A"), ("B) to wait\n", "B"), ("B: to wait", "B"), ("B、to wait", "B"),
    ("C\n\nThe speaker says a lot.", "C"), ("Speaker 2: (B)", "B"), (r"The final answer is: \boxed{A}", "A"),
    ("A. x\nB. y\nC. z\nD. w\n\nAnswer: C", "C"), ("<think>A? Or B?</think>D", "D"), ("选B", "B"), ("应该选择 A", "A"),
    ("答案:B", "B"), ("答案：B", "B"), ("答案是：D。因为……", "D"), ("正确答案是C", "C"), ("【答案】B", "B"),
    ("选项：B", "B"), ("我认为选项B最合适", "B"), ("to wait", "B"), ("To wait.", "B"), ("Answer: to repay a loan", "C"),
    ("A dog is a friend", "D"), ("D. A dog is a friend", "D"),
    ("> Answer: A\nI choose B", "B"), ("> Answer: A", "A"), ("A is wrong, so the answer is B.", "B"),
    ("The answer is B. A is wrong because it does not follow.", "B"),
    ("The answer is B because A and C contradict the dialogue.", "B"),
    ("B. The other options are wrong.", "B"), ("**B**", "B"), ("**B.** to wait", "B"),
    ("Option B is the most coherent since it doesn't repeat.", "B"),
    ("Answer: B\n\nExplanation: A, C and D do not fit.", "B"), ("The correct answer is B, not A.", "B"),
    ("A不正确，B正确", "B"), ("A is not correct. The answer is B.", "B"),
    ("B\n\nOption A is tempting but wrong.", "B"), ("I would choose B over A.", "B"),
    ("The answer is not A; the answer is B", "B"), ("A, C and D are wrong. Answer: B", "B"),
    ("**Answer:** B", "B"), ("Answer: **B. to wait**", "B"), ("Answer: B. to wait", "B"), ("B) to wait", "B"),
    ("The answer is (B) to wait.", "B"), ("```\nB\n```", "B"), ("{\"answer\": \"B\"}", "B"),
    ("Answer: B (to wait)", "B"), ("答案是B，因为A不正确。", "B"), ("选B。A和C都不对。", "B"),
    ("B。因为A错误", "B"), ("Answer: A", "A"), ("Answer: A\n", "A"), ("Answer: A\nBecause it is said.", "A"),
    ("Final answer: A", "A"), ("A\n\nBecause B is wrong", "A"),
    ("B is the correct answer because it is not contradictory.", "B"),
    ("Answer: B.\n\nA does not follow; C is wrong; D is off topic.", "B"),
)  # fmt: skip
UNCLEAR = (
    "", "A dog would be nice", "A good reply", "The answer is a dog", "The answer is A dog of some kind", "Because",
    "Dad", "I cannot tell.", "A-flat", "C++", "vitamin C", "Plan B was what they agreed on", "A lot of people", "答案",
    "Answer:", "A and B", "B, C", "A B C D", "Both A and C", "(A) and (B)", "The answer is A and B.",
    "The answer is B or C.", "The answer is B. No, the answer is C.", "A: Hi\nB: Hello", "The answer is not B", "E",
    "The answer is E", "it seems to wait for a loan",
    "Answer: A\nAnswer: B", "Option A is tempting but wrong.", "**B** is wrong", "Answer: A\n\nAnswer: B",
    "Answer: A. Answer: B", "B is wrong", "B is incorrect.", "(B) is incorrect", "B: wrong", "B - incorrect",
    "B (wrong)", "Not B", "It is not B.", "The answer isn't B", "The answer isn’t B", "The wrong answer is B",
    "The worst option is B", "The least coherent reply is B", "Incorrect answer: B", "Wrong answer: B.",
    "I would not choose B", "I wouldn't choose B", "I can't choose B", "I don't pick B", "Never choose B",
    "The answer is A... no wait, B.", "The answer is A. Wait, B.", "The answer is A, no, B.",
    "The answer is A or maybe B", "A, no wait, B", "A... B", "A → B", "A -> B", "A B", "A/B", "A & B", "A, B",
    "~~A~~ B", "~~A~~\nB", "A\nB", "Both A and B", "Neither A nor B", "Neither A nor B is right",
    "Either A or B", "Either (A) or (B)", "A or B", "答案是A或B", "答案是A和B", "答案是A、B", "A和B都正确",
    "A、B正确", "不选B", "不应选B", "不能选B", "不要选B", "别选B", "不应该选择B", "排除选项B", "无法选B",
    "答案不是B", "B不正确", "B是错误的", "选项B错误", "B不对", "选A，不，选B", "答案是A，不对，是B",
    "答案：A\n答案：B", "选A还是B？", "A正确吗？", "The answer is B?", "B?", "Answer: B?", "B, maybe",
    "Maybe B", "Possibly B", "Probably not B", "B. to hire a cleaner", "Answer: B (to hire a cleaner)",
    "Answer: A\nFinal answer: B", "\\boxed{A} \\boxed{B}", "The answer is A. \\boxed{B}",
    "Answer: A, although B is better", "The answer is anything but B", "The answer could be B or C",
    "The answer is not A", "Answer: not A", "Answer: None", "Answer: E", "I rule out B", "B can be ruled out.",
    "B does not fit.", "B doesn't fit.", "B doesn’t fit", "B seems wrong", "B looks tempting",
    "B is not the best", "Option B is not correct", "option B contradicts the dialogue",
    "A is not correct, neither is B.", "All except B", "All but B", "Everything other than B",
    "I choose A. I choose B.", "My answer is A; on reflection my answer is B", "Answer: A, actually B",
    "Answer: A (or B)", "Answer: A/B", "Answer: A | B", "Answer: A|B", "Answer: AB", "Answer: A+B",
    "Answer: A\nB", "I eliminated B", "B and C", "The answer is B and also C.", "{\"answer\": [\"A\",\"B\"]}",
    "{\"answer\": \"A\", \"answer\": \"B\"}", "A. to hire a cleaner\nB. to wait", "A is right. B is right.",
    "A is right\nNo, B is right", "Answer: A\nOn reflection, B.", "The answer is A.\nActually, it's B.",
    "B is the most tempting distractor", "The best answer is not B", "B would be a bad answer", "选B不对",
    "正确答案不是B", "错误答案是B", "我不认为是B", "B选项不符合", "B不合适", "B is right? No.",
    "Answer: B. Hmm, A?", "The answer is B. Perhaps A.", "B, not A?", "A) wrong B) right", "Not A. B.",
)  # fmt: skip
"""Answers with no letter, or with two, or that take one back, ask, or say of one alone that it is wrong."""


@pytest.mark.parametrize(("text", "letter"), CLEAR)
def test_a_clear_choice_is_read(text: str, letter: str) -> None:
    assert read_letter(text, OPTIONS) == letter


@pytest.mark.parametrize("text", UNCLEAR)
def test_no_letter_two_letters_and_one_called_wrong_are_no_choice(text: str) -> None:
    assert read_letter(text, OPTIONS) is None


@pytest.mark.parametrize(
    "echo", ["A. to go\nB. to wait\nC. to choose\n", "Options:\nA) to go\n(B) to wait\n**C.** to choose\n\n"]
)
@pytest.mark.parametrize("answer", ["Answer: B", "The answer is B. to wait"])
def test_options_that_are_repeated_before_the_answer_are_no_choice(echo: str, answer: str) -> None:
    """Some options consist of words that answers have, too, such as `to go`."""
    assert read_letter(echo + answer, ("to go", "to wait", "to choose")) == "B"


def test_options_that_are_repeated_without_an_answer_are_no_choice() -> None:
    assert read_letter("A. to go\nB. to wait", ("to go", "to wait")) is None
    assert read_letter("Answer: A\nB. to wait", ("to go", "to wait")) is None  # it may have changed its answer
    assert read_letter("Answer: A\nB. to go", ("to go", "to wait")) is None  # B with the text of A


def test_a_letter_beyond_the_options_is_no_choice() -> None:
    assert read_letter("D", OPTIONS[:3]) is None


def test_an_option_inside_another_is_distinguished() -> None:
    assert read_letter("non-offensive", ("offensive", "non-offensive")) == "B"
    assert read_letter("It is not offensive.", ("offensive", "non-offensive")) is None


@given(st.text(max_size=60))
def test_any_text_gives_a_letter_of_the_options_or_none(text: str) -> None:
    assert read_letter(text, OPTIONS) in {"A", "B", "C", "D", None}


@given(
    st.sampled_from("ABCD"), st.sampled_from(["{}", "({})", "{}.", "Answer: {}", "The answer is {}.", "**{}**", "选{}"])
)
def test_every_form_is_read_for_every_letter(letter: str, form: str) -> None:
    assert read_letter(form.format(letter), OPTIONS) == letter


FORMS = (
    "{}",
    "({})",
    "{}.",
    "**{}**",
    "Answer: {}",
    "The answer is {}.",
    "Option {}",
    "选{}",
    "答案是{}",
    "I choose {}.",
)
BETWEEN = (
    " or ", " and ", "/", ", ", " ", "\n", "\n\n", ". ", " → ", " | ", ", no, ", ". No, ", "... wait, ", "\nActually, ",
    ", or maybe ", "或", "和", "、", "，不，", "\nFinal answer: ", "\nOn reflection, ",
)  # fmt: skip


@given(st.permutations("ABCD"), st.sampled_from(FORMS), st.sampled_from(BETWEEN), st.sampled_from(FORMS))
def test_two_letters_are_never_read_as_one_of_them(letters: list[str], form: str, between: str, other: str) -> None:
    one, two, *_ = letters
    assert read_letter(form.format(one) + between + other.format(two), OPTIONS) is None


# Where the right option stands.


def test_the_right_option_stays_right_wherever_it_stands() -> None:
    for number in range(50):
        found = shuffled(item(item_id=str(number), label="C"), 7)
        assert found.options[found.right] == DIALOGBENCH_EXAMPLES_OPTIONS[2]
        assert sorted(found.options) == sorted(DIALOGBENCH_EXAMPLES_OPTIONS)


def test_places_are_about_equally_frequent() -> None:
    places = Counter(shuffled(item(item_id=str(number)), 1).label for number in range(2000))
    assert set(places) == set("ABCD")
    assert max(places.values()) - min(places.values()) < 100


def test_the_place_depends_on_the_items_name_and_the_seed_alone() -> None:
    assert shuffled(item(), 3).options == shuffled(item(question="Another?", label="B"), 3).options
    drawn = {seed: [shuffled(item(item_id=str(n)), seed).label for n in range(30)] for seed in (1, 2)}
    assert drawn[1] != drawn[2]


def test_rotations_bring_the_right_option_to_every_place_once() -> None:
    found = rotations(item(label="B"))
    assert [one.label for one in found] == ["B", "C", "D", "A"]
    assert found[0] == item(label="B")
    assert all(one.options[one.right] == DIALOGBENCH_EXAMPLES_OPTIONS[1] for one in found)
    assert [one.options.index(DIALOGBENCH_EXAMPLES_OPTIONS[0]) for one in found] == [0, 1, 2, 3]
    assert [one.label for one in rotations(item(options=DIALOGBENCH_EXAMPLES_OPTIONS[:2]))] == ["A", "B"]
