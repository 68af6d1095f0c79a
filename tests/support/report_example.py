"""A small hand-made run: three seeds, two chatbots and one judge, with everything in it that could trip a page."""

from __future__ import annotations

import dataclasses
from typing import Any

from dialeval.report.exchanges import Answerer, Answering, ExchangeSource, Lookup
from dialeval.report.html_tables import Grid, board_grid
from dialeval.report.inputs import EvaluatedProtocol, Figure, ReportInputs
from dialeval.report.overview import leaderboards
from dialeval.tables.dialogues import (
    GENERATED,
    JUDGEMENTS,
    REQUESTS,
    RESPONSES,
    SEEDS,
    UTTERANCE_LENGTHS,
    UTTERANCE_TOKENS,
    UTTERANCES,
)
from dialeval.tables.files import to_table
from dialeval.tables.measures import PASS_RATES, RATINGS, WIN_RATES
from dialeval.tables.schema import Table

HOSTILE = "</script><script>alert(1)</script>"
ODD = "<b>bold</b> & \"quoted\" 'single' 😀 &amp; <!-- comment"
ARABIC = "مرحبا، كيف حالك؟"
CHINESE = "你好，吃了吗？"

_HUMAN = {
    "MT-1": ["Is the shop open?", "Until six.", "Then I'll hurry.", "Take the back door."],
    "MT-2": [CHINESE, "吃了。"],
    "MT-10": ["Where were you?", "At the lake.", "In this weather?", "It was warm enough."],
}
_WRITTEN = {
    ("able", "MT-1"): ["Good, I'll come over.", HOSTILE],
    ("able", "MT-2"): [ARABIC, ODD],
    ("able", "MT-10"): ["Lovely.", "It was."],
    ("weak", "MT-1"): ["Choice: No", "Index: 3 <chat_end>"],
    ("weak", "MT-2"): ["line one\nline two", ""],
    ("weak", "MT-10"): ["Lovely.", "Lovely."],
}
SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 10 5"><style>*{fill:red}</style>'
    '<rect width="4" height="4"/></svg>'
)


def verdict(protocol: str, seed_id: str, left: str, right: str | None = None, **other: Any) -> dict[str, Any]:
    """Return a row of the table `judgements`; read and without a reason unless said otherwise."""
    names = "/".join(name for name in (protocol, seed_id, left, right) if name)
    row = {"judge": "clerk", "protocol": protocol, "request_id": names, "case_id": seed_id, "left": left}
    return {**row, "right": right, "n_utterances": 4, "repeat": 0, "reason": "", "status": "ok", **other}


_VERDICTS = [
    verdict("unieval", "MT-1", "human", choice="No", reason="Sounds like people."),
    verdict("unieval", "MT-1", "able", choice="Yes", place=4, reason=f"Says {HOSTILE}, which is odd."),
    verdict("unieval", "MT-2", "able", choice="No"),
    verdict("unieval", "MT-10", "able", choice="No"),
    verdict("unieval", "MT-1", "weak", status="unparsed", reason="no line begins with 'Choice:'"),
    verdict("unieval", "MT-2", "weak", choice="Yes", place=3),
    verdict("unieval", "MT-10", "weak", choice="Yes", place=4),
    verdict("arena", "MT-1", "able", "weak", choice="Conversation 2", outcome="left", reason="The second repeats."),
    verdict("arena", "MT-1", "weak", "able", choice="Both", outcome="tie"),
    verdict("gteval", "MT-1", "able", "human", choice="Conversation 1", outcome="right"),
    verdict("gteval", "MT-1", "human", "able", choice="Conversation 1", outcome="right"),
]


def _rate(model: str, length: int, rate: float | None, **other: Any) -> dict[str, Any]:
    low, high = (None, None) if rate is None else (rate - 0.05, rate + 0.05)
    row = {"judge": "clerk", "n_utterances": length, "system": model, "estimate": rate, "ci_low": low, "ci_high": high}
    return {**row, "n": 3, "n_unparsed": 0, **other}


def _rating(model: str, elo: float, **other: Any) -> dict[str, Any]:
    row = {"judge": "clerk", "n_utterances": 4, "system": model, "estimate": elo, "ci_low": elo - 9, "ci_high": elo + 9}
    return {**row, "n": 2, "n_unparsed": 0, "bradley_terry": elo + 1, **other}


def _against_people(model: str, win: float, unparsed: float) -> dict[str, Any]:
    row = {"judge": "clerk", "system": model, "opponent": "human", "estimate": win, "win": win, "tie": 0.0, "n": 4}
    ends = {"win_or_tie_ci_low": win - 0.1, "win_or_tie_ci_high": win + 0.1}
    return {**row, **ends, "lose": 1 - win - unparsed, "unparsed": unparsed, "win_or_tie": win}


PROTOCOLS = (
    EvaluatedProtocol(
        "unieval", "locate", ("selfchat",), ("pass_rates", "pass_rates_at_gt_length", "differences"), at=(4,)
    ),
    EvaluatedProtocol("arena", "pair", ("selfchat",), ("ratings", "win_rates", "bias", "differences"), (4,)),
    EvaluatedProtocol("gteval", "pair", ("selfchat",), ("win_rates", "bias", "differences")),
)
"""The papers' protocols, as a run tells the report of them."""


def _length(model: str, mean: float) -> dict[str, Any]:
    return {"model": model, "mean": mean, "median": mean, "p95": mean, "max": 30, "n": 6, "tokenizer": "cl100k_base"}


PRICES = Answering(price_input=2.0, price_output=8.0)
REASONED = "The second repeats."


def in_memory(kind: Table, rows: list[dict[str, Any]]) -> Lookup:
    """Return what looks rows up in a table that a test made, by the id of the request."""
    made = to_table(kind, rows).to_pylist()
    return lambda wanted: [row for row in made if row["request_id"] in wanted]


def request(request_id: str, *messages: tuple[str, str], **other: Any) -> dict[str, Any]:
    """Return a row of the table `requests`."""
    row = {"request_id": request_id, "protocol": request_id.partition("/")[0], "kind": "chat", "repeat": 0}
    row |= {"messages": [{"role": role, "content": content} for role, content in messages]}
    empty: dict[str, Any] = {name: [] for name in ("labels", "stop", "subject")}
    empty |= dict.fromkeys(("answer_schema", "continuation"), "")
    empty |= dict.fromkeys(("temperature", "top_p", "presence_penalty", "frequency_penalty"), 0.0)
    return {**empty, "max_tokens": 9, **row, **other}


def response(request_id: str, text: str, **other: Any) -> dict[str, Any]:
    """Return a row of the table `responses`."""
    row = {"request_id": request_id, "key": "k", "status": "ok", "text": text, "reasoning": "", "finish_reason": "stop"}
    return {**row, **other}


def exchange_source(**judge: Any) -> ExchangeSource:
    """Return what the judge was sent and answered about three dialogues and a pair; fields given are the judge's."""
    requests = [
        request("unieval/MT-1/weak", ("system", "Be strict."), ("user", f"Read this.\nA: {HOSTILE}\n\nIs it AI?")),
        request("unieval/MT-2/able", ("user", f"Read this.\n{ARABIC} {ODD}\n")),
        request("arena/MT-1/able/weak", ("user", "Read both.\nfirst\nsecond")),
        request("arena/MT-1/weak/able", ("user", "Read both.\nsecond\nfirst")),
    ]
    responses = [
        response("unieval/MT-1/weak", "Hard to say <i>really</i>.", reasoning="Hm.", reasoning_tokens=2),
        response("unieval/MT-2/able", "Choice: No"),
        response("arena/MT-1/able/weak", f"Choice: Conversation 2\nReason: {REASONED}", prompt_tokens=1000)
        | {"completion_tokens": 250},
        response("arena/MT-1/weak/able", "Choice: Both"),
    ]
    clerk = Answerer(**{"responses": in_memory(RESPONSES, responses), "model": PRICES, **judge})
    return ExchangeSource(in_memory(REQUESTS, requests), {"clerk": clerk})


def inputs(**other: Any) -> ReportInputs:
    """Return the run; a field given replaces the run's."""
    run = ReportInputs(
        title="A run of <two> & more",
        chatbots=("weak", "able"),
        judges=("clerk",),
        seeds=to_table(
            SEEDS,
            [
                {"seed_id": seed_id, "corpus": "made", "language": "en", "utterances": utterances[:2]}
                | {"n_human": len(utterances)}
                | dict.fromkeys(("for_arena", "for_gteval"), len(utterances) >= 4)
                for seed_id, utterances in _HUMAN.items()
            ],
        ),
        human=to_table(
            UTTERANCES,
            [
                {"corpus": corpus, "dialogue_id": seed_id, "turn": turn, "speaker": "AB"[turn % 2], "text": text}
                | {"language": "en"}
                for corpus in ("made", "elsewhere")
                for seed_id, utterances in _HUMAN.items()
                for turn, text in enumerate(utterances)
            ],
        ),
        generated=to_table(
            GENERATED,
            [
                {"chatbot": chatbot, "seed_id": seed_id, "turn": turn, "origin": "seed" if turn < 2 else "model"}
                | {"text": text, "dropped": 0, "finish_reason": "length" if text == HOSTILE else "stop"}
                for (chatbot, seed_id), written in _WRITTEN.items()
                for turn, text in enumerate([*_HUMAN[seed_id][:2], *written])
            ],
        ),
        verdicts=to_table(JUDGEMENTS, _VERDICTS),
        protocols=PROTOCOLS,
        tables={
            "unieval/pass_rates": to_table(
                PASS_RATES,
                [
                    *(_rate("able", n, rate) for n, rate in ((4, 0.9), (16, 2 / 3))),
                    *(_rate("weak", n, rate, n_unparsed=1) for n, rate in ((4, 0.5), (16, 0.1))),
                    *(_rate("human", n, rate) for n, rate in ((4, 1.0), (16, 0.95))),
                ],
            ),
            "arena/ratings": to_table(RATINGS, [_rating("weak", 980.0, note="loses all"), _rating("able", 1020.0)]),
            "gteval/win_rates": to_table(
                WIN_RATES, [_against_people("able", 0.5, 0.0), _against_people("weak", 0.25, 0.5)]
            ),
            "botchat/utterance_lengths": to_table(
                UTTERANCE_LENGTHS, [_length("able", 100.0), _length("weak", 9.0), _length("human", 12.5)]
            ),
            "botchat/utterance_tokens": to_table(
                UTTERANCE_TOKENS,
                [{"model": "able", "seed_id": "MT-1", "turn": 2, "tokens": 5, "tokenizer": "x"}],
            ),
        },
        embedded=frozenset({"weak"}),
        exchange_source=exchange_source(),
        figures=(Figure("Pass <rates>", "What & why.", SVG),),
        results_dir="results",
    )
    return dataclasses.replace(run, **other)


def first_grid(run: ReportInputs) -> Grid:
    """Return the first leaderboard of a run as the page shows it."""
    return board_grid("board-1", leaderboards(run)[0], run.paper)
