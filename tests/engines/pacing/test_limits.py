"""All limits of one endpoint together, in virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from virtual_time import run_in_virtual_time

from dialeval.engines.pacing.announced import Reading
from dialeval.engines.pacing.limits import NO_TOKENS, Limits


def test_of_answers_that_come_together_one_is_read_and_every_refusal() -> None:
    """To read the headers of each costs a twentieth of a request; a refusal's say whether the limit is used up."""
    read: list[str] = []

    async def story() -> list[bool]:
        limits, used_up = Limits("an endpoint", in_flight=8), []

        async def answer(name: str, remaining: float, *, taken: bool = True) -> None:
            def reading(_: Mapping[str, str], kind: str) -> Reading | None:
                read.append(f"{name}: {kind}")
                return Reading(100.0, remaining, 60.0) if kind == "requests" else None

            async with limits.place(NO_TOKENS) as place:
                await asyncio.sleep(1)
                place.hear({})
                limits.announced(place, reading, taken=taken)
                used_up.append(place.used_up)

        together = [answer("first", 50.0), answer("second", 49.0), answer("refused", 0.0, taken=False)]
        await asyncio.gather(*together)
        await answer("later", 40.0)
        return used_up

    assert run_in_virtual_time(story()) == [False, False, True, False]
    assert read == [f"{name}: {kind}" for name in ("first", "refused", "later") for kind in ("requests", "tokens")]
