"""From answers back to dialogues: each utterance gets its translation, and a dialogue needs all of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from dialeval.translation.checks import USABLE, Translated, read_translation, with_context
from dialeval.translation.planning import request_name
from dialeval.translation.talks import Talk, in_language, passages


@dataclass
class Joined:
    """The dialogues of a corpus in another language.

    Attributes:
        talks: those that are whole, in their order.
        left_out: ids of those that are not.
        utterances: rows of the table `translated_utterances`.
    """

    talks: list[Talk] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    utterances: list[dict[str, Any]] = field(default_factory=list)


def join(
    talks: Iterable[Talk],
    responses: Mapping[str, Mapping[str, Any]],
    *,
    corpus: str,
    source: str,
    target: str,
    context: int,
    translated_by: str,
) -> Joined:
    """Returns the dialogues with the translations of their utterances.

    Args:
        talks: the dialogues that were planned.
        responses: rows of the table `responses` by request_id.
        corpus, source, target, context: as they were planned.
        translated_by: name of the model.
    """
    joined, known = Joined(), dict[str, Translated]()
    for talk in talks:
        found: list[Translated] = []
        for passage in passages(talk, context):
            name = request_name(corpus, target, passage)
            if name not in known:
                known[name] = _translated(passage.text, responses.get(name), target, source)
                if passage.before and with_context(passage.text, known[name], passage.before[-1][1], found[-1]):
                    known[name] = known[name]._replace(status="lines")
                joined.utterances.append(
                    {
                        "corpus": corpus,
                        "language": target,
                        "translated_by": translated_by,
                        "utterance_id": passage.digest,
                        "item_id": talk.talk_id,
                        "cluster": talk.item.cluster if talk.item else talk.talk_id,
                        "source": passage.text,
                        **known[name]._asdict(),
                    }
                )
            found.append(known[name])
        if all(one.status in USABLE for one in found):
            joined.talks.append(in_language(talk, (one.text for one in found), target))
        else:
            joined.left_out.append(talk.talk_id)
    return joined


def utterance_rows(talks: Iterable[Talk], corpus: str, target: str) -> Iterator[dict[str, Any]]:
    """Yields translated dialogues as rows of a table `utterances`."""
    for talk in talks:
        for turn, (speaker, text) in enumerate(zip(talk.speakers, talk.utterances, strict=True)):
            yield {
                "corpus": corpus,
                "dialogue_id": talk.talk_id,
                "turn": turn,
                "speaker": speaker,
                "text": text,
                "language": target,
            }


def _translated(text: str, row: Mapping[str, Any] | None, target: str, source: str) -> Translated:
    if row is None or row["status"] != "ok":
        return read_translation(text, None, target, source=source)
    return read_translation(text, row["text"], target, row["finish_reason"], source)
