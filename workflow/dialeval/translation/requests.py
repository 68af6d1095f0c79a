"""Requests that translate a corpus utterance by utterance, and answers joined to dialogues."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel

from dialeval.corpora.items import Item, iterate_items
from dialeval.engines.requests import Message, Request, Sampling
from dialeval.errors import UserError
from dialeval.languages import language
from dialeval.prompts.rendering import END_MARK, Templates, letters_of, one_line
from dialeval.protocols.planned_requests import Planned
from dialeval.tables.dialogues import UTTERANCES
from dialeval.tables.files import iterate_rows, read_table
from dialeval.tables.metaeval import ITEMS
from dialeval.translation.checks import USABLE, Translated, has_no_words, read_translation, with_context

PROTOCOL = "translate"
TEMPLATE = "translate.j2"


def plan(
    talks: Iterable[Talk],
    templates: Templates,
    *,
    corpus: str,
    source: str,
    target: str,
    context: int,
    max_tokens: int,
) -> Iterator[Planned]:
    """Yield a request for each distinct utterance in context.

    An utterance without letters, such as `:)` or `<name>`, has no request and is kept as it is.

    Args:
        source, target: language codes.
        context: how many earlier utterances are shown.
        max_tokens: longest translation.

    Raises:
        UserError: a language is not known.
    """
    names = language(source).name, language(target).name
    sampling = Sampling(temperature=0.0, max_tokens=max_tokens)
    seen: set[str] = set()
    for talk in talks:
        for passage in passages(talk, context):
            name = request_name(corpus, target, passage)
            if name in seen or has_no_words(passage.text):
                continue
            seen.add(name)
            request = Request(
                request_id=name,
                protocol=PROTOCOL,
                kind="chat",
                messages=(Message("user", _prompt(passage, *names, templates)),),
                sampling=sampling,
                subject=((passage.text,), (source, target)),
            )
            yield Planned(request, corpus=corpus, language=target, item_id=talk.talk_id)


def request_name(corpus: str, target: str, passage: Passage) -> str:
    """Return the id of the request that translates an utterance."""
    return f"{PROTOCOL}/{corpus}/{target}/{passage.digest}"


def _prompt(passage: Passage, source: str, target: str, templates: Templates) -> str:
    *before, letter = letters_of([speaker for speaker, _ in passage.before] + [passage.speaker])
    return templates.render(
        TEMPLATE,
        source=source,
        target=target,
        context="\n".join(
            f"{name}: {one_line(text)}{END_MARK}" for name, (_, text) in zip(before, passage.before, strict=True)
        ),
        utterance=f"{letter}: {one_line(passage.text)}{END_MARK}",
        speaker=letter,
    )


# Dialogues to translate, from any table; equal utterances in equal contexts are translated once.


@dataclass(frozen=True, slots=True)
class Talk:
    """A dialogue, or a turn in its context.

    Attributes:
        talk_id: of the item, or of the dialogue.
        speakers: the speaker of each utterance.
        utterances: in order.
        item: its row of a table of items; None for a corpus of dialogues.
    """

    talk_id: str
    speakers: tuple[str, ...]
    utterances: tuple[str, ...]
    item: Item | None = None


class Passage(NamedTuple):
    """An utterance to be translated.

    Attributes:
        before: speaker and text of the utterances that are shown before it.
    """

    speaker: str
    text: str
    before: tuple[tuple[str, str], ...]

    @property
    def digest(self) -> str:
        """Return a digest of speaker, text and context."""
        content = "\0".join(part for pair in (*self.before, (self.speaker, self.text)) for part in pair)
        return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:20]


def talks_of_items(path: Path, source: str) -> Iterator[Talk]:
    """Yield the items in a language of a table `items`."""
    for item in iterate_items(path):
        if item.language == source:
            yield Talk(item.item_id, item.speakers, item.utterances, item)


def talks_of_dialogues(path: Path, source: str) -> Iterator[Talk]:
    """Yield the dialogues in a language of a table `utterances`."""
    rows: list[dict[str, str]] = []
    for row in iterate_rows(path, UTTERANCES):
        if rows and rows[0]["dialogue_id"] != row["dialogue_id"]:
            yield _talk(rows)
            rows = []
        if row["language"] == source:
            rows.append(row)
    if rows:
        yield _talk(rows)


def passages(talk: Talk, context: int) -> list[Passage]:
    """Return the utterances of a dialogue, each with up to `context` earlier ones."""
    pairs = list(zip(talk.speakers, talk.utterances, strict=True))
    return [Passage(*pairs[place], tuple(pairs[max(0, place - context) : place])) for place in range(len(pairs))]


def in_language(talk: Talk, utterances: Iterable[str], language: str) -> Talk:
    """Return the dialogue with its translated utterances."""
    texts = tuple(utterances)
    item = talk.item and replace(talk.item, utterances=texts, language=language)
    return Talk(talk.talk_id, talk.speakers, texts, item)


def _talk(rows: list[dict[str, str]]) -> Talk:
    return Talk(rows[0]["dialogue_id"], tuple(row["speaker"] for row in rows), tuple(row["text"] for row in rows))


# Settings of the translation stages for a corpus and a language.


class TranslationSettings(BaseModel, defer_build=True):
    """A corpus, the language that it is put into, and how.

    Attributes:
        kind: what the corpus is a table of.
    """

    corpus: str
    kind: Literal["items", "dialogues"]
    source: str
    target: str
    context: int

    def talks(self, table: Path) -> Iterator[Talk]:
        """Yield the dialogues to translate.

        Raises:
            UserError: the corpus has none in the source's language, or some in the target's already.
        """
        kind = ITEMS if self.kind == "items" else UTTERANCES
        languages = set(read_table(table, kind, columns=["language"])["language"].unique().to_pylist())
        if self.target in languages:
            raise UserError(
                f"translate.{self.corpus}.into: the corpus has dialogues in '{self.target}' already; remove this "
                f"language, or "
                "read the corpus without that language (its field `language` or `languages`)"
            )
        if self.source not in languages:
            raise UserError(
                f"translate.{self.corpus}.source: the corpus has no dialogues in '{self.source}'; it has "
                f"{', '.join(sorted(languages)) or 'no dialogues'}"
            )
        return (talks_of_items if self.kind == "items" else talks_of_dialogues)(table, self.source)


# From answers back to dialogues: each utterance gets its translation, and a dialogue needs all of its own.


@dataclass
class Joined:
    """The dialogues of a corpus in another language.

    Attributes:
        talks: the complete ones, in their order.
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
    """Return the dialogues with the translations of their utterances.

    Args:
        responses: rows of the table `responses` by request_id.
        corpus, source, target, context: as they were planned.
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
    """Yield translated dialogues as rows of a table `utterances`."""
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
