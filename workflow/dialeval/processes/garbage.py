"""How often a job looks for garbage: objects that hold each other and that nobody else holds."""

from __future__ import annotations

import gc

SELDOM = 50_000
"""New containers after which Python looks for garbage; its own number is 700.

Of hundreds of requests under way each holds some fifty containers, and of a table each row some. None of them is
garbage, yet Python looked through them every few requests, for a fifth of what a request takes. What is garbage then
waits a little longer: 50,000 containers are some ten megabytes.
"""


def keep_what_is_loaded() -> None:
    """Leaves out of that search what is loaded by now, and has it take place seldom."""
    gc.freeze()
    gc.set_threshold(SELDOM)
