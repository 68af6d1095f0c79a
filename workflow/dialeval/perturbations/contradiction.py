"""Responses that contradict: negated statements, exchanged entities and references."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from dialeval.perturbations.entities import Entity, category_of, find_entities
from dialeval.perturbations.strategy import Case, NewText, NotApplicable, draw_entity, span
from dialeval.perturbations.words import (
    Inflection,
    Replacement,
    Word,
    base_of,
    inflections_of,
    replace,
    sentences,
    word_set,
    words,
)

NOTHING_TO_NEGATE = "no statement that can be negated"

FEWEST_MENTIONS = 2
"""How often the context must mention an entity for its exchange to contradict the context."""


def negated_verbs(case: Case, rng: np.random.Generator) -> NewText | NotApplicable:
    """Negate the first verb of every statement of the response; one that is negated already loses its negation."""
    return negate_statements(case.item.response)


def negate_statements(text: str) -> NewText | NotApplicable:
    """Negate every statement of an English text that the rules can negate."""
    changes: list[Replacement] = []
    spans: list[str] = []
    for start, end in sentences(text):
        negated = negate(text[start:end])
        if negated:
            changes.append(Replacement(start, end, negated.text))
            spans.append(span(negated.before, negated.after))
    return NewText(replace(text, changes), tuple(spans)) if changes else NotApplicable(NOTHING_TO_NEGATE)


def swapped_entities(case: Case, rng: np.random.Generator) -> NewText | NotApplicable:
    """Exchange the entities of the response that the context mentions twice or more for others of the same kind."""
    mentions: dict[str, int] = {}
    for text in case.item.context:
        for entity in find_entities(text):
            mentions[entity.key] = mentions.get(entity.key, 0) + 1
    swapped = [entity for entity in find_entities(case.item.response) if mentions.get(entity.key, 0) >= FEWEST_MENTIONS]
    if not swapped:
        return NotApplicable("no named entity that the context mentions twice")
    return exchange_entities(case, swapped, category_of(swapped), mentions, rng)


def swapped_references(case: Case, rng: np.random.Generator) -> NewText | NotApplicable:
    """Replace pronouns of the response that refer to a person of the context by another person's name."""
    persons = [entity for text in case.item.context for entity in find_entities(text) if entity.category == "person"]
    if not persons:
        return NotApplicable("no co-reference to a named entity of the context")
    name = draw_entity(case.pool, case.item.language, "person", {entity.key for entity in persons}, rng)
    if isinstance(name, NotApplicable):
        return name
    text = case.item.response
    changes: list[Replacement] = []
    spans: dict[str, None] = {}
    found = words(text)
    for place, word in enumerate(found):
        bare = word.lower.split("'")[0]
        if bare not in ("he", "she", "him", "his", "her"):
            continue
        noun_follows = place + 1 < len(found) and not text[word.end : found[place + 1].start].strip()
        owns = bare == "his" or (bare == "her" and noun_follows)
        new = f"{name}'s" if owns else name
        changes.append(Replacement(word.start, word.start + len(bare), new))
        spans[span(word.text[: len(bare)], new)] = None
    if not changes:
        return NotApplicable("no co-reference to a named entity of the context")
    return NewText(replace(text, changes), tuple(spans))


def exchange_entities(
    case: Case,
    entities: list[Entity],
    categories: dict[str, str],
    avoid: dict[str, int],
    rng: np.random.Generator,
) -> NewText | NotApplicable:
    """Exchange entities of the response, each by one and the same other entity throughout.

    Args:
        categories: category of each replacement, by `Entity.key`.
        avoid: keys that may not be drawn.
    """
    text = case.item.response
    replacement: dict[str, str] = {}
    taken = {*avoid, *(entity.key for entity in entities)}
    for key, category in categories.items():
        new = draw_entity(case.pool, case.item.language, category, taken, rng)
        if isinstance(new, NotApplicable):
            return new
        replacement[key] = new
        taken.add(new.lower())
    lower = not any(letter.isupper() for letter in text)
    changes: list[Replacement] = []
    for entity in entities:
        new = replacement[entity.key].lower() if lower else replacement[entity.key]
        changes.append(Replacement(entity.start, entity.end, new[:1].upper() + new[1:] if entity.start == 0 else new))
    return NewText(replace(text, changes), tuple(dict.fromkeys(span(text[c.start : c.end], c.new) for c in changes)))


_MARK = r"\s?['’]\s?"
_NEGATED = re.compile(
    rf"\b(do|does|did|is|are|was|were|have|has|had|would|should|could|must|need)\s?n{_MARK}t\b", re.IGNORECASE
)
_REMOVALS = (  # (negation, its replacement)
    (_NEGATED, r"\1"),
    (
        re.compile(rf"\b(do|does|did|is|are|was|were|have|has|had|would|should|could|must)n{_MARK}t\b", re.IGNORECASE),
        r"\1",
    ),
    (re.compile(rf"\b(?:ca\s?n{_MARK}t|cannot|can\s+not)\b", re.IGNORECASE), "can"),
    (re.compile(rf"\bwo\s?n{_MARK}t\b", re.IGNORECASE), "will"),
    (re.compile(r"\b(dont|doesnt|didnt|isnt|arent|wasnt|havent|hasnt)\b", re.IGNORECASE), r"\1"),
    (re.compile(r"\bno longer\b", re.IGNORECASE), "still"),
    (re.compile(r"(?<!is )(?<!are )(?<!was )\bno one\b|\bnobody\b", re.IGNORECASE), "everybody"),
    (re.compile(r"\bnothing\b", re.IGNORECASE), "everything"),
    (re.compile(r"\bnever\b", re.IGNORECASE), "always"),
    (re.compile(r"\b(afraid|hope|guess|think|suppose) not\b(?!\s\w)", re.IGNORECASE), r"\1 so"),
    (re.compile(r"(?<!why )(?<!if )\bnot\s+(?!only\b)(?=\w)", re.IGNORECASE), ""),
    (
        re.compile(
            r"(?<=have )no(?= \w)|(?<=has )no(?= \w)|(?<=had )no(?= \w)|(?<= is )no(?= \w)|(?<=['’]s )no(?= \w)",
            re.IGNORECASE,
        ),
        "some",
    ),
)
_UNMARKED = {
    "dont": "do",
    "doesnt": "does",
    "didnt": "did",
    "isnt": "is",
    "arent": "are",
    "wasnt": "was",
    "havent": "have",
    "hasnt": "has",
}

_BE = word_set("am is are was were")
_MODALS = word_set("can could will would shall should must may might")
_PERFECT = word_set("have has had")
_DO = word_set("do does did")
AUXILIARIES = _BE | _MODALS | _PERFECT | _DO
SUBJECTS = word_set("""i you we they he she it this that there everyone everybody someone somebody people""")
_THIRD_PERSONS = word_set("he she it this that there everyone everybody someone somebody")
_NOUNS_IN_S = word_set("works plays thanks plans jogs names looks walks")
_ADVERBS = word_set(
    """also always really often usually just still sometimes only actually absolutely definitely certainly totally
    probably already even both all"""
)
_DETERMINERS = word_set("a an the my your his her our their its this that these those some any no every each")
_NOT_BEFORE_VERB = _DETERMINERS | word_set("to of in on at for with by from about very so too more most")
_OPENERS = word_set("if when because although though while since unless until before after as")
ASKING = word_set(
    """what where when who whom whose which why how do does did is are am was were can could will would should have has
    may shall don't isn't aren't didn't doesn't"""
)
_NO_COMMANDS = word_set(
    """thank excuse please like love work look sound name mean wait say see guess bet hope wish need want have let well
    set fish cook fan rent plan dream ski water dance study taste watch smell show test call"""
)
_ANSWERS = {
    "yes": "no", "yeah": "no", "yep": "nope", "yup": "nope", "yea": "no", "no": "yes", "nope": "yes", "nah": "yes",
    "sure": "no", "of course": "of course not", "certainly": "certainly not", "absolutely": "absolutely not",
    "definitely": "definitely not", "exactly": "not exactly", "me too": "not me", "same here": "not here",
    "me neither": "me too", "not really": "yes, really", "not at all": "very much so", "i see": "i don't see",
}  # fmt: skip
_PRAISE = word_set(
    """good great nice fine cool awesome wonderful amazing interesting fun true right lovely beautiful exciting funny
    delicious perfect excellent fantastic sorry happy glad sad very pretty sweet tasty neat impressive"""
)

_CLITIC = re.compile(rf"({_MARK})(m|re|s|ll|d|ve)\b", re.IGNORECASE)
_CLITIC_NEGATED = {"ll": " won't", "ve": " haven't", "d": " wouldn't"}


class Negated(NamedTuple):
    """A negated sentence; `before` and `after` are the part that changed."""

    text: str
    before: str
    after: str


def negate(sentence: str) -> Negated | None:
    """Return the opposite of an English statement, or None where no rule fits or the sentence is a question."""
    if is_question(sentence) or not words(sentence):
        return None
    answer, rest_start = _answer(sentence)
    start = _main_clause(sentence, rest_start)
    rest = _without_negation(sentence, start) or _with_negation(sentence, start)
    if rest is None and answer is None:
        return _praise(sentence)
    if rest is None and len(words(sentence[rest_start:])) > 2:
        return None  # a changed yes or no, with what it affirmed left as it was
    text = rest.text if rest else sentence
    before, after = (rest.before, rest.after) if rest else ("", "")
    if answer:
        old, new = answer
        text = new + text[len(old) :]
        before, after = f"{old} {before}".strip(), f"{new} {after}".strip()
    return Negated(text, before, after)


def is_question(sentence: str) -> bool:
    """Return whether an English sentence is a question, by its mark or else by its first word."""
    end = sentence.rstrip('"”’) ')
    if end.endswith(("?", "？")):
        return True
    found = words(sentence)
    return bool(found) and not end.endswith((".", "!")) and found[0].lower in ASKING


def _answer(sentence: str) -> tuple[tuple[str, str] | None, int]:
    """Return a leading yes or no with its opposite, and where the rest begins."""
    for phrase in sorted(_ANSWERS, key=len, reverse=True):
        end = len(phrase)
        if (
            sentence[:end].lower() != phrase
            or sentence[end : end + 1].isalnum()
            or sentence[end : end + 1] in ("'", "’")
        ):
            continue
        alone = not sentence[end:].strip(" .!,;-)")
        if not (
            alone or sentence[end:].lstrip()[:1] in (",", ".", "!", ";") or phrase in ("yes", "yeah", "yep", "nope")
        ):
            return None, 0
        new = _ANSWERS[phrase]
        return (sentence[:end], new[0].upper() + new[1:] if sentence[0].isupper() else new), end
    return None, 0


def _main_clause(sentence: str, start: int) -> int:
    """Return where the main clause begins: behind an opening subordinate clause."""
    found = [word for word in words(sentence) if word.start >= start]
    if found and found[0].lower in _OPENERS:
        comma = sentence.find(",", found[0].end)
        return comma + 1 if comma >= 0 else len(sentence)
    return start


def _without_negation(sentence: str, start: int) -> Negated | None:
    """Take the first negation away."""
    first: tuple[re.Match[str], str] | None = None
    for pattern, replacement in _REMOVALS:
        match = pattern.search(sentence, start)
        if match and (first is None or match.start() < first[0].start()):
            first = match, replacement
    if first is None:
        return None
    match, replacement = first
    new = match.expand(replacement)
    new = _UNMARKED.get(new.lower(), new)
    if match.group()[0].isupper() and new:
        new = new[0].upper() + new[1:]
    return Negated(sentence[: match.start()] + new + sentence[match.end() :], match.group().strip(), new or "")


def _with_negation(sentence: str, start: int) -> Negated | None:
    """Negate the first finite verb."""
    found = [word for word in words(sentence) if word.start >= start]
    for place, word in enumerate(found):
        new = _contracted(sentence, word) or _finite(sentence, found, place)
        if new is not None:
            return new
    return None


def _contracted(sentence: str, word: Word) -> Negated | None:
    """Negate a verb that is contracted with its subject, as in `I'm`, also with blanks around the mark."""
    bare = re.split("['’]", word.text, maxsplit=1)[0]
    if bare.lower() == "let" and sentence[word.start : word.end].lower().endswith(("'s", "’s")):
        return _change(sentence, word.start, word.end, word.text + " not")
    clitic = _CLITIC.match(sentence, word.start + len(bare))
    if not clitic or bare.lower() not in SUBJECTS:
        return None
    verb = clitic.group(2).lower()
    end = clitic.end()
    if verb in ("m", "re", "s"):
        return _change(sentence, word.start, end, sentence[word.start : end] + " not")
    following = words(sentence[end:])[:1]
    if verb == "d" and following and following[0].lower == "better":
        return None
    return _change(sentence, word.start, end, bare + _CLITIC_NEGATED[verb])


def _change(sentence: str, start: int, end: int, new: str) -> Negated:
    return Negated(sentence[:start] + new + sentence[end:], sentence[start:end], new)


def _finite(sentence: str, found: list[Word], place: int) -> Negated | None:
    """Negate a word if it is a finite verb of a statement."""
    word, lower = found[place], found[place].lower
    previous = found[place - 1].lower if place else ""
    following = next((other.lower for other in found[place + 1 :] if other.lower not in _ADVERBS), "")
    if lower in _BE:
        has_subject = place and previous not in ("here", "who", "which")
        return _change(sentence, word.start, word.end, f"{word.text} not") if has_subject else None
    if lower in _MODALS and place and previous not in _DETERMINERS:
        return _change(sentence, word.start, word.end, "cannot" if lower == "can" else f"{word.text} not")
    if (
        lower in _PERFECT
        and place
        and ("participle" in inflections_of(following) or following in ("been", "got", "") or following == "better")
    ):
        return _change(sentence, word.start, word.end, f"{word.text} not")
    if lower in _DO and place and ("base" in inflections_of(following) or not following):
        return _change(sentence, word.start, word.end, f"{word.text} not")
    inflection = _statement_verb(sentence, found, place)
    if inflection is None:
        return None
    start = place  # "always goes" becomes "doesn't always go"
    while start and found[start - 1].lower in _ADVERBS:
        start -= 1
    adverbs = sentence[found[start].start : word.start]
    do = {"base": "don't", "third": "doesn't", "past": "didn't"}[inflection]
    new = f"{do} {adverbs[:1].lower()}{adverbs[1:]}{base_of(lower, inflection)}"
    first = sentence[found[start].start]
    new = new[0].upper() + new[1:] if first.isupper() else new
    return _change(sentence, found[start].start, word.end, new)


def _statement_verb(sentence: str, found: list[Word], place: int) -> Inflection | None:
    """Return base, third or past where a word is the verb of a statement or, at the beginning, of a command."""
    lower, forms = found[place].lower, inflections_of(found[place].lower)
    if not forms:
        return None
    subject = place - 1
    while subject >= 0 and found[subject].lower in _ADVERBS:
        subject -= 1
    if subject < 0:
        if "third" in forms and lower not in _NOUNS_IN_S:
            return "third"
        if lower in ("sounds", "looks"):
            return "third"
        return "base" if "base" in forms and lower not in _NO_COMMANDS and len(found) > place + 1 else None
    before = found[subject].lower
    if sentence[found[subject].end : found[place].start].strip(" ") not in ("", *_ADVERBS) and subject == place - 1:
        return None
    if before in SUBJECTS:
        third_person = before in _THIRD_PERSONS
        tenses: tuple[Inflection, ...] = ("past", "third", "base")
        for inflection in tenses:
            if inflection in forms and not (inflection == "past" and "base" in forms and not third_person):
                return inflection
        return None
    if before in _NOT_BEFORE_VERB or before in _MODALS or before in _DO or inflections_of(before):
        return None
    owner = found[subject - 1].lower if subject else ""
    if "past" in forms and "base" not in forms and lower not in ("found", "read") and owner != "":
        return "past"
    if "third" in forms and owner in _DETERMINERS:
        return "third"
    if "base" in forms and before.endswith("s") and not before.endswith("ss") and owner in _DETERMINERS:
        return "base"
    return None


def _praise(sentence: str) -> Negated | None:
    """Negate a sentence without a verb that begins with a judgement, such as `Great idea!`."""
    first = words(sentence)[0]
    if first.lower not in _PRAISE:
        return None
    new = "Not " + first.text.lower() if first.text[0].isupper() else "not " + first.text
    return _change(sentence, first.start, first.end, new)
