"""PyArrow loads pandas for nobody who has no use for it, and knows series where somebody has."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import dialeval

BEGIN = "import sys, pyarrow as pa\nfrom dialeval.processes.arrow_alone import leave_pandas_out\n"


def says(code: str) -> list[str]:
    """The words that a process of its own prints."""
    return subprocess.run(
        [sys.executable, "-c", BEGIN + code], capture_output=True, text=True, check=True
    ).stdout.split()  # fmt: skip


@pytest.mark.parametrize(("begin", "loaded"), [("", "True"), ("leave_pandas_out()", "False")])
def test_tables_are_made_and_read_without_pandas(begin: str, loaded: str) -> None:
    """Should PyArrow load no pandas by itself one day, the first case fails, and the module can go."""
    code = (
        f"{begin}\ntable = pa.table({{'a': pa.array([1.0, None])}})\ntable.to_pylist()\nprint('pandas' in sys.modules)"
    )
    assert says(code) == [loaded]


def test_a_frame_has_its_series_known() -> None:
    """A NaN of a series is a null, and that of a list is none: taking one for the other would change numbers."""
    code = (
        "leave_pandas_out()\nframe = pa.table({'a': [1.0, None]}).to_pandas()\n"
        "print(pa.array(frame['a']).null_count, pa.array(list(frame['a'])).null_count)"
    )
    assert says(code) == ["1", "0"]


def test_whoever_loaded_pandas_keeps_it() -> None:
    code = "import pandas\nleave_pandas_out()\nprint(pa.array(pandas.Series([1.0, None])).null_count)"
    assert says(code) == ["1"]


def test_pandas_is_found_afterwards() -> None:
    assert says("leave_pandas_out()\nimport pandas\nprint(pandas.Series([1, 2]).sum())") == ["3"]


def test_whoever_makes_frames_loads_pandas_when_a_job_begins() -> None:
    """A module that loads it later, in a function, would hand over series that PyArrow does not know any more."""
    sources = [path.read_text() for path in Path(dialeval.__file__).parent.rglob("*.py")]
    functions = [
        node
        for text in sources
        if "import pandas" in text or "from pandas" in text
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    loaded = [
        ast.unparse(node)
        for function in functions
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    assert [one for one in loaded if one.split()[1].split(".")[0] == "pandas"] == []
    assert len(functions) > 100
