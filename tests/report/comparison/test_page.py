"""The page of a comparison, in a real browser, and what its texts cannot do."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from report_browser import AXE, Browser
from two_runs import battles, drawn_passes, passes, write_items, write_run

from dialeval.errors import UserError
from dialeval.report.comparison import compare
from dialeval.report.comparison.page import about_verdicts
from dialeval.report.comparison.settings import changed_prompts

# The page of a comparison, in a real browser, and what its texts cannot do.

EVIL = '</style></script><script>window.pwned=1</script><img src=x onerror="window.pwned=1">{{7*7}}"\'&#x3c;‮'


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A comparison of two runs in which something moved, with evil names and texts."""
    rng = np.random.default_rng(0)
    folder = tmp_path_factory.mktemp("compared")
    for name, share in (("a", 0.2), ("b", 0.9)):
        rows = [
            *passes("judge", EVIL, drawn_passes(rng, share, 30)),
            *passes("judge", "bot", drawn_passes(rng, 0.5, 30)),
        ]
        games = [(f"c{number}", "bot", EVIL, "left" if rng.random() < share else "right") for number in range(20)]
        run = write_run(folder / name, [row | {"reason": EVIL} for row in [*rows, *battles("judge", games)]])
        write_items(run, {f"c{number:03d}/bot": [EVIL, f"{name} {number}"] for number in range(30)})
    compare(folder / "a", folder / "b", folder / "out")
    return folder


def test_words_in_the_terminal_and_the_files(compared: Path) -> None:
    words = compare(compared / "a", compared / "b", compared / "out")
    assert "changed (p < .05 without adjustment; by chance" in words
    assert "With Holm's adjustment" in words
    assert words.endswith(f"page: {compared / 'out' / 'index.html'}")
    tables = {"numbers", "verdicts", "changed_verdicts", "changes"}
    assert {path.name for path in (compared / "out").iterdir()} == {
        "index.html", *(f"{name}.{suffix}" for name in tables for suffix in ("csv", "parquet"))
    }  # fmt: skip


def test_the_same_comparison_is_the_same_page(compared: Path, tmp_path: Path) -> None:
    compare(str(compared / "a"), str(compared / "b"), str(tmp_path))
    for path in sorted(tmp_path.iterdir()):
        assert path.read_bytes() == (compared / "out" / path.name).read_bytes(), path.name


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (360, True)])
def test_the_page_loads_nothing_and_is_accessible(compared: Path, browser: Browser, width: int, dark: bool) -> None:
    address = (compared / "out" / "index.html").as_uri()
    browser.look(width, 800, dark=dark)
    browser.open(address, until="document.querySelector('#left-out')")
    browser.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; }); 0")
    assert browser.requested() == [address]
    assert browser.complaints() == []
    assert browser.evaluate("window.pwned === undefined")
    assert browser.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert browser.evaluate("document.querySelector('#moved tbody').rows.length") > 0
    if AXE is not None:
        assert browser.barriers() == []


def test_a_link_leads_to_a_heading_that_is_seen(compared: Path, browser: Browser) -> None:
    browser.look(360, 700)
    browser.open((compared / "out" / "index.html").as_uri(), until="document.querySelector('#left-out')")
    browser.evaluate("location.hash = '#verdicts'; 0")
    seen = (
        "(() => { const box = document.querySelector('#verdicts h2').getBoundingClientRect();"
        "return document.elementFromPoint(box.x + 5, box.y + box.height / 2).tagName; })()"
    )
    browser.wait(f"{seen} === 'H2'")


def test_runs_without_anything_in_common(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    first = write_run(tmp_path / "a", passes("judge", "bot", drawn_passes(rng, 0.5, 5)))
    other = write_run(tmp_path / "b", passes("other", "bot", drawn_passes(rng, 0.5, 5)))
    with pytest.raises(UserError, match="no results in common"):
        compare(first, other, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("out", ["a", "a/tables", "b/tables/arena", "a/../b/figures"])
def test_a_comparison_does_not_stand_among_a_run_s_own_files(out: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    first, other = (write_run(tmp_path / name, passes("judge", "bot", drawn_passes(rng, 0.5, 5))) for name in "ab")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(UserError, match="is in the results folder .* of a run; name another folder, or .*comparison"):
        compare(first, other, tmp_path / out)
    assert sorted(tmp_path.rglob("*")) == before
    compare(first, other, other / "comparison" / "with a")


def test_half_a_run_and_tables_of_another_version_are_compared_by_what_they_have(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    games = [(f"c{number}", "bot", "two", "left") for number in range(10)]
    first = write_run(tmp_path / "a", [*passes("judge", "bot", drawn_passes(rng, 0.5, 9)), *battles("judge", games)])
    other = write_run(tmp_path / "b", passes("judge", "bot", drawn_passes(rng, 0.5, 9)))
    words = compare(first, other, tmp_path / "out")
    assert f"only {first} has 1 table: arena/ratings" in words
    table = other / "tables" / "unieval" / "pass_rates.parquet"
    table.write_bytes(b"PAR1 not a table")
    words = compare(first, other, tmp_path / "out")
    assert "not compared:" in words
    assert str(table) in words
    assert "verdicts on the same cases" in words


# Sentences of a comparison: verdicts add up, and prompts that differ by what their cases bring are no change.


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ((10, 10, 0, 0, 0), "10 verdicts on the same cases: 10 the same (100.0%), 0 changed."),
        ((36, 22, 2, 0, 0), "2 changed, 12 differ by less than half of the scale."),
        ((10, 5, 2, 2, 1), "2 changed, 3 could be parsed in only one run."),
    ],
)
def test_all_verdicts_on_the_same_cases_are_accounted_for(counts: tuple[int, ...], words: str) -> None:
    row = dict(zip(("n_both", "n_same", "n_changed", "n_lost", "n_gained"), counts, strict=True))
    comparison: Any = SimpleNamespace(verdicts=[row])
    assert about_verdicts(comparison).endswith(words)


EIGHT = "user: Is it human?\nuser: Judge these 8 utterances."


@pytest.mark.parametrize(
    ("after", "changed"),
    [
        (EIGHT, False),
        (f"{EIGHT}\n\n{EIGHT.replace('8', '6')}", False),
        (EIGHT.replace("8", "6"), True),  # nothing says that the number comes from a case
        (f"{EIGHT}\n\n{EIGHT.replace('human', 'true')}", True),
    ],
)
def test_further_lengths_of_dialogues_are_no_other_prompt(after: str, changed: bool) -> None:
    assert changed_prompts(EIGHT, after) is changed
    assert changed_prompts(after, EIGHT) is changed
