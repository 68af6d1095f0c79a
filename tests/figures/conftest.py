"""Small tables for BotChat's figures, made by hand or by rule, each checked against its schema."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import permutations, product
from math import nan
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dialeval.tables.catalogue import TABLES
from dialeval.tables.files import to_table

FIFTEEN = [
    "GPT-4",
    "Vicuna-13B",
    "InternLM-20B",
    "Vicuna-7B",
    "Qwen-14B",
    "Baichuan2-13B",
    "Qwen-7B",
    "GPT-3.5-Turbo",
    "Claude-2",
    "InternLM-7B",
    "ChatGLM2-6B",
    "LLaMA2-70B",
    "LLaMA2-7B",
    "my-lab.dialogue-model-with-a-long-name-v1.5",
    "retrieval_over_a_corpus",
]
SIZES = (4, 8, 12, 16)


@dataclass(frozen=True)
class BotChatTables:
    """The inputs of all figures, for the same models and judges.

    Rates fall with a model's place in the list, so that figures have an order that tests can name.
    """

    models: Sequence[str]
    judges: Sequence[str] = ("gpt-4",)
    human: bool = True
    published: bool = False

    @property
    def judged(self) -> list[str]:
        """The models with the human dialogues."""
        return [*self.models, "human"] if self.human else list(self.models)

    def quality(self, model: str, judge: str = "gpt-4") -> float:
        """A number in 0..1, larger for models that stand earlier in the list."""
        place = -0.5 if model == "human" else list(self.models).index(model)
        return 0.93 - 0.85 * (place + 0.5) / (len(self.models) + 0.5) - 0.04 * list(self.judges).index(judge)

    def seeds(self) -> pd.DataFrame:
        """The distribution of human lengths on MuTual's test split."""
        lengths = {2: 205, 3: 120, 4: 55, 5: 22, 6: 26, 7: 23, 8: 19, 9: 16, 10: 21, 11: 18, 12: 7, 13: 7, 14: 3, 15: 5}
        return table("botchat/seeds", [{"n_utterances": n, "n_dialogues": count} for n, count in lengths.items()])

    def utterance_tokens(self) -> pd.DataFrame:
        """Lengths that are log-normal, longer for later models."""
        rows = []
        for model in self.judged:
            generator = np.random.default_rng(len(model))
            tokens = generator.lognormal(5.0 - 2.4 * self.quality(model), 0.6, 300).astype(int)
            rows += [
                {"model": model, "seed_id": f"MT-{i}", "turn": 2, "tokens": int(n), "tokenizer": "cl100k_base"}
                for i, n in enumerate(tokens)
            ]
        return table("botchat/utterance_tokens", rows)

    def unieval_pass_rates(self) -> pd.DataFrame:
        """Pass rates that fall with N."""
        rows = []
        for judge, model, n in product(self.judges, self.judged, SIZES):
            rate = self.quality(model, judge) ** (n / 16)
            low, high = max(rate - 0.04, 0.0), min(rate + 0.04, 1.0)
            rows.append(
                {"judge": judge, "system": model, "n_utterances": n, "estimate": rate, "low": low, "high": high,
                 "n": 547,
                 "n_unparsed": 0 if self.human else 3,
                 "published": rate - 0.06 if self.published and n in (8, 16) else None}
            )  # fmt: skip
        return table("measures/pass_rates", rows)

    def unieval_at_gt_length(self) -> pd.DataFrame:
        """Pass rates at the human dialogues' lengths."""
        rows = []
        for judge, model in product(self.judges, self.judged):
            rate = self.quality(model, judge)
            rows.append(
                {"judge": judge, "system": model, "estimate": rate, "low": rate - 0.05, "high": rate + 0.05, "n": 222,
                 "n_unparsed": len(model) % 3}
            )  # fmt: skip
        return table("measures/pass_rates_at_gt_length", rows)

    def arena_win_rates(self) -> pd.DataFrame:
        """Rates of all pairs, in both directions."""
        rows = []
        for judge, n, (a, b) in product(self.judges, (8, 16), permutations(self.models, 2)):
            win = min(max(0.4 + (self.quality(a) - self.quality(b)) / 2, 0.0), 0.8)
            rows.append(
                {"judge": judge, "n_utterances": n, "system": a, "opponent": b, "win": win, "tie": 0.19,
                 "lose": 0.8 - win,
                 "unparsed": 0.01, "estimate": win, "low": win - 0.02, "high": win + 0.02, "n": 444}
            )  # fmt: skip
        return table("measures/win_rates", rows)

    def arena_elo(self) -> pd.DataFrame:
        """Ratings of all three kinds."""
        rows: list[dict[str, Any]] = []
        for judge, n, model in product(self.judges, (8, 16), self.models):
            elo = 1000 + (self.quality(model, judge) - 0.5) * 20 * n
            row = {"judge": judge, "n_utterances": n, "system": model, "n": 444 * (len(self.models) - 1),
                   "n_unparsed": 5, "published": elo - 30 if self.published else None}  # fmt: skip
            for shift, (name, low, high) in enumerate(
                [("estimate", "low", "high")] + [(m, f"{m}_low", f"{m}_high") for m in ("bradley_terry", "davidson")]
            ):
                row |= {name: elo + 4 * shift, low: elo + 4 * shift - 15, high: elo + 4 * shift + 15}
            rows.append(row)
        return table("measures/ratings", rows)

    def gteval(self) -> pd.DataFrame:
        """Outcomes against the human dialogues."""
        rows = []
        for judge, model in product(self.judges, self.models):
            good = 0.9 * self.quality(model, judge)
            rows.append(
                {"judge": judge, "system": model, "opponent": "human", "win": good / 3, "tie": good * 2 / 3,
                 "lose": 0.97 - good,
                 "unparsed": 0.03, "win_or_tie": good, "win_or_tie_low": good - 0.05,
                 "win_or_tie_high": good + 0.05, "n": 444,
                 "published": good + 0.05 if self.published else None}
            )  # fmt: skip
        return table("measures/win_rates", rows)


def table(name: str, rows: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """Rows as a stage would read them."""
    frame: pd.DataFrame = to_table(TABLES[name], rows).to_pandas()
    return frame


def without_values(frame: pd.DataFrame, model: str) -> pd.DataFrame:
    """The table with one model's floating-point numbers missing."""
    frame = frame.copy()
    name = "system" if "system" in frame else "model"
    frame.loc[frame[name] == model, frame.select_dtypes("float").columns.tolist()] = nan
    return frame


@pytest.fixture
def two_models() -> BotChatTables:
    return BotChatTables(["retrieval", "ngram"])


@pytest.fixture
def fifteen_models() -> BotChatTables:
    return BotChatTables(FIFTEEN, published=True)


@pytest.fixture
def one_model() -> BotChatTables:
    return BotChatTables(["retrieval"], human=False)


@pytest.fixture
def two_judges() -> BotChatTables:
    return BotChatTables(FIFTEEN, judges=["gpt-4", "qwen-2.5-72b-instruct"], human=False)


@pytest.fixture
def missing_values() -> Callable[[pd.DataFrame, str], pd.DataFrame]:
    return without_values


@pytest.fixture
def no_rows() -> Callable[[str], pd.DataFrame]:
    return lambda name: table(name, [])
