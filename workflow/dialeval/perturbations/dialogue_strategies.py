"""Dialogue-level strategies of comp-analysis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace as with_fields

import numpy as np

from dialeval.perturbations.contradiction import negate
from dialeval.perturbations.shortening import generic_reply, is_reducible, shorten
from dialeval.perturbations.strategy import (
    Case,
    Edit,
    NewText,
    NotApplicable,
    Strategy,
    edit_utterances,
    is_last_speaker,
    rules_of,
    span,
    unrelated_utterance,
)
from dialeval.perturbations.words import STOP_WORDS, has_word, pieces, sentences, word_set, words

SHUFFLES = 20
"""How many orders are drawn in search of one that moves at least half of the utterances."""

LONGEST_ECHO = 10
"""Words, or characters in scripts without blanks, of the other speaker that are repeated at most."""

_ECHOES = (
    "{echo}, you say. {own}",
    "You said: {echo}. {own}",
    "So, {echo}. {own}",
    "{echo}. {own}",
    "{own} {echo}, as you said.",
)
_FOLLOW_UP_QUESTIONS = (
    "Wait, what was that you said before?",
    "Sorry, can you go back to what you told me earlier?",
    "Hold on, tell me again what you said before.",
    "Hm, what did you say about that again?",
)
_FIRST_PERSON = word_set("i i'm i've i'd i'll my we we're we've our me mine")


@rules_of("Order Shuffle", "dialogue", {"coherence": 0.2}, ("shuffle",), scope="all", unit=2)
def order_shuffle(case: Case, rng: np.random.Generator) -> Edit | NotApplicable:
    """Shuffle the utterances; the speakers still alternate."""
    utterances = case.item.utterances
    if len(utterances) < 3 or len(case.editable) < 2:
        return NotApplicable("fewer than three utterances")
    places = np.array(case.editable)
    for _ in range(SHUFFLES):
        order = rng.permutation(len(places))
        shuffled = list(utterances)
        for place, source in zip(places, places[order], strict=True):
            shuffled[int(place)] = utterances[int(source)]
        moved = [int(place) for place in places if shuffled[int(place)].strip() != utterances[int(place)].strip()]
        if 2 * len(moved) >= len(places):
            whence = ", ".join(str(source) for source in places[order])
            return Edit("shuffle", tuple(shuffled), (f"utterances {', '.join(map(str, places))} are now {whence}",))
    return NotApplicable("the utterances are the same in any order")


def _replacing(title: str, name: str, n_replaced: int) -> Strategy:
    """Return the strategy that replaces a number of utterances."""

    def apply(case: Case, rng: np.random.Generator) -> Edit | NotApplicable:
        """Replace a random utterance (`_2`: two, `_3`: three) by utterances of other dialogues."""
        if len(case.item.utterances) <= n_replaced or len(case.editable) < n_replaced:
            return NotApplicable("too few utterances")
        later = [place for place in case.editable if place > 0]  # what opens a dialogue can be anything
        choice = later if len(later) >= n_replaced else list(case.editable)
        drawn = sorted(choice[int(place)] for place in rng.permutation(len(choice))[:n_replaced])
        utterances, spans = list(case.item.utterances), []
        for place in drawn:
            new = unrelated_utterance(case.pool, case.item, rng, utterances)
            if isinstance(new, NotApplicable):
                return new
            spans.append(span(utterances[place], new))
            utterances[place] = new
        return Edit("other_dialogue", tuple(utterances), tuple(spans))

    apply.__name__ = name
    of_rules = rules_of(title, "dialogue", {"coherence": 0.1}, ("other_dialogue",), scope="all", unit=n_replaced)
    return of_rules(apply)


utterance_replacement = _replacing("Utterance Replacement", "utterance_replacement", 1)
utterance_replacement_2 = _replacing("Utterance Replacement (two)", "utterance_replacement_2", 2)
utterance_replacement_3 = _replacing("Utterance Replacement (three)", "utterance_replacement_3", 3)


@rules_of("Self-Contradiction", "dialogue", {"engagingness": 0.1}, ("negation",), languages=("en",), by_model=True)
def self_contradiction(case: Case, rng: np.random.Generator) -> Edit | NotApplicable:
    """Append an utterance in which a speaker denies an earlier statement.

    The statement is negated, one in the first person if there is any. Where that speaker also spoke last, the other
    one first asks about it, so that two utterances are added, as in the published set; otherwise one is.
    """
    item = case.item
    own: list[tuple[int, str, str]] = []
    others: list[tuple[int, str, str]] = []
    for place in case.editable:
        text = item.utterances[place]
        for start, end in sentences(text):
            found = words(text[start:end])
            negated = negate(text[start:end]) if len(found) >= 3 else None
            if negated:
                first_person = any(word.lower in _FIRST_PERSON for word in found)
                (own if first_person else others).append((place, text[start:end], negated.text))
    if not own and not others:
        return NotApplicable("no statement that can be negated")
    choice = own or others
    place, statement, denial = choice[int(rng.integers(len(choice)))]
    speaker = item.speakers[place]
    other = next((name for name in item.speakers if name != speaker), speaker)
    asks_first = is_last_speaker(item, place)
    added = (_FOLLOW_UP_QUESTIONS[int(rng.integers(len(_FOLLOW_UP_QUESTIONS)))], denial) if asks_first else (denial,)
    added_speakers = (other, speaker) if asks_first else (speaker,)
    return Edit("negation", (*item.utterances, *added), (f"{place} denied: {span(statement, denial)}",), added_speakers)


@rules_of("Utterance Duplication", "dialogue", {"engagingness": 0.1}, ("tail",))
def utterance_duplication(case: Case, rng: np.random.Generator) -> Edit | NotApplicable:
    """Append the end of each utterance, from a random word on, to the utterance."""

    def change(place: int, utterances: Sequence[str]) -> NewText | NotApplicable:
        found, blank = pieces(utterances[place])
        worded = [number for number, piece in enumerate(found) if has_word(piece)]
        if not worded:
            return NotApplicable("an utterance without words")
        tail = blank.join(found[worded[int(rng.integers(len(worded)))] :])
        return NewText(f"{utterances[place].rstrip()}{blank}{tail}", (f'{place} + "{tail}"',))

    return edit_utterances(case, "tail", change)


@rules_of("Repeating Others", "dialogue", {"engagingness": 0.1}, ("echo",), by_model=True)
def repeating_others(case: Case, rng: np.random.Generator) -> Edit | NotApplicable:
    """Repeat a part of the other speaker's last utterance in each utterance."""

    def change(place: int, utterances: Sequence[str]) -> NewText | NotApplicable:
        if place == 0:
            return NotApplicable("nothing was said before")
        echo = _portion(case.item.utterances[place - 1], rng)
        if not echo:
            return NotApplicable("the utterance before it has no words")
        return NewText(_with_echo(echo, utterances[place], case.item.language, rng), (f'{place} repeats "{echo}"',))

    replies = [place for place in case.editable if place > 0]
    return edit_utterances(with_fields(case, editable=tuple(replies)), "echo", change)


@rules_of(
    "Generic Utterance", "dialogue", {"engagingness": 0.2, "informativeness": 0.2}, ("stock_replies",), by_model=True
)
def generic_utterance(case: Case, rng: np.random.Generator) -> Edit | NotApplicable:
    """Replace each utterance by a stock reply: an answer after a question, else a remark."""

    def change(place: int, utterances: Sequence[str]) -> NewText | NotApplicable:
        previous = utterances[place - 1] if place else ""
        reply = generic_reply(previous, case.item.language, utterances, rng)
        if reply is None:
            return NotApplicable("no generic replies in this language")
        return NewText(reply, (f"{place}: {span(utterances[place], reply)}",))

    return edit_utterances(case, "stock_replies", change)


@rules_of("Content Reduction", "dialogue", {"informativeness": 0.2}, ("shortening",), by_model=True)
def content_reduction(case: Case, rng: np.random.Generator) -> Edit | NotApplicable:
    """Shorten each utterance to a few words; short utterances stay."""

    def change(place: int, utterances: Sequence[str]) -> NewText | NotApplicable:
        new = shorten(utterances[place], case.item.language, rng)
        return (
            new
            if isinstance(new, NotApplicable)
            else NewText(new.text, (f"{place}: {span(utterances[place], new.text)}",))
        )

    reducible = tuple(place for place in case.editable if is_reducible(case.item.utterances[place]))
    if not reducible:
        return NotApplicable("the utterances are too short to be reduced")
    return edit_utterances(with_fields(case, editable=reducible), "shortening", change)


def _portion(text: str, rng: np.random.Generator) -> str:
    """Return a stretch of one sentence, without its end mark."""
    found = [text[start:end] for start, end in sentences(text)]
    if not found:
        return ""
    sentence = found[int(rng.integers(len(found)))].rstrip('.!?。！？… "”')
    parts, blank = pieces(sentence)
    start = int(rng.integers(max(1, len(parts) - LONGEST_ECHO + 1))) if len(parts) > LONGEST_ECHO else 0
    return blank.join(parts[start : start + LONGEST_ECHO]).strip(" ,;:，、")


def _with_echo(echo: str, own: str, language: str, rng: np.random.Generator) -> str:
    if language == "en":
        form = _ECHOES[int(rng.integers(len(_ECHOES)))]
        first = words(echo)[:1]
        if form.startswith("So,") and first and first[0].lower in STOP_WORDS and first[0].lower not in _FIRST_PERSON:
            echo = echo[:1].lower() + echo[1:]
        return form.format(echo=echo, own=own.strip())
    blank = pieces(echo)[1]
    return f"{echo}{'.' if blank else '。'}{blank}{own.strip()}"


STRATEGIES = (
    order_shuffle, utterance_replacement, utterance_replacement_2, utterance_replacement_3, self_contradiction,
    utterance_duplication, repeating_others, generic_utterance, content_reduction,
)  # fmt: skip
"""All dialogue-level strategies, in the order of Table 10, with its dimensions and thresholds."""
