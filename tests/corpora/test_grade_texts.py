"""GRADE's texts of one chatbot, on hand-made files."""

from __future__ import annotations

from pathlib import Path

import pytest

from dialeval.corpora import grade_texts
from dialeval.corpora.rated_readers import rated_source_files
from dialeval.errors import UserError

CONTEXTS = "how ?|||so far ?\nhow ?|||so far ?\nalone ?\n"


def write(folder: Path, *, responses: str = "by bus .\non foot .\nno .\n", scores: str = "4.5\n1\n2.25\n\n") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "human_ctx.txt"
    path.write_text(CONTEXTS, encoding="utf-8")
    (folder / "human_hyp.txt").write_text(responses, encoding="utf-8")
    (folder / "human_score.txt").write_text(scores, encoding="utf-8")
    return path


def test_lines_of_three_files_are_one_item(tmp_path: Path) -> None:
    reading = grade_texts.read("mine", write(tmp_path))
    assert [(item.item_id, item.cluster[-1], item.utterances) for item in reading.items] == [
        ("grade-000000", "0", ("how ?", "so far ?", "by bus .")),
        ("grade-000001", "0", ("how ?", "so far ?", "on foot .")),
        ("grade-000002", "2", ("alone ?", "no .")),
    ]
    assert [(r.dimension, r.value, r.round, r.n_raters, r.scale_min, r.scale_max) for r in reading.ratings] == [
        ("relevance", 4.5, None, None, 1, 5), ("relevance", 1, None, None, 1, 5), ("relevance", 2.25, None, None, 1, 5),
    ]  # fmt: skip


def test_the_scores_may_lie_where_the_authors_have_them(tmp_path: Path) -> None:
    path = write(tmp_path / "evaluation/eval_data/convai2/bert_ranker")
    scores = tmp_path / "evaluation/human_score/convai2/bert_ranker/human_score.txt"
    scores.parent.mkdir(parents=True)
    path.with_name("human_score.txt").rename(scores)
    assert [rating.value for rating in grade_texts.read("mine", path).ratings] == [4.5, 1, 2.25]
    assert rated_source_files("grade_texts", path) == [path, path.with_name("human_hyp.txt"), scores]
    scores.unlink()
    with pytest.raises(UserError, match="human_score/convai2/bert_ranker/human_score.txt"):
        grade_texts.read("mine", path)


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"scores": "1\n2\n"}, "human_score.txt: 2 lines, but .*human_ctx.txt has 3"),
        ({"scores": "1\n6\n2\n"}, "human_score.txt, line 2: the rating 6 is off its scale, 1 to 5"),
        ({"scores": "1\nok\n2\n"}, "human_score.txt, line 2: 'ok' is no rating"),
        ({"responses": "a\n"}, "human_hyp.txt: 1 lines, but"),
    ],
)
def test_mistakes_name_the_file_and_the_line(tmp_path: Path, files: dict[str, str], words: str) -> None:
    with pytest.raises(UserError, match=words):
        grade_texts.read("mine", write(tmp_path, **files))


def test_an_empty_response_is_left_out(tmp_path: Path) -> None:
    reading = grade_texts.read("mine", write(tmp_path, responses="a\n\nb\n"))
    assert [item.item_id for item in reading.items] == ["grade-000000", "grade-000002"]
    assert reading.skipped == {"records with an empty utterance": 1}
