"""Tables of dialogues, of requests and responses, and of judgements."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import pyarrow as pa

from dialeval.tables.schema import BOOL, FLOAT, INT, LARGE, PLACES, TEXT, TEXTS, Interval, Table, maybe, schema

NOT_SENT = "not_asked"
"""Status of a row of `responses` whose request the judge was not trained for; nothing is read of it."""

# fmt: off
UTTERANCES = Table(
    "utterances", schema(
        corpus=TEXT, dialogue_id=TEXT, turn=INT, speaker=TEXT, text=TEXT, language=TEXT
    ),
    row="utterance of a human dialogue (`corpora/<corpus>`)",
    columns={
        "turn": "number of the utterance in its dialogue, from 0",
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
    row="request to a model (`requests/<protocol>`)",
    columns={
        "kind": "requested result: chat (a text), choice (probabilities of the answer options) or loglikelihood (of "
        "`continuation`)",
        "answer_schema": "JSON schema of the response; empty for free text",
        "subject": "texts that the request is about, such as dialogues; embedded models answer from this column",
        "left": "system shown first",
        "right": "system shown second; `human` for human dialogues",
        "repeat": "number of the repeat, from 0",
        "part": "part of the item that the request is about; set only if an item needs several requests",
        "sampler_seed": "random seed of the model's sampler; empty if the model takes no seed",
    },
)
RESPONSES = Table(
    "responses", schema(
        request_id=TEXT, key=TEXT, status=TEXT, text=TEXT, reasoning=TEXT, finish_reason=TEXT,
        prompt_tokens=maybe(INT), completion_tokens=maybe(INT), reasoning_tokens=maybe(INT),
        label_logprobs=maybe(pa.map_(TEXT, FLOAT)), label_mass=maybe(FLOAT), logprob=maybe(FLOAT),
        n_tokens=maybe(INT), dropped=maybe(INT)
    ),
    row="response (`responses/<judge>/<protocol>/`)",
    columns={
        "key": "key of the response in the store",
        "status": "ok, missing (no response) or not_asked: the judge was not trained for the request, or its adaptive "
        "comparison had ended",
        "reasoning": "reasoning of the model, separate from the text",
        "label_mass": "total probability of all answer options as the first token",
        "logprob": "log probability of the continuation, in nats",
        "dropped": "number of the oldest utterances that were removed so that the prompt fits the context window",
    },
)
USAGE = Table(
    "usage", schema(
        model=TEXT, protocol=TEXT, requests=LARGE, model_calls=LARGE, cached=LARGE, input_tokens=maybe(LARGE),
        output_tokens=maybe(LARGE), reasoning_tokens=maybe(LARGE), cost=maybe(FLOAT), spent=maybe(FLOAT),
        spent_unconfirmed=maybe(FLOAT), failures=TEXT, remarks=TEXT,
        seconds=FLOAT
    ),
    row="model and protocol (`tables/usage`)",
    columns={
        "requests": "number of requests: the sum of `model_calls` and `cached`",
        "model_calls": "number of requests sent to the model",
        "cached": "number of requests answered from the store or by an identical request",
        "cost": "cost of all responses in use, in the currency of the prices",
        "spent": "money spent, including failed requests, according to the ledger in the store",
        "spent_unconfirmed": "part of `spent` for which the endpoint reported no usage",
        "failures": "number of failures by type",
        "remarks": (
            "number of unusual responses by type: reasoning_mark (a reasoning tag), broken_letters (broken "
            "characters), low_mass (little probability on the answer options)"
        ),
        "seconds": "total answering time of all jobs",
    },
)
ESTIMATE = Table(
    "estimate", schema(
        model=TEXT, protocol=TEXT, requests=LARGE, cached=maybe(LARGE), model_calls=LARGE, input_tokens_low=LARGE,
        input_tokens_expected=LARGE, input_tokens_high=LARGE, input_tokens_most=LARGE, output_tokens_low=LARGE,
        output_tokens_expected=LARGE, output_tokens_high=LARGE, output_tokens_most=LARGE, cost_low=maybe(FLOAT),
        cost_expected=maybe(FLOAT), cost_high=maybe(FLOAT), cost_most=maybe(FLOAT), tokenizer=TEXT, note=maybe(TEXT)
    ),
    row="model and protocol (`tables/estimate`, of the target `estimate`); the last row has the sums, without "
    "the costs of models without prices",
    columns={
        "cached": "number of responses that the store already has",
        "model_calls": "number of requests that a run would send",
        "input_tokens_low": "lower end of the expected range of prompt tokens",
        "input_tokens_expected": "expected number of prompt tokens",
        "input_tokens_high": "upper end of the expected range of prompt tokens",
        "input_tokens_most": "upper bound of the prompt tokens",
        "output_tokens_low": "lower end of the expected range of response tokens",
        "output_tokens_expected": "expected number of response tokens",
        "output_tokens_high": "upper end of the expected range of response tokens",
        "output_tokens_most": "upper bound of the response tokens",
        "cost_low": "lower end of the expected range of the cost",
        "cost_expected": "expected cost",
        "cost_high": "upper end of the expected range of the cost",
        "cost_most": "upper bound of the cost",
        "tokenizer": "tokenizer that counted the tokens",
    },
)
JUDGE_REPORT = Table(
    "judge_report", schema(
        judge=TEXT, perturbation=TEXT, n=INT, auc=maybe(FLOAT), accuracy=maybe(FLOAT), note=maybe(TEXT)
    ),
    row="embedded judge and perturbation (`tables/embedded/<judge>`)",
    title="Embedded judges on perturbed dialogues",
    caption="How well an embedded judge separates held-out original dialogues from perturbed ones.",
    columns={
        "perturbation": "perturbation of the dialogues; all: all perturbations together",
        "auc": "share of pairs of an original and a perturbed dialogue in which the original scores higher",
        "accuracy": "mean of the shares of original and of perturbed dialogues that are classified correctly",
        "n": "number of perturbed dialogues",
    },
)
# fmt: on


# Judgements

Status = Literal["ok", "unparsed", "refused", "truncated", "low_mass", "missing"]
"""Whether a response could be parsed."""
STATUSES: Mapping[Status, str] = {
    "ok": "the response was parsed",
    "unparsed": "the response has no verdict, or an ambiguous verdict; `reason` has the details",
    "refused": "the model declined to answer, or a content filter ended the response",
    "truncated": "the response ended before or within the verdict. For vLLM models also: the prompt left no room for "
    "a response in the context window",
    "low_mass": "under protocols of form `probability`, such as `yes_no`, and DialogBench's `choice`: all answer "
    "options together have a probability below .001 as first token. The usual cause is a model that starts to "
    "reason: see [meta-evaluation](metaeval.md#configuration)",
    "missing": "no response; `answering.max_failure_share` limits the share of such requests",
}
"""The statuses of responses, for the documentation."""

Outcome = Literal["left", "right", "tie"]
"""Which of two dialogues is preferred."""

Form = Literal["scale", "probability", "pair", "locate", "annotate"]
"""The form of a question: a number, probabilities of answer options, a choice between two, a criterion with the
utterance where it first shows, or several criteria with all utterances that show them."""

# fmt: off
JUDGEMENTS = Table(
    "judgements", schema(
        judge=TEXT, protocol=TEXT, request_id=TEXT, corpus=maybe(TEXT), language=maybe(TEXT), item_id=maybe(TEXT),
        case_id=maybe(TEXT), left=maybe(TEXT), right=maybe(TEXT), n_utterances=maybe(INT), criterion=maybe(TEXT),
        repeat=INT, choice=maybe(TEXT), outcome=maybe(TEXT), place=maybe(INT), places=maybe(PLACES), value=maybe(FLOAT),
        scale_min=maybe(FLOAT), scale_max=maybe(FLOAT), mass=maybe(FLOAT), reason=TEXT, status=TEXT
    ),
    row="criterion of a judge's response (`judgements/<judge>/<protocol>`)",
    caption=(
        "Scores from files are in `judgements/<metric>/file`, scores of ensembles in "
        "`judgements/<ensemble>/<protocol>`. If the members of an ensemble have different protocols, the file is "
        "`judgements/<ensemble>/ensemble`."
    ),
    columns={
        "case_id": "case that systems share: a ChatSEED or another case",
        "left": "system of the dialogue; for a pair the system shown first; `human` for human dialogues",
        "right": "system whose dialogue is shown second",
        "criterion": "criterion; empty if the question names none",
        "choice": (
            "verdict in words or chosen option. Under UniEval, Yes means that an AI took part. Under Arena, "
            "Conversation 1 means that it is by an AI"
        ),
        "outcome": "side that is preferred or taken for human: left, right or tie",
        "place": "number of the first utterance by an AI, or of the first utterance that shows the criterion, from 1",
        "places": "numbers of all utterances that show the criterion, from 1",
        "value": "score on the scale from `scale_min` to `scale_max`",
        "mass": "total probability of the answer options",
        "reason": "the judge's reason, or why the response is unparsed",
    },
)
# fmt: on


# BotChat

# fmt: off
SEEDS = Table(
    "seeds", schema(
        seed_id=TEXT, corpus=TEXT, language=TEXT, utterances=TEXTS, n_human=INT, for_arena=BOOL, for_gteval=BOOL
    ),
    row="ChatSEED",
    columns={
        "n_human": "number of utterances of the human dialogue",
        "for_arena": "whether Arena uses the seed",
        "for_gteval": "whether GTEval uses the seed; GTEval needs two alternating speakers",
    },
)
GENERATED = Table(
    "generated", schema(
        chatbot=TEXT, seed_id=TEXT, turn=INT, origin=TEXT, text=TEXT, prompt_tokens=maybe(INT),
        completion_tokens=maybe(INT), dropped=INT, finish_reason=TEXT
    ),
    row="utterance of a chatbot's dialogue (`dialogues/<chatbot>`)",
    columns={
        "origin": "seed (or a scenario's opening), model (the chatbot) or partner (the simulated user)",
        "dropped": "number of the oldest utterances that were removed so that the prompt fits the context window",
    },
)
UTTERANCE_LENGTHS = Table(
    "botchat/utterance_lengths", schema(
        model=TEXT, mean=maybe(FLOAT), median=maybe(FLOAT), p95=maybe(FLOAT), max=maybe(INT), n=INT, tokenizer=TEXT,
        published_mean=maybe(FLOAT)
    ),
    row="model, and one for the human utterances (`human`)",
    title="Utterance lengths",
    caption="Length of utterances in tokens.",
    columns={
        "n": "number of utterances",
        "mean": "mean number of tokens of an utterance",
        "p95": "95th percentile",
        "published_mean": "mean in the paper for a model of the same name",
    },
    numbers="rating",
)
UTTERANCE_TOKENS = Table(
    "botchat/utterance_tokens", schema(
        model=TEXT, seed_id=TEXT, turn=INT, tokens=INT, tokenizer=TEXT
    ),
    row="utterance of a model (BotChat's Figure 3; Parquet only)",
    title="Lengths of single utterances",
    shown=False,
    columns={
        "turn": "number of the utterance in its dialogue, from 0",
    },
)
TOKENIZER = Table(
    "botchat/tokenizer", schema(tokenizer=TEXT, reason=maybe(TEXT)),
    row="run: the unit of its utterance lengths (Parquet only)",
    title="Unit of utterance lengths",
    shown=False,
    columns={
        "tokenizer": "tokenizer of all utterance lengths of this run",
        "reason": "why the run does not use the paper's cl100k_base",
    },
)
SEED_LENGTHS = Table(
    "botchat/seeds", schema(n_utterances=maybe(INT), n_dialogues=INT),
    row="number of utterances (BotChat's Figure 2)",
    title="Length of the human dialogues",
    caption="Number of human dialogues with each number of utterances.",
)
CONTAMINATION = Table(
    "contamination", schema(
        source=TEXT, part=TEXT, system=maybe(TEXT), corpus=TEXT, n=INT, n_too_short=INT, n_shared=INT,
        share=maybe(FLOAT), example=maybe(TEXT)
    ),
    row="source, part, system and published corpus (`tables/contamination`)",
    title="Contamination by published corpora",
    caption=(
        "Number of cases and responses that have a passage of 50 letters and digits in common with a published "
        "corpus. Models may "
        "have been trained on such cases, and may recite such responses. Scores are not corrected."
    ),
    columns={
        "source": "selfchat, or the name of the transcripts",
        "part": "case (the seed, or the utterances of the other speakers) or response (the utterances of the "
        "evaluated speaker)",
        "system": "system that wrote the responses; empty for cases, which systems share",
        "corpus": "corpus that is searched. Seeds from this corpus always match it",
        "n": "number of cases or dialogues with an utterance of at least 50 letters and digits",
        "n_too_short": "number of cases or dialogues without such an utterance; they cannot be checked",
        "n_shared": "number of cases or dialogues that contain a passage of the corpus",
        "share": "n_shared divided by n",
        "example": "one shared passage, in lower case, without blanks and punctuation",
    },
    numbers="share",
)
MEMORIZATION = Table(
    "memorization", schema(
        model=TEXT, corpus=TEXT, n=INT, n_missing=INT, n_too_short=INT, n_verbatim=INT, estimate=maybe(FLOAT),
        ci_low=maybe(FLOAT), ci_high=maybe(FLOAT), chance=maybe(FLOAT), control=maybe(FLOAT), p=maybe(FLOAT),
        p_holm=maybe(FLOAT), example=maybe(TEXT), note=maybe(TEXT)
    ),
    row="model and corpus (`tables/memorization`)",
    title="Texts that models complete verbatim",
    caption=(
        "Share of texts that a model continues verbatim: it reads the first part and writes the next 50 letters and "
        "digits. A model may know a text and not complete it, so the share is a lower bound. Scores are not corrected."
    ),
    columns={
        "model": "model that completes the texts",
        "n": "number of texts with a response; each dialogue has one text",
        "n_missing": "number of texts without a response",
        "n_too_short": "number of dialogues that cannot be tested: shorter than 100 letters and digits, or repetitive",
        "n_verbatim": "number of texts that the model completes verbatim",
        "estimate": "share of texts that the model completes verbatim",
        "chance": "rate of matches by chance: how often a response contains the next passage of another text of the "
        "corpus",
        "control": "share of texts of the control corpora (`memorization.control`) that the model completes verbatim",
        "p": "p-value of a higher share than in the control corpora (Fisher's exact test, one-sided)",
        "p_holm": "p, adjusted over all models and corpora (Holm)",
        "example": "one passage that the model completes, in lower case, without blanks and punctuation",
    },
    cells={"estimate": Interval("ci_low", "ci_high")}, numbers="share", formats={"p": "number", "p_holm": "number"},
)
# fmt: on


# Transcripts

HIDDEN_MESSAGES = Table(
    "hidden_messages",
    schema(corpus=TEXT, item_id=TEXT, language=TEXT, before=INT, kind=TEXT, text=TEXT),
    row="hidden message of a transcript (`hidden_messages/<source>`)",
    columns={
        "before": "number of the following utterance, from 0",
        "kind": "type of the hidden message: system (a system prompt), tool_call, tool_result or reasoning",
    },
)


# Scenarios

SCENARIOS = Table(
    "scenarios",
    schema(scenario_id=TEXT, opening=TEXT, persona=TEXT, goal=TEXT, language=TEXT, more=pa.map_(TEXT, TEXT)),
    row="scenario of a simulated user (`scenarios/scenarios`)",
    columns={
        "opening": "first utterance of the simulated user; empty if its model writes one",
        "more": "other columns of the file",
    },
)
