"""The response store, kept outside the workflow's declared outputs.

The responses of a model under a protocol are lines of append-only files (`answer_files`), in a folder named by the
model's identity (`response_store`). Each job writes its own files; readers take the lines of all. Jobs that share a
request wait for each other, so that it is paid for once (`claims`). A corrupt line is reported and ignored, and its
request sent again. Failures are never stored.
"""

from dialeval.engines.store.response_store import ResponseStore, run_of

__all__ = ["ResponseStore", "run_of"]
