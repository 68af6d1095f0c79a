"""Scores on anyone's scale are read tolerantly in form and exactly in content."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialeval.criteria import SHIPPED, YES_NO, Criterion, Scale, Words, labelled
from dialeval.protocols.score_values import WrittenScore
from dialeval.protocols.written_scores import parse_scores

SEVEN = Scale(1, 7)
LABELS = labelled(["poor", "fair", "good", "very good"])


def read(text: str, scale: Scale, *, cut: bool = False) -> float | str | None:
    criterion = Criterion("empathy", scale=scale, aliases=("empathetic tone",))
    score = parse_scores(text, [criterion], cut=cut).get("empathy")
    return None if score is None else score.label or score.value


@pytest.mark.parametrize(
    ("text", "scale", "value"),
    [
        ("empathy - 6", SEVEN, 6),
        ("**Empathy:** 6/7", SEVEN, 6),
        ("EMPATHY: 6 out of 7.", SEVEN, 6),
        ("Empathetic tone: 6 on a scale of 1-7", SEVEN, 6),
        ("empathetic_tone = 6 (on a scale from 1 to 7)", SEVEN, 6),
        ("Empathy (1-7): 6", SEVEN, 6),
        ("empathy: 6 (1 to 7)", SEVEN, 6),
        ("empathy: 6 on the 1-7 scale", SEVEN, 6),
        ('{"empathy": 6}', SEVEN, 6),
        ("empathy：６", SEVEN, 6),
        ("empathy: 10/10", Scale(0, 10), 10),
        ("empathy: 0", Scale(0, 10), 0),
        ("empathy: 2.5", Scale(0.5, 5), 2.5),
        ("empathy: 0.5/5", Scale(0.5, 5), 0.5),
        ("empathy: -2", Scale(-2, 2), -2),
        ("empathy: −2", Scale(-2, 2), -2),
        ("empathy - -2", Scale(-2, 2), -2),
        ("empathy -2", Scale(-2, 2), -2),
        ("empathy - 2", Scale(-2, 2), 2),
        ("empathy: +2", Scale(-2, 2), 2),
        ("empathy (-2 to 2): -1", Scale(-2, 2), -1),
        ("empathy: 1 on a scale of -2 to 2", Scale(-2, 2), 1),
        ("empathy: good", LABELS, "good"),
        ("Empathy - Very good.", LABELS, "very good"),
        ("**empathy**: *VERY-GOOD* (it answers the feeling)", LABELS, "very good"),
        ('{"empathy": "very  good", "warmth": 3}', LABELS, "very good"),
        ("empathy - Yes", YES_NO, "Yes"),
        ("empathy: no, it does not", YES_NO, "No"),
    ],
)
def test_a_score_is_read_however_it_is_written(text: str, scale: Scale, value: float | str) -> None:
    assert read(text, scale) == value
    if "\n" not in text:
        assert read(f"Here you are.\n{text}\nThat is all.", scale) == value


@pytest.mark.parametrize(
    ("text", "scale", "value"),
    [
        ("6", SEVEN, 6),
        (" **6/7**\n", SEVEN, 6),
        ("6.", SEVEN, 6),
        ("６", SEVEN, 6),
        ("6 out of 7", SEVEN, 6),
        ("-2", Scale(-2, 2), -2),
        ("Very good.", LABELS, "very good"),
        ("No", YES_NO, "No"),
        ("8", SEVEN, None),
        ("6/10", SEVEN, None),
        ("-6", SEVEN, None),
        ("5-6", SEVEN, None),
        ("6 stars", SEVEN, None),
        ("6 7", SEVEN, None),
        ("not good", LABELS, None),
    ],
)
def test_a_score_without_a_name_is_that_of_the_only_criterion(
    text: str, scale: Scale, value: float | str | None
) -> None:
    assert read(text, scale) == value
    both = [Criterion(name, scale=scale) for name in ("empathy", "tact")]
    assert parse_scores(text, both) == {}


@pytest.mark.parametrize("name", ["礼貌？", "e\u0301clat"])
def test_a_score_without_a_name_is_that_of_a_criterion_in_any_spelling(name: str) -> None:
    assert parse_scores("6", [Criterion(name, scale=SEVEN)])[name].value == 6


@pytest.mark.parametrize(
    ("text", "scale"),
    [
        ("empathy: -2 to -1", Scale(-2, 2)),
        ("empathy: -3", Scale(-2, 2)),
        ("empathy-2", Scale(-2, 2)),  # a dash or a minus
        ("empathy: yes and no", YES_NO),
        ("empathy: Yes/No", YES_NO),
    ],
)
def test_what_is_not_clear_is_no_score(text: str, scale: Scale) -> None:
    assert read(text, scale) is None


@pytest.mark.parametrize(
    ("text", "scale", "value"),
    [
        ("empathy: 6", SEVEN, None),  # perhaps of 6.5
        ("empathy: 6\n", SEVEN, 6),
        ("6", SEVEN, None),
        ("empathy: good", LABELS, None),  # perhaps good enough
        ("empathy: good\nwarmth", LABELS, "good"),
    ],
)
def test_what_was_cut_off_may_not_be_whole(text: str, scale: Scale, value: float | str | None) -> None:
    assert read(text, scale, cut=True) == value


def test_the_longer_of_two_names_is_meant() -> None:
    tone, lack = Criterion("empathy", scale=SEVEN), Criterion("coldness", scale=SEVEN, aliases=("lack of empathy",))
    found = parse_scores("Empathy: 6\nLack of empathy: 2", [tone, lack])
    assert found == {"empathy": WrittenScore(6), "coldness": WrittenScore(2)}


def test_each_criterion_has_its_own_scale() -> None:
    five, label = Criterion("warmth"), Criterion("tact", scale=LABELS)
    found = parse_scores("empathy (1-7): 7\nwarmth: 4/5\ntact: fair", [Criterion("empathy", scale=SEVEN), five, label])
    assert found == {"empathy": WrittenScore(7), "warmth": WrittenScore(4), "tact": WrittenScore(2, "fair")}
    assert parse_scores("empathy: 4 (1-5)\nwarmth: 6", [Criterion("empathy", scale=SEVEN), five]) == {}
    assert parse_scores("empathy: 4 (1-7)\nwarmth: 6", [Criterion("empathy", scale=SEVEN), five]) == {
        "empathy": WrittenScore(4)
    }


def test_labels_are_read_in_every_language_that_has_words() -> None:
    words = {"zh": Words(labels=("差", "一般", "好"))}
    criterion = Criterion("empathy", scale=labelled(["poor", "fair", "good"]), translations=words)
    for text, label in (("empathy - 好", "good"), ("empathy：一般。", "fair"), ("empathy - poor", "poor")):
        assert parse_scores(text, [criterion])["empathy"].label == label
    assert parse_scores("empathy - 好的", [criterion]) == {}


@given(st.text(max_size=60), st.sampled_from([SEVEN, Scale(-2, 2), LABELS, YES_NO]), st.booleans())
def test_any_text_is_read_without_an_error(text: str, scale: Scale, cut: bool) -> None:
    score = read(f"empathy: {text}", scale, cut=cut)
    assert score is None or score in scale.labels or scale.low <= float(score) <= scale.high


@given(st.integers(-20, 20), st.integers(1, 20), st.data())
def test_every_number_on_a_scale_is_read_back(low: int, width: int, data: st.DataObject) -> None:
    scale = Scale(low, low + width)
    value = data.draw(st.integers(low * 2, (low + width) * 2)) / 2
    mark = ": " if low < 0 else data.draw(st.sampled_from([" - ", ": ", " = "]))
    assert read(f"empathy{mark}{value:g}", scale) == value


@given(st.lists(st.text("abcdefgh ", min_size=1, max_size=8), min_size=2, max_size=6), st.data())
def test_every_label_is_read_back(labels: list[str], data: st.DataObject) -> None:
    names = list(dict.fromkeys(" ".join(label.split()) for label in labels if label.strip()))
    if len(names) < 2:
        return
    label = data.draw(st.sampled_from(names))
    assert read(f"empathy - {label}\nwarmth - x", labelled(names)) == label


@pytest.mark.parametrize("mark", [" ", "- ", ", ", "( ", "\n", "4 "])
def test_a_long_answer_is_read_in_time_that_grows_with_it(mark: str) -> None:
    """A pattern that looks at the same blanks twice would take hours for this."""
    for scale in (SEVEN, Scale(-2, 2), LABELS):
        read("empathy - 2" + mark * 20_000, scale)
        read("empathy: good" + mark * 20_000, scale)


UNCLEAR = (
    "empathy: **6**/10", "empathy: `6`/10", "empathy: 6 of 10", "empathy: 6 (out of 10)",
    "empathy: 6 points out of 10", "empathy: **6**-7", "empathy: **3** to **6**", "empathy: 6\u20117",
    "empathy: 3..6", "empathy: 3, 6", "empathy: 3 → 6", "empathy: 3 or maybe 6", "empathy: 3, no, 6",
    "empathy: 3 of the 5 replies are warm", "Lack of empathy: 6", "empathy: 1e1", "empathy: 6 von 10",
    "empathy: 6/10 ", "empathy: ~6", "empathy: 6+", "empathy: 6-ish", "empathy: between 3 and 6",
    "empathy: at least 5", "empathy: <5", "empathy: >5", "empathy: ≥5", "empathy: ≈5", "empathy: not 6",
    "empathy: 6 → 5", "empathy: 4 (maybe 5)", "non-coherence: 6", "non-empathy: 6", "un-empathy: 6",
    "empathy: ~~3~~ 4", "~~empathy: 3~~\nempathy: 4", "{\"empathy\": [3, 6]}", "{\"empathy\": 3, \"empathy\": 6}",
    "```json\n{\"empathy\": 3}\n```\nempathy: 4", "{\"empathy\": 3}\n{\"empathy\": 4}", "empathy: 6\nempathy: 5",
    "I think the empathy is 3.\nempathy: 6", "empathy: 6%", "empathy: 6 %", "empathy: 60 percent",
    "empathy: 6 percent", "empathy: 5,5", "empathy: 6,000", "empathy: -6", "empathy: VI", "empathy: six",
    "empathy: 3, no, six", "empathy: 3 (or six)", "empathy: 6?", "empathy: 6 (?)", "empathy: 6, maybe",
    "empathy: maybe 6", "empathy: 6 or so", "empathy: 6 and a half", "empathy: 5½", "empathy: 5 ½", "empathy: 4²",
    "empathy: ½", "empathy: \\frac{6}{10}", "empathy: \\boxed{3} \\boxed{4}", "empathy: 3/4", "empathy: 6 / 10",
    "empathy: 6⁄10", "empathy: 6∕10", "empathy: 6:10", "empathy: 6 out of ten", "empathy: 6 on a scale of 1-10",
    "empathy (1-10): 6", "empathy: 6 (1-10)", "empathy (out of 10): 6", "> empathy: 6\nI disagree with that.",
    "> empathy: 6\nempathy: 5\nempathy: 4", "empathy: 5\nOn reflection, 6.", "empathy: 5. On reflection: 6",
    "empathy: 5\n6", "empathy:\n3\n4", "empathy: 3\nActually, I would give it a 5.", "empathy: 3\nFinal rating: 5",
    "empathy: 6 minus 1", "empathy: 6 - 1", "empathy: 2*3", "empathy: 2 + 4", "empathy = 6 = 5", "empathy: 6_7",
    "empathy: 6\u200b/10", "empathy: 6\ufe0f\u20e3/10", "empathy: 3\u0336 4", "<s>empathy: 3</s>\nempathy: 4",
    "empathy: <del>3</del> 4", "empathy: 6|7", "| empathy | 3 | 6 |", "| empathy |\n|---|\n| 3 |\n| 6 |",
    "empathy: 3 / 6", "empathy: 3 & 6", "empathy: 3 and 6", "empathy: 3 vs 6", "empathy: 3 < 6",
    "empathy: 3 (not 6)", "empathy: 6. But maybe 5.", "empathy: 3; 6", "empathy: 3; no: 6", "empathy, lack of: 6",
    "empathy (lack of): 6", "empathy is 3, empathy: 6", "The empathy: 6 is not right.", "empathy: 6 im Bereich 1-10",
    "empathy: 6, aber eher 5", "empathy: 6分（满分10分）", "empathy: 3到6", "empathy: 3至6", "empathy: 3，不，6",
    "empathy: 3，不，六", "empathy: 六", "empathy: 6 bis 7", "empathy: 6 à 7", "empathy: entre 3 y 6",
    "empathy: 6 sur 10", "empathy: 6 de 10", "empathy: 6 из 10", "empathy: 10点中6点", "empathy: 6 stars out of 10",
    "empathy: 3-6", "empathy: 3–6", "empathy: 3—6", "empathy: 3 ~ 6", "empathy: 3~6", "empathy: 3 − 6",
    "empathy: 6.5.4", "empathy: 0x6", "empathy: 6th", "empathy: 1st", "empathy: #6 of 10",
    "empathy: 6, empathetic tone: 5", "empathy: 6/7/8", "empathy: 6/7 or 5/7", "empathy: 6 out of 70",
    "empathy: 6/70", "empathy: 6/7.5", "{'empathy': 3, 'empathy': 6}", "{\"empathy\": \"3 or 6\"}",
    "{\"empathy\": \"3-6\"}", "{\"empathy\": 3.5.1}", "{\"empathy\": {\"score\": 3, \"rating\": 6}}",
    "{\"empathy\": {\"min\": 3, \"max\": 6}}", "{\"empathy\": 6, \"max\": 10}",
    "[{\"empathy\": 3}, {\"empathy\": 6}]", "empathy: 3 empathy: 6", "empathy - 3 - 6", "empathy: 6 (7)",
    "empathy: 7 (on 10)", "not empathy: 6", "Without empathy: 6", "Lack of **empathy**: 6", "No empathy: 6",
    "empathy-free: 6", "anti-empathy: 6", "Lack of\nempathy: 6 of 9",
    "empathy: 6 / 7 / 7", "Empathy:\n1. The reply is warm", "empathy: 6\n(5 would be fine too)", "empathy: 6 [1-10]",
    "empathy: 6 (of 10)", "empathy: 6 at best", "empathy: 6 max", "empathy: ٦/١٠", "empathy: 6 (±1)",
    "empathy: 6 stars", "{\"empathy\": {\"score\": 6, \"out_of\": 10}}", "empathy: avg(5, 7) = 6", "empathy 1: 6",
    "I rate empathy as 5.\nempathy: 6", "Let me revise empathy to 3.\nempathy: 6", "empathy: 6\nFinal rating: 5",
    "empathy: 8", "empathy: 0", "empathy: -3", "empathy: 6/10", "empathy: 6 on a scale of 1 to 10",
    "empathy: 6 on the 1-10 scale", "empathy: 5-6", "empathy: 5 or 6", "empathy: 60%", "empathy: 5\nempathy: 6",
    "empathy: 5\nempathetic tone: 6", "empathy: x", "empathy: good", "unempathy: 6",
)  # fmt: skip
"""Answers on a scale from 1 to 7 that hold no number of it, or more than one, or one that is softened or taken back."""
UNCLEAR_LABELS = (
    "tact: good, but actually poor", "tact: good (but poor)", "tact: poor. On reflection: good.",
    "tact: poor\nOn reflection: good.", "tact: good\nNo, poor.", "tact: not good", "tact: good? no",
    "tact: good - or fair", "tact: ~~good~~ poor", "tact: good → poor", "tact: neither good nor poor",
    "tact: good/poor", "tact: good and poor", "tact: good; poor", "tact: good\npoor",
    "{\"tact\": [\"good\",\"poor\"]}", "{\"tact\": \"good or poor\"}", "{\"tact\":\"good\",\"tact\":\"poor\"}",
    "tact: good, not really", "tact: good, maybe", "tact: hardly good", "tact: good-ish", "tact: good to fair",
    "tact: ungood", "Lack of tact: good", "tact is poor.\ntact: good", "> tact: good\nI disagree",
    "tact: at least fair", "tact: fair or better", "tact: good, no wait, fair", "tact: good :: fair",
    "tact: 'good' 'poor'", "tact: good (not!)", "tact: from poor to good",
    "tact: excellent", "tact: 3", "tact: good to very good", "tact: fair/good", "tact: fair, good",
    "tact: fair - good", "tact: good or fair", "tact: good enough", "tact: goodish", "tact: good\ntact: poor",
)  # fmt: skip
UNCLEAR_OF_A_HUNDRED = (
    "empathy: 5½", "empathy: 4¾", "empathy: 4²", "empathy: 5₂", "empathy: ①5", "empathy: 4⑤", "empathy: 50½",
    "empathy: 1⁄2", "empathy: 4.5½", "5½", "４²", "empathy: 50,5", "empathy: 1,00", "empathy: 50%", "empathy: 10^2",
    "empathy: 1e1", "empathy: 50 ± 5", "empathy: 50/60", "empathy: 50 - 60",
)  # fmt: skip
CLEAR = (
    "Empathy: **6**", "empathy: 6/7", "empathy: 6 out of 7", "- empathy: 6", "{\"empathy\": 6}",
    "The reply is warm.\n\nempathy: 6", "1. empathy: 6", "**Empathy** - 6", "* **Empathy (1-7):** 6",
    "empathy: 6 - the reply meets the feeling.", "empathy: 6 – it answers what was said in utterance 3",
    "empathy: 6 (very warm)", "empathy: 6 because it is warm", "empathy: 6, as it is warm",
    "Empathy: 6. The reply is warm, but a bit long.", "### Empathy\n6",
    "### Empathy\nScore: 6/7\nReason: it is warm", "**Empathy:**\n\n6\n\nOverall nice",
    "| Criterion | Score |\n|---|---|\n| Empathy | 6 |",
    "| Criterion | Score | Why |\n|---|---|---|\n| **Empathy** | **6** | it is warm |", "| empathy |\n|---|\n| 6 |",
    "```\nempathy: 6\n```", "```json\n{\"empathy\": 6, \"reason\": \"warm in all 3 turns\"}\n```",
    "Here is my rating:\n{\"empathy\": {\"score\": 6, \"reason\": \"warm\"}}", "empathy: $6$", "empathy: \\boxed{6}",
    "\\boxed{6}", "empathy: 6.0", "empathy: ６", "empathy：6分", "empathy: 6\ufe0f\u20e3", "empathy: 6!",
    "Empathy score: 6", "Empathy rating: 6/7", "empathy -> 6", "empathy → 6", "empathy = 6", "empathy 6",
    "empathy\n6", "`empathy: 6`", "*empathy*: _6_", "__Empathy__: 6", "_empathy_: 6", "empathy: (6)", "empathy: [6]",
    "empathy: \"6\"", "empathy: '6'", "“empathy”: “6”", "Ratings: empathy 6", "My rating:\nempathy: 6",
    "I was asked on a scale of 1 to 7.\n\nempathy: 6", "Sure! Empathy: 6", "empathy: 6 points", "empathy: 6 (6/7)",
    "> empathy: 6", "• empathy: 6", "✅ Empathy: 6", "(a) empathy: 6", "A. empathy: 6", "6", "**6**", "6/7", "6.",
    "{\"empathy\": \"6\"}", "{'empathy': 6}", "{\"ratings\": {\"empathy\": 6}}", "{\"Empathy\": [6]}",
    "empathy ... 6", "empathy: 6 / 7", "empathy: 6/7 (warm)", "empathy: 6 of 7",
    "empathy: 6 on a scale of 1-7, as it is warm", "Rating the response:\n\nempathy - 6\n",
    "empathy: 6\n\nThe reply is warm; 3 of the 5 turns show it.", "empathy: 6 | warm", "\u200fempathy: 6",
    "empathy: 6 — warm", "Empathy: 6 (the reply in turn 4 is kind)", "empathy - x\nempathy - 6",
    "empathy: ٦/٧", "empathy: ६", "empathy: 6 (out of 7)", "empathy: 6 [1-7]", "empathy: 6 👍", "empathy: 6 (/7)",
    "empathy: 6\nconfidence: 3", "Empathy: 6\nReason: the replies in turns 3 and 5 are warm", "(6)", "6。",
    "{\"empathy\": {\"score\": 6, \"max\": 7}}", "- empathy:\n  - 6", "empathy: 6\n\n---\n\nTotal: 6/7",
)  # fmt: skip
"""Ways to write 6 on a scale from 1 to 7."""


@pytest.mark.parametrize("text", UNCLEAR)
def test_a_line_without_exactly_one_number_of_the_scale_is_no_score(text: str) -> None:
    assert read(text, SEVEN) is None


@pytest.mark.parametrize("text", UNCLEAR_LABELS)
def test_a_line_without_exactly_one_label_is_no_score(text: str) -> None:
    assert parse_scores(text, [Criterion("tact", scale=labelled(["poor", "fair", "good"]))]) == {}


@pytest.mark.parametrize("text", UNCLEAR_OF_A_HUNDRED)
def test_characters_that_stand_for_numbers_join_no_digits(text: str) -> None:
    assert read(text, Scale(0, 100)) is None


@pytest.mark.parametrize("text", CLEAR)
def test_a_score_is_read_in_every_form_that_judges_use(text: str) -> None:
    assert read(text, SEVEN) == 6


FIVE = ("coherence", "engagingness", "diversity", "informativeness", "overall")
NUMBERS = dict(zip(FIVE, (4, 3, 2, 5, 1), strict=True))


@pytest.mark.parametrize(
    "text",
    [
        "| Coherence | Engagingness | Diversity | Informativeness | Overall |\n|---|:-:|-|-|-|\n| 4 | 3 | 2 | 5 | 1 |",
        "| | Coherence | Engagingness | Diversity | Informativeness | Overall |\n|-|-|-|-|-|-|\n| Given | 4|3|2|5|1 |",
        "| Dimension | Score |\n|---|---|\n" + "\n".join(f"| {name} | {number} |" for name, number in NUMBERS.items()),
        "Coherence, engagingness, diversity, informativeness, overall: 4, 3, 2, 5, 1",
        "Coherence, engagingness, diversity, informativeness, and overall: 4, 3, 2, 5, and 1",
        "coherence,engagingness,diversity,informativeness,overall\n4,3,2,5,1",
        "Coherence\tEngagingness\tDiversity\tInformativeness\tOverall\n4\t3\t2\t5\t1",
        "coherence 4 engagingness 3 diversity 2 informativeness 5 overall 1",
        "coherence: 4, engagingness: 3; diversity: 2 | informativeness: 5 and overall: 1",
        "\n\n".join(f"**{name.title()}**\n{number}\nIt could be better." for name, number in NUMBERS.items()),
        "\n".join(f"{place}. {name}: {number}/5" for place, (name, number) in enumerate(NUMBERS.items(), 1)),
        '{"scores": {"coherence": 4, "engagingness": {"score": 3, "reason": "2 turns are dull"}, "diversity": "2",'
        ' "informativeness": [5], "overall quality": 1}}',
    ],
)
def test_tables_and_lists_of_several_criteria_are_read_as_a_whole(text: str) -> None:
    found = parse_scores(text, [SHIPPED[name] for name in FIVE])
    assert {name: score.value for name, score in found.items()} == NUMBERS


@pytest.mark.parametrize(
    "text",
    [
        "| Coherence | Overall |\n|---|---|\n| 4 | 1 |\n| 3 | 1 |",
        "| Coherence | Overall |\n|---|---|\n| 4 | 1-2 |",
        "| Coherence | Overall |\n|---|---|\n| 4 |",
        "| Dialogue | Coherence | Overall |\n|---|---|---|\n| 1 | 4 | 3 |\n| 2 | 3 | 3 |",
        "| coherence | 4 | 3 |\n| overall | 4 | 1 |",
        "Coherence, overall: 4",
        "Coherence and overall: 4",
        "Coherence/overall: 4",
        "Coherence, overall: 4, 3, 2",
        "Coherence, overall: 4, 3-2",
        "4, 3",
    ],
)
def test_a_table_or_list_of_which_a_part_is_unclear_says_nothing(text: str) -> None:
    assert parse_scores(text, [SHIPPED["coherence"], SHIPPED["overall"]]) == {}


BETWEEN = (
    ", ", " or ", " to ", "-", " - ", " – ", "\u2011", "..", "...", "/", " / ", " → ", " -> ", "; ", ": ", " (",
    ", no, ", ", maybe ", ". On reflection: ", "\n", "\n\nActually, ", "\nempathy: ", ", but actually ", " and ", " & ",
    " | ", "~", " vs. ", " of ", " out of ", "、", "，不，", "到", " bis ", " à ", "\n> no\nCorrection: ", "** **",
    "`, `", "~~ ", " <", "%, ", " instead of ",
)  # fmt: skip
AROUND = ("{}", "**{}**", "`{}`", "_{}_", '"{}"', "({})", "~~{}~~", "\\boxed{{{}}}", "[{}]", "“{}”")
BEFORE = ("empathy: ", "Empathy - ", "**Empathy:** ", "- empathy: ", "| empathy | ", "empathy = ", "### Empathy\n", "")


@given(st.data())
def test_two_values_are_never_read_as_one_of_them(data: st.DataObject) -> None:
    labels = labelled(["poor", "fair", "good"])
    scale = data.draw(st.sampled_from([SEVEN, Scale(0, 100), labels]))
    points = st.sampled_from(labels.labels) if scale is labels else st.integers(1, 6).map(str)
    one, other = data.draw(st.tuples(points, points).filter(lambda pair: pair[0] != pair[1]))
    shown = [data.draw(st.sampled_from(AROUND)).format(value) for value in (one, other)]
    text = data.draw(st.sampled_from(BEFORE)) + shown[0] + data.draw(st.sampled_from(BETWEEN)) + shown[1]
    assert parse_scores(text, [Criterion("empathy", scale=scale)]) == {}


@given(st.integers(1, 7), st.sampled_from(AROUND), st.sampled_from(BEFORE))
def test_one_value_is_read_with_any_emphasis(value: int, around: str, before: str) -> None:
    if "~~" not in around:
        assert read(before + around.format(value), SEVEN) == value


@given(st.integers(1, 7), st.integers(1, 7), st.booleans())
def test_fields_that_stand_twice_are_one_value_or_none(one: int, other: int, nested: bool) -> None:
    first = f'{{"score": {one}}}' if nested else one
    assert read(f'{{"empathy": {first}, "empathy": {other}}}', SEVEN) == (one if one == other else None)


@pytest.mark.parametrize(
    ("text", "value"),
    [('{"empathy": -1}', -1), ("| empathy |\n|---|\n| -1 |", -1), ("empathy: - 1", None), ("empathy: ±1", None)],
)
def test_a_minus_is_read_where_it_can_be_nothing_else(text: str, value: float | None) -> None:
    assert read(text, Scale(-2, 2)) == value


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("tact: 好，因为礼貌", "good"),
        ("tact: gut", "good"),
        ("tact: good (好)", "good"),
        ("tact: 不好", None),
        ("tact: 好，但其实差", None),
        ("tact: nicht gut", None),
        ("tact: gut, eigentlich schlecht", None),
        ("tact: 好吗", None),
        ("tact: no bueno", None),
        ("tact: bueno pero malo", None),
        ("tact: 好\n更正：差", None),
        ("tact: good (差)", None),
    ],
)
def test_labels_of_other_languages_contradict_each_other(text: str, label: str | None) -> None:
    names = {"zh": ("差", "一般", "好"), "de": ("schlecht", "mittel", "gut"), "es": ("malo", "regular", "bueno")}
    words = {language: Words(labels=labels) for language, labels in names.items()}
    score = parse_scores(text, [Criterion("tact", scale=labelled(["poor", "fair", "good"]), translations=words)])
    assert (score["tact"].label if score else None) == label
