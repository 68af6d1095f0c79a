"""BotChat's tables."""

from __future__ import annotations

from dialeval.schemas.columns import BEHIND, BOOL, FLOAT, INT, TEXT, TEXTS, maybe, schema
from dialeval.schemas.differences import differences
from dialeval.schemas.table import Table

# fmt: off
SEEDS = Table(
    "seeds", schema(
        seed_id=TEXT, corpus=TEXT, language=TEXT, utterances=TEXTS, n_human=INT, for_arena=BOOL, for_gteval=BOOL
    ),
    row="ChatSEED",
    columns={
        "n_human": "utterances of the human dialogue",
        "for_arena": "whether it serves Arena",
        "for_gteval": "whether it serves GTEval, which also needs two speakers in turn",
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
        "dropped": "oldest utterances left out to fit the context window",
    },
)
CHATBOT_DIFFERENCES = differences(
    "botchat/differences",
    row="pair of chatbots (or of a chatbot and people) and a number that both have",
    title="Which chatbots can be told apart",
    caption="Pass and win-or-tie rates, the share of comparisons won less that lost (head to head), and ratings.",
)
UNIEVAL_PASS_RATES = Table(
    "botchat/unieval_pass_rates", schema(
        judge=TEXT, model=TEXT, n=INT, pass_rate=maybe(FLOAT), low=maybe(FLOAT), high=maybe(FLOAT), n_dialogues=INT,
        n_unparsed=INT, **BEHIND, note=maybe(TEXT), published_pass_rate=maybe(FLOAT)
    ),
    row="judge, model and length N",
    title="UniEval pass rates",
    caption=(
        "A dialogue passes at N if the judge sees no AI in it, or sees the first AI utterance after N; it counts only "
        "where it is that long, which few human dialogues are. Intervals are clustered by seed. A verdict that could "
        "not be read counts as not passed."
    ),
    columns={
        "n": "the length N",
        "n_dialogues": "dialogues that are that long; the others of a model do not count at N",
    },
    numbers="share",
    kinds={"n": "number"},
)
UNIEVAL_AT_GT_LENGTH = Table(
    "botchat/unieval_at_gt_length", schema(
        judge=TEXT, model=TEXT, pass_rate=maybe(FLOAT), low=maybe(FLOAT), high=maybe(FLOAT), n_dialogues=INT,
        n_unparsed=INT, **BEHIND, note=maybe(TEXT)
    ),
    row="judge and model (BotChat's Figure 7)",
    title="UniEval at the human length",
    caption=(
        "The pass rate where every dialogue is taken up to as many utterances as the human dialogue of its seed has."
    ),
    numbers="share",
)
ARENA_ELO = Table(
    "botchat/arena_elo", schema(
        judge=TEXT, n=INT, model=TEXT, elo=maybe(FLOAT), low=maybe(FLOAT), high=maybe(FLOAT), n_comparisons=INT,
        n_unparsed=INT, elo_sd=maybe(FLOAT), bradley_terry=maybe(FLOAT), bradley_terry_low=maybe(FLOAT),
        bradley_terry_high=maybe(FLOAT), bradley_terry_length_controlled=maybe(FLOAT),
        bradley_terry_length_controlled_low=maybe(FLOAT), bradley_terry_length_controlled_high=maybe(FLOAT),
        davidson=maybe(FLOAT), davidson_low=maybe(FLOAT), davidson_high=maybe(FLOAT), p_above_next=maybe(FLOAT),
        **BEHIND, note=maybe(TEXT), published_elo=maybe(FLOAT)
    ),
    row="judge, N and model",
    title="Arena ratings",
    caption=(
        "Elo is the median over shuffled orders of the comparisons, averaged over repeats; Bradley-Terry and Davidson "
        "(with ties) stand on the same scale. Intervals resample seeds. Verdicts that could not be read move no "
        "rating."
    ),
    columns={
        "n": "the length N",
        "elo": "Bootstrap Elo, mean of the repeats",
        "elo_sd": "its standard deviation over the repeats",
        "bradley_terry_length_controlled": "Bradley-Terry with length and place held fixed",
        "p_above_next": "share of resamples in which the model is above the next one",
    },
    numbers="rating",
    kinds={"n": "number", "p_above_next": "share"},
)
ARENA_WIN_RATES = Table(
    "botchat/arena_win_rates", schema(
        judge=TEXT, n=INT, model_a=TEXT, model_b=TEXT, win=maybe(FLOAT), tie=maybe(FLOAT), lose=maybe(FLOAT),
        unparsed=maybe(FLOAT), win_low=maybe(FLOAT), win_high=maybe(FLOAT), n_comparisons=INT,
        **BEHIND, note=maybe(TEXT)
    ),
    row="judge, N and pair of models",
    title="Arena win rates",
    caption="Shares of the comparisons of two models on the same seeds, in both orders, from the side of model a.",
    columns={
        "n": "the length N",
        "win": "of model a; win, tie, lose and unparsed sum to 1",
        "model_b": "the opponent; both orders count together",
    },
    numbers="share",
    kinds={"n": "number"},
)
GTEVAL = Table(
    "botchat/gteval", schema(
        judge=TEXT, model=TEXT, win=maybe(FLOAT), tie=maybe(FLOAT), lose=maybe(FLOAT), unparsed=maybe(FLOAT),
        win_or_tie=maybe(FLOAT), low=maybe(FLOAT), high=maybe(FLOAT), n_comparisons=INT,
        **BEHIND, note=maybe(TEXT), published_win_or_tie=maybe(FLOAT)
    ),
    row="judge and model",
    title="GTEval",
    caption=(
        "Each model's dialogue against the human one, cut to its length. A model wins where the human dialogue is "
        "called AI. Intervals are clustered by seed."
    ),
    columns={
        "win_or_tie": "share of comparisons in which the human dialogue is not preferred",
    },
    numbers="share",
)
JUDGE_BIAS = Table(
    "botchat/judge_bias", schema(
        judge=TEXT, other_judge=maybe(TEXT), protocol=TEXT, n_utterances=maybe(INT), measure=TEXT, value=maybe(FLOAT),
        low=maybe(FLOAT), high=maybe(FLOAT), n=INT, **BEHIND, note=maybe(TEXT)
    ),
    row="judge, protocol, N and measure",
    title="Judge bias",
    caption=(
        "How far a judge's verdicts follow position, length or family instead of the dialogues, and how far judges "
        "agree. Intervals are clustered by seed."
    ),
    columns={
        "measure": "see the measures of bias below",
        "n": "comparisons, or pairs of verdicts, behind it",
    },
    kinds={"n": "number", "n_utterances": "count"},
)
UTTERANCE_LENGTHS = Table(
    "botchat/utterance_lengths", schema(
        model=TEXT, mean=maybe(FLOAT), median=maybe(FLOAT), p95=maybe(FLOAT), max=maybe(INT), n=INT, tokenizer=TEXT,
        published_mean=maybe(FLOAT)
    ),
    row="model",
    title="Utterance lengths",
    caption="Length of the generated utterances in tokens, and of the human ones.",
    columns={
        "n": "utterances",
        "mean": "tokens of an utterance that the model wrote",
        "p95": "95th percentile",
        "published_mean": "the paper's mean, matched by name",
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
        "turn": "counts from 0",
    },
)
SEED_LENGTHS = Table(
    "botchat/seeds", schema(n_utterances=maybe(INT), n_dialogues=INT),
    row="number of utterances (BotChat's Figure 2)",
    title="Length of the human dialogues",
    caption="How many human dialogues have so many utterances.",
)
# fmt: on
