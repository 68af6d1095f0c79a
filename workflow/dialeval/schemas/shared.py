"""Tables that every part of the workflow uses: dialogues, requests, responses, usage."""

from __future__ import annotations

import pyarrow as pa

from dialeval.schemas.columns import FLOAT, INT, LARGE, TEXT, TEXTS, maybe, schema
from dialeval.schemas.table import Table

# fmt: off
UTTERANCES = Table("utterances", schema(
    corpus=TEXT, dialogue_id=TEXT, turn=INT, speaker=TEXT, text=TEXT, language=TEXT
))
REQUESTS = Table("requests", schema(
    request_id=TEXT, protocol=TEXT, kind=TEXT, messages=pa.list_(pa.struct([("role", TEXT), ("content", TEXT)])),
    labels=TEXTS, answer_schema=TEXT, continuation=TEXT, temperature=FLOAT, top_p=FLOAT, max_tokens=INT,
    sampler_seed=maybe(LARGE), stop=TEXTS, repeat=INT, subject=pa.list_(TEXTS), seed_id=maybe(TEXT),
    left=maybe(TEXT), right=maybe(TEXT), n_utterances=maybe(INT), corpus=maybe(TEXT), language=maybe(TEXT),
    item_id=maybe(TEXT), part=maybe(TEXT)
))
RESPONSES = Table("responses", schema(
    request_id=TEXT, key=TEXT, status=TEXT, text=TEXT, reasoning=TEXT, finish_reason=TEXT,
    prompt_tokens=maybe(INT), completion_tokens=maybe(INT), reasoning_tokens=maybe(INT),
    label_logprobs=maybe(pa.map_(TEXT, FLOAT)), label_mass=maybe(FLOAT), logprob=maybe(FLOAT),
    n_tokens=maybe(INT), dropped=maybe(INT)
))
USAGE = Table("usage", schema(
    model=TEXT, protocol=TEXT, requests=LARGE, asked=LARGE, from_store=LARGE, input_tokens=maybe(LARGE),
    output_tokens=maybe(LARGE), reasoning_tokens=maybe(LARGE), cost=maybe(FLOAT), spent=maybe(FLOAT),
    spent_unconfirmed=maybe(FLOAT), failures=TEXT, remarks=TEXT,
    seconds=FLOAT
))
ESTIMATE = Table("estimate", schema(
    model=TEXT, protocol=TEXT, requests=LARGE, stored=maybe(LARGE), to_ask=LARGE, input_tokens_low=LARGE,
    input_tokens_expected=LARGE, input_tokens_high=LARGE, input_tokens_most=LARGE, output_tokens_low=LARGE,
    output_tokens_expected=LARGE, output_tokens_high=LARGE, output_tokens_most=LARGE, cost_low=maybe(FLOAT),
    cost_expected=maybe(FLOAT), cost_high=maybe(FLOAT), cost_most=maybe(FLOAT), tokenizer=TEXT, note=maybe(TEXT)
))
JUDGE_REPORT = Table("judge_report", schema(
    judge=TEXT, damage=TEXT, n=INT, auc=maybe(FLOAT), accuracy=maybe(FLOAT), note=maybe(TEXT)
))
# fmt: on
