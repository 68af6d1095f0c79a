"""Dialogues of systems as items, and the papers' protocols as questions, for tests of forms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dialeval.config import Protocol
from dialeval.config.protocol_settings import SELFCHAT
from dialeval.config.protocols import TEMPLATES, shipped
from dialeval.corpora.items import Item, speakers_in_turn
from dialeval.criteria import FAILURES
from dialeval.engines.requests import Dialogue
from dialeval.prompts.rendering import Templates
from dialeval.protocols import forms, pair
from dialeval.protocols.pair import by_case
from dialeval.protocols.planned_requests import Planned
from dialeval.protocols.questions import Question
from dialeval.tables.files import HUMAN

ByModel = Mapping[str, Mapping[str, Dialogue]]


def items_of(
    by_model: ByModel, speakers: Mapping[str, Sequence[str]] | None = None, corpus: str = SELFCHAT
) -> list[Item]:
    """Return dialogues by system and case as items; `speakers` are those of the human ones, by case."""
    found = []
    for system, by_case_id in by_model.items():
        for case_id, said in by_case_id.items():
            who = tuple((speakers or {}).get(case_id, ())) if system == HUMAN else ()
            who = who or tuple(speakers_in_turn(len(said), "A", "B"))
            item_id = f"{case_id}/{system}"
            found.append(Item(corpus, item_id, "en", "dialogue", case_id, who, said, system=system, case_id=case_id))
    return found


def shipped_question(
    name: str, cut: Sequence[int] | None = None, needed: int | None = None, **options: Any
) -> Question:
    """Return one of the papers' protocols.

    Args:
        name: the protocol's.
        cut: lengths that dialogues are cut to, where other than the shipped ones.
        needed: utterances that the human dialogue of a case needs.
        options: other options of it.
    """
    protocol = shipped(name)
    data = protocol.data.model_copy(
        update={"human_utterances": needed} | ({} if cut is None else {"n_utterances": list(cut)})
    )
    criteria = tuple(FAILURES[criterion] for criterion in protocol.criteria)
    return Question(name, protocol.model_copy(update={"data": data, **options}), shipped=True, criteria=criteria)


def own_question(name: str, asked: Sequence[Any] = (), /, **protocol: Any) -> Question:
    """Return a protocol of the user's own."""
    template = {"template": TEMPLATES.get(protocol["form"])}
    return Question(name, Protocol.model_validate(template | protocol), criteria=tuple(asked))


def planned(question: Question, items: Sequence[Item], skipped: Counter[str] | None = None) -> Iterator[Planned]:
    """Yield what a protocol about systems' dialogues asks about some."""
    if question.protocol.form == "pair":
        return pair.plan(question, by_case(items), Templates(), Counter() if skipped is None else skipped)
    return forms.plan(question, items, Templates())
