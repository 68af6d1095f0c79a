"""What must fit together where a simulated user talks with the chatbots."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dialeval.config.mistakes import Mistake
from dialeval.config.models import PublishedModel, VllmModel
from dialeval.config.protocol import SELFCHAT

if TYPE_CHECKING:
    from dialeval.config.whole import Config


def unfit_partner(config: Config) -> Iterator[Mistake]:
    """Yields what stands in the way of a talk with a simulated user."""
    chat, name = config.selfchat, config.selfchat.partner
    if name is None:
        if chat.scenarios:
            words = "a partner must play them; name its model: selfchat.partner"
            yield Mistake("selfchat.scenarios", words, ("selfchat.partner",))
        return
    partner = config.models.get(name)
    if not config.chatbots:
        yield Mistake("selfchat.partner", f"nobody talks with '{name}'; name chatbots", ("chatbots",))
    if isinstance(partner, PublishedModel):
        words = f"'{name}' is a published model, which answers nobody; name one that can be asked"
        yield Mistake("selfchat.partner", words, (f"models.{name}",))
    for chatbot in config.chatbots:
        model = config.models.get(chatbot)
        about = (f"models.{chatbot}", f"models.{name}", "selfchat.partner")
        if isinstance(model, PublishedModel):
            words = (
                f"'{chatbot}' is a published model, whose dialogues are done: it cannot talk with selfchat.partner; "
                "leave the partner or the chatbot out"
            )
            yield Mistake("chatbots", words, about)
        engines = [one for one in (model, partner) if isinstance(one, VllmModel) and one.scheduled_gpus]
        if len(engines) == 2 and model != partner:
            words = (
                f"'{name}' and the chatbot '{chatbot}' would be two vLLM engines in one job, which take each other's "
                "GPU memory; serve the partner with `vllm serve` and reach it by engine: openai (docs/api.md)"
            )
            yield Mistake("selfchat.partner", words, about)
    for protocol, asked in config.resolved_protocols().items() if chat.scenarios else ():
        of_people = asked.of.against == "human" or "pass_rates_at_gt_length" in asked.measured()
        if of_people and SELFCHAT in asked.of.source:
            words = f"it compares with what people said, and in scenarios they said nothing; leave {protocol} out"
            yield Mistake(f"protocols.{protocol}", words, ("selfchat.scenarios",))
