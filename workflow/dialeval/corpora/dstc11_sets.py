"""The natural Chinese sets of DSTC11's fourth track: their names, what people rated in them, and on which scale.

Tencent's annotators rated replies people had given each other (ECM, KdConv, LCCC) and talks of people with chatbots
(HCChinese): relevance, appropriateness, content richness and grammatical correctness of a reply; coherence,
engagingness, informativeness and overall quality of a dialogue (Rodríguez-Cantelar et al., 2023).
"""

from __future__ import annotations

from collections.abc import Iterable

from dialeval.corpora.rated import Scale
from dialeval.criteria import SHIPPED, Level
from dialeval.errors import UserError, nearest

LANGUAGE = "zh"
SCALE = Scale(1.0, 5.0)
"""Of every dimension; ratings off it are refused."""
SETS = {"ecm": "ECM", "kdconv": "KdConv", "lccc": "LCCC", "hc": "HC", "hcchinese": "HC", "hcchns": "HC"}
"""Folded names in the files, and the paper's."""
CHATBOTS = "HC"
"""The set in which one of the two is a chatbot."""

_OWN_NAMES = {
    "engageness": "engagingness",
    "engagement": "engagingness",
    "engageness likeability": "engagingness",
    "likeability": "engagingness",
    "likability": "engagingness",
    "likeable": "engagingness",
}


def set_named(name: str, source: str) -> str:
    """Returns the set that a name in a file stands for.

    Raises:
        UserError: it stands for none; the message begins with `source`.
    """
    if name.casefold() not in SETS:
        raise UserError(
            f"{source}: '{name:.60}' is none of DSTC11's natural Chinese sets ({nearest(name, {*SETS.values()})}); the "
            "scales of others are not known. Sets in English are read by dstc10_json, and one of your own from JSON "
            "Lines (reader rated_jsonl), where every rating names its scale"
        )
    return SETS[name.casefold()]


def dimension_named(name: str, level: Level) -> str:
    """Returns our name of an annotation, by the names that judges know it by; one that is not ours stays as it is."""
    plain = " ".join(name.replace("_", " ").replace("/", " ").casefold().split())
    known = {called: one.name for one in SHIPPED.values() if one.is_at(level) for called in one.names}
    own = _OWN_NAMES if level == "dialogue" else {}
    return known.get(plain) or own.get(plain, plain)


def only_chinese(languages: Iterable[str] | None, source: str) -> None:
    """Checks that Chinese is asked for.

    Raises:
        UserError: `languages` are given and `zh` is not among them.
    """
    if languages is not None and LANGUAGE not in (wanted := list(languages)):
        raise UserError(
            f"{source}: it is read in Chinese only; languages are {', '.join(wanted)}: add {LANGUAGE} or leave it out"
        )
