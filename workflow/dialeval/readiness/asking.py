"""Asks a model once, as cheaply as can be, to see whether its key, its name and its address are right."""

from __future__ import annotations

import asyncio
from pathlib import Path

from dialeval.config.openai_model import OpenAIModel
from dialeval.config.whole import Config
from dialeval.engines.opening import open_engine
from dialeval.engines.prices import prices_of
from dialeval.engines.request import AnswerFailure, Message, Request, Response, Sampling
from dialeval.engines.running import run_in_order
from dialeval.engines.spending import terms
from dialeval.errors import UserError
from dialeval.readiness.finding import Finding, State

MAX_TOKENS = 16
"""The least that all endpoints take."""
LONGEST_WAIT = 60.0
"""Seconds."""
PROTOCOL = "check"
ENOUGH = "empty"
"""The failure that only a model has which was reached: its few tokens went to its reasoning."""
REMEDIES = {
    "authentication": "; put the right key into the variable that api_key_env names",
    "not_found": "; correct `model`, or `base_url`",
    "bad_request": "; see whether `model`, the key and `base_url` are right (a proxy may say 400 to any of them)",
    "connection": "; start the endpoint, or correct `base_url`",
    "timeout": "; see whether the endpoint is overloaded",
    "quota": "; see to the account at the endpoint",
}
"""What to do about kinds of failures, where the endpoint's own words do not say it."""


def asked_once(config: Config) -> list[Finding]:
    """Asks every model behind an endpoint one short question, all at once; nothing is stored but what it cost.

    Args:
        config: the configuration; its budgets hold.
    """
    terms.announce(terms.run_terms(config.models, config.budget))
    models = {name: config.models[name] for name in config.models_in_use()}
    return run_in_order(
        _asked({name: one for name, one in models.items() if isinstance(one, OpenAIModel)}, config.store_dir)
    )


async def _asked(models: dict[str, OpenAIModel], store: Path) -> list[Finding]:
    return list(await asyncio.gather(*(_ask(name, model, store) for name, model in models.items())))


async def _ask(name: str, model: OpenAIModel, store: Path) -> Finding:
    about = f"models.{name}"
    once = {"batch": False, "max_tries": 1, "timeout_seconds": min(model.timeout_seconds, LONGEST_WAIT)}
    hurried = model.model_copy(update=once)
    request = Request(PROTOCOL, PROTOCOL, "chat", (Message("user", "Say yes."),), Sampling(max_tokens=MAX_TOKENS))
    try:
        engine = open_engine(hurried, [], store, PROTOCOL)
        try:
            return Finding(State.OK, about, _told(model, await engine.answer(request)))
        finally:
            await engine.close()
    except AnswerFailure as failure:
        if failure.kind == ENOUGH:
            return Finding(State.OK, about, f"was asked, and answered without a text in {MAX_TOKENS} tokens")
        words = f"'{model.model}' at {model.base_url} gave no answer: {failure}{REMEDIES.get(failure.kind, '')}"
        return Finding(State.MISSING, about, words)
    except UserError as error:
        return Finding(State.MISSING, about, str(error))


def _told(model: OpenAIModel, response: Response) -> str:
    """Returns what an answer took."""
    text = "".join(mark for mark in " ".join(response.text.split()) if mark.isprintable())
    words = f"was asked, and answered '{text[:40]}'"
    if response.prompt_tokens is not None and response.completion_tokens is not None:
        words += f" ({response.prompt_tokens} tokens read, {response.completion_tokens} written)"
    cost = prices_of(model).cost(response.prompt_tokens, response.completion_tokens)
    return words if cost is None else f"{words} for {cost:.6f}"
