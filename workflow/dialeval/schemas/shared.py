"""Tables that every part of the workflow uses: dialogues, requests, responses, usage."""

from __future__ import annotations

import pyarrow as pa

from dialeval.schemas.columns import FLOAT, INT, LARGE, TEXT, TEXTS, maybe, schema
from dialeval.schemas.table import Table

NOT_ASKED = "not_asked"
"""Status of a row of `responses` whose request the judge was not trained for; nothing is read of it."""

# fmt: off
UTTERANCES = Table(
    "utterances", schema(
        corpus=TEXT, dialogue_id=TEXT, turn=INT, speaker=TEXT, text=TEXT, language=TEXT
    ),
    row="utterance of a human dialogue (`corpora/<corpus>`)",
    columns={
        "turn": "counts from 0",
    },
)
REQUESTS = Table(
    "requests", schema(
        request_id=TEXT, protocol=TEXT, kind=TEXT, messages=pa.list_(pa.struct([("role", TEXT), ("content", TEXT)])),
        labels=TEXTS, answer_schema=TEXT, continuation=TEXT, temperature=FLOAT, top_p=FLOAT, max_tokens=INT,
        sampler_seed=maybe(LARGE), stop=TEXTS, presence_penalty=FLOAT, frequency_penalty=FLOAT,
        repeat=INT, subject=pa.list_(TEXTS), case_id=maybe(TEXT),
        left=maybe(TEXT), right=maybe(TEXT), n_utterances=maybe(INT), corpus=maybe(TEXT), language=maybe(TEXT),
        item_id=maybe(TEXT), part=maybe(TEXT)
    ),
    row="question to a model (`requests/<protocol>`)",
    columns={
        "kind": "chat (a text), choice (probabilities of the labels) or loglikelihood (of the continuation)",
        "answer_schema": "JSON schema that the answer must keep, empty for free text",
        "subject": "what is asked about, as the protocol needs it to read the answer",
        "left": "model shown first",
        "right": "model shown second; human for people",
        "repeat": "counts the repeats of one question from 0",
        "part": "which of several questions on one item",
        "presence_penalty": "how much less likely a token becomes once it was said; 0: not at all",
        "frequency_penalty": "the same for each time that it was said",
        "sampler_seed": "seed of the model's sampler; empty where it has none",
    },
)
RESPONSES = Table(
    "responses", schema(
        request_id=TEXT, key=TEXT, status=TEXT, text=TEXT, reasoning=TEXT, finish_reason=TEXT,
        prompt_tokens=maybe(INT), completion_tokens=maybe(INT), reasoning_tokens=maybe(INT),
        label_logprobs=maybe(pa.map_(TEXT, FLOAT)), label_mass=maybe(FLOAT), logprob=maybe(FLOAT),
        n_tokens=maybe(INT), dropped=maybe(INT)
    ),
    row="answer (`responses/<judge>/<protocol>/`)",
    columns={
        "key": "of the answer in the store",
        "status": "ok, missing (there is no answer), or not_asked (the judge was not trained for this)",
        "reasoning": "what was thought aloud, kept apart from the text",
        "label_mass": "probability of all labels together as the first thing said",
        "logprob": "of the continuation, in nats",
        "dropped": "oldest utterances left out to fit the context window",
    },
)
USAGE = Table(
    "usage", schema(
        model=TEXT, protocol=TEXT, requests=LARGE, asked=LARGE, from_store=LARGE, input_tokens=maybe(LARGE),
        output_tokens=maybe(LARGE), reasoning_tokens=maybe(LARGE), cost=maybe(FLOAT), spent=maybe(FLOAT),
        spent_unconfirmed=maybe(FLOAT), failures=TEXT, remarks=TEXT,
        seconds=FLOAT
    ),
    row="model and protocol",
    columns={
        "requests": "requests that the jobs had to see to",
        "asked": "of these, asked of the model",
        "from_store": "of these, found in the store or equal to one that was asked",
        "cost": "of all answers in use, in the prices' currency",
        "spent": "what was spent by the ledger, failures included",
        "spent_unconfirmed": "of that, what no usage report of the endpoint confirms",
        "failures": "by kind",
        "remarks": (
            "how many answers hold a mark of reasoning (reasoning_mark) or characters that came broken "
            "(broken_letters), or have hardly any probability for their labels (low_mass)"
        ),
        "seconds": "time that answering took, of all jobs together",
    },
)
ESTIMATE = Table(
    "estimate", schema(
        model=TEXT, protocol=TEXT, requests=LARGE, stored=maybe(LARGE), to_ask=LARGE, input_tokens_low=LARGE,
        input_tokens_expected=LARGE, input_tokens_high=LARGE, input_tokens_most=LARGE, output_tokens_low=LARGE,
        output_tokens_expected=LARGE, output_tokens_high=LARGE, output_tokens_most=LARGE, cost_low=maybe(FLOAT),
        cost_expected=maybe(FLOAT), cost_high=maybe(FLOAT), cost_most=maybe(FLOAT), tokenizer=TEXT, note=maybe(TEXT)
    ),
    row="model and protocol; the last row has the sums (`snakemake --cores 8 estimate`)",
    columns={
        "stored": "answers that the store has already",
        "to_ask": "requests that a run would send",
        "input_tokens_most": "bound that cannot be passed",
        "output_tokens_most": "bound that cannot be passed",
        "cost_most": "bound that cannot be passed",
        "tokenizer": "what the tokens were counted with",
    },
)
JUDGE_REPORT = Table(
    "judge_report", schema(
        judge=TEXT, damage=TEXT, n=INT, auc=maybe(FLOAT), accuracy=maybe(FLOAT), note=maybe(TEXT)
    ),
    row="embedded judge and kind of damage (`embedded/<judge>`)",
    title="Judges on damaged dialogues",
    caption="How well an embedded judge tells true dialogues, left out of its training, from damaged ones.",
    columns={
        "damage": "how the dialogues were damaged",
        "auc": "share of pairs of a true and a damaged dialogue in which the true one scores higher",
        "accuracy": "share told right",
    },
)
# fmt: on
