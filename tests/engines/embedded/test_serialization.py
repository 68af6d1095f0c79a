"""What is kept as plain data comes back as it was, and a file of anyone can run nothing."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import sparse

from dialeval.engines.embedded.serialization import packed, unpacked, versions_of


class Pair(NamedTuple):
    one: Any
    other: Any


@dataclass(frozen=True)
class Box:
    content: Any


class Unknown:
    pass


CLASSES = {"Pair": Pair, "Box": Box}
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.just("\ud800")
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(scalars | st.tuples(st.integers(), st.integers()), inner, max_size=3)
        | st.builds(Pair, inner, inner)
        | st.builds(Box, inner)
    ),
    max_leaves=10,
)
numbers = st.sampled_from([np.float64, np.float32, np.int64, np.int32, np.bool_]).flatmap(
    lambda dtype: arrays.arrays(dtype, arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
)


@given(values)
def test_values_come_back_as_they_were(value: Any) -> None:
    back = unpacked(packed(value, CLASSES, {}), CLASSES)
    assert back == value
    assert repr(back) == repr(value)


@given(st.lists(numbers, max_size=5))
def test_arrays_come_back_as_they_were(given_arrays: list[Any]) -> None:
    back = unpacked(packed(given_arrays, {}, {}), {})
    for found, expected in zip(back, given_arrays, strict=True):
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        assert found.tobytes() == expected.tobytes()


def test_sparse_arrays_come_back_as_they_were() -> None:
    rows = sparse.csr_array(np.array([[0.0, 1.5, 0.0], [0.0, 0.0, 0.0], [2.0, 0.0, -1.0]]))
    back = unpacked(packed(rows, {}, {}), {})
    assert type(back) is type(rows)
    np.testing.assert_array_equal(back.toarray(), rows.toarray())


def test_what_is_one_object_stays_one() -> None:
    shared = Box(np.arange(3))
    back = unpacked(packed([Box(shared), shared, Pair(shared, 1)], CLASSES, {}), CLASSES)
    assert back[0].content is back[1] is back[2].one


def test_the_same_value_is_the_same_file() -> None:
    value = {"a": [Box(np.arange(5.0)), (1, 2.5)], 3: None}
    assert packed(value, CLASSES, {}) == packed(value, CLASSES, {})


def test_versions_are_read_without_the_classes_of_the_value() -> None:
    assert versions_of(packed(Box(1), CLASSES, {"file": 3, "learning": 7})) == {"file": 3, "learning": 7}
    with pytest.raises(ValueError, match="KeyError"):
        versions_of(a_file({}))


@pytest.mark.parametrize("value", [Unknown(), {1, 2}, b"bytes", np.array(["text"]), np.array([None]), len, 1j])
def test_what_is_no_plain_data_is_not_written(value: object) -> None:
    with pytest.raises(TypeError, match="cannot be stored as plain data"):
        packed([value], CLASSES, {})


def a_file(structure: object, **more: Any) -> bytes:
    content = io.BytesIO()
    raw = structure if isinstance(structure, bytes) else json.dumps(structure).encode()
    np.savez(content, structure=np.frombuffer(raw, dtype=np.uint8), **more)
    return content.getvalue()


COUNTING = {"af8": np.arange(4.0), "ai8": np.array([0, 1, 2, 3])}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"text",
        b"PK\x03\x04 and no more",
        a_file(b"no JSON"),
        a_file(b"[" * 100_000),
        a_file({"object": ["Popen", {"args": "touch forbidden"}]}),
        a_file({"object": ["Box", {"no": 1, "two": [2]}], "array": []}),
        a_file({"object": ["Box"]}),
        a_file({"object": ["Pair", {"one": 1}]}),
        a_file({"again": 7}),
        a_file({"nothing": 1}),
        a_file({}),
        a_file({"array": ["<f8", 0, [5]]}, **COUNTING),
        a_file({"array": ["<f8", -1, [2]]}, **COUNTING),
        a_file({"array": ["<f8", 0, [-1]]}, **COUNTING),
        a_file({"array": ["<f8", 0, [2**40, 2**40]]}, **COUNTING),
        a_file({"array": ["<f4", 0, [1]]}, **COUNTING),
        a_file({"array": ["<f8", 0, [1]]}, af8=np.array(["text"])),
        a_file({"array": ["<f8", 0, [1]]}, af8=np.array([[1.0]])),
        a_file({"sparse": [[1, 2], ["<f8", 0, [1]], ["<i8", 3, [1]], ["<i8", 0, [2]]]}, **COUNTING),
        a_file({"sparse": [[1, -2], ["<f8", 0, [1]], ["<i8", 0, [1]], ["<i8", 0, [2]]]}, **COUNTING),
        a_file({"dict": [[{"dict": []}, 1]]}),
        packed(list(range(10_000)), {}, {})[:-10],
        packed(list(range(10_000)), {}, {})[:2000],
    ],
)
def test_a_damaged_or_forged_file_is_refused(content: bytes) -> None:
    with pytest.raises(ValueError, match=r"^\w+: "):
        unpacked(content, CLASSES)


class _Trap:
    def __reduce__(self) -> Any:
        return (pytest.fail, ("a file ran code",))


def test_pickles_within_are_not_opened() -> None:
    content = io.BytesIO()
    np.savez(content, structure=np.array([_Trap()], dtype=object))
    with pytest.raises(ValueError, match="allow_pickle=False"):
        unpacked(content.getvalue(), CLASSES)


def test_bytes_that_are_flipped_are_noticed_or_harmless() -> None:
    rng = np.random.default_rng(0)
    whole = packed({"a": [Box(np.arange(50.0)), "text" * 9]}, CLASSES, {})
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        assert archive.testzip() is None
    noticed = 0
    for place in rng.integers(len(whole), size=300):
        spoiled = bytearray(whole)
        spoiled[place] ^= 1 << int(rng.integers(8))
        try:
            unpacked(bytes(spoiled), CLASSES)
        except ValueError:
            noticed += 1
    assert noticed > 100
