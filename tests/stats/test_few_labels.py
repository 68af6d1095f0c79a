"""Variance that few labels do not show, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from dialeval.stats.few_labels import agreement_guard, label_doubt, unseen_errors
from dialeval.stats.labelled_rows import LabelledRows, check_rows


def rows(label: list[float], probability: float, *, target: str = "these", score: float = 1.0) -> LabelledRows:
    n = len(label)
    return check_rows([score] * n, label, [probability] * n, ["a"] * n, range(n), target)[0]


@pytest.mark.parametrize(
    ("label", "probability", "target", "doubt"),
    [
        ([3.0, 4.0, 1.0, 2.0], 1.0, "these", 0.8 / 4),  # all labelled: the mean of four labels, each in doubt by .8
        ([3.0, np.nan, 1.0, np.nan], 0.5, "these", 0.8 / 4),  # half is shown by the draw of two of four, half is not
        ([3.0, np.nan, 1.0, np.nan], 0.5, "new", 0.0),  # two labels show all of it
    ],
)
def test_doubt_is_what_the_draw_does_not_show(label, probability, target, doubt):
    found = rows(label, probability, target=target)
    assert label_doubt(found, [0.8, np.nan, 0.8, np.nan] if np.isnan(label[1]) else [0.8] * 4) == pytest.approx([doubt])
    assert label_doubt(found, None).tolist() == [0.0]
    with pytest.raises(ValueError, match="label_variance must be 0 or more"):
        label_doubt(found, [-0.1] * 4)


def test_a_judge_without_an_error_on_ten_labels_is_given_one_of_eleven():
    labels = rows([1.0] * 10, 1.0, target="new")
    assert unseen_errors(labels, labels.f, np.ones(1), rate=True) == pytest.approx([1 / 110])
    erring = rows([0.0] * 5 + [1.0] * 5, 1.0, target="new")
    assert unseen_errors(erring, erring.f, np.array([0.5]), rate=True).tolist() == [0.0]


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_a_judge_who_is_always_off_by_as_much_is_given_an_error_of_the_labels_size(unit):
    grades = rows((unit * np.arange(10.0)).tolist(), 1.0, target="new")
    echo = grades.y + 0.3 * unit
    variance = unit**2 * np.var(np.arange(10.0))
    assert unseen_errors(grades, echo, np.array([4.5 * unit]), rate=False) == pytest.approx([variance / 110])
    echo[:5] += unit * np.arange(5.0)  # off by different amounts on four, and by the common one on six
    assert unseen_errors(grades, echo, np.array([4.5 * unit]), rate=False) == pytest.approx([variance / 110])
    echo[5] += unit
    assert unseen_errors(grades, echo, np.array([4.5 * unit]), rate=False).tolist() == [0.0]


def test_a_system_whose_labels_agree_is_drawn_towards_the_others_as_by_two_clusters():
    """Four clusters each: variances of one cluster of 1 and 3 have 2 in common; (2 x 2 + 3 x 1) / 5 = 1.4."""
    psi = np.array([1.0, 3.0]) ** 0.5 / 4 * np.array([[1.0], [-1.0], [1.0], [-1.0]])
    leverage = np.full((4, 2), 1 / 12**0.5)  # three degrees of freedom
    assert agreement_guard(psi, leverage) == pytest.approx([(1.4 - 1.0) / 4, 0.0])
