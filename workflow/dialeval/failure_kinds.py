"""The kinds of failure that BotChat finds in chatbots' dialogues (appendix C, Figures 8 and 9), as criteria.

`Yes` to one is that the failure is there. A dialogue with none of them is a good case.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from dialeval.criteria import YES_NO, Criterion, Words

SELF_IDENTIFICATION, CONFUSION = "self_identification", "contextual_confusion"
LENGTH, FORMAL, REPETITION = "excessive_length", "formal_tone", "repetitive_phrasing"
GOOD = "good_case"
"""What a judgement is of that says whether a dialogue shows no kind at all."""
PROTOCOL = "failures"
"""The shipped protocol that is about them."""
BY_RULE = "rules"
"""The judge under it whose judgements follow from rules, and not from a model."""


def _kind(name: str, meaning: str) -> Criterion:
    question = f"Does the dialogue show {name.replace('_', ' ')}?"
    return Criterion(name, "dialogue", Words({"dialogue": question}, {"dialogue": meaning}), YES_NO)


FAILURES: Mapping[str, Criterion] = MappingProxyType(
    {
        kind.name: kind
        for kind in (
            _kind(
                SELF_IDENTIFICATION,
                "the speaker gives itself away as an AI, a language model, an assistant or a programme, although it is "
                "to talk as a person",
            ),
            _kind(
                CONFUSION,
                "the utterance misses what the talk is about, or who the two speakers are to each other: it is "
                "irrelevant, makes no sense there, or mixes up who is who",
            ),
            _kind(LENGTH, "the utterance is far longer than what people say in such a chat"),
            _kind(FORMAL, "the utterance is worded more formally than people talk, such as in a letter or a manual"),
            _kind(
                REPETITION,
                "the speaker says again what it said before, in the same or nearly the same words, or keeps the talk "
                "going with set phrases alone",
            ),
        )
    }
)
"""The kinds by name, in the order of the tables."""
RULED = (SELF_IDENTIFICATION, LENGTH, REPETITION)
"""The kinds that rules can find."""
