"""A simulated user: what the model that plays one is told, from a scenario of the user's table."""

from __future__ import annotations

from collections.abc import Mapping

from dialeval.config.botchat import Selfchat
from dialeval.corpora.scenarios import Scenario
from dialeval.engines.request import Dialogue, Sampling
from dialeval.prompts.rendering import Templates
from dialeval.prompts.shown import one_line
from dialeval.protocols.voices import PARTNER, Talk, Voice, Window

TEMPLATE = "partner.j2"


def sampling_of(selfchat: Selfchat) -> Sampling:
    """Returns how those who speak are sampled."""
    return Sampling(temperature=selfchat.temperature, max_tokens=selfchat.max_tokens)


def told_partner(
    seeds: Mapping[str, Dialogue], scenarios: Mapping[str, Scenario], templates: Templates, end: str
) -> dict[str, str]:
    """Returns what the simulated user is told on each seed.

    Args:
        seeds: what was said before, by seed_id.
        scenarios: whom it plays, by scenario_id, which is the seed_id; none where dialogues begin with ChatSEEDs.
        templates: the prompts.
        end: what it writes to end the talk.
    """
    told = {}
    for seed_id, seed in seeds.items():
        scenario = scenarios.get(seed_id, Scenario(seed_id))
        persona, goal = one_line(scenario.persona), one_line(scenario.goal)
        told[seed_id] = templates.render(TEMPLATE, persona=persona, goal=goal, opens=not seed, end=end)
    return told


def talk_of(
    selfchat: Selfchat,
    system: str,
    chatbot: Window,
    partner: Window | None,
    told: Mapping[str, str],
) -> Talk:
    """Returns how dialogues go on under a configuration.

    Args:
        selfchat: the configuration.
        system: what the chatbot is told.
        chatbot: its window.
        partner: that of the simulated user's model, if there is one.
        told: what it is told, by seed_id.
    """
    sampling = sampling_of(selfchat)
    voice = Voice(chatbot, lambda _: system, sampling)
    if partner is None:
        return Talk(selfchat.n_utterances, voice)
    user = Voice(partner, lambda seed_id: told[seed_id], sampling, PARTNER, selfchat.end)
    return Talk(selfchat.n_utterances, voice, user)
