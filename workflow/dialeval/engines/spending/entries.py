"""What one file of the ledger says, and how it is written and read."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from dialeval.errors import UserError
from dialeval.whole_files import new_beside, refuse_links

SUFFIX = "spending"


@dataclass
class Sums:
    """What was spent on something.

    Attributes:
        spent: money, in the currency of the prices.
        unconfirmed: the part of it that nobody reported: tries that may have been billed, at their most.
        input_tokens: prompt tokens that were counted.
        output_tokens: answer tokens, reasoning included.
        tries: how often something was sent.
    """

    spent: float = 0.0
    unconfirmed: float = 0.0
    input_tokens: int = 0
    output_tokens: int = 0
    tries: int = 0

    def add(self, cost: float, input_tokens: int, output_tokens: int, confirmed: bool) -> None:
        """Counts a try that ended."""
        self.spent += cost
        self.unconfirmed += 0.0 if confirmed else cost
        self.input_tokens += input_tokens
        self.output_tokens += output_tokens
        self.tries += 1

    def __add__(self, other: Sums) -> Sums:
        return Sums(**{name: value + getattr(other, name) for name, value in asdict(self).items()})


@dataclass
class Entry:
    """What one file says.

    Attributes:
        digest: the model, by the digest of its identity.
        about: who wrote it: name, protocol, host, ...
        sums: what was spent, as far as it ended.
        open: what is under way, at its most, by number.
        granted: up to which sum the job may spend, or None if it has no budget.
        over: tokens of prompt and answer by which an answer exceeded what it could have at most, the worst so far.
        closed: whether nothing more will come.
    """

    digest: str
    about: dict[str, Any] = field(default_factory=dict)
    sums: Sums = field(default_factory=Sums)
    open: dict[int, float] = field(default_factory=dict)
    granted: float | None = None
    over: tuple[int, int] = (0, 0)
    closed: bool = False

    @property
    def all_told(self) -> Sums:
        """What was spent, with what is under way at its most."""
        under_way = sum(self.open.values())
        return self.sums + Sums(under_way, under_way, tries=len(self.open))

    @property
    def at_most(self) -> float:
        """What has been spent for all that the lines say."""
        return self.sums.spent + sum(self.open.values())

    @property
    def committed(self) -> float:
        """What must be counted as long as the file is not closed."""
        return self.at_most if self.granted is None or self.closed else max(self.at_most, self.granted)

    def is_of(self, digest: str, name: str) -> bool:
        """Returns whether it tells of a model: under whatever name, or under its name when it was another."""
        return self.digest == digest or self.about.get("name") == name

    def begin(self, number: int, most: float) -> None:
        """Counts a try that may cost so much."""
        self.open[number] = most

    def end(self, number: int, cost: float, input_tokens: int, output_tokens: int, confirmed: bool) -> None:
        """Counts what a try has cost in place of its most."""
        self.open.pop(number, None)
        self.sums.add(cost, input_tokens, output_tokens, confirmed)

    def read(self, line: Any) -> None:
        """Takes in a line."""
        match line:
            case ["+", number, most]:
                self.begin(number, most)
            case ["-", number, cost, input_tokens, output_tokens, confirmed]:
                self.end(number, cost, input_tokens, output_tokens, bool(confirmed))
            case ["to", granted]:
                self.granted = granted
            case ["over", input_tokens, output_tokens]:
                self.over = (input_tokens, output_tokens)
            case {"sums": sums, "over": [input_tokens, output_tokens]}:
                self.sums, self.over, self.closed = Sums(**sums), (input_tokens, output_tokens), True
                self.about = {name: value for name, value in line.items() if name not in ("sums", "over")}
            case dict():
                self.about = line

    def closing_line(self) -> dict[str, Any]:
        """Returns the one line of a closed file."""
        return {**self.about, "sums": asdict(self.sums), "over": self.over}


def close_file(path: Path, entry: Entry) -> None:
    """Makes a file the one line of its sum, whole or not at all."""
    refuse_links(path, path.parents[2])
    path.parent.mkdir(parents=True, exist_ok=True)
    entry.closed = True
    write_whole(path, [entry.closing_line()])


def write_whole(path: Path, lines: list[Any]) -> None:
    """Writes a file of lines, whole or not at all, and safely on the disk."""
    refuse_links(path, path.parents[2])
    temporary = None
    try:
        temporary = new_beside(path)
        with temporary.open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n" for line in lines)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        if temporary:
            temporary.unlink(missing_ok=True)
        raise UserError(
            f"what was spent could not be written down in {path}: {error.strerror or error}; free some space or choose "
            "another `store_dir`, then run the same command again: what is stored is kept"
        ) from error


def read_on(path: Path, content: bytes, entry: Entry) -> int:
    """Takes in the whole lines of what stands in a file and was not read yet, and returns their length."""
    length = content.rfind(b"\n") + 1
    for line in content[:length].splitlines():
        try:
            entry.read(json.loads(line))
        except (ValueError, TypeError):
            raise UserError(
                f"{path} has a damaged line, so that nobody knows what was spent: delete the folder {path.parent} to "
                "count anew from the stored answers (tries without an answer are then forgotten)"
            ) from None
    return length
