"""A job's account: reservations and grants, so that no attempt exceeds a budget.

The largest cost of an attempt is reserved before it is sent, and replaced by its cost when it ends. An attempt that
does not fit into the rest of the budget waits for others to end, also those of other jobs. If nothing is in flight, the
job ends, and all responses are stored.

A grant of the ledger covers more than the next attempt, the less the nearer the budget's end.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from dialeval.engines.requests import Response, read_response
from dialeval.engines.spending.entries import FOLDER, SUFFIX, Entry, Ledger, Sums, Writer, close_file, write_lines
from dialeval.engines.spending.prices import NO_TOKENS, Billed, Bound, ModelTerms, Terms
from dialeval.engines.store.answer_files import KEY_LENGTH, body_of
from dialeval.errors import UserError
from dialeval.paths import refuse_links

POLL_SECONDS = 1.0
"""Seconds between two reads of other jobs' spending."""
_GRANT_SECONDS = 2.0
"""Seconds that a grant should last."""
_SHARE_OF_THE_REST = 8
"""A grant is at most this part of the rest beyond the job's need."""


@dataclass(slots=True)
class Reserved:
    """An attempt with its reserved cost."""

    number: int
    most: float
    bound: Bound
    writer: Writer


class Account:
    """The spending of one job on its model, within the budgets.

    Args:
        store: the folder of the stores, `store_dir` of the configuration.
    """

    def __init__(self, store: Path, terms: Terms, protocol: str) -> None:
        self.terms = terms
        self._about = {"name": terms.model.name, "protocol": protocol}
        self._ledger = Ledger(store / FOLDER)
        self._writer: Writer | None = None
        self._granting: asyncio.Lock | None = None
        self._n_in_flight = 0
        self._set_aside = 0.0
        self._extra, self._granted_at = 0.0, 0.0
        self._wanted = 0.0
        self._all_granted = False
        self._generation = 0
        self._waiting: list[asyncio.Future[None]] = []
        self._over = (0, 0)
        self._reported = False

    @property
    def spent(self) -> float:
        """The cost of this job's finished attempts."""
        return 0.0 if self._writer is None else self._writer.entry.sums.spent

    async def reserve(self, bound: Bound) -> Reserved:
        """Wait until an attempt outside of batches fits into the budget, and reserve its largest cost.

        Raises:
            UserError: the budget does not allow it.
        """
        while True:
            most = self._largest_cost(bound, self.terms.model.ordinary)
            reserved = self._take(bound, most)
            if reserved is not None:
                await self._written(reserved)
                return reserved
            if self._all_granted and self._n_in_flight:
                waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
                self._waiting.append(waiting)
                await waiting
                continue
            left = await self._request_grant(most)
            if left is None or left.in_flight:
                continue
            if left.others > NEGLIGIBLE:
                self._report_waiting(left)
                await asyncio.sleep(POLL_SECONDS)
            else:
                raise left.used_up(self.terms.model.name, most, self._folder)

    async def reserve_in_batch(self, bound: Bound) -> Reserved | None:
        """Reserve the largest cost of a request in a batch; return None if the budget does not allow it now."""
        most = self._largest_cost(bound)
        while (reserved := self._take(bound, most, in_batch=True)) is None:
            if await self._request_grant(most) is not None:
                return None
        return reserved

    async def refuse(self, bound: Bound) -> UserError:
        """Return the error for a request in a batch that the budget does not allow."""
        most = self._largest_cost(bound)
        left = await asyncio.to_thread(self._balance_now)
        return left.used_up(self.terms.model.name, most, self._folder)

    def settle(self, reserved: Reserved, billed: Billed) -> None:
        """Record the cost of an attempt outside of batches in place of its reservation."""
        if reserved.writer is not self._writer:
            return  # closing the account has counted its largest cost
        cost = self.terms.model.ordinary * self.terms.model.cost(billed.input_tokens, billed.output_tokens)
        reserved.writer.end(reserved.number, cost, billed.input_tokens, billed.output_tokens, billed.confirmed)
        self._release(reserved)
        if billed.confirmed:
            self._learn(reserved.bound, billed)

    def hand_over(self, mark: str, requests: Mapping[str, Reserved]) -> None:
        """Keep the reservations of a batch's requests until the batch ends, beyond this process."""
        bounds = {key: [one.bound.input_tokens, one.bound.output_tokens] for key, one in requests.items()}
        total = sum(one.most for one in requests.values())
        with self._ledger.locked():
            self._folder.mkdir(parents=True, exist_ok=True)
            write_lines(self._batch_file(mark), [self._about | {"batch": mark, "bounds": bounds}, ["+", 0, total]])
            self._ledger.enter(self._batch_file(mark))
            self.withdraw(requests.values())
            self._give_back()

    def withdraw(self, requests: Iterable[Reserved]) -> None:
        """Release the reservations of requests in a batch."""
        for reserved in requests:
            if reserved.writer is self._writer:
                self._release(reserved)

    def bounds_of_batch(self, mark: str) -> dict[str, Bound]:
        """Return the reserved bounds of a submitted batch's requests, by key; none if nothing is reserved."""
        with self._ledger.locked():
            entry = self._ledger.entries().get(self._batch_file(mark))
        bounds = entry.about.get("bounds", {}) if entry is not None else {}
        return {key: Bound(*pair) for key, pair in bounds.items()}

    def settle_batch(self, mark: str, billed: Mapping[str, Billed]) -> None:
        """Record the cost of a batch in place of its reservations."""
        sums = Sums()
        for one in billed.values():
            sums.add(self.terms.model.cost(one.input_tokens, one.output_tokens), one.input_tokens, one.output_tokens,
                     one.confirmed)  # fmt: skip
        about = self._about | {"batch": mark}
        with self._ledger.locked():
            count_stored_answers(self._ledger.folder, self.terms.digest, self.terms.model)
            close_file(self._batch_file(mark), Entry(self.terms.digest, about, sums))

    def close(self) -> None:
        """Close this job's part of the ledger; attempts in flight count at their largest cost."""
        if self._granting is None:
            return
        with self._ledger.locked():
            self._generation += 1
            writer, self._writer = self._writer, None
            self._n_in_flight, self._set_aside, self._all_granted = 0, 0.0, False
            self._granting = None
            if writer is not None:
                writer.close()
        if writer is not None:
            sums = writer.entry.sums
            if sums.spent > NEGLIGIBLE:
                unsaid = f", {sums.unconfirmed:.3g} of it unconfirmed" if sums.unconfirmed > NEGLIGIBLE else ""
                print(f"spent on '{self.terms.model.name}' by this job: {sums.spent:.6g}{unsaid}", file=sys.stderr)

    def _largest_cost(self, bound: Bound, times: float = 1.0) -> float:
        input_over, output_over = self._over
        return times * self.terms.model.cost(bound.input_tokens + input_over, bound.output_tokens + output_over)

    def _take(self, bound: Bound, most: float, *, in_batch: bool = False) -> Reserved | None:
        """Reserve the largest cost of an attempt within the grant; `hand_over` records those in a batch."""
        writer = self._writer
        if writer is None:
            return None
        granted = writer.entry.granted
        if self.terms.limited and (granted is None or self.spent + self._set_aside + most > granted):
            return None
        self._n_in_flight += 1
        self._set_aside += most
        return Reserved(0 if in_batch else writer.begin(most), most, bound, writer)

    async def _written(self, reserved: Reserved) -> None:
        """Wait until the ledger has the reservation, before anything is sent."""
        try:
            await reserved.writer.written()
        except BaseException:
            self.settle(reserved, NO_TOKENS)
            raise

    async def _request_grant(self, most: float) -> Balance | None:
        """Extend this job's grant for an attempt, or return the balance."""
        self._granting = self._granting or asyncio.Lock()  # from now on a thread may be about to open a file
        self._wanted += most
        try:
            async with self._granting:
                granted = self._writer.entry.granted if self._writer is not None else None
                if granted is not None and self.spent + self._set_aside + most <= granted:
                    return None  # another attempt has requested enough for all
                if self._all_granted and self._n_in_flight:
                    return None  # another attempt was refused a grant
                n_in_flight = self._n_in_flight
                left = await asyncio.to_thread(self._grant, most, self._generation)
                self._all_granted = left is not None and left.in_flight and self._n_in_flight == n_in_flight
                return left
        finally:
            self._wanted -= most

    def _grant(self, most: float, generation: int) -> Balance | None:
        with self._ledger.locked():
            if generation != self._generation:
                return None  # the account was closed meanwhile
            writer = self._open()
            if not self.terms.limited:
                return None
            left = self._balance()
            need = self.spent + self._set_aside + most
            if need <= left.up_to:
                now = time.monotonic()
                lasted, self._granted_at = now - self._granted_at, now
                self._extra = max(most, 2 * self._extra if lasted < _GRANT_SECONDS else self._extra / 2)
                room = left.up_to - need
                waiting = max(self._wanted - most, 0.0)  # for other attempts of this job
                writer.grant(need + max(min(waiting, room), min(self._extra, room / _SHARE_OF_THE_REST)))
                return None
            if left.in_flight:
                writer.grant(max(left.up_to, self.spent + self._set_aside))  # ended attempts leave room
            else:
                self._give_back()
            return left

    def _open(self) -> Writer:
        if self._writer is None:
            for digest, terms in self.terms.run.models.items():
                count_stored_answers(self._ledger.folder, digest, terms)
            self._ledger.close_dead_jobs()
            entries = [entry for entry in self._ledger.entries().values() if entry.digest == self.terms.digest]
            self._over = (max([0, *(one.over[0] for one in entries)]), max([0, *(one.over[1] for one in entries)]))
            self._writer = Writer(self._folder, self._about)
            self._ledger.enter(self._writer.path)
        return self._writer

    @property
    def _folder(self) -> Path:
        return self._ledger.folder / self.terms.digest

    def _balance(self) -> Balance:
        """Return the balance of the tightest budget, of at least one; the ledger's lock must be held."""
        assert self._writer is not None
        self._ledger.close_dead_jobs()
        entries = [entry for path, entry in self._ledger.entries().items() if path != self._writer.path]
        model, own = self.terms.model, self._writer.entry.sums
        of_model = [entry for entry in entries if entry.is_of(self.terms.digest, model.name)]
        found = []
        for field, budget, those in (
            (f"models.{model.name}.budget", model.budget, of_model),
            ("budget", self.terms.run.budget, entries),
        ):
            if budget is None:
                continue
            still_open = [entry for entry in those if not entry.closed]
            batches = sum(entry.committed for entry in still_open if "batch" in entry.about)
            balance = Balance(
                up_to=budget * (1 + _ROUNDING) - sum(entry.committed for entry in those),
                field=field,
                budget=budget,
                spent=own.spent + sum(entry.sums.spent for entry in those),
                unconfirmed=own.unconfirmed + sum(entry.sums.unconfirmed for entry in those),
                others=sum(entry.committed - entry.sums.spent for entry in still_open) - batches,
                batches=batches,
                in_flight=self._n_in_flight > 0,
            )
            found.append(balance)
        return min(found, key=lambda balance: balance.up_to)

    def _give_back(self) -> None:
        """Return the unused part of the grant."""
        writer = self._writer
        if writer is not None and writer.entry.granted is not None:
            need = self.spent + self._set_aside
            if need < writer.entry.granted:
                writer.grant(need)

    def _report_waiting(self, left: Balance) -> None:
        if not self._reported:
            self._reported = True
            print(
                f"waiting: other jobs have reserved {left.others:.3g} of {left.field} = {left.budget:g}, and the "
                f"rest is not enough for the next request",
                flush=True,
            )

    def _balance_now(self) -> Balance:
        with self._ledger.locked():
            self._open()
            return self._balance()

    def _release(self, reserved: Reserved) -> None:
        """Release a reservation and wake the waiting attempts."""
        self._all_granted = False
        self._n_in_flight -= 1
        self._set_aside = self._set_aside - reserved.most if self._n_in_flight else 0.0
        waiting, self._waiting = self._waiting, []
        for future in waiting:
            if not future.done():
                future.set_result(None)

    def _learn(self, bound: Bound, billed: Billed) -> None:
        """Raise later bounds by the largest excess of an endpoint's counts over their bounds."""
        over = (
            max(self._over[0], billed.input_tokens - bound.input_tokens),
            max(self._over[1], billed.output_tokens - bound.output_tokens),
        )
        if over != self._over:
            self._over = over
            if self._writer is not None:
                self._writer.exceed(*over)

    def _batch_file(self, mark: str) -> Path:
        return self._folder / f"batch-{mark}.{SUFFIX}"


# The rest of the budgets by the ledger

NEGLIGIBLE = 1e-12
_ROUNDING = 1e-9
"""Tolerance of sums of many small costs, as a share of the budget."""


class BudgetUsedUp(UserError):
    """The next request could exceed a budget."""


@dataclass(frozen=True)
class Balance:
    """The balance of the tightest budget.

    Attributes:
        up_to: the most that the job may spend in all.
        field: the field of the configuration that holds the budget.
        budget: the budget.
        spent: what all jobs have spent of it.
        unconfirmed: the part of it that no endpoint reported.
        others: reserved by other jobs at work.
        batches: reserved for open batches.
        in_flight: whether attempts of the job were in flight.
    """

    up_to: float
    field: str
    budget: float
    spent: float
    unconfirmed: float
    others: float
    batches: float
    in_flight: bool

    def used_up(self, name: str, most: float, folder: Path) -> BudgetUsedUp:
        """Return the error for a budget that does not hold the next request.

        Args:
            most: what the request may cost.
            folder: the model's part of the ledger.
        """
        state = "used up" if self.spent > NEGLIGIBLE else "too small"
        words = [f"the budget is {state}: {self.field} = {self.budget:g}, and {self.spent:.6g} is spent"]
        if self.unconfirmed > NEGLIGIBLE:
            words.append(
                f", {self.unconfirmed:.3g} of that for attempts without a plausible token count, at their maximum "
                f"cost, since they may have been billed"
            )
        if self.batches > NEGLIGIBLE:
            words.append(f"; {self.batches:.3g} is reserved for batches in progress")
        words.append(
            f"; the next request to '{name}' may cost {most:.3g}. All responses are stored. To resume, raise "
            f"{self.field} and run the same command again; it sends only the missing requests (the target estimate "
            f"gives their cost). If the provider has billed less than this, delete {folder} to compute the spending "
            f"of this model from its stored responses"
        )
        return BudgetUsedUp("".join(words))


# Costs before there was a ledger: the tokens of the stored answers, at today's prices.


def count_stored_answers(folder: Path, digest: str, terms: ModelTerms) -> None:
    """Begin a model's part of the ledger with the cost of its stored answers, unless it has begun.

    Prints the number of answers without token counts. The ledger's lock must be held.
    """
    refuse_links(folder / digest / SUFFIX, folder.parent)
    if (folder / digest).is_dir():
        return
    by_protocol: dict[str, Sums] = {}
    n_silent = 0
    for protocol, answer in _answers(folder.parent, digest):
        n_input, n_output = answer.prompt_tokens, answer.completion_tokens
        if n_input is not None and n_output is not None:
            cost = terms.cost(n_input, n_output)
            by_protocol.setdefault(protocol, Sums()).add(cost, n_input, n_output, confirmed=True)
        else:
            n_silent += 1
    for protocol, sums in by_protocol.items():
        about = {"name": terms.name, "protocol": protocol, "earlier": True}
        close_file(folder / digest / f"earlier-{protocol}.{SUFFIX}", Entry(digest, about, sums))
    (folder / digest).mkdir(parents=True, exist_ok=True)
    if by_protocol:
        spent = sum(sums.spent for sums in by_protocol.values())
        print(f"note: the stored responses of model '{terms.name}' have cost {spent:.6g} so far, at the present prices")
    if n_silent:
        print(f"note: {n_silent} stored responses of model '{terms.name}' have no token counts; their cost is unknown")


def _answers(store: Path, digest: str) -> Iterator[tuple[str, Response]]:
    """Yield protocol and content of every stored answer of a model, of several to one request the first."""
    seen: set[bytes] = set()
    for path in sorted([*store.glob(f"{digest}/*/*.jsonl"), *store.glob(f"*-{digest}/*/*.jsonl")]):
        with path.open("rb") as file:
            for line in file:
                key, body = line[:KEY_LENGTH], body_of(line)
                if key in seen or body is None:
                    continue
                try:
                    answer, _ = read_response(body)
                except ValueError:
                    continue
                seen.add(key)
                yield path.parent.name, answer
