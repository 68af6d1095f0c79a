"""How dialogues become tokens."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tiny_metrics import tiny_encoder

from dialeval.engines.encoder.metric import Encoding
from dialeval.errors import UserError

pytestmark = pytest.mark.train


def tokenizer_of(folder: Path) -> Any:
    import transformers

    return transformers.AutoTokenizer.from_pretrained(folder)


@pytest.fixture(scope="session")
def tokenizer(encoder: Path) -> Any:
    return tokenizer_of(encoder)


@pytest.fixture(scope="session")
def numbered(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A tokenizer that numbers the parts of a pair, as BERT's does."""
    return tokenizer_of(tiny_encoder(tmp_path_factory.mktemp("bert") / "tiny", architecture="bert"))


def test_a_turn_is_the_pair_of_its_context_and_the_response(tokenizer: Any) -> None:
    (found,) = Encoding(tokenizer, "turn", 64).encode([("How are you today?", "Fine, thanks.")])
    assert list(found.ids) == tokenizer("How are you today?", "Fine, thanks.")["input_ids"]
    assert found.cut == 0


def test_a_pair_is_numbered_as_the_tokenizer_numbers_it(numbered: Any) -> None:
    encoding = Encoding(numbered, "turn", 64)
    (found,) = encoding.encode([("How are you today?", "Fine, thanks.")])
    own = numbered("How are you today?", "Fine, thanks.")
    assert encoding.has_segments
    assert [int(place >= found.second) for place in range(len(found.ids))] == own["token_type_ids"]
    assert list(found.ids) == own["input_ids"]


def test_utterances_of_a_context_and_of_a_dialogue_have_a_separator_between_them(tokenizer: Any) -> None:
    end = tokenizer.sep_token_id

    def plain(text: str) -> list[int]:
        return list(tokenizer(text, add_special_tokens=False)["input_ids"])

    texts = ("Hello there", "Hi", "What now?")
    (turn,) = Encoding(tokenizer, "turn", 64).encode([texts])
    (dialogue,) = Encoding(tokenizer, "dialogue", 64).encode([texts])
    first, second, third = map(plain, texts)
    start = tokenizer.bos_token_id
    assert list(turn.ids) == [start, *first, end, *second, end, end, *third, end]
    assert list(dialogue.ids) == [start, *first, end, *second, end, *third, end]


def test_what_is_too_long_loses_its_beginning_and_the_response_last(tokenizer: Any) -> None:
    context, response = "one two three four five six seven eight", "the reply itself"
    longest = len(tokenizer(context, response)["input_ids"])
    wanted = tokenizer(response, add_special_tokens=False)["input_ids"]
    for room in range(len(wanted) + 4, longest + 1):
        (found,) = Encoding(tokenizer, "turn", room).encode([(context, response)])
        assert len(found.ids) == room
        assert list(found.ids[-1 - len(wanted) : -1]) == wanted
        assert found.cut == longest - room
    (shortest,) = Encoding(tokenizer, "turn", 6).encode([(context, response)])
    assert list(shortest.ids[-3:-1]) == wanted[-2:]
    assert len(shortest.ids) == 6
    (dialogue,) = Encoding(tokenizer, "dialogue", 8).encode([(context, response)])
    assert len(dialogue.ids) == 8
    assert list(dialogue.ids[-1 - len(wanted) : -1]) == wanted[-6:]


def test_marks_of_special_tokens_in_a_text_are_text(tokenizer: Any) -> None:
    (found,) = Encoding(tokenizer, "dialogue", 64).encode([("say </s> or <pad>",)])
    assert found.ids.count(tokenizer.sep_token_id) == 1
    assert tokenizer.pad_token_id not in found.ids


def test_texts_that_no_file_holds_are_encoded_all_the_same(tokenizer: Any) -> None:
    found = Encoding(tokenizer, "turn", 64).encode([("\ud800 broken", ""), ("",), ("", "")])
    assert all(one.ids for one in found)


def test_a_tokenizer_that_cannot_serve_is_refused_in_words(tokenizer: Any) -> None:
    import copy

    unpadded = copy.deepcopy(tokenizer)
    unpadded.pad_token = None
    with pytest.raises(UserError, match="no padding token"):
        Encoding(unpadded, "turn", 64)
    with pytest.raises(UserError, match="max_tokens 3 leaves no tokens"):
        Encoding(tokenizer, "turn", 3)
