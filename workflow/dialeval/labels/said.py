"""A label as a file has it, before anyone knows what it is about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Said:
    """One answer in a file.

    Attributes:
        file: its name.
        row: where it stands there, from 1.
        annotator: who answered.
        protocol: under which; empty where the file does not say it.
        draw: id of the draw that a page or sheet was of.
        key: of what was shown there.
        criterion: what was asked about.
        label: the answer as it is written.
        column: what the answer's column is called: label, value, outcome or winner.
        place: first utterance of an AI, as it is written.
        skipped: whether the annotator passed it over.
        comment: the annotator's.
        round: counts the annotator's answers about the same from 0.
        probability: with which it was chosen, as it is written.
        about: the other columns that say what it is about, by name.
        sampled: whether its table has a column for the probability.
        shown: the texts that stand beside it on a sheet, by column.
        options: the answers that there were to choose from, as the page or sheet has them; empty where it does not.
        exported: whether it is of a page's export.
        question: the question in the words that the page or sheet had; empty where the file does not say it.
        rubric: the answers with what they meant, of a page's export.
    """

    file: str
    row: int
    annotator: str
    protocol: str = ""
    draw: str = ""
    key: str = ""
    criterion: str = ""
    label: str = ""
    column: str = "label"
    place: str = ""
    skipped: bool = False
    comment: str = ""
    round: int = 0
    probability: str = ""
    about: Mapping[str, str] = field(default_factory=dict)
    sampled: bool = False
    shown: Mapping[str, str] = field(default_factory=dict)
    options: str = ""
    exported: bool = False
    question: str = ""
    rubric: str = ""

    @property
    def is_open(self) -> bool:
        """Returns whether it is a row of a sheet that has no answer yet."""
        return not self.label and not self.skipped

    @property
    def where(self) -> str:
        """Returns where it stands, for messages."""
        return f"{self.file}, row {self.row}"
