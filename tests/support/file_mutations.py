"""Ways in which a good file goes wrong: as bytes, as lines, as cells of a table and as fields of JSON."""

from __future__ import annotations

import csv
import io
import json
import random
from collections.abc import Callable
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

Mutation = Callable[[random.Random, bytes], bytes]

PIECES = [b"\x00", b"\xff", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\xf0\x9f\x98\x80", b"\xf0\x9f", b"\r", b"\n", b"\r\n"]
PIECES += [
    b"\t",
    b'"',
    b'""',
    b"'",
    b",",
    b";",
    b":",
    b"\\",
    b"\\u0000",
    b"\\ud800",
    b"\\udc00\\ud800",
    b"\xe2\x80\xa8",
]
PIECES += [
    b"[" * 100_000,
    b"{" * 9,
    b"]",
    b"}",
    b"9" * 5000,
    b"-",
    b"1e999",
    b"NaN",
    b"null",
    b"\x1c",
    b"\x85",
    b" " * 40,
]

ODD_JSON = [
    "null",
    "true",
    "false",
    "{}",
    "[]",
    '""',
    '" "',
    '"None"',
    '"nan"',
    "NaN",
    "-Infinity",
    "Infinity",
    "-1",
    "0",
]
ODD_JSON += [
    "1e308",
    "-1e400",
    "0.1",
    "12",
    "9" * 30,
    "-" + "9" * 5000,
    "1" * 18,
    '"\\ud800"',
    '"\\udfff x"',
    '"\\u0000"',
]
ODD_JSON += [
    '"\\ud83d\\ude00"',
    "[" * 100_000,
    "[" * 40 + "]" * 40,
    '{"a":' * 40 + "1" + "}" * 40,
    '"' + "x" * 200_000 + '"',
]
ODD_JSON += [
    '["a", 1]',
    '{"text": "x"}',
    '[{"speaker": 1, "text": "x"}]',
    "[null]",
    "3000000000",
    '"\\u2028"',
    "[[[]]]",
]

ODD_CELLS = [
    "",
    " ",
    "nan",
    "None",
    "inf",
    "-inf",
    "1e999",
    "-1",
    "9" * 5000,
    "0x10",
    "1_0",
    "1,5",
    "٣",
    "½",
    "true",
    "[]",
]
ODD_CELLS += [
    '["a", "b"]',
    '["\\ud800"]',
    "[" * 100_000,
    "x" * 140_000,
    "a\nb",
    "a\r\nb",
    "a\tb",
    'a"b',
    '"',
    "\u2028",
    "\x0b",
]
ODD_CELLS += [
    "MT-1",
    "MT-1;a",
    ";;",
    "EM",
    "Choice: Yes",
    "human:",
    ":",
    "human: ",
    "=1+1",
    "\ufeff",
    "3000000000",
    "[null]",
]


def mutated(drawn: random.Random, content: bytes, kind: str) -> bytes:
    """Return a file's content after one to three accidents of its kind (`json`, `csv`, `tsv`, `xlsx`, `parquet`)."""
    ways = _WAYS[kind]
    for _ in range(drawn.choice((1, 1, 1, 2, 3))):
        try:
            content = drawn.choice(ways)(drawn, content)
        except Exception:  # it is no JSON, table or archive any more
            content = _bytes(drawn, content)
    return content


def _bytes(drawn: random.Random, content: bytes) -> bytes:
    place = drawn.randrange(len(content) + 1)
    length = min(drawn.choice((1, 1, 2, 5, 50)), len(content) - place)
    way = drawn.randrange(7)
    if way == 0:
        return content[:place]
    if way == 1:
        return content[:place] + content[place + length :]
    if way == 2:
        return content[:place] + drawn.choice(PIECES) + content[place:]
    if way == 3:
        return content[:place] + drawn.choice(PIECES) + content[place + length :]
    if way == 4:
        return content[:place] + drawn.randbytes(length) + content[place + length :]
    if way == 5:
        return content[:place] + content[place : place + 50] * 2 + content[place + 50 :]
    return drawn.choice((b"", b" ", b"\n\n", b"\xff\xfe", b"PK\x03\x04", b"{}", b"[]", b"0", content * 2))


def _encoding(drawn: random.Random, content: bytes) -> bytes:
    text = content.decode("utf-8", errors="replace")
    name = drawn.choice(("utf-16", "utf-16-le", "utf-32", "utf-8-sig", "latin-1", "cp1252", "utf-7"))
    return text.encode(name, errors="replace")


def _lines(drawn: random.Random, content: bytes) -> bytes:
    lines = content.split(b"\n")
    one, other = drawn.randrange(len(lines)), drawn.randrange(len(lines))
    way = drawn.randrange(7)
    if way == 0:
        return content.replace(b"\n", drawn.choice((b"\r\n", b"\r", b"\n\n", b"\n\r", b"\x0b", b" \n")))
    if way == 1:
        del lines[one]
    elif way == 2:
        lines.insert(one, lines[other])
    elif way == 3:
        lines[one], lines[other] = lines[other], lines[one]
    elif way == 4:
        lines[one] = b""
    elif way == 5:
        lines[one] = lines[one] + lines[other]
    else:
        lines = lines[:one]
    return b"\n".join(lines)


def _json(drawn: random.Random, content: bytes) -> bytes:
    """Change one field of one JSON value of the file, which may be one value or one on each line."""
    text = content.decode("utf-8")
    try:
        json.loads(text)
        parts, number = [text], 0
    except json.JSONDecodeError:
        parts = text.split("\n")
        number = drawn.choice([place for place, part in enumerate(parts) if part.strip()] or [0])
    value = json.loads(parts[number])
    holes: list[str] = []
    value = _with_odd_field(drawn, value, holes)
    parts[number] = json.dumps(value, ensure_ascii=drawn.random() < 0.5)
    for odd in holes:
        parts[number] = parts[number].replace('"\\u0001hole"', odd, 1).replace('"\x01hole"', odd, 1)
    return "\n".join(parts).encode("utf-8", errors="surrogatepass")


def _with_odd_field(drawn: random.Random, value: Any, holes: list[str]) -> Any:
    if not isinstance(value, dict | list) or not value or drawn.random() < 0.15:
        holes.append(drawn.choice(ODD_JSON))
        return "\x01hole"
    places = list(value) if isinstance(value, dict) else list(range(len(value)))
    place = drawn.choice(places)
    way = drawn.random()
    if way < 0.7:
        value[place] = _with_odd_field(drawn, value[place], holes)
    elif way < 0.8:
        del value[place]
    elif isinstance(value, list):
        value.insert(place, value[drawn.choice(places)])
    elif way < 0.9:
        value[drawn.choice(("", "id", str(place).upper(), str(place) + "s", "indices", "\x00"))] = value.pop(place)
    else:
        value[place] = value[drawn.choice(places)]
    return value


def _cells(drawn: random.Random, content: bytes, delimiter: str) -> bytes:
    text = content.decode("utf-8")
    if delimiter == "\t":
        rows = [line.split("\t") for line in text.split("\n")]
    else:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    one, other = drawn.choice(rows), drawn.choice(rows)
    way = drawn.random()
    if not one or way < 0.55:
        place = drawn.randrange(len(one) + 1)
        one[place : place + 1] = [drawn.choice(ODD_CELLS)]
    elif way < 0.65:
        del one[drawn.randrange(len(one))]
    elif way < 0.75:
        one.insert(drawn.randrange(len(one) + 1), drawn.choice(other or [""]))
    elif way < 0.85:
        place = drawn.randrange(len(rows[0]) or 1)
        rows = [row[:place] + row[place + 1 :] for row in rows]
    elif way < 0.95:
        one[drawn.randrange(len(one))] = drawn.choice(other or [""])
    else:
        rows[0] = [drawn.choice((name, name.upper(), name + " ", drawn.choice(rows[0] or [""]))) for name in rows[0]]
    if delimiter == "\t" and drawn.random() < 0.7:
        return "\n".join("\t".join(row) for row in rows).encode()
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=delimiter, lineterminator=drawn.choice(("\n", "\r\n"))).writerows(rows)
    return out.getvalue().encode()


def _csv(drawn: random.Random, content: bytes) -> bytes:
    return _cells(drawn, content, ",")


def _tsv(drawn: random.Random, content: bytes) -> bytes:
    return _cells(drawn, content, "\t")


def _inside_workbook(drawn: random.Random, content: bytes) -> bytes:
    """Change one of the files that a workbook is packed of."""
    with ZipFile(io.BytesIO(content)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    inner = [name for name in parts if "sheet" in name.lower() or "shared" in name.lower()] or list(parts)
    name = drawn.choice(inner if drawn.random() < 0.7 else list(parts))
    way = drawn.random()
    if way < 0.15:
        del parts[name]
    elif way < 0.5:
        text = parts[name]
        for old, new in drawn.sample(_IN_SHEETS, 4):
            text = text.replace(old, new, drawn.choice((1, 1, -1)))
        parts[name] = text
    else:
        parts[name] = _bytes(drawn, parts[name])
    return packed(parts)


def _inside_archive(drawn: random.Random, content: bytes) -> bytes:
    """Damages a JSON file of an archive."""
    with ZipFile(io.BytesIO(content)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    damaged = drawn.choice(list(parts))
    parts[damaged] = mutated(drawn, parts[damaged], "json")
    if drawn.random() < 0.1:
        del parts[damaged]
    return packed(parts)


def packed(parts: dict[str, bytes]) -> bytes:
    """Return files as a zip archive."""
    out = io.BytesIO()
    with ZipFile(out, "w", ZIP_DEFLATED) as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    return out.getvalue()


_IN_SHEETS = [
    (b'r="2"', b'r="999999999"'), (b'r="2"', b'r="-5"'), (b'r="A2"', b'r="ZZZ2"'), (b'r="B2"', b'r="XFD1048577"'),
    (b'r="A2"', b'r="A2A"'), (b'r="A1"', b'r=""'), (b'r="3"', b'r="x"'), (b't="s"', b't="n"'), (b't="s"', b't="b"'),
    (b't="s"', b't="d"'), (b't="s"', b't="e"'), (b't="s"', b't="inlineStr"'), (b"<v>", b"<v>99"), (b"<v>", b"<v>-"),
    (b"<v>", b"<f>1+1</f><v>"), (b"<t>", b"<t>&#55296;"), (b"<t>", b"<t>_xD800_"), (b"<t>", b"<t>&amp;&lol;"),
    (b"<t>[", b"<t>" + b"[" * 50_000), (b"<t>", b"<t>" + b"x" * 40_000), (b"utf-8", b"utf-16"), (b"</row>", b""),
    (b"<?xml", b'<!DOCTYPE x [<!ENTITY lol "lol">]><?xml'), (b"sheetData", b"sheetdata"),
    (b'ref="A1', b'ref="A1:A9999999'),
    (b"<row", b"<row><row"), (b"count=", b"count=9"), (b"rId1", b"rId9"), (b'target="', b'target="../../'), (b"=", b""),
]  # fmt: skip
_WAYS: dict[str, list[Mutation]] = {
    "json": [_bytes, _encoding, _lines, _json, _json, _json, _json],
    "csv": [_bytes, _encoding, _lines, _csv, _csv, _csv],
    "tsv": [_bytes, _encoding, _lines, _tsv, _tsv, _tsv],
    "xlsx": [_bytes, _inside_workbook, _inside_workbook, _inside_workbook],
    "eval": [_bytes, _inside_archive, _inside_archive, _inside_archive],
    "parquet": [_bytes],
    "arrow": [_bytes],
}
