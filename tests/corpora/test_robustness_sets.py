"""The published damaged sets: each quirk on hand-made files, the counts on the real ones."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from dialeval.corpora.robustness_sets import ORIGINALS_FILE, SETS, Pair, check_sets, files_in, read_sets
from dialeval.errors import UserError

ORIGINALS = [["Hi!", "Hey, you.", "Rain?"], ["Hi!", "Moin. ", "Sun?", "Both."]]

IN_PAPER = [
    "random_response", "replace_pronoun", "replace_named_entity", "contradiction", "repetition",
    "unnatural_paraphrase", "dullness", "order_shuffle", "utterance_replacement", "self_contradiction",
    "utterance_duplication", "repeating_others", "generic_utterance", "content_reduction",
]  # fmt: skip


def write(folder: Path, path: str, lines: Sequence[str]) -> None:
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_bytes(("\n".join(lines) + "\n").encode())


def write_originals(folder: Path) -> None:
    write(folder, ORIGINALS_FILE, [json.dumps(ORIGINALS)])


def write_turn_set(folder: Path, name: str, original: Sequence[str], perturbed: Sequence[str]) -> None:
    write(folder, SETS[name].original, original)
    write(folder, SETS[name].perturbed, perturbed)


def only(folder: Path, name: str) -> list[Pair]:
    return read_sets(folder, [name])[name]


def test_a_response_split_by_a_tab_is_joined(tmp_path: Path) -> None:
    write_turn_set(
        tmp_path,
        "replace_named_entity",
        ["ner-0\tWhere to?\tTo Rome, soon.", "ner-1\tWho?\tAsk Ines."],
        ["ner-0\tWhere to?\tTo good\tmorning, soon.", "ner-1\tWho?\tAsk Tom."],
    )
    first, second = only(tmp_path, "replace_named_entity")
    assert first.perturbed.utterances == ("Where to?", "To good morning, soon.")
    assert first.original.utterances == ("Where to?", "To Rome, soon.")
    assert second.perturbed.response == "Ask Tom."
    assert first.perturbed.speakers == ("A", "B")


def test_a_response_can_stand_alone_and_can_be_unchanged(tmp_path: Path) -> None:
    write_turn_set(tmp_path, "replace_pronoun", ["p-0\tShe left. ", "p-1\tA\tB"], ["p-0\tHe left.", "p-1\tA\tB "])
    first, second = only(tmp_path, "replace_pronoun")
    assert (first.original.context, first.original.response, first.unchanged) == ((), "She left.", False)
    assert second.unchanged


def test_rows_have_ids_of_their_own_whatever_the_file_says(tmp_path: Path) -> None:
    write_turn_set(tmp_path, "entrainment", ["ent-0\tA\tB", "ent-0\tA\tB"], ["contra-0\tA\tC", "contra-0\tA\tD"])
    pairs = only(tmp_path, "entrainment")
    ids = [item.item_id for pair in pairs for item in (pair.original, pair.perturbed)]
    assert ids == [
        "entrainment/0000/original",
        "entrainment/0000/damaged",
        "entrainment/0001/original",
        "entrainment/0001/damaged",
    ]
    assert pairs[0].original.cluster == pairs[0].perturbed.cluster != pairs[1].perturbed.cluster


def test_quotes_and_other_line_ends_are_text(tmp_path: Path) -> None:
    write_turn_set(tmp_path, "dullness", ['d\tSay "no\u2028yes".\t"No" \x0b I say'], ['d\tSay "no\u2028yes".\tI see.'])
    (pair,) = only(tmp_path, "dullness")
    assert pair.original.utterances == ('Say "no\u2028yes".', '"No" \x0b I say')


def test_five_rows_in_a_row_belong_to_one_original(tmp_path: Path) -> None:
    write_originals(tmp_path)
    rows = [f"shuffle_0{row // 5}\thuman: a{row}\tmodel: b:{row}\thuman: c" for row in range(10)]
    write(tmp_path, SETS["order_shuffle"].perturbed, rows)
    pairs = only(tmp_path, "order_shuffle")
    assert [pair.original.item_id for pair in pairs] == ["fed/00"] * 5 + ["fed/01"] * 5
    assert pairs[7].perturbed.utterances == ("a7", "b:7", "c")
    assert pairs[7].perturbed.speakers == ("human", "chatbot", "human")
    assert pairs[7].original.speakers == ("human", "chatbot", "human", "chatbot")
    assert pairs[7].original.utterances[1] == "Moin."
    assert {pair.perturbed.cluster for pair in pairs[5:]} == {"fed/01"}


def test_duplications_run_through_all_originals_again_and_again(tmp_path: Path) -> None:
    write_originals(tmp_path)
    rows = [f"self_repeat_08\thuman:  Hi!\tchatbot:  Hey. Hey. {row}" for row in range(10)]
    write(tmp_path, SETS["utterance_duplication"].perturbed, rows)
    pairs = only(tmp_path, "utterance_duplication")
    assert [pair.original.item_id for pair in pairs] == ["fed/00", "fed/01"] * 5
    assert pairs[3].perturbed.utterances == ("Hi!", "Hey. Hey. 3")


REPLIES = [
    [("Hi!", "Hi! Hey, you."), ("Rain?", None)],
    [("Hi!", "Hi! Moin."), ("Sun?", "Sun? Both.")],
]
"""What the chatbot says after each utterance of the two originals' human, with the human's words in it."""


def repeating(original: int, draw: int) -> str:
    """Return the utterances of a damaged dialogue: the human's own, and replies that take them up."""
    turns = []
    for said, reply in REPLIES[original]:
        turns += [f"human: {said}", *([f"chatbot: {reply} {draw}"] if reply else [])]
    return "\t".join(turns)


@pytest.mark.parametrize(
    ("ids", "order"),
    [
        (["other_repeat_00"] * 5 + ["other_repeat_01"] * 5, [0] * 5 + [1] * 5),
        (["other_repeat_08"] * 10, [0] * 5 + [1] * 5),
        (["other_repeat_08"] * 10, [0, 1] * 5),
        (["other_repeat_00", "other_repeat_01"] * 5, [0, 1] * 5),
        (["other_repeat_00"] * 5 + ["other_repeat_01"] * 5, [0, 1] * 5),
        ([f"other_repeat_0{n}" for n in (1, 0, 0, 1, 1, 1, 0, 1, 0, 0)], [1, 0, 0, 1, 1, 1, 0, 1, 0, 0]),
    ],
)
def test_rows_that_repeat_the_other_find_their_originals(tmp_path: Path, ids: list[str], order: list[int]) -> None:
    write_originals(tmp_path)
    rows = [
        f"{row_id}\t{repeating(original, row)}" for row, (row_id, original) in enumerate(zip(ids, order, strict=True))
    ]
    write(tmp_path, SETS["repeating_others"].perturbed, rows)
    pairs = only(tmp_path, "repeating_others")
    assert [pair.original.item_id for pair in pairs] == [f"fed/0{original}" for original in order]
    assert [pair.perturbed.cluster for pair in pairs] == [f"fed/0{original}" for original in order]


def test_where_the_words_tell_nothing_the_ids_do(tmp_path: Path) -> None:
    write_originals(tmp_path)
    rows = [f"other_0{1 - row // 5}\thuman: a{row}\tchatbot: b" for row in range(10)]
    write(tmp_path, SETS["repeating_others"].perturbed, rows)
    assert [pair.original.item_id for pair in only(tmp_path, "repeating_others")] == ["fed/01"] * 5 + ["fed/00"] * 5
    write(tmp_path, SETS["repeating_others"].perturbed, [row.replace("_00", "_01") for row in rows])
    with pytest.raises(
        UserError,
        match=r"fed-repeat-other_text.txt: the rows cannot be matched to the dialogues of dialog_level_robust_data",
    ):
        only(tmp_path, "repeating_others")


def test_a_file_in_another_order_than_the_published_is_refused(tmp_path: Path) -> None:
    write_originals(tmp_path)
    rows = [f"shuffle_00\t{repeating(row % 2, row)}" for row in range(10)]
    write(tmp_path, SETS["order_shuffle"].perturbed, rows)
    with pytest.raises(UserError, match=r"fed-ordershuffle_text\.txt: the rows are not in the published order"):
        only(tmp_path, "order_shuffle")


@pytest.mark.parametrize(
    ("original", "perturbed", "responses"),
    [
        ("c-0\tWho?\tInes is.", "c-0\tWho?\tInes\tis not.", ("Ines is.", "Ines is not.")),
        ("c-0\tWho?\tThe\tInes is.", "c-0\tWho?\tInes is not.", ("The Ines is.", "Ines is not.")),
        ("c-0\tWho?\tInes\tis.", "c-0\tWho?\tTom\tis.", ("Ines is.", "Tom is.")),
        ("c-0\tInes is.", "c-0\tInes\tis not.", ("Ines is.", "Ines is not.")),
    ],
)
def test_a_tab_inside_a_contradiction_is_no_border(
    tmp_path: Path, original: str, perturbed: str, responses: tuple[str, str]
) -> None:
    write_turn_set(tmp_path, "contradiction", [original], [perturbed])
    (pair,) = only(tmp_path, "contradiction")
    assert (pair.original.response, pair.perturbed.response) == responses
    assert pair.original.context == pair.perturbed.context == (("Who?",) if "Who?" in original else ())


def test_repetitions_are_read_beside_their_originals(tmp_path: Path) -> None:
    write_turn_set(tmp_path, "repetition", ["r-0\tA\tB, C."], ["r-0\tA\tB, B, B, C."])
    (pair,) = only(tmp_path, "repetition")
    assert (pair.perturbed.response, pair.unchanged) == ("B, B, B, C.", False)


def test_what_is_in_a_folder_is_read_and_the_rest_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="has none of the published sets"):
        read_sets(tmp_path)
    write_turn_set(tmp_path, "repetition", ["r-0\tA\tB"], ["r-0\tA\tB B"])
    write_turn_set(tmp_path, "entrainment", ["r-0\tA\tB"], ["r-0\tA\tB B"])
    assert list(read_sets(tmp_path)) == ["repetition"]
    (tmp_path / SETS["repetition"].original).unlink()
    with pytest.raises(UserError, match="repetition-original_text.txt cannot be read: No such file"):
        read_sets(tmp_path)
    with pytest.raises(
        UserError, match=r"does not have turn_level_robust_data/und/repetition-original_text.txt of repetition"
    ):
        check_sets(tmp_path, None)


def test_the_files_that_are_read_are_those_of_the_strategies(tmp_path: Path) -> None:
    assert files_in(tmp_path, None) == []
    both = [SETS["repetition"].perturbed, SETS["repetition"].original]
    assert files_in(tmp_path, ["repetition"]) == [tmp_path / path for path in both]
    write_originals(tmp_path)
    write(tmp_path, SETS["order_shuffle"].perturbed, ["x"])
    assert files_in(tmp_path, None) == [tmp_path / SETS["order_shuffle"].perturbed, tmp_path / ORIGINALS_FILE]
    check_sets(tmp_path, None)
    (tmp_path / ORIGINALS_FILE).unlink()
    with pytest.raises(UserError, match=r"fed_coherent_original.json of order_shuffle, content_reduction"):
        check_sets(tmp_path, ["content_reduction", "order_shuffle"])


def test_contradictions_bring_their_originals(tmp_path: Path) -> None:
    write(tmp_path, SETS["self_contradiction"].original, ["consistent-00\thuman: A\tchatbot: B"] * 2)
    write(tmp_path, SETS["self_contradiction"].perturbed, ["c-00\thuman: A\tchatbot: B\thuman: C\tchatbot: not B"] * 2)
    pairs = only(tmp_path, "self_contradiction")
    assert [pair.original.item_id for pair in pairs] == [
        "self_contradiction/000/original",
        "self_contradiction/001/original",
    ]
    assert pairs[1].perturbed.utterances[:2] == pairs[1].original.utterances


@pytest.mark.parametrize(
    ("original", "perturbed", "words"),
    [
        (["i\tA\tB"], ["i\tA\tC", "i\tA\tD"], ["2 rows", "has 1", "line n of one must belong to line n of the other"]),
        (["i\tA\tB", "i\tA\tB"], ["i\tA\tC", "i\tC"], ["line 2", "2 fields, but the original has 3"]),
        (["i\tA\tB", "i\tA\tB"], ["i\tA\tC", "i"], ["row 2 has no TAB"]),
        (["i\tA\tB", "", "i\tA\tB"], ["i\tA\tB", "", "i\tA\tC"], ["row 2 is blank"]),
        (["i\tA\tB"], ["i\tC\tD"], ["line 1", " the context has nothing in common with the original"]),
        (["i\tB"], ["i\t "], ["line 1: no utterance"]),
    ],
)
def test_a_broken_turn_file_is_reported(
    tmp_path: Path, original: list[str], perturbed: list[str], words: list[str]
) -> None:
    write_turn_set(tmp_path, "dullness", original, perturbed)
    with pytest.raises(UserError) as caught:
        only(tmp_path, "dullness")
    for word in ("_text.txt", *words):
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (["x_00\thuman: A\tmodel: B"] * 9, ["9 rows", "2 originals", "must be 10"]),
        (["x_00\thuman: A\tBob: B"] * 10, ["line 1", "'Bob: B' must begin with one of human:, model:, chatbot:"]),
    ],
)
def test_a_broken_dialogue_file_is_reported(tmp_path: Path, rows: list[str], words: list[str]) -> None:
    write_originals(tmp_path)
    write(tmp_path, SETS["order_shuffle"].perturbed, rows)
    with pytest.raises(UserError) as caught:
        only(tmp_path, "order_shuffle")
    for word in ("fed-ordershuffle_text.txt", *words):
        assert word in str(caught.value)


def test_what_is_missing_or_unknown_is_reported(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"a published set of robustness_data; did you mean 'order_shuffle'"):
        read_sets(tmp_path, ["order_shufle"])
    with pytest.raises(UserError, match=r"entailment_text\.txt cannot be read"):
        read_sets(tmp_path, ["random_response"])
    write(tmp_path, ORIGINALS_FILE, ['{"a": 1}'])
    write(tmp_path, SETS["order_shuffle"].perturbed, ["x\thuman: A"])
    with pytest.raises(UserError, match="a list of lists of utterances is needed"):
        read_sets(tmp_path, ["order_shuffle"])


@pytest.fixture(scope="module")
def published(real_data: Path) -> dict[str, list[Pair]]:
    folder = real_data / "comp-analysis" / "robustness_data"
    if not folder.is_dir():
        pytest.skip("the public folder comp-analysis/robustness_data is not in shared/data")
    return read_sets(folder, [name for name, published in SETS.items() if published.is_in(folder)])


def test_the_real_sets_have_the_papers_counts(published: dict[str, list[Pair]]) -> None:
    counts = {name: len(pairs) for name, pairs in published.items()}
    turn = {name: count for name, count in counts.items() if SETS[name].level == "turn"}
    published_later = {"contradiction": 1094, "repetition": 1993}
    assert turn == {name: count for name, count in published_later.items() if name in counts} | {
        "random_response": 1894,
        "replace_pronoun": 2919,
        "replace_named_entity": 712,
        "unnatural_paraphrase": 369,
        "dullness": 2811,
        "speaker_repetition": 920,
        "entrainment": 836,
    }
    assert {count for name, count in counts.items() if SETS[name].level == "dialogue"} == {200}
    assert [name for name in SETS if SETS[name].in_paper] == IN_PAPER
    unchanged = {name: sum(pair.unchanged for pair in pairs) for name, pairs in published.items()}
    assert {name: n for name, n in unchanged.items() if n} == {"replace_pronoun": 45, "dullness": 45, "entrainment": 59}


def test_the_real_rows_belong_to_their_originals(published: dict[str, list[Pair]]) -> None:
    for name in ("random_response", "replace_pronoun", "replace_named_entity", "unnatural_paraphrase", "dullness"):
        assert all(pair.original.context == pair.perturbed.context for pair in published[name])
    alone = {name: sum(not pair.original.context for pair in pairs) for name, pairs in published.items()}
    assert (alone["replace_pronoun"], alone["replace_named_entity"]) == (120, 66)
    for pair in published["order_shuffle"]:
        assert Counter(pair.original.utterances) == Counter(pair.perturbed.utterances)
    for name, n_replaced in (("utterance_replacement", {1: 200}), ("utterance_replacement_3", {3: 198, 2: 2})):
        assert Counter(len(differing(pair)) for pair in published[name]) == n_replaced
    for pair in published["utterance_duplication"]:
        assert pair.perturbed.utterances[::2] == pair.original.utterances[::2]
    for pair in published["self_contradiction"]:
        assert pair.perturbed.utterances[:-2] == pair.original.utterances
    for name, n_same_length in (("generic_utterance", 107), ("content_reduction", 132)):
        pairs = published[name]
        assert sum(len(pair.original.utterances) == len(pair.perturbed.utterances) for pair in pairs) == n_same_length


def differing(pair: Pair) -> list[int]:
    return [n for n, text in enumerate(pair.perturbed.utterances) if text != pair.original.utterances[n]]


def test_the_real_ids_are_unique(published: dict[str, list[Pair]]) -> None:
    perturbed = [pair.perturbed.item_id for pairs in published.values() for pair in pairs]
    assert len(set(perturbed)) == len(perturbed)
    originals = {pair.original.item_id: pair.original for pairs in published.values() for pair in pairs}
    assert all(originals[pair.original.item_id] == pair.original for pairs in published.values() for pair in pairs)
    assert not originals.keys() & set(perturbed)
