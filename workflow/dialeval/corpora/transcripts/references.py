"""How a case should have gone: a reference is a dialogue of the system `reference`, to compare others with."""

from __future__ import annotations

from dataclasses import replace

from dialeval.corpora.items import REFERENCE, Item
from dialeval.corpora.transcripts.judging import judged_of
from dialeval.corpora.transcripts.transcript import Transcript
from dialeval.errors import UserError


class References:
    """The references of all cases, each once, though every system's dialogue may repeat it."""

    def __init__(self) -> None:
        self._of_cases: dict[str, tuple[Item, str]] = {}

    def take(self, item: Item, transcript: Transcript) -> None:
        """Takes the reference of a dialogue, if it has one.

        Raises:
            UserError: it is another one than that of a dialogue on the same case, or its system is called so, too.
        """
        speakers, utterances = transcript.reference
        if not utterances:
            return
        if item.system == REFERENCE:
            words = f"a system is called '{REFERENCE}', as references are; call it otherwise"
            raise UserError(f"{transcript.place}: {words}")
        case_id = item.case_id or item.item_id
        reference = replace(
            item,
            item_id=f"{case_id}/{REFERENCE}",
            system=REFERENCE,
            speakers=speakers,
            utterances=utterances,
            judged=judged_of(speakers, REFERENCE, item.judged or None, transcript.place) or "",
        )
        known, place = self._of_cases.setdefault(case_id, (reference, transcript.place))
        if (known.speakers, known.utterances) != (speakers, utterances):
            raise UserError(
                f"{transcript.place}: case '{case_id:.60}' has another reference than at {place}; give one for each "
                "case, as a list of utterances where the systems' dialogues differ before the last one"
            )

    def items(self) -> list[Item]:
        """Returns the references as items."""
        return [item for item, _ in self._of_cases.values()]
