"""The requests that translate a corpus into a language: one for each utterance in its context."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dialeval.engines.request import Message, Request, Sampling
from dialeval.prompts.rendering import Templates
from dialeval.prompts.shown import END_MARK, letters_of, one_line
from dialeval.protocols.planning import Planned
from dialeval.translation.languages import language
from dialeval.translation.marks import nothing_to_translate
from dialeval.translation.talks import Passage, Talk, passages

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
    """Yields a request for each utterance; one that is there twice in the same context is asked about once.

    What has no letters, such as `:)` or `<name>`, is not asked about: it stays as it is.

    Args:
        talks: the dialogues.
        templates: the prompts.
        corpus: its name.
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
            if name in seen or nothing_to_translate(passage.text):
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
    """Returns the id of the request that translates an utterance."""
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
