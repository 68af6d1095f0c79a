"""The estimate before the first answer against the bill of an endpoint that counts: BotChat's whole flow over HTTP."""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from pathlib import Path

import pytest
from judged_dialogues import items_of, planned, shipped_question
from loopback_endpoint import Call, LoopbackEndpoint, Reply, completion
from scripted import asking

from dialeval.config import OpenAIModel, Selfchat
from dialeval.corpora.readers import read_corpus
from dialeval.engines.openai_api.engine import OpenAIEngine
from dialeval.engines.requests import Dialogue
from dialeval.engines.spending.prices import prices_of
from dialeval.planning.chat_estimates import estimate_chats
from dialeval.planning.estimates import Estimate, estimate_table
from dialeval.planning.judging_estimates import Subjects, estimate_judging
from dialeval.planning.known_models import known_model
from dialeval.prompts.rendering import Templates
from dialeval.protocols.selfchat import SELFCHAT, TEMPLATE, chat_all, talk_of
from dialeval.tables.files import HUMAN

TEMPLATES, CHAT = Templates(), Selfchat(n_utterances=8)
PEOPLE: dict[str, Dialogue] = {
    dialogue.dialogue_id: tuple(said.text for said in dialogue.utterances)
    for dialogue in read_corpus("bundled", None, "en").dialogues[:10]
}
SEEDS = {seed_id: dialogue[:2] for seed_id, dialogue in PEOPLE.items()}
QUESTIONS = [
    shipped_question(name, cut=[4, 8] if name == "arena" else None, needed=4) for name in ("unieval", "arena", "gteval")
]
BOTS = ("one", "two")
BYTES_PER_TOKEN = 4.4
"""As of English in cl100k."""


class Bill:
    """An endpoint's answers and what it bills for them.

    Attributes:
        utterance, verdict: mean tokens of what it says and judges; single answers half to one and a half.
        tokens: of prompts (input) and answers (output) by model, under selfchat or judging.
    """

    def __init__(self, utterance: float, verdict: float) -> None:
        self.utterance, self.verdict = utterance, verdict
        self.tokens: Counter[tuple[str, str, str]] = Counter()

    def answer(self, call: Call) -> Reply:
        sent = sum(len(message["content"].encode()) for message in call.body["messages"]) / BYTES_PER_TOKEN
        judging = "Choice:" in call.body["messages"][-1]["content"]
        digest = hashlib.sha256(repr((call.body["model"], call.body["messages"])).encode()).digest()
        said = max(2, round((self.verdict if judging else self.utterance) * (0.5 + digest[0] / 255)))
        text = "Choice: No\nIndex: None\nReason: " if judging else ""
        text += f"{digest.hex()[:8]} " + "word " * round(said * BYTES_PER_TOKEN / 5)
        usage = {"prompt_tokens": round(sent) + 4 * len(call.body["messages"]), "completion_tokens": said}
        about = (call.body["model"], "judging" if judging else "selfchat")
        self.tokens[*about, "input"] += usage["prompt_tokens"]
        self.tokens[*about, "output"] += said
        return Reply(completion(text, usage=usage))


def models_at(url: str) -> dict[str, OpenAIModel]:
    return {
        name: OpenAIModel.model_validate(
            {
                "engine": "openai",
                "model": name,
                "base_url": url,
                "api_key_env": None,
                "price_input": 2,
                "price_output": 8,
            }
        )
        for name in (*BOTS, "judge")
    }


def estimated(store: Path, models: dict[str, OpenAIModel]) -> list[Estimate]:
    system = TEMPLATES.render(TEMPLATE)
    known = {name: known_model(name, model, {}) for name, model in models.items()}
    found = [estimate_chats(known[name], SEEDS, PEOPLE, CHAT, system, store) for name in BOTS]
    people = {item.case_id: item for item in items_of({HUMAN: PEOPLE})}
    requests = [(question, [known["judge"]]) for question in QUESTIONS]
    subjects = Subjects([chats for _, chats in found], people, dict.fromkeys(PEOPLE, "en"))
    judging = estimate_judging(requests, subjects, TEMPLATES, store)
    return [*(estimate for estimate, _ in found), *judging]


def run(store: Path, models: dict[str, OpenAIModel], seeds: dict[str, Dialogue]) -> None:
    """Lets the chatbots chat from some seeds, and the judge judge what they said."""
    by_model: dict[str, dict[str, Dialogue]] = {}
    for name in BOTS:
        engine = OpenAIEngine(models[name])
        with asking(store, engine, name=name) as job:
            talk = talk_of(CHAT, TEMPLATES.render(TEMPLATE), engine, None, {})
            turns = job.run(chat_all(talk, {SELFCHAT: job}, seeds))
        by_model[name] = {
            seed_id: (*seeds[seed_id], *(turn.response.text.strip() for turn in dialogue))
            for seed_id, dialogue in turns.items()
        }
    items = items_of({HUMAN: {seed_id: PEOPLE[seed_id] for seed_id in seeds}} | by_model)
    for question in QUESTIONS:
        engine = OpenAIEngine(models["judge"])
        with asking(store, engine, question.name) as job:
            asyncio.run(job.ask_all([one.request for one in planned(question, items)]))


def totals(store: Path, models: dict[str, OpenAIModel]) -> dict[str, float]:
    prices = {name: prices_of(model) for name, model in models.items()}
    total: dict[str, float] = estimate_table(estimated(store, models), prices).to_pylist()[-1]
    return total


def people_say() -> float:
    texts = [text for dialogue in PEOPLE.values() for text in dialogue]
    return sum(len(text.encode()) for text in texts) / len(texts) / BYTES_PER_TOKEN


@pytest.mark.parametrize(
    ("times_people", "verdict", "factor"),
    [(0.8, 25.0, 1.8), (2.4, 45.0, 1.25), (5.0, 60.0, 1.5), (11.0, 90.0, 2.5)],
    ids=["terse", "as assumed", "long", "as the longest"],
)
def test_the_bill_lies_in_the_range_and_near_what_is_expected(
    tmp_path: Path, times_people: float, verdict: float, factor: float
) -> None:
    bill = Bill(times_people * people_say(), verdict)
    with LoopbackEndpoint(bill.answer) as endpoint:
        models = models_at(endpoint.url)
        estimates = estimated(tmp_path, models)
        total = totals(tmp_path, models)
        run(tmp_path, models, SEEDS)
        assert len(endpoint.log) == sum(estimate.uncached for estimate in estimates)
        assert totals(tmp_path, models)["cost_most"] == 0, "what is stored costs nothing"
    for kind in ("input", "output"):
        billed = sum(tokens for about, tokens in bill.tokens.items() if about[-1] == kind)
        assert total[f"{kind}_tokens_low"] <= billed <= total[f"{kind}_tokens_high"] <= total[f"{kind}_tokens_most"]
    cost = sum(tokens * (2 if about[-1] == "input" else 8) for about, tokens in bill.tokens.items()) / 1e6
    assert total["cost_low"] <= cost <= total["cost_high"] < total["cost_most"]
    assert 1 / factor <= cost / total["cost_expected"] <= factor
    for name in (*BOTS, "judge"):
        mine = [estimate for estimate in estimates if estimate.model.name == name]
        for kind in ("input", "output"):
            billed = sum(tokens for about, tokens in bill.tokens.items() if (about[0], about[-1]) == (name, kind))
            ranges = [estimate.prompts if kind == "input" else estimate.answers for estimate in mine]
            assert sum(one.low for one in ranges) <= billed <= sum(one.high for one in ranges), (name, kind)


@pytest.mark.parametrize("times_people", [0.8, 5.0, 11.0])
def test_after_a_trial_of_a_few_seeds_the_estimate_is_close(tmp_path: Path, times_people: float) -> None:
    bill = Bill(times_people * people_say(), 70.0)
    with LoopbackEndpoint(bill.answer) as endpoint:
        models = models_at(endpoint.url)
        run(tmp_path, models, dict(list(SEEDS.items())[:4]))
        total = totals(tmp_path, models)
        bill.tokens.clear()
        run(tmp_path, models, SEEDS)
    cost = sum(tokens * (2 if about[-1] == "input" else 8) for about, tokens in bill.tokens.items()) / 1e6
    assert total["cost_low"] <= cost <= total["cost_high"]
    assert cost == pytest.approx(total["cost_expected"], rel=0.25)
    assert total["cost_high"] < 3 * total["cost_low"], "a range to act on"
