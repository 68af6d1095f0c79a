"""The unit of utterance lengths is chosen once, and all lengths of the results are counted in it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from dialeval.config.running import Tokens
from dialeval.engines import cl100k
from dialeval.engines.cl100k import CACHE_NAME
from dialeval.errors import UserError
from dialeval.stages import corpora
from dialeval.tables.dialogues import GENERATED, SEEDS, TOKENIZER, UTTERANCE_LENGTHS, UTTERANCES
from dialeval.tables.files import empty_table, read_table, to_table, write_table


class Results:
    """A folder of results with one human dialogue: two utterances of five words and marks, ten tokens each."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        said = {
            "corpus": "c",
            "dialogue_id": "s",
            "speaker": "A",
            "text": "Hello, unbelievable Wurzelgemüse!",
            "language": "en",
        }
        seed = {"seed_id": "s", "corpus": "c", "language": "en", "utterances": [], "n_human": 2}
        spoken = to_table(UTTERANCES, [said | {"turn": turn} for turn in range(2)])
        write_table(folder / "human", UTTERANCES, spoken)
        write_table(folder / "seeds", SEEDS, to_table(SEEDS, [seed | {"for_arena": False, "for_gteval": False}]))
        write_table(folder / "bot", GENERATED, empty_table(GENERATED))

    def choose(self, **settings: object) -> str:
        path = self.folder / "tokenizer"
        corpora.choose_tokenizer(Tokens(**settings), path)
        return str(read_table(path, TOKENIZER)["tokenizer"][0].as_py())

    def count(self) -> list[tuple[str, float]]:
        at = self.folder
        corpora.utterance_lengths(
            Tokens(),
            human=at / "human",
            seeds=at / "seeds",
            dialogues=[at / "bot"],
            tokenizer=at / "tokenizer",
            tokens=at / "tokens",
            table=at / "lengths",
            csv=at / "csv",
        )
        lengths = read_table(at / "lengths", UTTERANCE_LENGTHS).to_pylist()
        return [(row["tokenizer"], row["mean"]) for row in lengths]


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Results:
    """Results on a machine without the vocabulary, whose index gives none."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / "cache" / "dialeval").mkdir(parents=True)
    return Results(tmp_path)


def bring_vocabulary(results: Results, real_data: Path) -> Path:
    return Path(shutil.copy(real_data / "tiktoken" / CACHE_NAME, results.folder / "cache" / "dialeval"))


def test_results_in_words_stay_in_words_until_the_unit_is_chosen_anew(results: Results, real_data: Path) -> None:
    assert results.choose(fetch=False) == cl100k.WORDS_AND_MARKS
    assert results.count() == [(cl100k.WORDS_AND_MARKS, 5.0)]
    bring_vocabulary(results, real_data)
    assert results.count() == [(cl100k.WORDS_AND_MARKS, 5.0)]
    assert results.choose() == "cl100k_base"
    assert results.count() == [("cl100k_base", 10.0)]


def test_results_in_tokens_never_go_on_in_words(results: Results, real_data: Path) -> None:
    vocabulary = bring_vocabulary(results, real_data)
    assert results.choose(fetch=False) == "cl100k_base"
    vocabulary.unlink()
    with pytest.raises(
        UserError, match="is not on this machine.*engines.cl100k fetch, or .* --forcerun choose_tokenizer"
    ):
        results.count()


def test_why_lengths_are_in_words_is_reported_and_kept(
    results: Results, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fetch(*, seconds: float) -> Path:
        raise UserError("the index is away")

    monkeypatch.setattr(cl100k, "fetch", fetch)
    monkeypatch.setattr(cl100k, "cl100k_tokenizer", lambda *_, **__: cl100k.WORDS)
    results.choose()
    assert "note: the index is away. For tokens as in the paper: " in capsys.readouterr().out
    assert read_table(results.folder / "tokenizer", TOKENIZER)["reason"].to_pylist() == ["the index is away"]
