"""Size, time and memory of the report at the size of BotChat's paper: 547 seeds, 14 chatbots, 3 judges.

`python benchmarks/report_page.py [--seeds 547] [--chatbots 14] [--judges 3]` makes up dialogues of real words, Arena's
requests, answers and verdicts in both orders at N = 16, and UniEval's, in a temporary folder, and builds the page
in two processes: without what was sent and answered, and with it. Takes 1 min.
"""

from __future__ import annotations

import argparse
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

from dialeval.prompts.rendering import Templates
from dialeval.prompts.shown import ShownDialogue
from dialeval.report import AskedProtocol, ReportInputs, build_report
from dialeval.report.answer_tables import Answering, Answers, asked_in
from dialeval.schemas.botchat import GENERATED, SEEDS
from dialeval.schemas.judgements import JUDGEMENTS
from dialeval.schemas.shared import REQUESTS, RESPONSES, UTTERANCES
from dialeval.schemas.table import Table
from dialeval.tables import TableWriter, empty_table, read_table

N = 16
WORDS = 4000
OPTIONS = ("Conversation 1", "Conversation 2", "Both", "Neither")
OUTCOMES = dict(zip(OPTIONS, ("right", "left", "tie", "tie"), strict=True))
PROTOCOLS = (
    AskedProtocol("unieval", "detect", ("selfchat",), ()),
    AskedProtocol("arena", "pair", ("selfchat",), (), (N,)),
)


def main() -> None:
    """Builds both pages, each in a process of its own, and says what they took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=547)
    parser.add_argument("--chatbots", type=int, default=14)
    parser.add_argument("--judges", type=int, default=3)
    parser.add_argument("--made", type=Path, help="a folder that this script has filled")
    parser.add_argument("--with-answers", action="store_true")
    asked = parser.parse_args()
    judges = [f"judge-{place}" for place in range(asked.judges)]
    if asked.made:
        build(asked.made, [f"bot-{place}" for place in range(asked.chatbots)], judges, with_answers=asked.with_answers)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, asked.seeds, asked.chatbots, judges)
        for more in ([], ["--with-answers"]):
            size = ["--made", name, "--chatbots", str(asked.chatbots), "--judges", str(asked.judges)]
            subprocess.run([sys.executable, __file__, *size, *more], check=True)


def build(folder: Path, bots: list[str], judges: list[str], *, with_answers: bool) -> None:
    """Builds a page and says its size, and the processor time and memory that it took."""
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
            asked=asked_in(folder, Answers(models=models)) if with_answers else None,
        )
    )
    took, most = time.process_time() - before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    words = "with" if with_answers else "without"
    print(f"{words} answers and prompts: {len(page.encode()) / 1e6:.1f} MB, {took:.0f} s of CPU, {most / 1e3:.0f} MB")


def write(folder: Path, n_seeds: int, n_bots: int, judges: list[str]) -> None:
    """Writes the tables of a run."""
    rng = np.random.default_rng(0)
    letters = rng.integers(97, 123, (WORDS, 9))
    words = [bytes(row[: 2 + place % 8].tolist()).decode() for place, row in enumerate(letters)]

    def said() -> list[str]:
        return [" ".join(words[place] for place in rng.zipf(1.3, 18) % WORDS) for _ in range(N)]

    seeds = [f"seed-{place}" for place in range(n_seeds)]
    bots = [f"bot-{place}" for place in range(n_bots)]
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


def responses(asked: list[Any], said: Any, rng: np.random.Generator) -> Iterator[dict[str, Any]]:
    """Yields an answer with a reason of its own to every request."""
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
    """Yields what the answers say."""
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
    """Writes a table."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with TableWriter(path, kind) as table:
        table.write_all(made)


if __name__ == "__main__":
    main()
