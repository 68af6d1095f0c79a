"""Comp-analysis at dialogue level, on hand-made files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dialeval.corpora import comp_analysis
from dialeval.corpora.comp_analysis import TabRecord, read_records, split_speaker
from dialeval.errors import UserError

# Comp-analysis at dialogue level, on hand-made files.

FED_ROWS = ("F-000000\thuman: Hello?\tmodel:  Hi: you? ", "F-000001\thuman: Rain again.\tmodel: Bring a coat.")


def rounds(n_items: int, *dimensions: str, n_rounds: int = 2) -> dict[str, list[Any]]:
    return {f"{name}_{number}": [float(number)] * n_items for name in dimensions for number in range(1, n_rounds + 1)}


def write(tmp_path: Path, stem: str, rows: tuple[str, ...], **annotations: Any) -> Path:
    for name, content in annotations.items():
        (tmp_path / f"{name}_annotations.json").write_text(json.dumps(content))
    path = tmp_path / f"{stem}_text.txt"
    path.write_text("".join(f"{row}\n" for row in rows))
    return path


def fed(**first: Any) -> list[dict[str, Any]]:
    """FED's annotations of the two dialogues of `FED_ROWS`."""
    entries = []
    for row, ratings in zip(FED_ROWS, (first, {"Coherent": [2, 2]}), strict=True):
        turns = [part.split(":", 1) for part in row.split("\t")[1:]]
        dialog = [{"speaker": speaker, "text": text.strip()} for speaker, text in turns]
        entries.append({"dialog": dialog, "annotations": ratings, "model": "M", "dialogue_id": "x"})
    return entries


def test_rounds_are_kept_singly_beside_their_mean(tmp_path: Path) -> None:
    content = {"coh_2": [1.2, 5.0], "coh_1": [2.0, 2.25], "ovr_1": [3, 4]}
    reading = comp_analysis.read_dialogues("mine", write(tmp_path, "conture-dial", FED_ROWS, conture_gpt4=content))
    found = [(r.item_id, r.dimension, r.round, r.value, r.n_raters) for r in reading.ratings if r.item_id == "F-000000"]
    assert found == [
        ("F-000000", "coherence", 0, 2.0, 1),
        ("F-000000", "coherence", 1, 1.2, 1),
        ("F-000000", "coherence", None, pytest.approx(1.6), 2),
        ("F-000000", "overall", 0, 3.0, 1),
        ("F-000000", "overall", None, 3.0, 1),
    ]
    kinds = {(r.rater_kind, r.rater, r.scale_min, r.scale_max) for r in reading.ratings}
    assert kinds == {("model", "gpt-4", 1.0, 5.0)}


def test_people_are_kept_singly_on_scales_that_begin_at_zero(tmp_path: Path) -> None:
    people = fed(Coherent=[0, 1, 2, 2, 2], Consistent=[1, 0], Overall=[4, 3, 4], **{"Error recovery": []}, Likeable=[2])
    path = write(tmp_path, "fed-dial", FED_ROWS, fed_human=people)
    reading = comp_analysis.read_dialogues("mine", path)
    means = {
        r.dimension: (r.value, r.n_raters, r.scale_min, r.scale_max)
        for r in reading.ratings
        if r.round is None and r.item_id == "F-000000"
    }
    assert means == {
        "coherence": (1.4, 5, 0.0, 2.0),
        "consistent": (0.5, 2, 0.0, 1.0),
        "overall": (pytest.approx(11 / 3), 3, 0.0, 4.0),
        "engagingness": (2.0, 1, 0.0, 2.0),
    }
    assert [r.value for r in reading.ratings if r.dimension == "coherence" and r.round is not None][:5] == [
        0,
        1,
        2,
        2,
        2,
    ]
    assert {(r.rater_kind, r.rater) for r in reading.ratings} == {("human", "people")}
    assert "1 items without a rating on error recovery" in reading.summary()


def test_a_sample_is_found_by_its_indices_and_the_rest_is_left_out(tmp_path: Path) -> None:
    rows = tuple(f"P-{number:06d}\tmodel: m{number}\thuman_evaluator: h{number}" for number in range(5))
    content = {"indices": [3, 0], "div_1": [1, 4], "div_2": [3, 4]}
    path = write(tmp_path, "persona-see", rows, see_gpt4=content)
    reading = comp_analysis.read_dialogues("mine", path)
    assert [item.item_id for item in reading.items] == ["P-000000", "P-000003"]
    assert {r.item_id: r.value for r in reading.ratings if r.round is None} == {"P-000003": 2.0, "P-000000": 4.0}
    assert "3 records left out (3 dialogues without a rating)" in reading.summary()
    assert len(comp_analysis.read_dialogues("mine", path, include_unrated=True).items) == 5
    assert [file.name for file in comp_analysis.dialogue_source_files(path)] == [
        "persona-see_text.txt",
        "see_gpt4_annotations.json",
    ]


@pytest.mark.parametrize("name", ["heval", "reliable"])
@pytest.mark.parametrize("indices", [None, [1, 0]])
def test_sets_that_only_a_model_rated_are_read(tmp_path: Path, name: str, indices: list[int] | None) -> None:
    content = {"coh_1": [1.2, 5.0], "coh_2": [2.0, 4.0]} | ({} if indices is None else {"indices": indices})
    path = write(tmp_path, f"{name}-dial", FED_ROWS, **{f"{name}_gpt4": content})
    reading = comp_analysis.read_dialogues("mine", path)
    means = {r.item_id: r.value for r in reading.ratings if r.round is None}
    assert list(means.values()) == [1.6, 4.5]
    assert list(means) == [f"F-00000{row}" for row in indices or [0, 1]]
    assert {r.rater for r in reading.ratings} == {"gpt-4"}


def test_a_round_that_is_there_twice_is_reported(tmp_path: Path) -> None:
    path = write(tmp_path, "conture-dial", FED_ROWS, conture_gpt4={"coh_1": [1, 2], "coh_01": [1, 2]})
    with pytest.raises(UserError, match="'coh_01' repeats a round of its dimension; remove one of the two keys"):
        comp_analysis.read_dialogues("mine", path)


@pytest.mark.parametrize(
    ("stem", "row", "speakers"),
    [
        ("fed-dial", "human: a\tmodel: b", ("human", "chatbot")),
        ("conture-dial", "User: a\tChatbot: b", ("human", "chatbot")),
        ("ieval-dial", "A: a\tB: b", ("human", "chatbot")),
        ("persona-see", "model: a\thuman_evaluator: b", ("chatbot", "human")),
        ("reliable-dial", "A: a\tWizard of X: b", ("A", "Wizard of X")),
    ],
)
def test_speakers_have_one_name_in_all_data_sets(
    tmp_path: Path, stem: str, row: str, speakers: tuple[str, ...]
) -> None:
    name = {"persona-see": "see"}.get(stem, stem.removesuffix("-dial"))
    path = write(tmp_path, stem, (f"X-000000\t{row}",), **{f"{name}_gpt4": rounds(1, "coh")})
    (item,) = comp_analysis.read_dialogues("m", path).items
    assert (item.speakers, item.utterances, item.level) == (speakers, ("a", "b"), "dialogue")


def test_identical_dialogues_share_a_cluster(tmp_path: Path) -> None:
    rows = ("I-000000\tA: a\tB: b", "I-000001\tA: c\tB: d", "I-000002\tA: a\tB: b ")
    path = write(tmp_path, "ieval-dial", rows, ieval_gpt4=rounds(3, "coh"))
    assert [item.cluster for item in comp_analysis.read_dialogues("m", path).items] == [
        "I-000000",
        "I-000001",
        "I-000000",
    ]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"coh_1": [1.0]}, ["'coh_1' has 1 ratings", "the texts have 2 rows"]),
        ({"coh_1": [1.0, 6.0]}, ["'coh_1', position 1 (F-000001)", "6 is outside its scale"]),
        ({"coh_1": [1.0, None]}, ["position 1", "None is not a rating"]),
        ({"cho_1": [1.0, 2.0]}, ["'cho_1'", "did you mean 'coh'?"]),
        ({"coherence": [1.0, 2.0]}, ["'coherence' is not a <dimension>_<round>"]),
        ({"coh_1": [1.0], "indices": [2]}, ["'indices', position 0", "2 is not a row of the texts", "0 to 1"]),
        ({"coh_1": [1.0], "indices": [-1]}, ["-1 is not a row of the texts"]),
        ({"coh_1": [1.0], "indices": [0.5]}, ["0.5 is not a row of the texts"]),
        ({"coh_1": [1.0, 2.0], "indices": [1, 1]}, ["position 1", "row 1 already occurs at position 0"]),
        ({"coh_1": [1.0, 2.0], "indices": [1]}, ["'coh_1' has 2 ratings", "indices has 1 rows"]),
        ([], ["a JSON object that maps"]),
    ],
)
def test_rounds_that_do_not_fit_are_reported(tmp_path: Path, content: Any, words: list[str]) -> None:
    with pytest.raises(UserError) as caught:
        comp_analysis.read_dialogues("m", write(tmp_path, "conture-dial", FED_ROWS, conture_gpt4=content))
    for word in ("conture_gpt4_annotations.json", *words):
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (fed(Coherent=[0])[:1], ["1 dialogues, but the texts have 2 rows"]),
        (fed(Coherent=[0])[::-1], ["position 0 (F-000000)", "differs from the dialogue in the same row"]),
        (fed(Coherent=[3]), ["position 0 (F-000000), 'Coherent'", "3 is outside its scale, 0 to 2"]),
        (fed(Coherence=[1]), ["'Coherence' is not rated in this data set (did you mean 'Coherent'?)"]),
        (fed(Coherent=1), ["'annotations': 'Coherent' is 1; it must be a list"]),
        ([{"dialog": []}] * 2, ["the field 'annotations' is missing"]),
        ({}, ["a JSON list of dialogues"]),
    ],
)
def test_annotations_of_people_that_do_not_fit_are_reported(tmp_path: Path, content: Any, words: list[str]) -> None:
    with pytest.raises(UserError) as caught:
        comp_analysis.read_dialogues("m", write(tmp_path, "fed-dial", FED_ROWS, fed_human=content))
    for word in ("fed_human_annotations.json", *words):
        assert word in str(caught.value)


def test_missing_annotations_are_reported_with_the_names_looked_for(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"reliable_gpt4_annotations.json"):
        comp_analysis.read_dialogues("m", write(tmp_path, "reliable-dial", FED_ROWS))


def test_people_on_scales_that_are_not_known_are_not_read(tmp_path: Path) -> None:
    path = write(tmp_path, "conture-dial", FED_ROWS, conture_gpt4=rounds(2, "coh"), conture_human=fed(Coherent=[1]))
    reading = comp_analysis.read_dialogues("m", path)
    assert {r.rater_kind for r in reading.ratings} == {"model"}
    assert "conture_human_annotations.json is skipped: only the scales of FED's ratings are known" in reading.summary()


def test_an_utterance_without_a_speaker_is_reported_with_its_row(tmp_path: Path) -> None:
    path = write(tmp_path, "fed-dial", (), fed_gpt4={})
    path.write_text("F-0\thuman: a\tmodel: b\tsplit off\n")
    with pytest.raises(UserError, match=r"row 1 \(F-0\), utterance 3: 'split off' does not begin with a speaker"):
        comp_analysis.read_dialogues("m", path)


# Comp-analysis at turn level, on hand-made files.

TEXTS = ("K-000000\tIs it far?\tTen minutes.", "K-000001\tIs it far?\t Very.", 'K-000002\tHe said "no\tWhy?\tNone')


def comp_turn_write(folder: Path, dataset: str, rows: tuple[str, ...] = TEXTS, **ratings: dict[str, Any]) -> Path:
    folder.mkdir(exist_ok=True)
    for name, content in ratings.items():
        (folder / f"turn_{name}.json").write_text(json.dumps(content, indent=2))
    path = folder / f"{dataset}_text.txt"
    path.write_text("".join(f"{row}\n" for row in rows))
    return path


def test_people_and_gpt4_are_separate_raters_with_their_scales(tmp_path: Path) -> None:
    path = comp_turn_write(
        tmp_path,
        "persona-usr",
        specificity_ratings={"other": [1], "persona-usr": [1.2, 2.25, 4.6]},
        interesting_ratings={"persona-usr": [1.0, 2.6666666666666665, 3.0], "other": [1]},
        understandability_ratings={"persona-usr": [0, 0.3333333333333333, 1]},
    )
    reading = comp_analysis.read_turns("mine", path)
    found = {(r.dimension, r.rater_kind, r.rater, r.n_raters, r.scale_min, r.scale_max) for r in reading.ratings}
    assert found == {
        ("specificity", "model", "gpt-4", None, 1.0, 5.0),
        ("interestingness", "human", "people", 3, 1.0, 3.0),
        ("understandability", "human", "people", 3, 0.0, 1.0),
    }
    values = [(r.item_id, r.value, r.round) for r in reading.ratings if r.dimension == "specificity"]
    assert values == [("K-000000", 1.2, None), ("K-000001", 2.25, None), ("K-000002", 4.6, None)]


def test_items_have_speakers_backwards_and_clusters_by_context(tmp_path: Path) -> None:
    reading = comp_analysis.read_turns(
        "mine", comp_turn_write(tmp_path, "fed-turn", overall_ratings={"fed-turn": [0, 1.5, 4]})
    )
    assert [item.utterances for item in reading.items] == [
        ("Is it far?", "Ten minutes."),
        ("Is it far?", "Very."),
        ('He said "no', "Why?", "None"),
    ]
    assert [item.speakers[-1] for item in reading.items] == ["chatbot"] * 3
    assert reading.items[2].speakers == ("chatbot", "human", "chatbot")
    assert [item.cluster for item in reading.items] == ["K-000000", "K-000000", "K-000002"]
    assert {(item.corpus, item.language, item.level) for item in reading.items} == {("mine", "en", "turn")}


def test_the_dialogue_number_in_the_ids_gives_the_clusters(tmp_path: Path) -> None:
    rows = ("C-000000-0001\thi\tr", "C-000000-0003\thi\tr\tu\ts", "C-000001-0001\thi\tr", "C-000001-0003\thi\tr\tu\ts")
    path = comp_turn_write(tmp_path, "conture-turn", rows, overall_ratings={"conture-turn": [0, 1, 2, 2]})
    assert [item.cluster for item in comp_analysis.read_turns("m", path).items] == ["C-000000"] * 2 + ["C-000001"] * 2


def test_a_response_may_stand_alone_and_repeated_rows_stay(tmp_path: Path) -> None:
    rows = ("K-000000\tOnly this.", "K-000001\tHi.\tHo.", "K-000002\tHi.\tHo.")
    path = comp_turn_write(tmp_path, "dailydialog-zhao", rows, relevance_ratings={"dailydialog-zhao": [1, 2.75, 5]})
    items = comp_analysis.read_turns("m", path).items
    assert items[0].context == ()
    assert items[1].utterances == items[2].utterances
    assert items[1].cluster == items[2].cluster != items[0].cluster


@pytest.mark.parametrize(
    ("dataset", "dimension", "top"),
    [("convai2-grade", "overall", 5.0), ("persona-zhao", "overall", 5.0), ("topical-usr", "relevance", 3.0)],
)
def test_a_single_rating_is_taken_from_the_sibling_folder(
    tmp_path: Path, dataset: str, dimension: str, top: float
) -> None:
    path = comp_turn_write(tmp_path / "turn_level_texts_old", dataset)
    comp_turn_write(tmp_path / "turn_level_texts", "unused", ratings={dataset: [1, 2.2, 3]})
    reading = comp_analysis.read_turns("m", path)
    assert {(r.dimension, r.rater_kind, r.scale_max) for r in reading.ratings} == {(dimension, "human", top)}
    assert f"3 ratings without a dimension in the files, used as {dimension}" in reading.summary()


def test_the_single_rating_is_not_read_beside_dimensions(tmp_path: Path) -> None:
    path = comp_turn_write(
        tmp_path, "fed-turn", relevance_ratings={"fed-turn": [0, 1, 2]}, ratings={"fed-turn": [99, 99, 99]}
    )
    assert {r.dimension for r in comp_analysis.read_turns("m", path).ratings} == {"relevance"}
    names = [file.name for file in comp_analysis.turn_source_files(path)]
    assert names == ["fed-turn_text.txt", "turn_relevance_ratings.json", "turn_ratings.json"]


@pytest.mark.parametrize(
    ("dataset", "ratings", "words"),
    [
        ("fed-turn", {"relevance_ratings": {"fed-turn": [1, 2]}}, ["2 ratings for 'fed-turn'", "3 rows"]),
        ("fed-turn", {"relevance_ratings": {"fed-turn": [1, 2.5, 1]}},
         ["turn_relevance_ratings.json", "position 1 (K-000001)", "2.5 is outside its scale, 0 to 2"]),
        ("conture-turn", {"specificity_ratings": {"conture-turn": [1, 5.5, 1]}},
         ["position 1", "5.5 is outside its scale, 1 to 5"]),
        ("fed-turn", {"overall_ratings": {"fed-turn": [1, None, 1]}}, ["position 1", "None is not a rating"]),
        ("fed-turn", {"overall_ratings": {"fed-turn": 4}}, ["'fed-turn' must be a list"]),
        ("fed-turn", {"overall_ratings": {"fedturn": [1]}},
         ["'fed-turn' has no ratings in", "did you mean 'fedturn'?"]),
        ("fed-turn", {"overall_ratings": []}, ["a JSON object that maps"]),
        ("fed-turn", {}, ["of ratings beside it", "turn_<dimension>_ratings.json"]),
        ("fed-tun", {},
         ["scales of the data set 'fed-tun' are unknown (did you mean 'fed-turn'?)", "'fed-turn'", "rated_jsonl"]),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_reported(tmp_path: Path, dataset: str, ratings: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(UserError) as caught:
        comp_analysis.read_turns("m", comp_turn_write(tmp_path, dataset, **ratings))
    for word in words:
        assert word in str(caught.value)


def test_a_repeated_id_and_an_empty_response_are_reported_with_their_row(tmp_path: Path) -> None:
    ratings = {"fed-turn": [1, 1]}
    path = comp_turn_write(tmp_path, "fed-turn", ("K-0\ta\tb", "K-0\ta\tc"), overall_ratings=ratings)
    with pytest.raises(UserError, match=r"fed-turn_text\.txt, row 2: the id 'K-0' already occurs at row 1"):
        comp_analysis.read_turns("m", path)
    path = comp_turn_write(tmp_path, "fed-turn", ("K-0\ta\tb", "K-1\ta\t "), overall_ratings=ratings)
    with pytest.raises(UserError, match=r"row 2: item 'K-1', utterance 2 is empty"):
        comp_analysis.read_turns("m", path)


# The TAB-separated texts of comp-analysis.


def tab_texts_write(tmp_path: Path, content: str) -> Path:
    path = tmp_path / "some_text.txt"
    path.write_bytes(content.encode())
    return path


def test_only_line_feeds_and_tabs_part_anything(tmp_path: Path) -> None:
    odd = 'a\x0bb\x0cc\x1cd\x85e\u2028f "g, h'
    path = tab_texts_write(tmp_path, f'X-0\t{odd}\t"quoted" \nX-1\tNone\tnan\t 7\n')
    assert read_records(path) == [
        TabRecord(1, "X-0", (odd, '"quoted"')),
        TabRecord(2, "X-1", ("None", "nan", "7")),
    ]


def test_windows_line_ends_and_a_missing_last_one_are_taken(tmp_path: Path) -> None:
    path = tab_texts_write(tmp_path, "X-0\tHi.\r\nX-1\tHo.")
    assert [record.fields for record in read_records(path)] == [("Hi.",), ("Ho.",)]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "the file is empty"),
        ("X-0\tHi.\n\nX-2\tHo.\n", "row 2 is blank"),
        ("X-0\tHi.\nX-1 Ho.\n", "row 2 has no TAB: 'X-1 Ho.'"),
    ],
)
def test_a_row_is_never_passed_over(tmp_path: Path, content: str, words: str) -> None:
    with pytest.raises(UserError, match=words) as caught:
        read_records(tab_texts_write(tmp_path, content))
    assert "some_text.txt" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("human: Hello: you?", ("human", "Hello: you?")),
        ("chatbot:  two blanks", ("chatbot", "two blanks")),
        ("A:", ("A", "")),
    ],
)
def test_a_speaker_ends_at_the_first_colon(text: str, parts: tuple[str, str]) -> None:
    assert split_speaker(text, "here") == parts


@pytest.mark.parametrize("text", ["no speaker", ": nobody", "a sentence much too long to be any speaker's name: this"])
def test_a_field_without_speaker_is_reported(text: str) -> None:
    with pytest.raises(UserError, match=r"here: .* does not begin with a speaker.* TAB inside an utterance"):
        split_speaker(text, "here")
