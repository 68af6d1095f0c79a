"""A small hand-made run of transcripts: two systems on two cases and beside them, judged in three ways."""

from __future__ import annotations

import dataclasses
from typing import Any

import report_example as example

from dialeval.report.inputs import EvaluatedProtocol, ReportInputs
from dialeval.tables.dialogues import HIDDEN_MESSAGES, JUDGEMENTS
from dialeval.tables.files import to_table
from dialeval.tables.measures import MEANS, RATINGS
from dialeval.tables.metaeval import ITEMS, JUDGE_VALIDITY

PROTOCOLS = (
    EvaluatedProtocol("helpful", "pair", ("support",), ("ratings", "win_rates", "differences")),
    EvaluatedProtocol("felt", "scale", ("support",), ("means", "differences")),
    EvaluatedProtocol("faults", "locate", ("support",), ("rates",)),
)


def item(item_id: str, system: str, case_id: str, *utterances: str) -> dict[str, Any]:
    """Return a row of the table `items`."""
    speakers = [("customer", "agent")[turn % 2] for turn in range(len(utterances))]
    about = {"corpus": "support", "language": "en", "level": "dialogue", "cluster": case_id or item_id}
    said = {"speakers": speakers, "utterances": list(utterances), "judged": "agent"}
    return {**about, "item_id": item_id, "system": system, "case_id": case_id, **said}


ITEM_ROWS = [
    item("a1", "v1", "refund", "Where is my money?", "I do not know.", "Who does?", "Ask again."),
    item("a2", "v2", "refund", "Where is my money?", example.HOSTILE, "Thanks."),
    item("a3", "v2", "refund", "Where is my money?", "Let me look once more."),
    item("b1", "v1", "login", "I cannot log in.", "Did you forget it?"),
    item("c1", "v2", "", "Hello?", example.ARABIC),
]
HIDDEN_ROWS = [
    {"corpus": "support", "item_id": "a2", "language": "en", "before": before, "kind": kind, "text": text}
    for before, kind, text in (
        (0, "system", "You are a support agent."),
        (1, "tool_call", f"lookup({example.HOSTILE})"),
        (3, "tool_result", "no more"),
    )
]


def judgement(protocol: str, **other: Any) -> dict[str, Any]:
    """Return a row of the table `judgements`."""
    row = {"judge": "clerk", "protocol": protocol, "request_id": f"{protocol}/{len(other)}", "corpus": "support"}
    return {**row, "language": "en", "repeat": 0, "reason": "", "status": "ok", **other}


JUDGEMENT_ROWS = [
    judgement("helpful", case_id="refund", left="v1", right="v2", choice="B", outcome="right", reason="It helps."),
    judgement("helpful", case_id="refund", left="v2", right="v1", choice="Tie", outcome="tie"),
    judgement("felt", item_id="a1", case_id="refund", left="v1", criterion="empathy", value=2.0, scale_min=1.0)
    | {"scale_max": 7.0, "reason": "Cold."},
    judgement("felt", item_id="a3", case_id="refund", left="v2", criterion="empathy", value=6.5, scale_min=1.0)
    | {"scale_max": 7.0},
    judgement("felt", item_id="c1", criterion="empathy", status="unparsed"),
    judgement("faults", item_id="a1", case_id="refund", left="v1", criterion="refusal", choice="Yes", place=2),
]


def _mean(system: str, mean: float) -> dict[str, Any]:
    row = {"judge": "clerk", "criterion": "empathy", "system": system, "estimate": mean, "ci_low": mean - 1}
    return {**row, "ci_high": mean + 1, "n": 3, "n_missing": 1, "scale_min": 1.0, "scale_max": 7.0}


def inputs(**other: Any) -> ReportInputs:
    """Return the run, which has no self-chat; a field given replaces the run's."""
    ratings = [
        {**example._rating(system, elo), "n_utterances": None} for system, elo in (("v1", 980.0), ("v2", 1020.0))
    ]
    trust = {
        "judge": "clerk",
        "criterion": "empathy",
        "n": 0,
        "reason": "no corpus of this run is rated on this criterion",
    }
    return ReportInputs(
        "A run of transcripts",
        (),
        ("clerk",),
        verdicts=to_table(JUDGEMENTS, JUDGEMENT_ROWS),
        protocols=PROTOCOLS,
        transcripts={"support": to_table(ITEMS, ITEM_ROWS)},
        hidden_messages={"support": to_table(HIDDEN_MESSAGES, HIDDEN_ROWS)},
        tables={
            "helpful/ratings": to_table(RATINGS, ratings),
            "felt/means": to_table(MEANS, [_mean("v1", 2.0), _mean("v2", 6.5)]),
            "felt/judge_validity": to_table(JUDGE_VALIDITY, [trust]),
        },
        **other,
    )


def beside_chatbots() -> ReportInputs:
    """Return a run with both: chatbots in self-chat, and transcripts."""
    chats, mine = example.inputs(), inputs()
    return dataclasses.replace(
        chats,
        protocols=(*chats.protocols, *mine.protocols),
        verdicts=to_table(JUDGEMENTS, [*chats.verdicts.to_pylist(), *JUDGEMENT_ROWS]),
        transcripts=mine.transcripts,
        hidden_messages=mine.hidden_messages,
        tables={**chats.tables, **mine.tables},
    )
