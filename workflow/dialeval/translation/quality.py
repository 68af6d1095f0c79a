"""The quality of translations: back-translations, adequacy, scores, and templates for these."""

from __future__ import annotations

import hashlib
import importlib.util
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dialeval.corpora.text_files import listed, number_in, read_csv
from dialeval.criteria import Criterion
from dialeval.engines.requests import Message, Request, Sampling
from dialeval.errors import UserError
from dialeval.languages import LANGUAGES
from dialeval.languages import language as language_of
from dialeval.papers.xdial_eval import published_quality
from dialeval.prompts.rendering import END_MARK, Templates, one_line
from dialeval.protocols.planned_requests import Planned
from dialeval.protocols.written_scores import parse_scores
from dialeval.stats.clustered import clustered_mean
from dialeval.stats.resampling import cluster_counts, percentile_interval
from dialeval.tables.files import unescaped_cell
from dialeval.tables.training import TRANSLATION_SAMPLE
from dialeval.text import counted
from dialeval.translation import requests
from dialeval.translation.checks import NOTHING, has_no_words, read_translation
from dialeval.translation.requests import Passage, Talk

NEEDED = ("corpus", "language", "utterance_id")
Key = tuple[str, str, str]
"""Corpus, language and id of an utterance."""


def read_translation_scores(
    path: Path, column: str, known: Mapping[Key, str], low: float | None = None, high: float | None = None
) -> dict[Key, float]:
    """Return the mean of the numbers that a file has about each utterance; empty cells are passed over.

    Args:
        path: a CSV file such as the sample itself, with a column more.
        known: the utterances of the sample.
        low, high: what a number can be; None for any.

    Raises:
        UserError: with the file and the line: a missing column, an unknown utterance, or a value that is no number or
            off the scale.
    """
    rows = read_csv(path)
    _, head = next(rows, (0, []))
    names = [name.strip().removeprefix("\ufeff") for name in head]
    missing = [name for name in (*NEEDED, column) if name not in names]
    if missing:
        raise UserError(
            f"{path}: {counted(len(missing), 'column')} missing ({', '.join(missing)}); it has {listed(names)}: take "
            f"the sample's CSV file and add a column '{column}'"
        )
    found: dict[Key, list[float]] = defaultdict(list)
    for line, cells in rows:
        if not any(cell.strip() for cell in cells):
            continue
        if len(cells) != len(names):
            raise UserError(
                f"{path}, line {line}: {len(cells)} cells, but the first line has {len(names)}; put a text with "
                f"commas, quotes or line breaks into double quotes"
            )
        row = dict(zip(names, cells, strict=True))
        written = (row["corpus"], row["language"], row["utterance_id"])
        plain = (unescaped_cell(row["corpus"]), row["language"], unescaped_cell(row["utterance_id"]))
        key = plain if plain in known else written  # the sample's CSV file has them escaped, others may not
        if key not in known:
            raise UserError(
                f"{path}, line {line}: the sample has no utterance '{key[2]}' of '{key[0]}' in '{key[1]}'; remove "
                f"the row, or restore the settings (sample, random_seed) and the translation that it belongs to"
            )
        if not row[column].strip():
            continue
        number = number_in(row[column])
        if number is None or not (low or number) <= number <= (high or number):
            scale = "" if low is None else f" from {low:g} to {high:g}"
            raise UserError(f"{path}, line {line}: {column} is {row[column]!r:.40}; a number{scale} is needed")
        found[key].append(number)
    return {key: sum(numbers) / len(numbers) for key, numbers in found.items()}


# From back-translations, ratings and scores to the table `translation/quality`.

ALL = "all"
RESAMPLES = 1000
MISSING = "sacrebleu is not installed: pip install 'dialeval[train]'"


class Scores(NamedTuple):
    """One metric's numbers on single utterances; `scale` has the ends of a metric that has both."""

    metric: str
    by: str
    values: Mapping[Key, float]
    scale: tuple[float, float] | None = None


def score_rows(sample: Sequence[Mapping[str, Any]], scores: Scores, confidence: float) -> Iterator[dict[str, Any]]:
    """Yield the means of a metric: for each corpus and language, and for all corpora together where there are more.

    Args:
        sample: rows of the table `translation_sample`.
        scores: of the metric; an utterance without one is left out and lowers n.
        confidence: of the intervals, which resample dialogues.
    """
    for (corpus, language), rows in groups(sample).items():
        known = [(row, scores.values[key_of(row)]) for row in rows if key_of(row) in scores.values]
        if not known and scores.metric not in ("adequacy", "people"):
            continue
        clusters = [f"{row['corpus']}/{row['cluster']}" for row, _ in known]
        found = clustered_mean([value for _, value in known], clusters, scale=scores.scale, confidence=confidence)
        yield _row(corpus, language, scores.metric, scores.by, len(known), sample) | {
            "value": _number(found.estimate),
            "ci_low": _number(found.ci_low),
            "ci_high": _number(found.ci_high),
            "reason": found.note or None,
        }


def back_rows(
    sample: Sequence[Mapping[str, Any]], back: Mapping[Key, str], by: str, confidence: float
) -> Iterator[dict[str, Any]]:
    """Yield corpus BLEU and chrF of back-translations against the sources.

    Intervals resample dialogues; without sacrebleu there is a reason in place of a number.

    Args:
        sample: rows of the table `translation_sample`.
        back: what came back.
        by: the model that translated back.
    """
    for (corpus, language), rows in groups(sample).items():
        known = [row for row in rows if key_of(row) in back]
        pairs = [(back[key_of(row)], row["source"]) for row in known]
        clusters = [f"{row['corpus']}/{row['cluster']}" for row in known]
        for metric in ("bleu", "chrf"):
            row = _row(corpus, language, metric, by, len(pairs), sample)
            if problem := (sacrebleu_missing() or (None if pairs else "nothing came back")):
                yield row | {"reason": problem}
            else:
                lost = (
                    f"{len(rows) - len(pairs)} of {len(rows)} have no back-translation"
                    if len(pairs) < len(rows)
                    else None
                )
                yield row | {"reason": lost} | _corpus_score(metric, pairs, clusters, confidence)


def sentence_scores(sample: Sequence[Mapping[str, Any]], back: Mapping[Key, str], by: str) -> Scores:
    """Return chrF of each utterance, from 0 to 100; empty without sacrebleu."""
    values: dict[Key, float] = {}
    if sacrebleu_missing() is None:
        from sacrebleu.metrics import CHRF

        chrf = CHRF()
        for row in sample:
            if (text := back.get(key_of(row))) is not None:
                values[key_of(row)] = float(chrf.sentence_score(text, [row["source"]]).score)
    return Scores("sentence_chrf", by, values, (0.0, 100.0))


def sacrebleu_missing() -> str | None:
    """Return the advice to install sacrebleu, or None if it is installed."""
    return None if importlib.util.find_spec("sacrebleu") else MISSING


def groups(sample: Sequence[Mapping[str, Any]]) -> dict[tuple[str, str], list[Mapping[str, Any]]]:
    """Return the rows of a sample by corpus and language; `all` has those of all corpora, where there are several."""
    found: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    several = len({row["corpus"] for row in sample}) > 1
    for row in sample:
        found.setdefault((row["corpus"], row["language"]), []).append(row)
    for row in sample if several else ():
        found.setdefault((ALL, row["language"]), []).append(row)
    return found


def key_of(row: Mapping[str, Any]) -> Key:
    """Return the key of an utterance in a sample."""
    return row["corpus"], row["language"], row["utterance_id"]


def _row(
    corpus: str, language: str, metric: str, by: str, n: int, sample: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    of_all = corpus == ALL or len({row["corpus"] for row in sample}) == 1
    published = published_quality().get(language, {}) if of_all else {}
    return {
        "corpus": corpus,
        "language": language,
        "metric": metric,
        "produced_by": by,
        "n": n,
        "value": None,
        "ci_low": None,
        "ci_high": None,
        "published": published.get(metric),
        "published_people": published.get("people"),
        "reason": None,
        "signature": "",
    }


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _corpus_score(
    metric: str, pairs: Sequence[tuple[str, str]], clusters: Sequence[str], confidence: float
) -> dict[str, Any]:
    from sacrebleu.metrics import BLEU, CHRF

    texts, sources = [text for text, _ in pairs], [source for _, source in pairs]
    measure = BLEU() if metric == "bleu" else CHRF()
    value = float(measure.corpus_score(texts, [sources]).score)
    found: dict[str, Any] = {"value": value, "signature": str(measure.get_signature())}
    if len(set(clusters)) < 2:
        return found | {"reason": "no interval: there is only one dialogue"}
    # counts of n-grams add up, so that those of a resample are sums: sacrebleu's own way, by dialogue
    counts = np.array(measure._extract_corpus_statistics(texts, [sources]))
    codes = np.unique(clusters, return_inverse=True)[1]
    by_cluster = np.zeros((codes.max() + 1, counts.shape[1]), counts.dtype)
    np.add.at(by_cluster, codes, counts)
    drawn = cluster_counts(len(by_cluster), RESAMPLES, np.random.default_rng(0)).astype(np.int64) @ by_cluster
    resampled = np.array([measure._aggregate_and_compute([sums]).score for sums in drawn.tolist()])
    low, high = percentile_interval(resampled, confidence, len(by_cluster))
    return found | {"ci_low": float(low), "ci_high": float(high)}


# Asking judges how adequate translations are, from 1 to 5 (xDial-Eval, appendix A, in our own words).

PROTOCOL = "adequacy"
TEMPLATE = "adequacy.j2"
MAX_TOKENS = 64
CRITERION = Criterion(PROTOCOL)


def plan_adequacy(sample: Iterable[Mapping[str, Any]], templates: Templates, *, source: str) -> Iterator[Planned]:
    """Yield a request for each utterance of a sample.

    Args:
        sample: rows of the table `translation_sample`.
        source: the language of the originals.
    """
    for row in sample:
        prompt = templates.render(
            TEMPLATE,
            source=language_of(source).name,
            target=language_of(row["language"]).name,
            utterance=one_line(row["source"]) + END_MARK,
            translation=one_line(row["text"]) + END_MARK,
        )
        request = Request(
            request_id=request_name(row),
            protocol=PROTOCOL,
            kind="chat",
            messages=(Message("user", prompt),),
            sampling=Sampling(temperature=0.0, max_tokens=MAX_TOKENS),
            subject=((row["source"],), (row["text"],)),
        )
        yield Planned(request, corpus=row["corpus"], language=row["language"], item_id=row["utterance_id"])


def request_name(row: Mapping[str, Any]) -> str:
    """Return the id of the request about an utterance of a sample."""
    return f"{PROTOCOL}/{row['corpus']}/{row['language']}/{row['utterance_id']}"


def read_adequacy(response: Mapping[str, Any] | None) -> float | None:
    """Return the rating that an answer gives, from 1 to 5; None where it gives none."""
    if response is None or response["status"] != "ok":
        return None
    score = parse_scores(response["text"], [CRITERION], cut=response["finish_reason"] == "length").get(PROTOCOL)
    return score.value if score else None


# Back-translations, without context, to compare with the source.

_SPEAKER = "human"


def plan_back(
    sample: Iterable[Mapping[str, Any]], templates: Templates, *, source: str, max_tokens: int
) -> Iterator[Planned]:
    """Yield a request for each utterance of a sample.

    Args:
        sample: rows of the table `translation_sample`.
        source: the language of the originals, and of the back-translations.
        max_tokens: longest translation.
    """
    for row in sample:
        talk = Talk(row["utterance_id"], (_SPEAKER,), (row["text"],))
        yield from requests.plan(
            [talk],
            templates,
            corpus=row["corpus"],
            source=row["language"],
            target=source,
            context=0,
            max_tokens=max_tokens,
        )


def read_back(row: Mapping[str, Any], responses: Mapping[str, Mapping[str, Any]], source: str) -> str | None:
    """Return the back-translation of a sampled utterance, or None.

    A garbled one counts as it is, as leaving it out would bias the scores upwards.
    """
    if has_no_words(row["text"]):
        return str(row["text"])
    response = responses.get(requests.request_name(row["corpus"], source, Passage(_SPEAKER, row["text"], ())))
    if response is None or response["status"] != "ok":
        return None
    found = read_translation(row["text"], response["text"], source, response["finish_reason"], row["language"])
    return None if found.status in NOTHING else found.text


# The sampled utterances: drawn by their ids, so that a growing corpus keeps most of its sample.

_LETTERS = 2


def sample(utterances: Iterable[Mapping[str, Any]], size: int, random_seed: int) -> list[dict[str, Any]]:
    """Return rows of the table `translation_sample`: at most `n` of the usable translations.

    Utterances of fewer than two letters, such as `:)`, are not drawn.

    Args:
        utterances: rows of the table `translated_utterances`.
    """
    usable = {
        row["utterance_id"]: row
        for row in utterances
        if row["status"] == "ok" and sum(letter.isalpha() for letter in row["source"]) >= _LETTERS
    }
    drawn = sorted(usable, key=lambda name: hashlib.sha256(f"{random_seed}/{name}".encode()).digest())[:size]
    return [{column: usable[name][column] for column in TRANSLATION_SAMPLE.schema.names} for name in drawn]


# Checks of a user's templates for translation and adequacy.

_SENTENCE, _TRANSLATED = "Quince only marrow.", "Membrillo solo calabaza."
_SOURCE, _TARGET = "en", "sw"


def unfit_translation_templates(templates: Templates, *, judged: bool) -> Iterator[str]:
    """Yield the faults of the templates of translation.

    Args:
        judged: whether translations are judged, too.

    Raises:
        UserError: one cannot be filled in at all.
    """
    talk = Talk("sentinel", ("A",), (_SENTENCE,))
    planned = requests.plan(
        [talk], templates, corpus="sentinel", source=_SOURCE, target=_TARGET, context=0, max_tokens=1
    )
    prompt = next(planned).request.messages[0].content
    if _SENTENCE not in prompt:
        yield f"{requests.TEMPLATE}: the template lacks the text to translate; write {{{{ utterance }}}} in its place"
    if LANGUAGES[_TARGET].name not in prompt:
        yield (f"{requests.TEMPLATE}: the template lacks the target language; write {{{{ target }}}} in its place")
    if not judged:
        return
    row = {"corpus": "", "language": _TARGET, "utterance_id": "", "source": _SENTENCE, "text": _TRANSLATED}
    prompt = next(plan_adequacy([row], templates, source=_SOURCE)).request.messages[0].content
    for text, variable in ((_SENTENCE, "utterance"), (_TRANSLATED, "translation")):
        if text not in prompt:
            yield f"{TEMPLATE}: the template lacks the {variable}; write {{{{ {variable} }}}} in its place"
    if f"{PROTOCOL}:" not in prompt.lower():
        yield (f"{TEMPLATE}: the template does not request a line 'adequacy: ' with a number, which DialEval parses")
