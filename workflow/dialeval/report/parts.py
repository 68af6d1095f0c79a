"""The parts of the page: what each asks, in words. Adding a part is adding an entry here.

A table belongs to the part that its name begins with, and one of a protocol to the part of the dialogues that the
protocol is about. Transcripts have a part of their own by the name of their source. A part is on the page where it has
anything to show.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True)
class PartText:
    """What is said about one part.

    Attributes:
        label: its name in the page's navigation.
        title: its heading.
        intro: paragraphs under the heading.
        leaderboard, items: headings of its leaderboards, and of the single cases behind its numbers.
    """

    label: str
    title: str
    intro: tuple[str, ...] = ()
    leaderboard: str = "Leaderboard"
    items: str = "Items"


SELFCHAT = "selfchat"
"""The source of chatbots' own dialogues, which are BotChat's part."""
BOTCHAT = "botchat"
METAEVAL = "metaeval"
LABELS = "labels"
ROBUSTNESS = "robustness"
DIALOGBENCH = "dialogbench"

PARTS: Mapping[str, PartText] = MappingProxyType(
    {
        BOTCHAT: PartText(
            "BotChat",
            "Who chats best?",
            (
                "Every chatbot goes on from a seed, such as the first two utterances of a human dialogue, as both "
                "speakers or with a simulated user, and judges say what sounds like people. UniEval shows one dialogue "
                "and asks whether an AI took part, and from which utterance on: it passes at N if its first N "
                "utterances show none. Arena shows two chatbots' dialogues on one seed, cut to N utterances, GTEval a "
                "chatbot's beside the human one.",
            ),
            items="Dialogues",
        ),
        LABELS: PartText(
            "Labels",
            "What would people say?",
            (
                "People labelled a random part of the dialogues. What judges say of all of them is corrected by where "
                "the two differ: the interval holds whatever a judge is worth, and is shorter than that of the labels "
                "alone as far as the judge is of use.",
            ),
            leaderboard="Who would people say is best?",
        ),
        METAEVAL: PartText(
            "Meta-evaluation",
            "How far can a judge be trusted?",
            (
                "Judges score responses and dialogues that people rated; the correlation of the two says how good a "
                "judge is. It is taken within each corpus and then averaged. Judges of different kinds stand side by "
                "side: language models, small embedded ones, baselines that any judge has to beat, ready scores, and "
                "the annotations of a model that came with a corpus. Where a reference is known by construction, "
                "nobody rated: it is the number of steps by which a dialogue was damaged.",
            ),
            leaderboard="Which judge agrees best with the ratings?",
            items="Rated items",
        ),
        "training": PartText(
            "Training",
            "What did trained judges learn?",
            (
                "Judges learned from dialogues that were spoiled in known ways, without any human rating. What they "
                "tell on dialogues that were held back says whether they learned that, and not whether they judge as "
                "people do: for this see how well they correlate with people. A kind that stays at 50 was not learned; "
                "one at 100 may give itself away by something that has nothing to do with what it is meant to show.",
            ),
        ),
        "translation": PartText(
            "Translation",
            "Can the translations be trusted?",
            (
                "Models translated corpora utterance by utterance. What could not be used was left out, with its "
                "reason; of the rest a sample was looked at.",
            ),
        ),
        ROBUSTNESS: PartText(
            "Robustness",
            "Does a judge notice damage?",
            (
                "Judges score items before and after they were damaged in a known way; a judge notices the damage if "
                "its score falls by more than a threshold.",
            ),
        ),
        DIALOGBENCH: PartText(
            "DialogBench",
            "How well does a model understand dialogues?",
            ("Multiple-choice questions on dialogues, in twelve tasks; chance is one in the number of options.",),
        ),
    }
)
"""By the part's name, in the order of the page."""

_OF_SOURCE = "of-"


def part_of_source(source: str) -> str:
    """Returns the part in which a source of transcripts is shown."""
    return _OF_SOURCE + source


def text_of(part: str) -> PartText:
    """Returns what is said about a part, a source's as well."""
    if part in PARTS:
        return PARTS[part]
    source = part.removeprefix(_OF_SOURCE)
    return PartText(source, f"Which system of {source} is best?", items="Dialogues")
