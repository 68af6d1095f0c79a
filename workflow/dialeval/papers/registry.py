"""All papers in order, with the references to cite."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from dialeval.papers import Paper, botchat, comp_analysis, dialogbench, xdial_eval

PAPERS: tuple[Paper, ...] = (
    botchat.BOTCHAT,
    dialogbench.DIALOGBENCH,
    comp_analysis.COMP_ANALYSIS,
    xdial_eval.XDIAL_EVAL,
)


# Citations of a part of the report


@dataclass(frozen=True)
class Citation:
    """A paper to cite.

    Attributes:
        key: its key in BibTeX.
        authors: `Given Family`, in order.
        year: of publication.
        title: its title.
        venue: where it was published.
        arxiv: its number there.
        published_in: what the venue is, which decides the kind of the BibTeX entry.
        volume: of a journal.
    """

    key: str
    authors: tuple[str, ...]
    year: int
    title: str
    venue: str
    arxiv: str
    published_in: Literal["proceedings", "journal", "preprint"] = "proceedings"
    volume: str = ""

    @property
    def address(self) -> str:
        """Where it can be read."""
        return f"https://arxiv.org/abs/{self.arxiv}"

    @property
    def text(self) -> str:
        """The reference in words."""
        *others, last = self.authors
        names = f"{', '.join(others)} and {last}" if others else last
        return f"{names} ({self.year}). {self.title}. {f'{self.venue} {self.volume}'.strip()}. arXiv:{self.arxiv}"

    @property
    def bibtex(self) -> str:
        """The reference as an entry of BibTeX."""
        kind, venue = {
            "proceedings": ("inproceedings", {"booktitle": self.venue}),
            "journal": ("article", {"journal": self.venue, "volume": self.volume}),
            "preprint": ("misc", {}),
        }[self.published_in]
        fields = {
            "author": " and ".join(self.authors),
            "year": str(self.year),
            "title": "{" + self.title + "}",
            **venue,
            "eprint": self.arxiv,
            "archiveprefix": "arXiv",
        }
        lines = [f"  {name} = {{{value}}}," for name, value in fields.items()]
        return "\n".join([f"@{kind}{{{self.key},", *lines, "}"])


BOTCHAT = Citation(
    "duan2024botchat",
    (
        "Haodong Duan",
        "Jueqi Wei",
        "Chonghua Wang",
        "Hongwei Liu",
        "Yixiao Fang",
        "Songyang Zhang",
        "Dahua Lin",
        "Kai Chen",
    ),
    2024,
    "BotChat: Evaluating LLMs' Capabilities of Having Multi-Turn Dialogues",
    "Findings of the Association for Computational Linguistics: NAACL 2024",
    "2310.13650",
)
DIALOGBENCH = Citation(
    "ou2024dialogbench",
    ("Jiao Ou", "Junda Lu", "Che Liu", "Yihong Tang", "Fuzheng Zhang", "Di Zhang", "Kun Gai"),
    2024,
    "DialogBench: Evaluating LLMs as Human-like Dialogue Systems",
    "Proceedings of NAACL 2024 (Long Papers)",
    "2311.01677",
)
COMP_ANALYSIS = Citation(
    "zhang2024comprehensive",
    ("Chen Zhang", "Luis Fernando D'Haro", "Yiming Chen", "Malu Zhang", "Haizhou Li"),
    2024,
    "A Comprehensive Analysis of the Effectiveness of Large Language Models as Automatic Dialogue Evaluators",
    "Proceedings of AAAI 2024",
    "2312.15407",
)
XDIAL_EVAL = Citation(
    "zhang2023xdialeval",
    ("Chen Zhang", "Luis Fernando D'Haro", "Chengguang Tang", "Ke Shi", "Guohua Tang", "Haizhou Li"),
    2023,
    "xDial-Eval: A Multilingual Open-Domain Dialogue Evaluation Benchmark",
    "Findings of the Association for Computational Linguistics: EMNLP 2023",
    "2310.08958",
)
PREDICTION_POWERED = Citation(
    "angelopoulos2023prediction",
    ("Anastasios N. Angelopoulos", "Stephen Bates", "Clara Fannjiang", "Michael I. Jordan", "Tijana Zrnic"),
    2023,
    "Prediction-Powered Inference",
    "Science",
    "2301.09633",
    "journal",
    "382",
)
POWER_TUNED = Citation(
    "angelopoulos2023ppi",
    ("Anastasios N. Angelopoulos", "John C. Duchi", "Tijana Zrnic"),
    2023,
    "PPI++: Efficient Prediction-Powered Inference",
    "arXiv preprint",
    "2311.01453",
    "preprint",
)

_OF_PARTS: Mapping[str, tuple[Citation, ...]] = MappingProxyType(
    {
        "botchat": (BOTCHAT,),
        "labels": (PREDICTION_POWERED, POWER_TUNED),
        "metaeval": (COMP_ANALYSIS, XDIAL_EVAL),
        "training": (XDIAL_EVAL,),
        "translation": (XDIAL_EVAL,),
        "robustness": (COMP_ANALYSIS,),
        "dialogbench": (DIALOGBENCH,),
    }
)


def to_cite(part: str) -> tuple[Citation, ...]:
    """Returns the citations of a part of the report; empty for a source of transcripts."""
    return _OF_PARTS.get(part, ())
