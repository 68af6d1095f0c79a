"""The response store: every answer ever given, kept outside the workflow's declared outputs.

A model's answers under a protocol lie in append-only text files (`files`, `places`) in a folder that follows from the
model's identity (`stored_answers`). Every job writes a file of its own (`responses`), so that no two writers ever share
one, and two jobs that would pay for the same answers wait for each other (`locks`); readers take the lines of all
files. A line whose checksum is wrong, or that was cut off, is left out and reported; its request is simply asked again.
Errors are never stored.
"""

from dialeval.engines.store.response_store import ResponseStore, run_of

__all__ = ["ResponseStore", "run_of"]
