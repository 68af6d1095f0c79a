"""Scores on anyone's scale are read tolerantly in form and exactly in content."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialeval.criteria import YES_NO, Criterion, Scale, Words, labelled
from dialeval.forms.scale_text import read_scores
from dialeval.forms.scale_values import Said

SEVEN = Scale(1, 7)
LABELS = labelled(["poor", "fair", "good", "very good"])


def read(text: str, scale: Scale, *, cut: bool = False) -> float | str | None:
    criterion = Criterion("empathy", scale=scale, aliases=("empathetic tone",))
    said = read_scores(text, [criterion], cut=cut).get("empathy")
    return None if said is None else said.label or said.value


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
    assert read_scores(text, both) == {}


@pytest.mark.parametrize("name", ["礼貌？", "e\u0301clat"])
def test_a_score_without_a_name_is_that_of_a_criterion_in_any_spelling(name: str) -> None:
    assert read_scores("6", [Criterion(name, scale=SEVEN)])[name].value == 6


@pytest.mark.parametrize(
    ("text", "scale"),
    [
        ("empathy: 8", SEVEN),
        ("empathy: 0", SEVEN),
        ("empathy: -3", SEVEN),
        ("empathy: 6/10", SEVEN),
        ("empathy: 6 on a scale of 1 to 10", SEVEN),
        ("empathy: 6 on the 1-10 scale", SEVEN),
        ("empathy: 5-6", SEVEN),
        ("empathy: 5 or 6", SEVEN),
        ("empathy: 5,5", SEVEN),
        ("empathy: 60%", SEVEN),
        ("empathy: 5\nempathy: 6", SEVEN),
        ("empathy: 5\nempathetic tone: 6", SEVEN),
        ("empathy: x", SEVEN),
        ("empathy: good", SEVEN),
        ("empathy: -2 to -1", Scale(-2, 2)),
        ("empathy: -3", Scale(-2, 2)),
        ("empathy-2", Scale(-2, 2)),  # a dash or a minus
        ("empathy: excellent", LABELS),
        ("empathy: 3", LABELS),
        ("empathy: good to very good", LABELS),
        ("empathy: fair/good", LABELS),
        ("empathy: fair, good", LABELS),
        ("empathy: fair - good", LABELS),
        ("empathy: good or fair", LABELS),
        ("empathy: good enough", LABELS),
        ("empathy: goodish", LABELS),
        ("empathy: not good", LABELS),
        ("empathy: good\nempathy: poor", LABELS),
        ("empathy: yes and no", YES_NO),
        ("empathy: Yes/No", YES_NO),
        ("unempathy: 6", SEVEN),
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
    found = read_scores("Empathy: 6\nLack of empathy: 2", [tone, lack])
    assert found == {"empathy": Said(6), "coldness": Said(2)}


def test_each_criterion_has_its_own_scale() -> None:
    five, label = Criterion("warmth"), Criterion("tact", scale=LABELS)
    found = read_scores("empathy (1-7): 7\nwarmth: 4/5\ntact: fair", [Criterion("empathy", scale=SEVEN), five, label])
    assert found == {"empathy": Said(7), "warmth": Said(4), "tact": Said(2, "fair")}
    assert read_scores("empathy: 4 (1-5)\nwarmth: 6", [Criterion("empathy", scale=SEVEN), five]) == {}
    assert read_scores("empathy: 4 (1-7)\nwarmth: 6", [Criterion("empathy", scale=SEVEN), five]) == {"empathy": Said(4)}


def test_labels_are_read_in_every_language_that_has_words() -> None:
    words = {"zh": Words(labels=("差", "一般", "好"))}
    criterion = Criterion("empathy", scale=labelled(["poor", "fair", "good"]), translations=words)
    for text, label in (("empathy - 好", "good"), ("empathy：一般。", "fair"), ("empathy - poor", "poor")):
        assert read_scores(text, [criterion])["empathy"].label == label
    assert read_scores("empathy - 好的", [criterion]) == {}


@given(st.text(max_size=60), st.sampled_from([SEVEN, Scale(-2, 2), LABELS, YES_NO]), st.booleans())
def test_any_text_is_read_without_an_error(text: str, scale: Scale, cut: bool) -> None:
    said = read(f"empathy: {text}", scale, cut=cut)
    assert said is None or said in scale.labels or scale.low <= float(said) <= scale.high


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
        read("empathy - 2" + mark * 50_000, scale)
        read("empathy: good" + mark * 50_000, scale)
