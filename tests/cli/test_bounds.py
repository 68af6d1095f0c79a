"""Bounds on the differences of two runs: the exit status of `dialeval compare --fail-if`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from two_runs import battles, drawn_passes, passes, write_run

from dialeval.cli.main import main
from dialeval.cli.results import exceeded, parse_bounds


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs: `worse` passes far less often in the second, `same` has the same verdicts, `noisy` others as often."""
    folder = tmp_path_factory.mktemp("bounds")
    same = drawn_passes(np.random.default_rng(1), 0.5, 60)
    for seed, (name, share) in enumerate((("old", 0.9), ("new", 0.4))):
        rng = np.random.default_rng(seed)
        games = [(f"c{number}", "worse", "same", "left" if rng.random() < share else "right") for number in range(20)]
        write_run(
            folder / name,
            [
                *passes("judge", "worse", drawn_passes(rng, share, 60)),
                *passes("judge", "same", same),
                *passes("judge", "noisy", drawn_passes(rng, 0.5, 60)),
                *battles("judge", games),
            ],
        )
    return folder


def compare(runs: Path, *bounds: str) -> int:
    options = [option for bound in bounds for option in ("--fail-if", bound)]
    return main(["compare", str(runs / "old"), str(runs / "new"), "--to", str(runs / "out"), *options])


def test_a_system_that_became_worse_fails(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert compare(runs, "unieval/pass_rates[worse] < -0.05") == 1
    printed = capsys.readouterr().out
    assert "1 difference not within bounds" in printed
    assert "unieval/pass_rates:" in printed
    assert "bound unieval/pass_rates[worse] < -0.05" in printed


def test_equal_verdicts_are_within_bounds_beyond_what_so_many_cases_can_show(runs: Path) -> None:
    assert compare(runs, "unieval[same] < -0.05", "unieval[same] > 0.05") == 0
    assert compare(runs, "unieval[same] < -0.01") == 1  # 60 equal verdicts have an interval of 0.046
    assert compare(runs, "unieval[same] < 0.01") == 1  # an improvement is asked for, and there is none


def test_a_difference_that_could_be_worse_than_the_bound_fails(runs: Path) -> None:
    assert compare(runs, "unieval[noisy] < -0.01") == 1  # the interval is wide: not shown to be within the bound
    assert compare(runs, "unieval[noisy] < -0.6") == 0
    assert compare(runs, "unieval[noisy] > 0.6") == 0


def test_a_pair_is_named_by_its_system_or_in_full() -> None:
    row = {"table": "gteval/win_rates", "measure": "win_or_tie", "system": "heron beside human"}
    named = ("[heron]", "[heron beside human]", "[heron*]", "")
    assert [parse_bounds([f"gteval/win_rates:win_or_tie{one} < 0"])[0].covers(row) for one in named] == [True] * 4
    assert not parse_bounds(["gteval/win_rates:win_or_tie[human] < 0"])[0].covers(row)


def test_bounds_come_from_a_file_too(runs: Path, tmp_path: Path) -> None:
    file = tmp_path / "bounds.txt"
    file.write_text("# gate of the release\nunieval[same] < -0.05\n\nunieval[worse] < -0.05  # fails\n")
    assert compare(runs, f"@{file}") == 1
    file.write_text("unieval[same] < -0.05\n", encoding="utf-8-sig")  # as editors of Windows save it
    assert compare(runs, f"@{file}") == 0


@pytest.mark.parametrize(
    ("bound", "message"),
    [
        ("unieval == 0.1", "is not a bound; write TABLE < NUMBER"),
        ("unieval < five", "is not a bound"),
        ("unievl/pass_rates < 0", "did you mean 'unieval/pass_rates'"),
        ("unieval[wors] < 0", "this number is missing in one or both runs; no system wors; did you mean 'worse'?"),
        ("unieval/pass_rates:rate[worse] < 0", "this number is missing in one or both runs; no measure rate; known: "),
        ("@missing.txt", "missing.txt: the file cannot be read"),
    ],
)
def test_a_wrong_bound_is_an_error_and_no_pass(
    runs: Path, capsys: pytest.CaptureFixture[str], bound: str, message: str
) -> None:
    assert compare(runs, bound) not in (0, None)
    assert message in capsys.readouterr().err


def test_without_bounds_a_comparison_passes(runs: Path) -> None:
    assert compare(runs) == 0


def test_a_difference_without_an_interval_is_not_shown_to_be_within_a_bound() -> None:
    row = {
        "table": "arena/ratings", "measure": "estimate", "system": "undefeated", "judge": "judge", "scope": "N = 8",
        "value_a": 1500.0, "value_b": 1500.0, "difference": 0.0, "ci_low": None, "ci_high": None, "p": None,
        "note": "one of the two numbers has no interval",
    }  # fmt: skip
    (line,) = exceeded(parse_bounds(["arena/ratings < -20"]), [row])
    assert "no interval (one of the two numbers has no interval)" in line
    assert exceeded(parse_bounds(["arena/ratings < -20"]), [row | {"p": 1.0}]) == []  # no value differs
    human = row | {"system": "human"}
    assert len(exceeded(parse_bounds(["arena < -20"]), [row, human])) == 1  # the reference is no system
    assert len(exceeded(parse_bounds(["arena[human] < -20"]), [row, human])) == 1
