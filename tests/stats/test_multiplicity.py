"""Corrections for many tests, against statsmodels, and what each of them promises."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from dialeval.stats.multiplicity import benjamini_hochberg, holm

P_VALUES = st.lists(st.floats(0.0, 1.0), min_size=1, max_size=30)


@given(P_VALUES)
@settings(max_examples=8)  # statsmodels takes its time
def test_both_corrections_are_those_of_statsmodels(p_values):
    np.testing.assert_allclose(holm(p_values), multipletests(p_values, method="holm")[1], atol=1e-12)
    np.testing.assert_allclose(benjamini_hochberg(p_values), multipletests(p_values, method="fdr_bh")[1], atol=1e-12)


@given(P_VALUES, st.integers(1, 5))
def test_a_missing_p_value_counts_in_no_family(p_values, n_missing):
    for correct in (holm, benjamini_hochberg):
        with_gaps = correct([np.nan] * n_missing + p_values)
        assert np.isnan(with_gaps[:n_missing]).all()
        np.testing.assert_array_equal(with_gaps[n_missing:], correct(p_values))


def test_no_p_values_give_none():
    assert len(holm([])) == len(benjamini_hochberg([])) == 0


def test_what_is_no_p_value_is_refused():
    with pytest.raises(ValueError, match=r"p_values\[1\] is 1.5"):
        holm([0.5, 1.5])


def test_holm_holds_the_family_wise_error_and_benjamini_hochberg_the_share_of_false_claims():
    rng = np.random.default_rng(0)
    wrong, false_share = [], []
    for _ in range(2000):
        p = rng.random(20)
        wrong.append(holm(p).min() <= 0.05)
        p[:10] = rng.random(10) * 1e-3  # ten real differences
        claimed = benjamini_hochberg(p) <= 0.05
        false_share.append(claimed[10:].sum() / max(claimed.sum(), 1))
    assert np.mean(wrong) <= 0.065
    assert np.mean(false_share) <= 0.05
