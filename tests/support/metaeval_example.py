"""A small hand-made meta-evaluation: a corpus of turns in two languages, one of dialogues, and judges of every kind."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import pyarrow as pa

from dialeval.report.inputs import Figure, RatedSample
from dialeval.report.rated_cases import sample_rated
from dialeval.tables.dialogues import JUDGEMENTS
from dialeval.tables.files import to_table
from dialeval.tables.metaeval import (
    ANNOTATOR_AGREEMENT,
    AVERAGES,
    CEILINGS,
    CORRELATIONS,
    DIMENSION_ENSEMBLE,
    ITEMS,
    MATRICES,
    MODEL_ENSEMBLE,
    RANKING_AGREEMENT,
    RATINGS,
    REPEAT_AGREEMENT,
)

HOSTILE = "</script><script>alert(1)</script>"
JUDGES = (("gpt-x", "rating"), ("forest", "yes_no"), ("length", "yes_no"), ("gpt-4", "annotation"))
TURN = ("relevance", "specificity", "interestingness", "understandability", "overall")
DIALOGUE = ("coherence", "engagingness", "diversity", "informativeness", "overall")
N_ITEMS = 40


def averages(judges: Sequence[tuple[str, str]] = JUDGES, languages: Sequence[str] = ("en", "zh")) -> pa.Table:
    """Averages of turns in each language and over them, and of English dialogues; later judges are worse."""
    rows = []
    for place, (judge, method) in enumerate(judges):
        value = 0.8 - 0.6 * place / len(judges)
        about = {"judge": judge, "method": method, "raters": "human", "n_averaged": 2, **_numbers(value)}
        spoken = [(language, "corpora") for language in languages]
        if len(languages) > 1:
            spoken.append(("average", "languages"))
        for language, over in spoken:
            place_of = {"benchmark": "many", "level": "turn", "language": language, "averaged_over": over}
            rows.append(about | place_of | {"dimension": "overall"})
        place_of = {"benchmark": "one", "level": "dialogue", "language": "en"}
        rows += [about | place_of | {"averaged_over": "corpora", "dimension": dimension} for dimension in DIALOGUE]
        published = 0.5 if judge == "gpt-x" else None
        rows.append(
            about | place_of | {"averaged_over": "dimensions", "dimension": "average", "published_pearson": published}
        )
    return to_table(AVERAGES, _rated(rows))


def correlations(
    judges: Sequence[tuple[str, str]] = JUDGES, kind: str = "human", corpora: Sequence[str] = ("small-talk",)
) -> pa.Table:
    """Correlations on corpora of dialogues."""
    rows = [
        {"judge": judge, "method": method, "level": "dialogue", "corpus": corpus, "language": "en"}
        | {"dimension": dimension, "rater_kind": kind, "n": 39, "n_missing": 1, "n_clusters": 40}
        | _numbers(0.8 - 0.6 * place / len(judges))
        for place, (judge, method) in enumerate(judges)
        for corpus in corpora
        for dimension in DIALOGUE
    ]
    return to_table(CORRELATIONS, _rated(rows))


def matrices(judges: Sequence[tuple[str, str]] = JUDGES, languages: Sequence[str] = ("en", "zh")) -> pa.Table:
    """Correlations of everything with everything on one corpus of dialogues."""
    scorers = [*(f"{judge} ({method})" for judge, method in judges), "human ratings"]
    about = {"level": "dialogue", "corpus": "small-talk", "n": 40}
    rows: list[dict[str, Any]] = []
    for scorer in scorers:
        rows += [
            about | {"kind": "dimensions", "language": "en", "scorer": scorer, "first": a, "second": b, "pearson": 0.5}
            for a, b in combinations(DIALOGUE, 2)
        ]
        rows += [
            about
            | {"kind": "languages", "scorer": scorer, "dimension": "overall", "first": a, "second": b, "pearson": 0.25}
            for a, b in combinations(languages, 2)
        ]
    rows += [
        about | {"kind": "judges", "language": "en", "dimension": "overall", "first": a, "second": b, "pearson": -0.25}
        for a, b in combinations(scorers, 2)
    ]
    return to_table(MATRICES, _rated(rows))


def model_ensemble() -> pa.Table:
    """Ensembles on two corpora and their mean; with one dimension on which there is none."""
    about = {"benchmark": "one", "level": "dialogue", "language": "en", "raters": "human"}
    about |= {"rater_kind": "human", "members": "a, b, c"}
    rows = [
        about
        | {"corpus": corpus, "dimension": dimension, "chosen_on": chosen_on, "n": 40}
        | {"pearson": value, "pearson_ci_low": value - 0.1, "pearson_ci_high": value + 0.1, "best_member": value - 0.2}
        for corpus in ("small-talk", "a-corpus", "average")
        for dimension in ("coherence", "overall")
        for chosen_on, value in (("all corpora", 0.7), ("other corpora", 0.6))
    ]
    rows.append(
        about
        | {"corpus": "small-talk", "dimension": "diversity", "chosen_on": "all corpora", "n": 0}
        | {"reason": "only 1 of 3 judges have scores for the selection and for the ensemble"}
    )
    return to_table(MODEL_ENSEMBLE, _rated(rows))


def dimension_ensemble(judges: Sequence[tuple[str, str]] = JUDGES) -> pa.Table:
    """Both scores of every judge, on a corpus that people rated, on one that a model did, and in the mean."""
    rows = []
    for place, (judge, method) in enumerate(judges):
        about = {"judge": judge, "method": method, "benchmark": "one", "level": "dialogue", "language": "en"}
        for corpus, kind, n, value in (
            ("small-talk", "human", 40, 0.7),
            ("a-corpus", "model", 60, 0.5),
            ("average", "human", 40, 0.7),
            ("average", "full", 100, 0.6),
        ):
            ensemble, direct = value - 0.1 * place, value - 0.15 * place
            ends = {"ensemble_ci_low": ensemble - 0.1, "ensemble_ci_high": ensemble + 0.1}
            ends |= {"direct_ci_low": direct - 0.1, "direct_ci_high": direct + 0.1}
            printed = {"published_ensemble": 0.709} if (judge, kind) == ("gpt-x", "full") else {}
            row = {"corpus": corpus, "rater_kind": kind, "n": n, "ensemble": ensemble, "direct": direct}
            rows.append(about | row | ends | printed)
    return to_table(DIMENSION_ENSEMBLE, rows)


def ranking_agreement() -> pa.Table:
    """Rankings of judges by people and by a model, on one dimension by too few judges."""
    about = {"level": "dialogue", "corpus": "small-talk", "language": "en", "first_rater": "human"}
    about |= {"second_rater": "gpt-4"}
    rows = [
        about
        | {"dimension": dimension, "n_judges": 2 if dimension == "diversity" else 9 + place}
        | {"spearman": None if dimension == "diversity" else 0.9 - 0.1 * place}
        | {"published_spearman": 0.945 if dimension == "overall" else None}
        for place, dimension in enumerate(DIALOGUE)
    ]
    return to_table(RANKING_AGREEMENT, rows)


def annotator_agreement() -> pa.Table:
    """Agreement of three people, and of five rounds of a model."""
    return to_table(
        ANNOTATOR_AGREEMENT,
        [
            {"corpus": "small-talk", "dimension": dimension, "rater_kind": kind, "rater": rater, "n_rounds": n}
            | {"n_items": 40, "pairwise_pearson": 0.4, "pearson_ci_low": 0.3, "pearson_ci_high": 0.5}
            | {"krippendorff_alpha": 0.35}
            for kind, rater, n in (("human", "people", 3), ("model", "gpt-4", 5))
            for dimension in DIALOGUE
        ],
    )


def repeat_agreement() -> pa.Table:
    """How far a judge that rated five times agrees with itself, on one corpus of dialogues and one of turns."""
    about = {"judge": "gpt-x", "method": "rating", "language": "en", "n_rounds": 5, "n_items": 40}
    rows = [
        about
        | {"level": level, "corpus": corpus, "dimension": dimension, "pairwise_pearson": 0.9 - 0.1 * place}
        | {"pearson_ci_low": 0.4, "pearson_ci_high": 0.95, "krippendorff_alpha": 0.7}
        for level, corpus, dimensions in (("dialogue", "small-talk", DIALOGUE), ("turn", "replies", TURN[:1]))
        for place, dimension in enumerate(dimensions)
    ]
    return to_table(REPEAT_AGREEMENT, rows)


def ceilings(judges: Sequence[tuple[str, str]] = JUDGES) -> pa.Table:
    """Ceilings of three people, and of five rounds of a model; the last judge has no correlation."""
    rows: list[dict[str, Any]] = []
    for kind, ceiling in (("human", 0.85), ("model", 0.97)):
        for place, (judge, method) in enumerate(judges):
            pearson = None if place == len(judges) - 1 else 0.6 - 0.02 * place
            corrected = None if pearson is None else pearson / ceiling
            ends = {
                f"disattenuated_{end}": corrected and corrected + by for end, by in (("ci_low", -0.1), ("ci_high", 0.1))
            }
            rows += [
                {"judge": judge, "method": method, "level": "dialogue", "corpus": "small-talk", "language": "en"}
                | {
                    "benchmark": "one",
                    "dimension": dimension,
                    "rater_kind": kind,
                    "n_raters": 3.0,
                    "icc": 0.4,
                    "reliability": ceiling**2,
                }
                | {"ceiling": ceiling, "ceiling_ci_low": ceiling - 0.05, "ceiling_ci_high": ceiling + 0.02}
                | {"pearson": pearson, "disattenuated": corrected, "n": 40, **ends}
                for dimension in DIALOGUE
            ]
    return to_table(CEILINGS, _rated(rows))


def tables() -> dict[str, pa.Table]:
    """All tables by their name."""
    return {
        "metaeval/averages": averages(),
        "metaeval/correlations": correlations(),
        "metaeval/matrices": matrices(),
        "metaeval/model_ensemble": model_ensemble(),
        "metaeval/annotator_agreement": annotator_agreement(),
        "metaeval/ceilings": ceilings(),
        "metaeval/repeat_agreement": repeat_agreement(),
    }


def items(n: int = N_ITEMS) -> pa.Table:
    """Turns in two languages; the first item's text is hostile."""
    return to_table(
        ITEMS,
        [
            {"corpus": "small-talk", "item_id": f"t-{number:02}", "language": language, "level": "turn"}
            | {"cluster": f"t-{number:02}", "speakers": ["human", "chatbot"]}
            | {"utterances": [HOSTILE if number == 0 else f"question {number}", f"answer {number} ({language})"]}
            for language in ("zh", "en")
            for number in range(n)
        ],
    )


def ratings(n: int = N_ITEMS) -> pa.Table:
    """A mean of two people and one of their two rounds, from 0 to 2."""
    return to_table(
        RATINGS,
        [
            {"corpus": "small-talk", "item_id": f"t-{number:02}", "dimension": "overall", "rater_kind": "human"}
            | {"rater": "people", "round": round_, "value": 1.5, "n_raters": n_raters}
            | {"scale_min": 0.0, "scale_max": 2.0}
            for number in range(n)
            for round_, n_raters in ((None, 2), (0, 1))
        ],
    )


def scores(n: int = N_ITEMS) -> pa.Table:
    """Two repeats of a judge, the second of which is unparsed on the last item, and a baseline."""
    about = {"corpus": "small-talk", "criterion": "overall", "request_id": "", "reason": ""}
    rows = []
    for number in range(n):
        for language in ("en", "zh"):
            item = about | {"item_id": f"t-{number:02}", "language": language}
            for repeat, value in ((0, 2.0), (1, 4.0)):
                lost = number == n - 1 and repeat == 1
                rows.append(
                    item
                    | {"judge": "gpt-x", "protocol": "rating", "repeat": repeat, "value": None if lost else value}
                    | {"scale_min": 1.0, "scale_max": 5.0, "status": "unparsed" if lost else "ok"}
                )
            rows.append(
                item
                | {"judge": "length", "protocol": "yes_no", "repeat": 0, "value": 0.25, "scale_min": 0.0}
                | {"scale_max": 1.0, "status": "ok"}
            )
    return to_table(JUDGEMENTS, rows)


def sample(n: int = 30) -> RatedSample:
    """Some of the items, with what was said about them."""
    return sample_rated([items()], [ratings()], [scores()], random_seed=7, n=n)


def figure() -> Figure:
    """A figure of this part."""
    return Figure("Judges", "Who agrees.", '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"/>', "metaeval")


def _rated(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """People rated what judges were asked about."""
    return [row | {"rated": row.get("dimension")} for row in rows]


def _numbers(value: float) -> dict[str, float]:
    numbers = {}
    for name in ("pearson", "spearman", "kendall"):
        numbers |= {name: value, f"{name}_ci_low": value - 0.05, f"{name}_ci_high": value + 0.05}
    return numbers
