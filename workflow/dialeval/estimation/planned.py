"""What is still to be asked of requests that are planned already: `rating`, `yes_no`, DialogBench."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from dialeval.aggregation.rounds import COLUMNS
from dialeval.engines.store.stored_answers import StoredAnswers
from dialeval.estimation.assumptions import VERDICTS, verdict
from dialeval.estimation.estimates import Estimate
from dialeval.estimation.in_rounds import InRounds
from dialeval.estimation.known_models import KnownModel
from dialeval.forms.question import Question
from dialeval.protocols.planning import Planned, request_from_row
from dialeval.schemas.shared import REQUESTS
from dialeval.tables import iterate_rows


def estimate_planned(
    models: Sequence[KnownModel], protocol: str, requests: Path, store: Path, in_rounds: Question | None = None
) -> list[Estimate]:
    """Returns what is still to be asked of each model.

    Prompts that are too long for a model are counted as they were planned: it will be asked shorter ones.

    Args:
        models: those that are asked.
        protocol: under which their answers are stored.
        requests: the table of requests.
        store: where stores lie.
        in_rounds: what is asked, of pairs that are asked about in rounds.

    Raises:
        UserError: not even the first round may be asked.
    """
    estimates: list[Estimate] = []
    rounds: list[InRounds | None] = []
    with ExitStack() as opened:
        stores = [
            opened.enter_context(StoredAnswers(store, identity=model.identity or "", protocol=protocol))
            for model in models
        ]
        for row in iterate_rows(requests, REQUESTS):
            request = request_from_row(row)
            if not estimates:
                known_as = request.protocol if request.protocol in VERDICTS else protocol  # one's own: by its form
                estimates = [
                    Estimate(
                        model,
                        protocol,
                        request.sampling.max_tokens,
                        verdict(known_as, model.kind, reasons=model.reasons and request.kind == "chat"),
                    )
                    for model in models
                ]
                adaptive = in_rounds.protocol.adaptive if in_rounds else None
                rounds = [InRounds(one, in_rounds, adaptive) if in_rounds and adaptive else None for one in estimates]
            for estimate, stored, pairs in zip(estimates, stores, rounds, strict=True):
                taken, known = estimate.model.takes(request), estimate.model.identity is not None
                response = stored.get(estimate.model.key(request)) if known and taken else None
                if pairs is not None:
                    about = {name: row[name] for name in COLUMNS}
                    pairs.planned(Planned(request, **about), response)
                elif taken:
                    estimate.count_planned(request, response)
    for pairs in rounds:
        if pairs is not None:
            pairs.count()
    return estimates
