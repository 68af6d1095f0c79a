"""What an endpoint says is read as Python's own library reads it, to the last digit."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialeval.engines.quick_json import read_json

ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)


@given(ANY_JSON, st.booleans())
def test_what_was_written_is_read(content: object, ascii_only: bool) -> None:
    written = json.dumps(content, ensure_ascii=ascii_only).encode("utf-8", "replace")
    assert repr(read_json(written)) == repr(json.loads(written))


@given(st.from_regex(r"\A-?(0|[1-9][0-9]{0,25})(\.[0-9]{1,30})?([eE][+-]?[0-9]{1,3})?\Z"))
def test_numbers_have_the_value_that_python_gives_them(number: str) -> None:
    assert repr(read_json(number.encode())) == repr(json.loads(number))


@given(st.binary(max_size=40) | st.text(alphabet='{}[]",:0.eE+-truefalsn \\u\n').map(str.encode))
def test_what_is_no_json_is_none(content: bytes) -> None:
    try:
        expected = json.loads(content)
    except ValueError:
        with pytest.raises(ValueError, match=r".*"):
            read_json(content)
    else:
        assert repr(read_json(content)) == repr(expected)


def test_what_the_quick_library_refuses_and_python_takes() -> None:
    for text in ('{"a": NaN}', '"\\ud800"', "[" * 500 + "]" * 500, '{"a": 1, "a": 2}', " [1] \n"):
        assert repr(read_json(text.encode())) == repr(json.loads(text))
    assert read_json(b"\xef\xbb\xbf[1]") == [1]
    assert read_json('{"a": 1}'.encode("utf-16")) == {"a": 1}
    assert math.isinf(read_json(b"[-Infinity]")[0])
    with pytest.raises(RecursionError):
        read_json(b"[" * 100_000)
