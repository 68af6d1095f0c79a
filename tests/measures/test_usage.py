"""What jobs report of their usage, and the table that sums it up."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from scripted import ScriptedEngine, chat_request

from dialeval.engines.answering import Answering
from dialeval.engines.requests import AnswerFailure, Response
from dialeval.engines.spending.entries import Sums
from dialeval.engines.spending.prices import Prices
from dialeval.engines.store import ResponseStore
from dialeval.errors import UserError
from dialeval.jobs.progress import Progress
from dialeval.measures.usage import TokenSums, Usage, read_usage, usage_table, write_usage


def key(number: int) -> str:
    return f"{number:032x}"


def usage(**changes: object) -> Usage:
    fields = {
        "model": "gpt", "protocol": "arena", "requests": 10, "asked": 4, "input_tokens": 1000, "output_tokens": 200,
        "reasoning_tokens": None, "failures": {}, "seconds": 1.5,
    }  # fmt: skip
    return Usage(**(fields | changes))  # type: ignore[arg-type]


def test_an_answer_that_serves_two_requests_counts_once() -> None:
    tokens = TokenSums()
    answer = Response("hi", prompt_tokens=10, completion_tokens=3, reasoning_tokens=1)
    for number in (1, 2, 1):
        tokens.add(key(number), answer)
    assert (tokens.input_tokens, tokens.output_tokens, tokens.reasoning_tokens) == (20, 6, 2)


def test_marks_of_reasoning_and_unlikely_labels_are_counted_and_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tokens = TokenSums()
    for number, response in enumerate(
        (
            Response("Hi there."),
            Response("The user greets.</think>\n\nHi there."),
            Response("[THINK]The user greets.[/THINK]Hi there."),
            Response("analysisThe user greets.assistantfinalHi there."),
            Response("Yes", label_logprobs={"Yes": -12.0}, label_mass=1e-5),
            Response("Yes", label_logprobs={"Yes": -0.1}, label_mass=0.9),
            Response("Hi there.", reasoning="<think> is how I begin"),
        )
    ):
        tokens.add(key(number), response)
        tokens.add(key(number), response)
    with ResponseStore(tmp_path, identity="m", name="m", protocol="selfchat", writer="whole") as store:
        answering = Answering(ScriptedEngine(), store, Progress("selfchat", 0, "answers"))
        job = Usage.of_job("m", "selfchat", answering, tokens, 0.0)
    assert job.remarks == {"reasoning_mark": 3, "low_mass": 1}
    write_usage(tmp_path / "m.json", job)
    assert read_usage(tmp_path / "m.json") == job
    log = capsys.readouterr().out
    assert "warning: 3 responses of m under selfchat: a reasoning tag" in log
    assert "reasoning_parser" in log
    assert "warning: 1 response of m under selfchat: all answer options together have a probability below 0.001" in log
    assert "enable_thinking: false" in log


def test_a_record_of_a_version_without_remarks_is_read(tmp_path: Path) -> None:
    path = tmp_path / "old.json"
    write_usage(path, usage())
    content = json.loads(path.read_text())
    del content["remarks"]
    path.write_text(json.dumps(content))
    assert read_usage(path) == usage()


def test_tokens_that_an_answer_does_not_tell_are_no_zero() -> None:
    tokens = TokenSums()
    tokens.add(key(1), Response("hi", prompt_tokens=10, completion_tokens=3))
    tokens.add(key(2), Response("hi", completion_tokens=3))
    assert (tokens.input_tokens, tokens.output_tokens, tokens.reasoning_tokens) == (None, 6, None)


def test_a_job_without_requests_took_nothing(tmp_path: Path) -> None:
    with ResponseStore(tmp_path, identity="m", name="m", protocol="arena", writer="whole") as store:
        answering = Answering(ScriptedEngine(), store, Progress("arena", 0, "answers"))
        job = Usage.of_job("m", "arena", answering, TokenSums(), 0.0)
    assert (job.requests, job.asked, job.input_tokens, job.output_tokens) == (0, 0, 0, 0)


def test_a_job_reports_its_requests_and_failures(tmp_path: Path) -> None:
    failing = ScriptedEngine(
        lambda request: AnswerFailure("timeout", "slow") if "2" in request.request_id else "an answer"
    )
    with ResponseStore(tmp_path, identity="m", name="m", protocol="arena", writer="whole") as store:
        answering = Answering(failing, store, Progress("arena", None, "answers"), max_failure_share=1.0)
        answering.run(answering.ask_all(chat_request(f"r{number}") for number in (1, 2, 1, 3)))
        job = Usage.of_job("m", "arena", answering, TokenSums(), 1.23456)
    assert (job.requests, job.asked, job.failures, job.seconds) == (4, 3, {"timeout": 1}, 1.235)


def test_shards_are_summed_and_priced() -> None:
    jobs = [
        usage(failures={"timeout": 2}, reasoning_tokens=5, remarks={"reasoning_mark": 2}),
        usage(failures={"timeout": 1, "refusal": 4}, remarks={"reasoning_mark": 3}),
        usage(model="free"),
    ]
    rows = usage_table(jobs, {"gpt": Prices(price_input=2.0, price_output=10.0)}).to_pylist()
    assert rows[0] == {
        "model": "gpt", "protocol": "arena", "requests": 20, "model_calls": 8, "cached": 12, "input_tokens": 2000,
        "output_tokens": 400, "reasoning_tokens": 5, "cost": pytest.approx(0.008), "spent": 0.0,
        "spent_unconfirmed": 0.0, "failures": "refusal: 4; timeout: 3",
        "remarks": "reasoning_mark: 5", "seconds": 3.0,
    }  # fmt: skip
    assert (rows[1]["model"], rows[1]["cost"], rows[1]["failures"]) == ("free", None, "")


def test_what_was_spent_agrees_with_the_ledger_whatever_the_jobs_tell() -> None:
    spent = {("gpt", "arena"): Sums(0.5, 0.1), ("gpt", "of the past"): Sums(2.0)}
    rows = usage_table([usage(), usage(model="free")], {"gpt": Prices(price_input=2.0, price_output=10.0)}, spent)
    shown = [(row["model"], row["protocol"], row["spent"], row["spent_unconfirmed"]) for row in rows.to_pylist()]
    assert shown == [("gpt", "arena", 0.5, 0.1), ("free", "arena", None, None), ("gpt", "of the past", 2.0, 0.0)]


def test_no_jobs_give_an_empty_table() -> None:
    assert len(usage_table([], {})) == 0


def test_a_record_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "gpt" / "arena-1-of-1.json"
    write_usage(path, usage(failures={"server": 1}))
    assert read_usage(path) == usage(failures={"server": 1})


def test_a_foreign_record_is_refused_in_words(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text('{"model": "m"}')
    with pytest.raises(UserError, match=r"x.json is not the usage record of a job: Usage.__init__"):
        read_usage(path)
