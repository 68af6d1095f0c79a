"""What rated corpora consist of, by hand and against the papers."""

from __future__ import annotations

from collections import Counter
from importlib.resources import files
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import pearsonr

from dialeval.corpora.items import Item, Rating
from dialeval.corpora.rated_sources import RatedReading, Scale, repeated_ratings
from dialeval.corpora.readers import read_rated
from dialeval.criteria import DIMENSIONS
from dialeval.measures.corpora import annotator_rows, corpus_rows
from dialeval.papers.comp_analysis import COLUMNS
from dialeval.stats.agreement import NO_VARIATION
from dialeval.tables.metaeval import ANNOTATOR_AGREEMENT, RATED_CORPORA

GPT4_BETWEEN_ROUNDS = {
    "fed-dial": (0.779, 0.765, 0.450, 0.837, 0.747),
    "conture-dial": (0.774, 0.739, 0.411, 0.847, 0.763),
    "ieval-dial": (0.858, 0.748, 0.486, 0.744, 0.729),
    "persona-see": (0.845, 0.623, 0.429, 0.689, 0.618),
}
"""In the order of `DIMENSIONS["dialogue"]`."""


def turn(item_id: str, *utterances: str, language: str = "en") -> Item:
    return Item("t", item_id, language, "turn", item_id, ("x",) * len(utterances), utterances)


def rated(item_id: str, dimension: str, kind: str = "human", corpus: str = "t") -> Rating:
    return Rating(corpus, item_id, dimension, kind, "r", None, 1.0, None, 0.0, 2.0)  # type: ignore[arg-type]


def read(real_data: Path, name: str) -> RatedReading:
    """A set of comp-analysis."""
    for reader, folder in (
        ("comp_turn", "turn_level_texts"),
        ("comp_turn", "turn_level_texts_268be7c"),
        ("comp_dialogue", "dialog_level_texts"),
    ):
        path = real_data / "comp-analysis" / folder / f"{name}_text.txt"
        if path.is_file():
            return read_rated(reader, name, path)
    pytest.skip(f"the public data set {name} is not in {real_data}")


def test_counts_by_hand() -> None:
    items = [
        turn("a", "one two", "three  four five"),
        turn("b", "six"),
        turn("a", "eins", "zwei", language="de"),
        Item("d", "x", "en", "dialogue", "x", ("A", "B"), ("one two", "three")),
    ]
    ratings = [
        rated("a", "overall"),
        rated("b", "relevance"),
        rated("b", "own"),
        rated("a", "specificity", "model"),
        rated("a", "interestingness", "construction"),
        rated("x", "coherence", "model", "d"),
    ]
    first, second, third = corpus_rows(items, ratings)
    assert first == {
        "corpus": "t",
        "level": "turn",
        "language": "en",
        "translated_by": "",
        "n_items": 2,
        "n_utterances": 1.5,
        "unit": "words",
        "words_context": 1.0,
        "words_response": 2.0,
        "words_utterance": 1.75,  # (2.5 + 1) / 2
        "n_dimensions": 3,
        "human_dimensions": "relevance, overall, own",
        "model_dimensions": "specificity",
        "imputed_dimensions": None,
        **{f"published_{column}": None for column in COLUMNS},
    }
    assert (second["language"], second["n_items"], second["human_dimensions"]) == ("de", 1, "overall")
    assert (third["words_context"], third["words_response"], third["n_utterances"]) == (None, 3.0, 2.0)
    assert (third["human_dimensions"], third["model_dimensions"]) == ("", "coherence")
    assert (third["n_dimensions"], third["words_utterance"]) == (0, 1.5)


def test_scripts_without_blanks_are_counted_in_characters() -> None:
    texts = {
        "zh": ("你好吗？", "我喜欢 DVD 电影。"),
        "ja": ("はい、元気です。", "2本のDVD"),
        "ko": ("안녕 하세요", "네"),
    }
    rows = corpus_rows([turn("a", *utterances, language=language) for language, utterances in texts.items()], [])
    found = {row["language"]: (row["unit"], row["words_context"], row["words_response"]) for row in rows}
    assert found == {"zh": ("characters", 3, 6), "ja": ("characters", 6, 4), "ko": ("words", 2, 1)}


def test_the_range_of_agreement_is_peoples() -> None:
    items = [turn(f"i{number}", "Hi.") for number in range(4)]
    ratings = []
    for dimension, kind, pairs in (
        ("relevance", "human", [(1, 1), (2, 2), (5, 5), (3, 3)]),
        ("overall", "human", [(1, 3), (2, 2), (5, 5), (3, 1)]),
        ("overall", "model", [(1, 5), (2, 4), (3, 3), (4, 2)]),
    ):
        for number, values in enumerate(pairs):
            ratings += repeated_ratings(("t", f"i{number}", dimension), (kind, "r"), list(values), Scale(1, 5))
    (row,) = corpus_rows(items, ratings, agreement=annotator_rows(items, ratings, resamples=0))
    assert row["agreement_max"] == pytest.approx(1.0)
    assert row["agreement_min"] == pytest.approx(pearsonr([1, 2, 5, 3], [3, 2, 5, 1]).statistic)


def test_printed_numbers_stand_beside_corpora_of_the_papers_names() -> None:
    def printed(corpus: str, level: str = "turn", language: str = "en") -> dict[str, float | None]:
        item = Item(corpus, "x", language, level, "x", ("A", "B"), ("one", "two"))  # type: ignore[arg-type]
        (row,) = corpus_rows([item], [])
        return {column: row.get(f"published_{column}") for column in COLUMNS}

    none = dict.fromkeys(COLUMNS)
    turns = {"n_items": 375, "n_utterances": 10.4, "words_context": 87.3, "words_response": 13.3}
    assert printed("FED-Turn") == none | turns
    assert printed("xDial-FED-Turn") == none | turns | {"n_dimensions": 9}
    assert printed("xDial-IEval-Dial", "dialogue")["n_items"] == 1920
    assert printed("ieval-dial", "dialogue")["n_items"] == 500
    assert printed("ConvAI2-GRADE")["n_dimensions"] == 1  # xDial-Eval alone has it
    assert printed("FED-Turn", "dialogue") == printed("mine") == printed("xDial-FED-Turn", language="zh") == none


def test_the_printed_tables_are_whole() -> None:
    rows = files("dialeval.papers").joinpath("rated_corpora.csv").read_text(encoding="utf-8").splitlines()[1:]
    counts = Counter(tuple(row.split(",")[:2]) for row in rows)
    six, twelve = 6, 12
    assert counts == {
        ("comp-analysis", "turn"): six, ("comp-analysis", "dialogue"): six,
        ("xdial-eval", "turn"): twelve, ("xdial-eval", "dialogue"): six,
    }  # fmt: skip
    xdial = [row.split(",") for row in rows if row.startswith("xdial")]
    sums = {level: sum(int(row[3]) for row in xdial if row[1] == level) for level in ("turn", "dialogue")}
    assert sums == {"turn": 14930, "dialogue": 8691}  # as its section 3.1 has them


def test_agreement_is_given_where_raters_are_kept_singly() -> None:
    items = [turn(f"i{number}", "Hi.") for number in range(4)]
    ratings = [rated("i0", "overall")]
    for number, values in enumerate(([1, 1], [2, 2], [None, 5], [3, 3])):
        ratings += repeated_ratings(("t", f"i{number}", "relevance"), ("human", "people"), values, Scale(1, 5))
    (row,) = annotator_rows(items, ratings, resamples=20)
    assert (row["dimension"], row["rater_kind"], row["rater"]) == ("relevance", "human", "people")
    assert (row["n_rounds"], row["n_items"]) == (2, 3)
    assert row["pairwise_pearson"] == pytest.approx(1.0)
    assert row["krippendorff_alpha"] == pytest.approx(1.0)
    assert row["note"] == NO_VARIATION
    (row,) = annotator_rows(items, [rating for rating in ratings if rating.round == 0], resamples=20)
    assert row["pairwise_pearson"] is None
    assert row["note"] == "agreement needs two rounds"


def test_rows_are_those_of_the_tables() -> None:
    items = [turn("a", "Hi."), turn("b", "Ho.")]
    ratings = repeated_ratings(("t", "a", "overall"), ("human", "people"), [1.0, 2.0], Scale(1, 5))
    for table, rows in (
        (RATED_CORPORA, corpus_rows(items, ratings)),
        (ANNOTATOR_AGREEMENT, annotator_rows(items, ratings, resamples=5)),
    ):
        assert set(rows[0]) <= set(table.schema.names)
        pa.Table.from_pylist(rows, schema=table.schema).validate(full=True)


@pytest.mark.parametrize(
    ("name", "n_items", "n_utterances", "words"),
    [
        ("persona-usr", 300, 9.3, (98.4, 12.0)),
        ("dailydialog-zhao", 900, 4.7, (47.5, 11.0)),
        ("fed-turn", 375, 10.4, (77.9, 12.3)),
        ("conture-turn", 1066, 3.8, (21.7, 11.0)),
        ("convai2-grade", 600, 3.0, (24.4, 11.3)),
        ("dailydialog-grade", 300, 3.0, (26.0, 10.8)),
        ("dstc10-persona_clean", 4829, 4.0, (36.0, 11.6)),
        ("conture-dial", 119, 17.9, (None, 154.7)),
        ("fed-dial", 125, 13.7, (None, 123.7)),
        ("ieval-dial", 500, 6.0, (None, 75.2)),
        ("persona-see", 500, 12.0, (None, 92.4)),
    ],
)
def test_table_1(
    real_data: Path, name: str, n_items: int, n_utterances: float, words: tuple[float | None, float]
) -> None:
    """The papers' numbers, but for FED and the dialogues' words.

    In fed-turn the papers count each speaker's name as a word (87.3 and 13.3); of fed-dial they say 12.7 utterances
    and 116.8 words; of ieval-dial and persona-see they count the words of all dialogues, not of the rated 500.
    """
    reading = read(real_data, name)
    (row,) = corpus_rows(reading.items, reading.ratings)
    assert row["n_items"] == n_items
    assert round(row["n_utterances"], 1) == n_utterances
    assert (row["words_context"] and round(row["words_context"], 1), round(row["words_response"], 1)) == words


def test_fed_turn_has_the_papers_words_once_speakers_names_are_counted(real_data: Path) -> None:
    (row,) = corpus_rows((reading := read(real_data, "fed-turn")).items, reading.ratings)
    assert round(row["words_context"] + row["n_utterances"] - 1, 1) == 87.3
    assert round(row["words_response"] + 1, 1) == 13.3


@pytest.mark.parametrize(
    ("name", "human", "model"),
    [
        ("persona-usr", "relevance, interestingness, understandability, overall", "specificity"),
        ("dailydialog-zhao", "relevance, overall", "specificity, interestingness, understandability"),
        ("fed-turn", "relevance, specificity, interestingness, understandability, overall", ""),
        ("conture-turn", "overall", "relevance, specificity, interestingness, understandability"),
        ("conture-dial", "", ", ".join(DIMENSIONS["dialogue"])),
    ],
)
def test_table_1_says_who_rated_what(real_data: Path, name: str, human: str, model: str) -> None:
    (row,) = corpus_rows((reading := read(real_data, name)).items, reading.ratings)
    assert (row["human_dimensions"], row["model_dimensions"]) == (human, model)


@pytest.mark.parametrize(("name", "published"), GPT4_BETWEEN_ROUNDS.items())
def test_gpt4_agrees_with_itself_between_rounds(real_data: Path, name: str, published: tuple[float, ...]) -> None:
    reading = read(real_data, name)
    rows = annotator_rows(reading.items, reading.ratings, resamples=0)
    by_model = {row["dimension"]: row for row in rows if row["rater_kind"] == "model"}
    found = [by_model[dimension]["pairwise_pearson"] for dimension in DIMENSIONS["dialogue"]]
    assert [round(value, 3) for value in found] == list(published)
    assert {row["n_rounds"] for row in by_model.values()} == {5}
    if name in ("fed-dial", "conture-dial"):
        assert round(float(np.mean(found)), 3) == {"fed-dial": 0.716, "conture-dial": 0.707}[name]


def test_gpt4_agrees_with_people_as_published(real_data: Path) -> None:
    """Table 6, but for informativeness: the paper has 0.620, its public files give 0.615."""
    means: dict[tuple[str, str], dict[str, float]] = {}
    for rating in read(real_data, "fed-dial").ratings:
        if rating.round is None:
            means.setdefault((rating.rater_kind, rating.dimension), {})[rating.item_id] = rating.value
    found = []
    for dimension in DIMENSIONS["dialogue"]:
        people, model = means["human", dimension], means["model", dimension]
        assert people.keys() == model.keys()
        found.append(float(pearsonr(list(people.values()), [model[item_id] for item_id in people])[0]))
    assert [round(value, 3) for value in found] == [0.760, 0.689, 0.534, 0.615, 0.744]
