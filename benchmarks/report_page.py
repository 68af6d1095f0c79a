"""The report at the size of BotChat's paper, built and opened in a browser: 547 seeds, 14 chatbots, 3 judges.

`python benchmarks/report_page.py [--seeds 547] [--chatbots 14] [--judges 3]` makes up dialogues of real words, Arena's
requests, answers and verdicts in both orders at N = 16, and UniEval's, leaderboards, tables and figures, in a temporary
folder, and builds the page in two processes: without what was sent and answered, and with it. The larger page is opened
in Chromium, processor not slowed down. Any other size is recorded by itself, such as one with wider leaderboards and
more verdicts on each seed: `--chatbots 60 --judges 5 --seeds 20`. Takes 2 min.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np

from dialeval.prompts.rendering import ShownDialogue, Templates
from dialeval.report.inputs import EvaluatedProtocol, Figure, ReportInputs
from dialeval.report.page import build_report
from dialeval.report.run_files import Answering, Answers, exchanges_of_run
from dialeval.tables.dialogues import GENERATED, JUDGEMENTS, REQUESTS, RESPONSES, SEEDS, UTTERANCE_LENGTHS, UTTERANCES
from dialeval.tables.files import TableWriter, empty_table, read_table
from dialeval.tables.measures import DIFFERENCES, PASS_RATES, RATINGS, WIN_RATES
from dialeval.tables.schema import Table
from gates import Gates, arguments
from opened_page import opened

N = 16
WORDS = 4000
OPTIONS = ("Conversation 1", "Conversation 2", "Both", "Neither")
OUTCOMES = dict(zip(OPTIONS, ("right", "left", "tie", "tie"), strict=True))
PROTOCOLS = (
    EvaluatedProtocol("unieval", "locate", ("selfchat",), ("pass_rates",)),
    EvaluatedProtocol("arena", "pair", ("selfchat",), ("ratings", "win_rates", "differences"), (N,)),
)
MEASURED = {
    "unieval/pass_rates": PASS_RATES,
    "arena/ratings": RATINGS,
    "arena/win_rates": WIN_RATES,
    "arena/differences": DIFFERENCES,
    UTTERANCE_LENGTHS.name: UTTERANCE_LENGTHS,
}
N_FIGURES = 24
FIGURE = (
    "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 300 200'>" + "<circle cx='9' cy='9' r='3'/>" * 1200 + "</svg>"
)
PAGE = "index.html"


def main() -> int:
    """Build both pages, each in a process of its own, open the larger, and say what they took."""
    parser = arguments(__doc__)
    parser.add_argument("--seeds", type=int, default=547)
    parser.add_argument("--chatbots", type=int, default=14)
    parser.add_argument("--judges", type=int, default=3)
    parser.add_argument("--made", type=Path, help="a folder that this script has filled: build its page, and no more")
    parser.add_argument("--with-answers", action="store_true")
    asked = parser.parse_args()
    judges = [f"judge-{place}" for place in range(asked.judges)]
    bots = [f"bot-{place:02}" for place in range(asked.chatbots)]
    if asked.made:
        build(asked.made, bots, judges, with_answers=asked.with_answers)
        return 0
    size = ["--chatbots", str(asked.chatbots), "--judges", str(asked.judges)]
    usual = (asked.seeds, asked.chatbots, asked.judges) == (547, 14, 3)
    gates = Gates(__file__, asked, part="" if usual else f"{asked.seeds}x{asked.chatbots}x{asked.judges}")
    with tempfile.TemporaryDirectory() as name:
        write(Path(name), asked.seeds, bots, judges)
        for more in ([], ["--with-answers"]):
            script = [sys.executable, __file__, "--made", name, *size, *more]
            told = subprocess.run(script, check=True, stdout=subprocess.PIPE, text=True).stdout
            took = json.loads(told)
            words = "with" if more else "without"
            gates.at_most(f"the page, {words} what was sent and answered", took["bytes"] / 1e6, 25, unit="MB")
            gates.told(f"building it, {words}", took["cpu"], unit="s of CPU")
            gates.told(f"memory that takes, {words}", took["rss"] / 1e6, unit="MB")
        page = opened(Path(name) / PAGE)
    if page is None:
        print("     no chromium or chrome on the PATH: the page was not opened")
        return gates.finish()
    gates.told("first paint", page.painted, unit="s")
    gates.at_most("the first leaderboard is seen after", page.board, 0.5, unit="s")
    gates.at_most("all is loaded and the first case drawn after", page.whole, 2, unit="s")
    gates.at_most("elements and texts in the document then", page.nodes[0], 10_000)
    gates.at_most("at most, while it is scrolled to its end", page.nodes[1], 10_000)
    return gates.finish()


def build(folder: Path, bots: list[str], judges: list[str], *, with_answers: bool) -> None:
    """Build a page and print as JSON its size, and the processor time and memory that it took."""
    before = time.process_time()
    shards = {protocol.name: 1 for protocol in PROTOCOLS}
    models = {judge: Answering(shards=shards, price_input=1.0, price_output=2.0) for judge in judges}
    page = build_report(
        ReportInputs(
            title="A benchmark",
            chatbots=tuple(bots),
            judges=tuple(judges),
            seeds=read_table(folder / "seeds.parquet", SEEDS),
            human=empty_table(UTTERANCES),
            generated=read_table(folder / "generated.parquet", GENERATED),
            verdicts=read_table(folder / "judgements.parquet", JUDGEMENTS),
            protocols=PROTOCOLS,
            tables={name: read_table(folder / f"{name}.parquet", kind) for name, kind in MEASURED.items()},
            figures=tuple(
                Figure(f"Figure {place}", "Made up.", FIGURE, file=f"f{place}") for place in range(N_FIGURES)
            ),
            exchange_source=exchanges_of_run(folder, Answers(models=models)) if with_answers else None,
        )
    )
    took, most = time.process_time() - before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    n_bytes = (folder / PAGE).write_text(page, encoding="utf-8")
    print(json.dumps({"bytes": n_bytes, "cpu": took, "rss": most}))


def write(folder: Path, n_seeds: int, bots: list[str], judges: list[str]) -> None:
    """Write the tables of a run."""
    rng = np.random.default_rng(0)
    letters = rng.integers(97, 123, (WORDS, 9))
    words = [bytes(row[: 2 + place % 8].tolist()).decode() for place, row in enumerate(letters)]

    def said() -> list[str]:
        return [" ".join(words[place] for place in rng.zipf(1.3, 18) % WORDS) for _ in range(N)]

    seeds = [f"seed-{place}" for place in range(n_seeds)]
    chats = {(seed, bot): said() for seed in seeds for bot in bots}
    rows(
        folder / "seeds.parquet",
        SEEDS,
        (
            {"seed_id": seed, "corpus": "made", "language": "en", "utterances": chats[seed, bots[0]][:2], "n_human": N}
            | {"for_arena": True, "for_gteval": True}
            for seed in seeds
        ),
    )
    rows(
        folder / "generated.parquet",
        GENERATED,
        (
            {"chatbot": bot, "seed_id": seed, "turn": turn, "origin": "model", "text": text, "finish_reason": "stop"}
            | {"dropped": 0}
            for (seed, bot), texts in chats.items()
            for turn, text in enumerate(texts)
        ),
    )
    templates = Templates(None)
    shown = {key: ShownDialogue(tuple(texts)) for key, texts in chats.items()}
    alone = [(f"unieval/{seed}/{bot}", seed, bot, None) for seed in seeds for bot in bots]
    pairs = [(f"arena/{N}/{seed}/{a}/{b}", seed, a, b) for seed in seeds for a, b in permutations(bots, 2)]

    def requests(asked: list[tuple[str, str, str, str | None]]) -> Iterator[dict[str, Any]]:
        for name, seed, left, right in asked:
            first, second = shown[seed, left], shown[seed, right] if right else None
            if second is not None:
                prompt = templates.render("arena.j2", first=first, second=second, options=OPTIONS, judged=None)
            else:
                prompt = templates.render("unieval.j2", utterances=first, dialogue=first, judged=None)
            plain = dict.fromkeys(("answer_schema", "continuation"), "") | {"labels": [], "stop": [], "subject": []}
            plain |= dict.fromkeys(("temperature", "top_p", "presence_penalty", "frequency_penalty"), 0.0)
            yield {**plain, "request_id": name, "protocol": name.partition("/")[0], "kind": "chat", "repeat": 0} | {
                "messages": [{"role": "user", "content": prompt}], "max_tokens": 512, "case_id": seed, "left": left,
                "right": right, "n_utterances": N,
            }  # fmt: skip

    for protocol, asked in (("unieval", alone), ("arena", pairs)):
        rows(folder / f"requests/{protocol}.parquet", REQUESTS, requests(asked))
        for judge in judges:
            rows(folder / f"responses/{judge}/{protocol}/1-of-1.parquet", RESPONSES, responses(asked, said, rng))
    rows(folder / "judgements.parquet", JUDGEMENTS, judgements(folder, judges, {"unieval": alone, "arena": pairs}))
    for (name, kind), made in zip(MEASURED.items(), measured(bots, judges, rng), strict=True):
        rows(folder / f"{name}.parquet", kind, made)


def measured(bots: list[str], judges: list[str], rng: np.random.Generator) -> list[Iterator[dict[str, Any]]]:
    """Return the rows of the tables that leaderboards are made of, and of the longest others; by nothing measured."""

    def number(**about: Any) -> dict[str, Any]:
        low, estimate, high = sorted(rng.random(3).tolist())
        return {"estimate": estimate, "ci_low": low, "ci_high": high, "n": 547, "n_unparsed": 0, "note": None} | about

    lengths = range(2, N + 1, 2)
    both = [(judge, one, other) for judge in judges for one, other in permutations(bots, 2)]
    return [
        (number(judge=judge, system=bot, n_utterances=n) for judge in judges for bot in bots for n in lengths),
        (
            number(judge=judge, system=bot, n_utterances=N, bradley_terry=1000.0, elo_sd=9.0)
            for judge in judges
            for bot in bots
        ),
        (
            number(judge=judge, system=one, opponent=other, n_utterances=N, win=0.5, tie=0.2, lose=0.3, unparsed=0.0)
            | {"win_or_tie": 0.7, "win_or_tie_ci_low": 0.6, "win_or_tie_ci_high": 0.8}
            for judge, one, other in both
        ),
        (
            number(judge=judge, system=one, opponent=other, table="ratings", measure="estimate", scope=f"N = {N}")
            | {
                "system_value": 1010.0,
                "opponent_value": 1000.0,
                "difference": 10.0,
                "p": rng.random(),
                "n_clusters": 547,
            }
            | {"p_holm": 1.0, "q_bh": 1.0, "family_size": len(both)}
            for judge, one, other in both
            if one < other
        ),
        (
            {"model": bot, "mean": 18.0, "median": 18.0, "p95": 30.0, "max": 40, "n": 547, "tokenizer": "made"}
            for bot in bots
        ),
    ]


def responses(asked: list[Any], said: Any, rng: np.random.Generator) -> Iterator[dict[str, Any]]:
    """Yield an answer with a reason of its own to every request."""
    reasons = said() + said()
    for name, *_, right in asked:
        choice = OPTIONS[rng.integers(4)] if right else ("Yes", "No")[rng.integers(2)]
        reason = f"{reasons[rng.integers(32)]} {rng.integers(10**6)}"
        yield {
            "request_id": name, "key": "k", "status": "ok", "text": f"Choice: {choice}\nReason: {reason}",
            "reasoning": "", "finish_reason": "stop", "prompt_tokens": int(rng.integers(600, 900)),
            "completion_tokens": int(rng.integers(20, 60)),
        }  # fmt: skip


def judgements(folder: Path, judges: list[str], asked: dict[str, list[Any]]) -> Iterator[dict[str, Any]]:
    """Yield what the answers say."""
    for judge in judges:
        for protocol, about in asked.items():
            answers = read_table(folder / f"responses/{judge}/{protocol}/1-of-1.parquet", RESPONSES, ["text"])
            for (name, seed, left, right), text in zip(about, answers["text"].to_pylist(), strict=True):
                choice, reason = text.removeprefix("Choice: ").split("\nReason: ")
                yield {
                    "judge": judge, "protocol": protocol, "request_id": name, "case_id": seed, "left": left,
                    "right": right, "n_utterances": N, "repeat": 0, "choice": choice, "reason": reason,
                    "outcome": OUTCOMES.get(choice), "status": "ok",
                }  # fmt: skip


def rows(path: Path, kind: Table, made: Iterator[dict[str, Any]]) -> None:
    """Write a table."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with TableWriter(path, kind) as table:
        table.write_all(made)


if __name__ == "__main__":
    sys.exit(main())
