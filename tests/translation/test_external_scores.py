"""The script of metrics that need an environment of their own: what passes between it and their packages.

The packages here are stand-ins with the signatures of unbabel-comet 2.2.7 and bert-score 0.3.13; their numbers mean
nothing. Neither the packages nor their weights were at hand.
"""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from pathlib import Path

import pytest

from dialeval.tables.files import escaped_cell
from dialeval.translation import external_scores
from dialeval.translation.quality import read_translation_scores

COMET = """
from pathlib import Path
def download_model(model, saving_directory=None, local_files_only=False):
    if not Path("have").exists():
        raise KeyError(f"Model '{model}' not supported by COMET.")
    return f"{model}/checkpoints/model.ckpt"
class Prediction(dict):
    scores = property(lambda self: self["scores"])
class Model:
    def predict(self, samples, batch_size=16, gpus=1, devices=None, mc_dropout=0, progress_bar=True):
        assert gpus == 0
        return Prediction(scores=[len(one["mt"]) / len(one["src"]) for one in samples])
def load_from_checkpoint(checkpoint_path, reload_hparams=False, strict=False, local_files_only=False):
    assert checkpoint_path == "Unbabel/wmt22-cometkiwi-da/checkpoints/model.ckpt"
    return Model()
"""
TORCH = "class cuda:\n    is_available = staticmethod(lambda: False)\n"
BERT_SCORE = """
class Numbers(list):
    tolist = lambda self: list(self)
def score(cands, refs, model_type=None, num_layers=None, verbose=False, idf=False, device=None, batch_size=64,
          nthreads=4, all_layers=False, lang=None, return_hash=False, rescale_with_baseline=False):
    if lang != "en":
        raise OSError("no network")
    return [], [], Numbers(float(cand == ref) for cand, ref in zip(cands, refs, strict=True))
"""
ROWS = 'corpus,language,utterance_id,source,{}\nc,fr,u1,"Hi, you.",Salut\nc,fr,u2,Tea?,"Du\nthé ?"\n'


def scored(
    folder: Path, metric: str, column: str, language: str = "en", rows: str = ROWS, **packages: str
) -> tuple[int, str]:
    """Run the script as the workflow does, with no package but those that are given."""
    (folder / "rows.csv").write_text("\ufeff" + rows.format(column), encoding="utf-8")
    for name, text in packages.items():
        (folder / "packages").mkdir(exist_ok=True)
        (folder / f"packages/{name}.py").write_text(text, encoding="utf-8")
    arguments = ["--metric", metric, "--rows", "rows.csv", "--language", language, "--scores", "scores.csv"]
    done = subprocess.run(
        [sys.executable, "-S", str(Path(external_scores.__file__).resolve()), *arguments],
        cwd=folder,
        env={"PYTHONPATH": str(folder / "packages"), "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stderr


def test_without_the_package_it_says_what_to_do(tmp_path: Path) -> None:
    for metric, package in (("cometkiwi22", "unbabel-comet"), ("bertscore", "bert-score")):
        code, output = scored(tmp_path, metric, "text")
        assert code == 1
        assert f"error in {metric}: {metric} needs {package}, which is not installed here" in output
        assert "snakemake --sdm conda" in output
        assert not (tmp_path / "scores.csv").exists()


def test_without_the_weights_it_names_their_licence(tmp_path: Path) -> None:
    code, output = scored(tmp_path, "cometkiwi22", "text", comet=COMET, torch=TORCH)
    assert code == 1
    assert "the weights of Unbabel/wmt22-cometkiwi-da cannot be downloaded: accept their licence at https://" in output
    code, output = scored(tmp_path, "bertscore", "back", "sw", bert_score=BERT_SCORE)
    assert code == 1
    assert "the weights for BERTScore in 'sw' cannot be downloaded" in output


def test_scores_are_written_as_they_are_read(tmp_path: Path) -> None:
    known = {("c", "fr", "u1"): "", ("c", "fr", "u2"): ""}
    (tmp_path / "have").touch()
    assert scored(tmp_path, "cometkiwi22", "text", comet=COMET, torch=TORCH) == (0, "")
    found = read_translation_scores(tmp_path / "scores.csv", "cometkiwi22", known)
    assert found == {("c", "fr", "u1"): 5 / 8, ("c", "fr", "u2"): 8 / 4}
    assert scored(tmp_path, "bertscore", "back", bert_score=BERT_SCORE) == (0, "")
    assert set(read_translation_scores(tmp_path / "scores.csv", "bertscore", known).values()) == {0.0}


def test_its_cells_are_those_of_tables() -> None:
    texts = ["=1", "+1", "-1", "@x", "\tx", "\rx", "\nx", "＝1", "'=1", "''-1", "", "'", "a=b", "'a"]
    assert [external_scores._escaped(text) for text in texts] == [escaped_cell(text) for text in texts]
    assert [external_scores._unescaped(escaped_cell(text)) for text in texts] == texts


def test_scores_of_ids_and_texts_that_look_like_formulas(tmp_path: Path) -> None:
    (tmp_path / "have").touch()
    rows = ROWS.replace("u1", "'=u1").replace("Salut", "'-Salut")
    assert scored(tmp_path, "cometkiwi22", "text", rows=rows, comet=COMET, torch=TORCH) == (0, "")
    assert "c,fr,'=u1," in (tmp_path / "scores.csv").read_text(encoding="utf-8")
    known = {("c", "fr", "=u1"): "", ("c", "fr", "u2"): ""}
    found = read_translation_scores(tmp_path / "scores.csv", "cometkiwi22", known)
    assert found == {("c", "fr", "=u1"): 6 / 8, ("c", "fr", "u2"): 8 / 4}


def test_a_sample_without_rows_needs_no_package(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("corpus,language,utterance_id,source,text\n", encoding="utf-8")
    files = ["--rows", str(tmp_path / "rows.csv"), "--scores", str(tmp_path / "scores.csv")]
    external_scores.main(["--metric", "cometkiwi22", "--language", "en", *files])
    with (tmp_path / "scores.csv").open(newline="") as file:
        assert list(csv.reader(file)) == [["corpus", "language", "utterance_id", "cometkiwi22"]]


def test_a_language_is_needed() -> None:
    with pytest.raises(SystemExit):
        external_scores.main(["--metric", "bertscore"])
