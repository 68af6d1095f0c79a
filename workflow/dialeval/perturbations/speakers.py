"""Which utterances are the chatbot's."""

from __future__ import annotations

from dialeval.corpora.items import Item


def chatbot_turns(item: Item) -> tuple[int, ...]:
    """Returns the 0-based numbers of the chatbot's utterances.

    A speaker named `chatbot` is the chatbot; beside a speaker named `human` it is the other one. Where neither is
    known, it is the one who responds at turn level, and the second to speak in a dialogue. Where the source tells no
    two speakers apart, they are taken to speak in turn.
    """
    speakers = item.speakers
    names = list(dict.fromkeys(speakers))
    if len(names) < 2:
        last_is_chatbot = item.level == "turn" or len(speakers) % 2 == 0
        return tuple(turn for turn in range(len(speakers)) if ((len(speakers) - 1 - turn) % 2 == 0) == last_is_chatbot)
    if "chatbot" in names:
        chatbot = "chatbot"
    elif "human" in names:
        chatbot = next(name for name in names if name != "human")
    else:
        chatbot = speakers[-1] if item.level == "turn" else names[1]
    return tuple(turn for turn, speaker in enumerate(speakers) if speaker == chatbot)


def same_speaker_before(item: Item) -> tuple[int, ...]:
    """Returns the numbers of the earlier utterances of the one who says the last one."""
    last = len(item.speakers) - 1
    if len(set(item.speakers)) < 2:
        return tuple(turn for turn in range(last) if (last - turn) % 2 == 0)
    return tuple(turn for turn in range(last) if item.speakers[turn] == item.speakers[last])


def spoke_last(item: Item, turn: int) -> bool:
    """Says whether the one who says an utterance also says the last one."""
    if len(set(item.speakers)) < 2:
        return (len(item.speakers) - 1 - turn) % 2 == 0
    return item.speakers[turn] == item.speakers[-1]
