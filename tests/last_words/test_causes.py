"""The cause of a failure is found in logs, whatever stands around it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dialeval.last_words.causes import MOST_LINES, WIDEST, cause_in, cause_in_cluster_log, last_lines

TRACEBACK = """read 3 rows
Traceback (most recent call last):
  File "/usr/lib/python3.11/runpy.py", line 198, in _run_module_as_main
  File "/home/me/dialeval/stages/parse_scale.py", line 33, in parse_scale
    raise ValueError(text)
ValueError: a number was expected
and this is its second line
"""


def test_what_a_stage_says_last_is_the_cause() -> None:
    log = (
        "error in answer: an old one\n12 answers\nerror in answer: 2 of 2 requests got no answer:\n  connection: 2\n\n"
    )
    assert cause_in(log) == ["2 of 2 requests got no answer:", "  connection: 2"]


def test_what_a_stage_does_not_understand_is_the_cause() -> None:
    """Options are wrong where the project was updated while a run was at work."""
    text = "usage: python [-h]\n  --table FILE\npython -m dialeval.stages parse: error: unrecognized"
    assert cause_in(text + " arguments: --rule x\n") == ["unrecognized arguments: --rule x"]


def test_the_last_line_of_a_traceback_is_told_with_its_place() -> None:
    assert cause_in(TRACEBACK) == [
        "ValueError: a number was expected (parse_scale.py, line 33)",
        "and this is its second line",
    ]


def test_a_traceback_that_was_cut_has_no_cause() -> None:
    assert cause_in(TRACEBACK.partition("ValueError")[0]) == []


def test_a_log_without_an_error_has_no_cause_and_its_last_lines_are_told() -> None:
    log = "10 of 20\r20 of 20\nall done\n\n"
    assert cause_in(log) == []
    assert last_lines(log) == ["20 of 20", "all done"]


def test_slurms_own_words_are_told_before_other_lines() -> None:
    log = "Building DAG...\nslurmstepd: error: *** JOB 12 ON n1 CANCELLED DUE TO TIME LIMIT ***\nElapsed time: 0\n"
    assert cause_in_cluster_log(log) == ["slurmstepd: error: *** JOB 12 ON n1 CANCELLED DUE TO TIME LIMIT ***"]


def test_a_missing_program_on_a_node_is_told() -> None:
    log = "Using shell: /usr/bin/bash\n/bin/sh: line 1: /opt/venv/bin/python: No such file or directory\n"
    assert cause_in_cluster_log(log) == ["/bin/sh: line 1: /opt/venv/bin/python: No such file or directory"]


@given(st.lists(st.text(max_size=600), max_size=40))
def test_no_cause_is_longer_than_a_screen(lines: list[str]) -> None:
    for text in ("\n".join(lines), "error in answer: " + "\n".join(lines)):
        for told in (cause_in(text), cause_in_cluster_log(text), last_lines(text)):
            assert len(told) <= MOST_LINES + 1
            assert all(len(line) <= WIDEST + 4 for line in told)
