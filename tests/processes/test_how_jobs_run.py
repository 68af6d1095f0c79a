"""What changes no answer reaches a job by its environment, and what a stage is told itself comes first."""

from __future__ import annotations

import json

from dialeval.config.models import ENGINES
from dialeval.config.whole import Config
from dialeval.processes.how_jobs_run import VARIABLE, announce, with_how_jobs_run
from dialeval.stages import answering, selfchat

ENDPOINT = {"engine": "openai", "model": "m", "base_url": "http://127.0.0.1:9/v1"}


def told(**models: dict[str, object]) -> dict[str, str]:
    environment: dict[str, str] = {}
    announce(models, {"max_failure_share": 0.25}, environment)
    return environment


def test_a_job_gets_what_the_run_says_of_its_model() -> None:
    settings = {"name": "large", "protocol": "arena", "model": ENDPOINT}
    environment = told(large={"concurrency": 3, "max_tries": 2}, small={"concurrency": 5}, other={})
    assert json.loads(environment[VARIABLE])["models"].keys() == {"large", "small"}
    filled = answering.AnswerSettings.model_validate(
        with_how_jobs_run(settings, answering.AnswerSettings.model_fields, environment)
    )
    assert (filled.model.concurrency, filled.answering.max_failure_share) == (3, 0.25)
    assert filled.model.model_dump()["max_tries"] == 2


def test_a_partner_gets_what_is_said_of_it_under_its_own_name() -> None:
    settings = {"name": "a", "model": ENDPOINT, "partner": ENDPOINT, "selfchat": {"partner": "b"}}
    environment = told(a={"concurrency": 3}, b={"concurrency": 5})
    filled = with_how_jobs_run(settings, selfchat.SelfchatSettings.model_fields, environment)
    assert (filled["model"]["concurrency"], filled["partner"]["concurrency"]) == (3, 5)


def test_what_a_stage_is_told_itself_comes_first() -> None:
    settings = {"name": "a", "model": {**ENDPOINT, "concurrency": 7}, "answering": {"max_failure_share": 0.5}}
    filled = with_how_jobs_run(settings, answering.AnswerSettings.model_fields, told(a={"concurrency": 3}))
    assert (filled["model"]["concurrency"], filled["answering"]) == (7, {"max_failure_share": 0.5})


def test_outside_a_run_what_is_left_out_is_as_by_default() -> None:
    settings = {"name": "a", "protocol": "arena", "model": ENDPOINT}
    filled = answering.AnswerSettings.model_validate(
        with_how_jobs_run(settings, answering.AnswerSettings.model_fields, {})
    )
    assert (filled.model.concurrency, filled.answering.max_failure_share) == (64, 0.0)


def test_a_stage_that_asks_nobody_is_told_of_nothing() -> None:
    settings = {"name": "bundled", "reader": "bundled"}
    assert with_how_jobs_run(settings, ["name", "reader"], told(bundled={"concurrency": 3})) == settings


def test_how_jobs_run_is_told_in_fields_that_a_model_has() -> None:
    for model in ENGINES.values():
        assert model.how_jobs_run <= model.model_fields.keys(), model
    assert "answering" in Config.model_fields
