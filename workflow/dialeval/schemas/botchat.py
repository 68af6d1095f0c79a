"""BotChat's tables."""

from __future__ import annotations

from dialeval.schemas.columns import BEHIND, BOOL, DIFFERENCES, FLOAT, INT, TEXT, TEXTS, maybe, schema
from dialeval.schemas.table import Table

# fmt: off
SEEDS = Table("seeds", schema(
    seed_id=TEXT, corpus=TEXT, language=TEXT, utterances=TEXTS, n_human=INT, for_arena=BOOL, for_gteval=BOOL
))
GENERATED = Table("generated", schema(
    chatbot=TEXT, seed_id=TEXT, turn=INT, origin=TEXT, text=TEXT, prompt_tokens=maybe(INT),
    completion_tokens=maybe(INT), dropped=INT, finish_reason=TEXT
))
VERDICTS = Table("verdicts", schema(
    judge=TEXT, protocol=TEXT, request_id=TEXT, seed_id=TEXT, left=maybe(TEXT), right=maybe(TEXT),
    n_utterances=maybe(INT), choice=maybe(TEXT), winner=maybe(TEXT), first_ai_index=maybe(INT), reason=TEXT,
    status=TEXT
))
SEED_LENGTHS = Table("botchat/seeds", schema(n_utterances=maybe(INT), n_dialogues=INT))
UTTERANCE_LENGTHS = Table("botchat/utterance_lengths", schema(
    model=TEXT, mean=maybe(FLOAT), median=maybe(FLOAT), p95=maybe(FLOAT), max=maybe(INT), n=INT, tokenizer=TEXT,
    published_mean=maybe(FLOAT)
))
UTTERANCE_TOKENS = Table("botchat/utterance_tokens", schema(
    model=TEXT, seed_id=TEXT, turn=INT, tokens=INT, tokenizer=TEXT
))
UNIEVAL_PASS_RATES = Table("botchat/unieval_pass_rates", schema(
    judge=TEXT, model=TEXT, n=INT, pass_rate=maybe(FLOAT), low=maybe(FLOAT), high=maybe(FLOAT), n_dialogues=INT,
    n_unparsed=INT, **BEHIND, note=maybe(TEXT), published_pass_rate=maybe(FLOAT)
))
UNIEVAL_AT_GT_LENGTH = Table("botchat/unieval_at_gt_length", schema(
    judge=TEXT, model=TEXT, pass_rate=maybe(FLOAT), low=maybe(FLOAT), high=maybe(FLOAT), n_dialogues=INT,
    n_unparsed=INT, **BEHIND, note=maybe(TEXT)
))
ARENA_ELO = Table("botchat/arena_elo", schema(
    judge=TEXT, n=INT, model=TEXT, elo=maybe(FLOAT), low=maybe(FLOAT), high=maybe(FLOAT), n_comparisons=INT,
    n_unparsed=INT, elo_sd=maybe(FLOAT), bradley_terry=maybe(FLOAT), bradley_terry_low=maybe(FLOAT),
    bradley_terry_high=maybe(FLOAT), bradley_terry_length_controlled=maybe(FLOAT),
    bradley_terry_length_controlled_low=maybe(FLOAT), bradley_terry_length_controlled_high=maybe(FLOAT),
    davidson=maybe(FLOAT), davidson_low=maybe(FLOAT), davidson_high=maybe(FLOAT), p_above_next=maybe(FLOAT),
    **BEHIND, note=maybe(TEXT), published_elo=maybe(FLOAT)
))
ARENA_WIN_RATES = Table("botchat/arena_win_rates", schema(
    judge=TEXT, n=INT, model_a=TEXT, model_b=TEXT, win=maybe(FLOAT), tie=maybe(FLOAT), lose=maybe(FLOAT),
    unparsed=maybe(FLOAT), win_low=maybe(FLOAT), win_high=maybe(FLOAT), n_comparisons=INT,
    **BEHIND, note=maybe(TEXT)
))
GTEVAL = Table("botchat/gteval", schema(
    judge=TEXT, model=TEXT, win=maybe(FLOAT), tie=maybe(FLOAT), lose=maybe(FLOAT), unparsed=maybe(FLOAT),
    win_or_tie=maybe(FLOAT), low=maybe(FLOAT), high=maybe(FLOAT), n_comparisons=INT,
    **BEHIND, note=maybe(TEXT), published_win_or_tie=maybe(FLOAT)
))
JUDGE_BIAS = Table("botchat/judge_bias", schema(
    judge=TEXT, other_judge=maybe(TEXT), protocol=TEXT, n_utterances=maybe(INT), measure=TEXT, value=maybe(FLOAT),
    low=maybe(FLOAT), high=maybe(FLOAT), n=INT, **BEHIND, note=maybe(TEXT)
))
CHATBOT_DIFFERENCES = Table("botchat/differences", DIFFERENCES)
# fmt: on
