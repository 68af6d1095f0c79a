"""Items to be damaged in tests: hand-made ones, and the real dialogues of MuTual and FED."""

from __future__ import annotations

from pathlib import Path

from dialeval.corpora import botchat
from dialeval.corpora.items import Item
from dialeval.perturbations.strategy import Pool, build_pool

OTHERS = (
    ("Have you fed the goldfish?", "Twice, the bowl needs scrubbing though."),
    ("Which tram goes to the harbour?", "Number twelve, from the corner behind the bakery."),
    ("My violin lessons start in Lisbon.", "Then pack a warm scarf and the yellow umbrella."),
    ("Ines borrowed the ladder again.", "Tell Ines the roof cannot wait until Thursday."),
)


def response(*utterances: str, language: str = "en", item_id: str = "t1") -> Item:
    """A turn-level item; its last utterance is the response."""
    speakers = tuple("BA"[(len(utterances) - 1 - turn) % 2] for turn in range(len(utterances)))
    return Item("kitchen", item_id, language, "turn", item_id, speakers, utterances)


def dialogue(*utterances: str, language: str = "en", item_id: str = "d1") -> Item:
    """A dialogue that the human begins."""
    speakers = tuple(("human", "chatbot")[turn % 2] for turn in range(len(utterances)))
    return Item("kitchen", item_id, language, "dialogue", item_id, speakers, utterances)


def small_pool(language: str = "en") -> Pool:
    """A pool of four short dialogues about nothing that the other items speak of."""
    return build_pool(
        [dialogue(*texts, language=language, item_id=f"other-{number}") for number, texts in enumerate(OTHERS)]
    )


def real_dialogues(data: Path) -> list[Item]:
    """The dialogues of BotChat's MuTual workbook and of FED."""
    items = [
        Item(
            "mutual",
            read.dialogue_id,
            "en",
            "dialogue",
            read.dialogue_id,
            tuple(utterance.speaker for utterance in read.utterances),
            tuple(utterance.text for utterance in read.utterances),
        )
        for read in botchat.read_botchat_workbook(data / "botchat" / "MuTual_test.xlsx", "en").dialogues
    ]
    path = data / "comp-analysis" / "dialog_level_texts" / "fed-dial_text.txt"
    for line in path.read_text(encoding="utf-8").rstrip("\n").split("\n"):
        item_id, *fields = line.split("\t")
        tagged = [field.partition(":") for field in fields]
        speakers = tuple("chatbot" if tag == "model" else tag for tag, _, _ in tagged)
        texts = tuple(text.strip() for _, _, text in tagged)
        items.append(Item("fed", item_id, "en", "dialogue", item_id, speakers, texts))
    return items


def real_responses(data: Path) -> list[Item]:
    """The last utterances of MuTual, and the responses of FED, in their contexts."""
    items = [
        Item(item.corpus, item.item_id, "en", "turn", item.item_id, item.speakers, item.utterances)
        for item in real_dialogues(data)
        if item.corpus == "mutual"
    ]
    path = data / "comp-analysis" / "turn_level_texts" / "fed-turn_text.txt"
    for line in path.read_text(encoding="utf-8").rstrip("\n").split("\n"):
        item_id, *texts = line.split("\t")
        speakers = tuple("BA"[(len(texts) - 1 - turn) % 2] for turn in range(len(texts)))
        items.append(Item("fed", item_id, "en", "turn", item_id, speakers, tuple(text.strip() for text in texts)))
    return items
