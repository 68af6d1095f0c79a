"""Learned objects stored as numbers and texts, so that reading a file cannot run code.

An object becomes JSON and a few arrays; only objects of classes that the reader names come back, from their fields
alone. A file that someone else made can hold wrong numbers, but no code: every index that compiled code would trust is
checked.

In the JSON, what JSON has not is an object with one key:

    {"tuple": [...]}            {"dict": [[key, value], ...]}
    {"array": [dtype, where it begins among the arrays of its dtype, shape]}
    {"sparse": [shape, values, columns, ends of rows]}
    {"object": [class, fields]}     {"again": number of an object that came before}
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from scipy import sparse

_VERSIONS, _STRUCTURE = "versions", "structure"
_DTYPES = ("|b1", "<i4", "<i8", "<f4", "<f8")
_FAST = 1
"""Of zlib's levels the fastest, which makes floats nearly as small as the slowest."""


def packed(value: object, classes: Mapping[str, type], versions: Mapping[str, int]) -> bytes:
    """Return a file with a value: the arrays of an .npz, one for each dtype, and the rest as JSON in another.

    Args:
        versions: of the layout, which `versions_of` reads alone.
        value: built of None, numbers, texts, lists, tuples, dictionaries, arrays of numbers, sparse arrays in rows, and
            objects.
        classes: the classes of the objects, by the name that the file gives them.

    Raises:
        TypeError: there is something else in it.
    """
    writer = _Writer(classes)
    arrays = {_VERSIONS: _json_array(dict(versions)), _STRUCTURE: _json_array(writer.plain(value))}
    arrays |= {f"a{dtype[1:]}": np.concatenate(parts) for dtype, parts in writer.arrays.items()}
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED, compresslevel=_FAST) as archive:
        for name, array in arrays.items():
            member = zipfile.ZipInfo(f"{name}.npy")  # without the time: what is equal is the same file
            member.compress_type, member.file_size = zipfile.ZIP_DEFLATED, array.nbytes
            member._compresslevel = _FAST  # type: ignore[attr-defined]
            with archive.open(member, "w") as file:
                np.lib.format.write_array(file, array, allow_pickle=False)
    return content.getvalue()


def versions_of(content: bytes) -> dict[str, int]:
    """Return the versions that `packed` wrote.

    Raises:
        ValueError: it is no such file, or a damaged one.
    """
    return cast(dict[str, int], _checked(lambda: _read_json(_opened(content), _VERSIONS)))


def unpacked(content: bytes, classes: Mapping[str, type]) -> Any:
    """Return the value that `packed` wrote.

    Args:
        classes: the classes that objects may have; no other is looked up.

    Raises:
        ValueError: it is no such file, or a damaged one.
    """

    def read() -> Any:
        archive = _opened(content)
        arrays = {dtype: archive[name] for dtype in _DTYPES if (name := f"a{dtype[1:]}") in archive}
        if any(array.dtype.str != dtype or array.ndim != 1 for dtype, array in arrays.items()):
            raise ValueError("an array does not have the type in its name")
        return _Reader(classes, arrays).value(_read_json(archive, _STRUCTURE))

    return _checked(read)


def _opened(content: bytes) -> Any:
    return np.load(io.BytesIO(content), allow_pickle=False)


def _checked(read: Callable[[], Any]) -> Any:
    try:
        return read()
    except Exception as error:  # a damaged file can be wrong in any way
        raise ValueError(f"{type(error).__name__}: {error}") from error


def _json_array(value: Any) -> npt.NDArray[np.uint8]:
    return np.frombuffer(json.dumps(value, separators=(",", ":")).encode(), dtype=np.uint8)


def _read_json(archive: Mapping[str, npt.NDArray[Any]], name: str) -> Any:
    return json.loads(archive[name].tobytes())


class _Writer:
    """Turns values into JSON and collects arrays."""

    def __init__(self, classes: Mapping[str, type]) -> None:
        self.arrays: dict[str, list[npt.NDArray[Any]]] = {}
        self._names = {of: name for name, of in classes.items()}
        self._sizes: dict[str, int] = {}
        self._seen: dict[int, int] = {}
        self._held: list[object] = []

    def plain(self, value: Any) -> Any:
        of = type(value)
        if value is None or of in (bool, int, float, str):
            return value
        if of is list:
            return [self.plain(element) for element in value]
        if of is tuple:
            return {"tuple": [self.plain(element) for element in value]}
        if of is dict:
            return {"dict": [[self.plain(key), self.plain(element)] for key, element in value.items()]}
        if isinstance(value, np.bool_ | np.integer | np.floating):
            return value.item()
        if of is np.ndarray:
            return {"array": self._array(value)}
        if of is sparse.csr_array:
            parts = [self._array(part) for part in (value.data, value.indices, value.indptr)]
            return {"sparse": [list(map(int, value.shape)), *parts]}
        if of in self._names:
            return self._object(value)
        raise TypeError(f"a {of.__name__} cannot be stored as plain data")

    def _array(self, array: npt.NDArray[Any]) -> list[Any]:
        dtype = array.dtype.newbyteorder("<").str
        if dtype not in _DTYPES:
            raise TypeError(f"an array of {array.dtype} cannot be stored as plain data")
        start = self._sizes.get(dtype, 0)
        self._sizes[dtype] = start + array.size
        self.arrays.setdefault(dtype, []).append(np.ascontiguousarray(array, dtype=dtype).ravel())
        return [dtype, start, list(array.shape)]

    def _object(self, value: Any) -> Any:
        if id(value) in self._seen:
            return {"again": self._seen[id(value)]}
        state = _state(value)
        fields = {name: self.plain(element) for name, element in state.items()}
        self._seen[id(value)] = len(self._seen)  # in the order in which objects are complete, as they are read
        self._held.append(value)
        return {"object": [self._names[type(value)], fields]}


def _state(value: Any) -> dict[str, Any]:
    if isinstance(value, tuple):  # a named one
        return dict(value._asdict())  # type: ignore[attr-defined]
    follows = {name for name in vars(value) if isinstance(getattr(type(value), name, None), cached_property)}
    return {name: field for name, field in vars(value).items() if name not in follows}


class _Reader:
    """Turns JSON and arrays back into values."""

    def __init__(self, classes: Mapping[str, type], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        self._classes, self._arrays = classes, arrays
        self._objects: list[object] = []

    def value(self, plain: Any) -> Any:
        if isinstance(plain, list):
            return [self.value(element) for element in plain]
        if not isinstance(plain, dict):
            return plain
        ((kind, content),) = plain.items()
        match kind:
            case "tuple":
                return tuple(self.value(element) for element in content)
            case "dict":
                return {self.value(key): self.value(element) for key, element in content}
            case "array":
                return self._array(content)
            case "sparse":
                shape, *parts = content
                values, columns, ends = map(self._array, parts)
                rows = sparse.csr_array((values, columns, ends), shape=tuple(shape))
                rows.check_format(full_check=True)
                return rows
            case "object":
                return self._object(*content)
            case "again":
                return self._objects[content]
        raise ValueError(f"{kind!r:.40} is not a kind of value")

    def _array(self, content: Any) -> npt.NDArray[Any]:
        dtype, start, shape = content
        size = int(np.prod(shape, dtype=np.int64))
        if start < 0 or min(shape, default=0) < 0:
            raise ValueError("an array has a negative start or size")
        return self._arrays[dtype][start : start + size].reshape(shape)

    def _object(self, name: str, fields: dict[str, Any]) -> object:
        of = self._classes[name]
        state = {field: self.value(element) for field, element in fields.items()}
        made = _made(of, state)
        self._objects.append(made)
        return made


def _made(of: type, state: dict[str, Any]) -> object:
    if issubclass(of, tuple):
        return of(**state)
    made: Any = object.__new__(of)
    if hasattr(of, "__setstate__"):
        made.__setstate__(state)
    else:
        made.__dict__.update(state)
    return made
