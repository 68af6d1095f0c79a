"""Estimates against what is then really asked: the numbers are met and the ranges hold."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from judged_dialogues import items_of, own_question, planned, shipped_question
from scripted import ScriptedEngine, asking

from dialeval.config import OpenAIModel, Selfchat, VllmModel
from dialeval.criteria import SHIPPED
from dialeval.engines.openai_api.wire_format import openai_identity
from dialeval.engines.requests import Dialogue, Engine, Request, Response, Sampling
from dialeval.engines.spending.prices import Prices
from dialeval.planning.chat_estimates import Chats, estimate_chats
from dialeval.planning.estimates import Estimate, cost_of_case, estimate_table, in_words, planning_in_words
from dialeval.planning.judging_estimates import Subjects, estimate_judging
from dialeval.planning.known_models import Assumption, Counting, KnownModel, Range, known_model, verdict
from dialeval.planning.label_power import NEVER_BY_SEEDS
from dialeval.prompts.rendering import Templates
from dialeval.protocols.questions import Question
from dialeval.protocols.selfchat import SELFCHAT, Talk, Voice, chat_all
from dialeval.tables.files import HUMAN

SYSTEM = "Chat as people do."
CHAT = Selfchat(n_utterances=6, max_tokens=9)
PEOPLE: dict[str, Dialogue] = {
    f"s{n}": tuple(f"person {'AB'[turn % 2]} says {n} and {turn}" for turn in range(3 + n % 4)) for n in range(7)
}
SEEDS = {seed_id: dialogue[:2] for seed_id, dialogue in PEOPLE.items()}
QUESTIONS = {
    name: shipped_question(name, cut=[4, 6] if name == "arena" else None, needed=4, max_tokens=7)
    for name in ("unieval", "arena", "gteval")
}


class Reporting(ScriptedEngine):
    """Says how many tokens there were, which are words."""

    async def answer(self, request: Request) -> Response:
        response = await super().answer(request)
        return replace(response, prompt_tokens=self.count_tokens(request.messages))


def bot(name: str, words: int = 4, **more: object) -> Reporting:
    def reply(request: Request) -> str:
        about = request.subject[0]
        return " ".join([name, f"{about[0]}/{len(about)}".replace(" ", ""), *["word"] * (words - 2)])

    return Reporting(reply, identity=name, **more)  # type: ignore[arg-type]


def known(name: str, engine: ScriptedEngine, counting: Counting | None = None) -> KnownModel:
    counting = counting or Counting("words")
    return KnownModel(name, engine.identity, False, engine.context_window, engine.count_tokens, counting)


def chat(folder: Path, name: str, engine: Engine, seeds: dict[str, Dialogue] = SEEDS, n: int = 6) -> Counter[str]:
    """Lets a bot chat and returns what was asked: requests, and the tokens of prompts and answers."""
    with asking(folder, engine, name=name) as job:
        sampling = Sampling(temperature=CHAT.temperature, max_tokens=CHAT.max_tokens)
        talk = Talk(n, Voice(engine, lambda _: SYSTEM, sampling))
        turns = job.run(chat_all(talk, {SELFCHAT: job}, seeds))
    responses = [turn.response for dialogue in turns.values() for turn in dialogue]
    return taken(job.n_sent, responses)


def taken(n_calls: int, responses: Iterable[Response]) -> Counter[str]:
    sums = Counter({"asked": n_calls})
    for response in responses:
        sums["input"] += response.prompt_tokens or 0
        sums["output"] += response.completion_tokens or 0
    return sums


def chats(folder: Path, name: str, engine: ScriptedEngine, counting: Counting | None = None) -> tuple[Estimate, Chats]:
    return estimate_chats(known(name, engine, counting), SEEDS, PEOPLE, CHAT, SYSTEM, folder)


def assert_holds(estimate: Estimate, actual: Counter[str]) -> None:
    assert estimate.uncached == estimate.surely_uncached == actual["asked"]
    assert estimate.prompts.low <= actual["input"] <= estimate.prompts.high <= estimate.prompts.most
    assert estimate.answers.low <= actual["output"] <= estimate.answers.high <= estimate.answers.most
    assert estimate.answers.most == estimate.uncached * estimate.max_tokens


def test_nothing_stored(tmp_path: Path) -> None:
    estimate, found = chats(tmp_path, "one", bot("one"))
    assert list(tmp_path.iterdir()) == [], "an estimate leaves the store as it is"
    assert (estimate.requests, estimate.uncached) == (28, 28)
    assert found.known == SEEDS
    assert estimate.answer == pytest.approx((9 / 4, 9, 9, 9)), "people say 6 words; 2.4 times that is cut at 9"
    assert_holds(estimate, chat(tmp_path, "one", bot("one")))


def test_everything_stored(tmp_path: Path) -> None:
    chat(tmp_path, "one", bot("one"))
    estimate, found = chats(tmp_path, "one", bot("one"))
    assert (estimate.requests, estimate.uncached, estimate.prompts) == (28, 0, (0, 0, 0, 0))
    assert {len(dialogue) for dialogue in found.known.values()} == {6}
    assert estimate.answers == (0, 0, 0, 0)


def test_dialogues_that_broke_off(tmp_path: Path) -> None:
    chat(tmp_path, "one", bot("one"), n=4)
    estimate, _ = chats(tmp_path, "one", bot("one"))
    assert (estimate.requests, estimate.uncached) == (28, 14)
    assert estimate.answers.expected == 14 * 4, "as long as those that are stored"
    first = chat(tmp_path, "one", bot("one"), n=4)
    both = chat(tmp_path, "one", bot("one"))
    both.subtract(Counter(input=first["input"], output=first["output"]))
    assert_holds(estimate, both)
    assert estimate.prompts.expected == pytest.approx(both["input"], rel=0.1)


def test_another_model_has_nothing_stored(tmp_path: Path) -> None:
    chat(tmp_path, "one", bot("one"))
    estimate, _ = chats(tmp_path, "one", bot("other"))
    assert estimate.uncached == 28


def test_equal_seeds_are_requested_once(tmp_path: Path) -> None:
    twins = {"s": ("a", "b"), "twin": ("a", "b")}
    estimate, _ = estimate_chats(known("one", bot("one")), twins, PEOPLE, CHAT, SYSTEM, tmp_path)
    assert (estimate.requests, estimate.uncached) == (8, 4)


@pytest.mark.parametrize("window", [24, 30, 40])
def test_a_window_that_drops_old_utterances(tmp_path: Path, window: int) -> None:
    estimate, _ = chats(tmp_path, "one", bot("one", 8, context_window=window))
    assert estimate.prompts.high <= 28 * (window - CHAT.max_tokens)
    assert_holds(estimate, chat(tmp_path, "one", bot("one", 8, context_window=window)))


@pytest.mark.parametrize("factor", [0.75, 1.45])
def test_another_tokenizer_than_the_models_own(tmp_path: Path, factor: float) -> None:
    engine = bot("one")
    engine.count_tokens = lambda messages: round(  # type: ignore[method-assign]
        factor * sum(len(message.content.split()) for message in messages)
    )
    estimate, _ = chats(tmp_path, "one", bot("one"), Counting.by_another("words"))
    assert_holds(estimate, chat(tmp_path, "one", engine))


TEMPLATES = Templates()


def judge_all(
    folder: Path,
    by_model: dict[str, dict[str, Dialogue]],
    n: int | None = None,
    questions: dict[str, Question] | None = None,
) -> dict[str, Counter[str]]:
    """Lets the judge answer the first n requests of every protocol."""
    actual = {}
    for protocol, question in (questions or QUESTIONS).items():
        engine = bot("judge", 3)
        requests = [one.request for one in planned(question, items_of({HUMAN: PEOPLE} | by_model))][:n]
        with asking(folder, engine, question.known_as) as job:
            asyncio.run(job.ask_all(requests))
            responses = {key: job.store.get(key) for key in map(job.key, requests)}
        actual[protocol] = taken(job.n_sent, filter(None, responses.values()))
    return actual


def judging(folder: Path, found: list[Chats], questions: dict[str, Question] | None = None) -> dict[str, Estimate]:
    subjects = Subjects(found, {item.case_id: item for item in items_of({HUMAN: PEOPLE})}, dict.fromkeys(PEOPLE, "en"))
    requests = [(question, [known("judge", bot("judge"))]) for question in (questions or QUESTIONS).values()]
    estimates = estimate_judging(requests, subjects, TEMPLATES, folder)
    return {estimate.protocol: estimate for estimate in estimates}


def dialogues(folder: Path, bots: list[str]) -> dict[str, dict[str, Dialogue]]:
    return {name: chats(folder, name, bot(name))[1].known for name in bots}


@pytest.mark.parametrize("stored", [[], ["a"], ["a", "b", "c"]])
def test_judging_whatever_is_there(tmp_path: Path, stored: list[str]) -> None:
    for name in stored:
        chat(tmp_path, name, bot(name))
    estimates = judging(tmp_path, [chats(tmp_path, name, bot(name))[1] for name in "abc"])
    for name in "abc":
        chat(tmp_path, name, bot(name))
    actual = judge_all(tmp_path, dialogues(tmp_path, ["a", "b", "c"]))
    assert {protocol: sums["asked"] for protocol, sums in actual.items()} == {"unieval": 28, "arena": 60, "gteval": 30}
    for protocol, sums in actual.items():
        assert_holds(estimates[protocol], sums)
        if stored == ["a", "b", "c"]:
            assert estimates[protocol].prompts.low == estimates[protocol].prompts.high == sums["input"]
    assert {"45" in estimate.assumed.source for estimate in estimates.values()} == {True}


OWN = {
    question.name: question
    for question in (
        own_question(
            "helpful", [SHIPPED["coherence"], SHIPPED["overall"]],
            form="pair", data={"source": "selfchat", "n_utterances": [4, 6]}, max_tokens=7, repeats=2, temperature=1,
        ),
        own_question(
            "once", form="pair", data={"source": "selfchat", "opponent": "b"}, both_orders=False, max_tokens=7
        ),
        own_question("beside", form="pair", data={"source": "selfchat", "opponent": "human"}, max_tokens=7),
        own_question("machine", form="locate", data={"source": "selfchat"}, max_tokens=7, answers="structured"),
    )
}  # fmt: skip


@pytest.mark.parametrize("stored", [[], ["a"], ["b"], ["a", "b", "c"]])
def test_ones_own_protocols_are_estimated_as_the_shipped_ones(tmp_path: Path, stored: list[str]) -> None:
    for name in stored:
        chat(tmp_path, name, bot(name))
    estimates = judging(tmp_path, [chats(tmp_path, name, bot(name))[1] for name in "abc"], OWN)
    for name in "abc":
        chat(tmp_path, name, bot(name))
    actual = judge_all(tmp_path, dialogues(tmp_path, ["a", "b", "c"]), questions=OWN)
    n = len(PEOPLE)
    assert {protocol: sums["asked"] for protocol, sums in actual.items()} == {
        "helpful": 3 * n * 2 * 2 * 2 * 2, "once": 2 * n, "beside": 3 * n * 2, "machine": 4 * n
    }  # fmt: skip
    for protocol, sums in actual.items():
        assert_holds(estimates[protocol], sums)


def test_dialogues_known_far_enough_are_planned_exactly(tmp_path: Path) -> None:
    for name in "abc":
        chat(tmp_path, name, bot(name), n=4)
    found = [chats(tmp_path, name, bot(name))[1] for name in "abc"]
    judge_all(tmp_path, {one.name: one.known for one in found})
    estimate = judging(tmp_path, found)["arena"]
    assert (estimate.requests, estimate.uncached) == (60, 30), "those cut to 4 utterances are stored"


def test_stored_verdicts_are_found_and_tell_the_expected_length(tmp_path: Path) -> None:
    for name in "ab":
        chat(tmp_path, name, bot(name))
    judge_all(tmp_path, dialogues(tmp_path, ["a", "b"]), n=5)
    estimates = judging(tmp_path, [chats(tmp_path, name, bot(name))[1] for name in "ab"])
    for estimate in estimates.values():
        assert estimate.requests - estimate.uncached == 5
        assert estimate.answers.expected == estimate.uncached * 3


def test_published_dialogues_are_whole_as_they_are(tmp_path: Path) -> None:
    published = Chats("gone", known=dict(PEOPLE))
    estimates = judging(tmp_path, [published])
    assert estimates["unieval"].prompts.low == estimates["unieval"].prompts.high
    assert (estimates["unieval"].requests, estimates["unieval"].uncached) == (14, 7), "they equal the human ones"


GPT = OpenAIModel.model_validate(
    {"engine": "openai", "model": "m", "base_url": "http://127.0.0.1:1/v1", "api_key_env": "DIALEVAL_NO_SUCH_KEY"}
)


def test_a_model_whose_key_is_not_here_is_looked_up_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DIALEVAL_NO_SUCH_KEY", raising=False)
    model = known_model("gpt", GPT, {})
    assert model.identity == openai_identity(GPT)
    assert not model.counting.exact


def test_a_request_that_a_trained_metric_does_not_take_is_not_counted(tmp_path: Path) -> None:
    subjects = Subjects([], {item.case_id: item for item in items_of({HUMAN: PEOPLE})}, dict.fromkeys(PEOPLE, "en"))
    metric = replace(known("poe", bot("poe")), takes=lambda request: len(request.subject[0]) > 4)
    (estimate,) = estimate_judging([(QUESTIONS["unieval"], [metric])], subjects, TEMPLATES, tmp_path)
    assert (len(PEOPLE), estimate.requests, estimate.uncached) == (7, 3, 3)


def test_a_vllm_model_that_cannot_be_opened_here(tmp_path: Path) -> None:
    model = known_model("local", VllmModel(engine="vllm", model=str(tmp_path / "none")), {})
    assert model.identity is None
    estimate, found = estimate_chats(model, SEEDS, PEOPLE, CHAT, SYSTEM, tmp_path)
    row, _ = estimate_table([estimate], {}).to_pylist()
    assert (row["cached"], row["model_calls"], row["output_tokens_low"], row["input_tokens_low"]) == (None, 28, 0, 0)
    assert row["output_tokens_most"] == 28 * CHAT.max_tokens
    assert "stored responses could not be looked up" in row["note"]
    verdicts = judging(tmp_path, [found])
    assert "at most: the dialogues of local" in verdicts["unieval"].notes[0]


def test_the_table_and_its_words(tmp_path: Path) -> None:
    chat(tmp_path, "one", bot("one"), n=4)
    estimate, found = chats(tmp_path, "one", bot("one"))
    judge = judging(tmp_path, [found])["unieval"]
    prices = {name: Prices(price_input=1000.0, price_output=10000.0) for name in ("one", "judge")}
    table = estimate_table([estimate, judge], prices)
    row = table.to_pylist()[0]
    for end in Range._fields:
        tokens = row[f"input_tokens_{end}"] + 10 * row[f"output_tokens_{end}"]
        assert row[f"cost_{end}"] == pytest.approx(tokens / 1000)
    assert row["output_tokens_most"] == 14 * 9
    assert row["cost_low"] < row["cost_expected"] < row["cost_high"] < row["cost_most"]
    assert row["note"] == "lengths from 14 stored responses"
    one, other, total = table.to_pylist()
    assert (total["model"], total["cached"]) == ("all models", one["cached"] + other["cached"])
    for name in ("requests", "model_calls", "input_tokens_high", "output_tokens_expected", "cost_low", "cost_most"):
        assert total[name] == pytest.approx(one[name] + other[name])
    words = in_words(table)
    assert len({line.index("selfchat") for line in words.splitlines() if line.startswith("one  ")}) == 1
    assert "cost of all models with prices" in words
    assert "no stored responses of this model" in words


def test_self_chat_of_a_model_with_batches_costs_twice_their_prices(tmp_path: Path) -> None:
    estimate, found = chats(tmp_path, "one", bot("one"))
    judge = judging(tmp_path, [found])["unieval"]
    prices = {name: Prices(price_input=1.0, price_output=10.0) for name in ("one", "judge")}
    plain = estimate_table([estimate, judge], prices).to_pylist()
    batched = estimate_table([estimate, judge], prices, {"one", "judge"}, ["rewriting"]).to_pylist()
    for end in Range._fields:
        assert batched[0][f"cost_{end}"] == 2 * plain[0][f"cost_{end}"], "self-chat is asked outside of batches"
        assert batched[1][f"cost_{end}"] == plain[1][f"cost_{end}"]
    assert "not in batches: 2 times the batch prices" in batched[0]["note"]
    assert batched[-1]["note"] == "not included: rewriting"


def test_many_stored_answers_tell_the_length_as_closely_as_they_agree(tmp_path: Path) -> None:
    model = known("one", bot("one"))
    alike, apart = (Estimate(model, "unieval", 512, verdict("unieval", "model", reasons=False)) for _ in range(2))
    for n in range(100):
        alike.count_answer(Response("x", completion_tokens=60))
        apart.count_answer(Response("x", completion_tokens=20 + 80 * (n % 2)))
    alike.uncached = apart.uncached = 400
    assert alike.answer == pytest.approx((51, 60, 69, 512))
    assert apart.answer.low < 51
    assert apart.answer.expected == 60
    few = Estimate(model, "unieval", 512, verdict("unieval", "model", reasons=True))
    assert few.answer == (70, 345, 512, 512), "a reasoning model's answers are longer"
    few.count_answer(Response("x", completion_tokens=60))
    assert few.answer == (30, 60, 120, 512)


# What a design can show, as it is printed, and what a case more costs.


def row(**about: Any) -> dict[str, Any]:
    judge = {"protocol": "felt", "criterion": "empathy", "n_utterances": 16, "judge": "clerk", "measure": "mean"}
    judge |= {"estimand": "judge", "n_systems": 3, "n_seeds": 1200, "n_labels": 0, "min_detectable_difference": 0.3124}
    judge |= {"min_detectable_difference_holm": 0.378} | {
        "half_width": 0.2,
        "seeds_to_halve": 3600,
        "labels_to_halve": None,
        "cost_of_seeds": None,
    }
    return {**judge, "cost_of_labels": None, "cheaper": None, "basis": "assumptions", "note": "assumed: much", **about}


def test_a_judges_row_says_what_is_found_and_how_many_cases_more_halve_the_interval() -> None:
    lines = planning_in_words([row(), row(protocol="arena", criterion=None, measure="rating", note=None)]).splitlines()
    assert lines[1:] == [
        "felt mean (empathy, N = 16), clerk: 0.31 (0.38 with Holm over 3 pairs; 1,200 cases; interval ±0.2; from "
        "assumptions); 3,600 more cases halve the interval",
        "arena rating (N = 16), clerk: 0.31 (0.38 with Holm over 3 pairs; 1,200 cases; interval ±0.2; from "
        "assumptions); 3,600 more cases halve the interval",
        "felt mean (empathy, N = 16), clerk: assumed: much",
    ]


def test_a_row_on_people_names_labels_and_what_is_cheaper() -> None:
    people = row(estimand="people", n_labels=150, labels_to_halve=400, cost_of_labels=200.0, cost_of_seeds=1234.5)
    people |= {"cheaper": "labels", "note": None, "min_detectable_difference": 44.4, "half_width": 30.1}
    people |= {"n_systems": 2, "min_detectable_difference_holm": 44.4}  # one pair, so nothing to correct for
    assert planning_in_words([people]).splitlines()[1] == (
        "felt mean (empathy, N = 16), human-corrected with clerk: 44 (150 labels, 1,200 cases; interval ±30; from "
        "assumptions); "
        "3,600 more cases (about 1,234.50) or 400 more labels (about 200.00) halve the interval; labels are cheaper"
    )


def test_criteria_with_the_same_result_share_a_line() -> None:
    rows = [row(criterion=name, n_utterances=None, note=NEVER_BY_SEEDS) for name in ("empathy", "tact")]
    lines = planning_in_words([*rows, row(criterion="wit", n_utterances=None, half_width=0.9, note=None)]).splitlines()
    assert [line.partition(":")[0] for line in lines[1:]] == [
        "felt mean (empathy, tact), clerk",
        "felt mean (wit), clerk",
    ]


def test_undefined_numbers_have_a_reason() -> None:
    unknown = row(
        min_detectable_difference=None,
        min_detectable_difference_holm=None,
        half_width=None,
        seeds_to_halve=None,
        note="one; two",
    )
    people = [
        row(estimand="people", seeds_to_halve=None, protocol=name, note="one; three") for name in ("felt", "seen")
    ]
    text = planning_in_words([unknown, *people])
    assert "clerk: cannot be computed; the number of cases that halves the interval is unknown" in text
    assert "; four times as many cases and labels halve the interval; more cases or labels alone do not" in text
    assert text.endswith("all: one\nfelt mean (empathy, N = 16), clerk: two\npeople: three")
    assert planning_in_words([]) == ""


def estimate(name: str, protocol: str, requests: int, *, stored: int) -> Estimate:
    model = KnownModel(name, "{}", False, None, len, Counting("words"))
    found = Estimate(model, protocol, 100, Assumption(Range(10, 20, 30), "guessed"), requests=requests)
    found.count_uncached(requests - stored, Range(0, 50, 0, 0).times(requests - stored), sure=True)
    for _ in range(stored):
        found.count_answer(Response("x", prompt_tokens=70, completion_tokens=20))
    return found


def test_one_more_case_costs_its_requests_and_its_dialogues() -> None:
    estimates = [
        estimate("clerk", "arena", 40, stored=20),
        estimate("clerk", "gteval", 40, stored=0),
        estimate("bot", "selfchat", 80, stored=0),
        estimate("free", "arena", 40, stored=0),
    ]
    prices = {"clerk": Prices(price_input=1e6, price_output=0.0), "bot": Prices(price_input=0.0, price_output=1e6)}
    found = cost_of_case(estimates, prices, {"clerk"}, "arena", 10, talks=False)
    assert found == {"clerk": pytest.approx(60.0 * 4), "free": None}
    talked = cost_of_case(estimates, prices, {"clerk", "bot"}, "arena", 10, talks=True)
    assert talked["clerk"] == pytest.approx(60.0 * 4 + 2 * 20.0 * 8)  # the chats at twice the prices of batches
    assert talked["free"] == pytest.approx(2 * 20.0 * 8)


def test_without_a_request_there_is_no_price_of_one() -> None:
    nothing = estimate("clerk", "arena", 0, stored=0)
    assert cost_of_case([nothing], {"clerk": Prices(price_input=1, price_output=1)}, (), "arena", 5, talks=False) == {
        "clerk": None
    }
