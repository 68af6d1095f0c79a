"""DialogBench's tables: what was written and what became of it, the items, the answers, and what is told of them."""

from __future__ import annotations

import pyarrow as pa

from dialeval.schemas.columns import BEHIND, BOOL, DIFFERENCES, FLOAT, INT, TEXT, TEXTS, maybe, schema
from dialeval.schemas.table import Table

_FIELDS = pa.map_(TEXT, TEXT)

# fmt: off
WRITTEN_ITEMS = Table("written_items", schema(
    styles=BOOL, round=INT, item_id=TEXT, task=TEXT, domain=TEXT, language=TEXT, status=TEXT, accepted=BOOL,
    reasons=TEXTS, details=TEXTS, speaker1_personality=maybe(TEXT), speaker2_personality=maybe(TEXT),
    speaker1_emotion=maybe(TEXT), speaker2_emotion=maybe(TEXT), utterances=maybe(TEXTS), question=maybe(TEXT),
    extra=maybe(_FIELDS), options=maybe(TEXTS), label=maybe(TEXT), analysis=maybe(TEXT), origin=maybe(TEXT)
))
ITEM_DESCRIPTIONS = Table("item_descriptions", schema(
    variant=TEXT, judge=TEXT, item_id=TEXT, task=TEXT, language=TEXT, asked_domain=TEXT,
    speaker1_style=maybe(TEXT), speaker2_style=maybe(TEXT), domain=maybe(TEXT), domain_named=TEXT, status=TEXT
))
TEST_ITEMS = Table("test_items", schema(
    source=TEXT, variant=TEXT, item_id=TEXT, task=TEXT, domain=TEXT, language=TEXT, speaker1_personality=TEXT,
    speaker2_personality=TEXT, speaker1_emotion=TEXT, speaker2_emotion=TEXT, utterances=TEXTS, question=TEXT,
    extra=_FIELDS, options=TEXTS, label=TEXT, analysis=TEXT, origin=TEXT
))
TEST_ANSWERS = Table("test_answers", schema(
    source=TEXT, variant=TEXT, model=TEXT, method=TEXT, item_id=TEXT, cluster=TEXT, task=TEXT, domain=TEXT,
    language=TEXT, rotation=INT, n_options=INT, label=TEXT, choice=maybe(TEXT), correct=BOOL, status=TEXT
))
ITEM_COUNTS = Table("dialogbench/items", schema(
    source=TEXT, language=TEXT, task=TEXT, origin=TEXT, n=INT, mean_turns=FLOAT, published_n=maybe(FLOAT),
    published_turns=maybe(FLOAT)
))
ACCURACY = Table("dialogbench/accuracy", schema(
    source=TEXT, model=TEXT, method=TEXT, language=TEXT, scope=TEXT, name=TEXT, n_tasks=INT, accuracy=maybe(FLOAT),
    low=maybe(FLOAT), high=maybe(FLOAT), n=INT, n_unparsed=INT, **BEHIND, note=maybe(TEXT),
    published=maybe(FLOAT)
))
DOMAINS = Table("dialogbench/domains", schema(
    source=TEXT, model=TEXT, method=TEXT, language=TEXT, group=TEXT, domain=TEXT, accuracy=maybe(FLOAT),
    low=maybe(FLOAT), high=maybe(FLOAT), n=INT, n_unparsed=INT, **BEHIND, note=maybe(TEXT),
    published=maybe(FLOAT)
))
POSITIONS = Table("dialogbench/positions", schema(
    source=TEXT, model=TEXT, method=TEXT, language=TEXT, n_options=INT, letter=TEXT, accuracy=maybe(FLOAT),
    low=maybe(FLOAT), high=maybe(FLOAT), n=INT, n_unparsed=INT, **BEHIND, note=maybe(TEXT), n_chosen=INT,
    share_chosen=maybe(FLOAT),
    chi_square=maybe(FLOAT), p_uniform=maybe(FLOAT)
))
CIRCULAR = Table("dialogbench/circular", schema(
    source=TEXT, model=TEXT, method=TEXT, language=TEXT, task=TEXT, accuracy=maybe(FLOAT), low=maybe(FLOAT),
    high=maybe(FLOAT), n=INT, n_unparsed=INT, **BEHIND, note=maybe(TEXT), single_accuracy=maybe(FLOAT),
    mean_accuracy=maybe(FLOAT)
))
STYLES = Table("dialogbench/styles", schema(
    variant=TEXT, judge=TEXT, language=TEXT, speaker=INT, style=TEXT, n=INT, share=maybe(FLOAT), n_unparsed=INT
))
DOMAIN_COUNTS = Table("dialogbench/domain_counts", schema(
    variant=TEXT, judge=TEXT, language=TEXT, domain=TEXT, n=INT, share=maybe(FLOAT), n_unparsed=INT
))
ABLATIONS = Table("dialogbench/ablations", schema(
    variant=TEXT, model=TEXT, method=TEXT, language=TEXT, scope=TEXT, name=TEXT, n_tasks=INT,
    accuracy=maybe(FLOAT), low=maybe(FLOAT), high=maybe(FLOAT), n=INT, n_unparsed=INT, **BEHIND, note=maybe(TEXT),
    difference=maybe(FLOAT),
    published_gpt4=maybe(FLOAT)
))
FILTER_COUNTS = Table("dialogbench/filter_counts", schema(
    variant=TEXT, language=TEXT, task=TEXT, domain=TEXT, reason=TEXT, n=INT
))
DIALOGBENCH_DIFFERENCES = Table("dialogbench/differences", DIFFERENCES)
# fmt: on
