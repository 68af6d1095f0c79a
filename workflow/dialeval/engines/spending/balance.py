"""What the budgets leave a job, by the ledger, and the words for one that is used up."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dialeval.engines.spending.ledger import Ledger
from dialeval.engines.spending.terms import Terms
from dialeval.engines.spending.writers import Writer
from dialeval.errors import UserError

NEXT_TO_NOTHING = 1e-12
_ROUNDING = 1e-9
"""Of a budget: sums of many small costs are not exact."""


class BudgetUsedUp(UserError):
    """The next request could exceed a budget."""


@dataclass(frozen=True)
class Balance:
    """What a look at the ledger gave.

    Attributes:
        up_to: the most that the job may spend in all.
        field: the field of the configuration that holds the budget.
        budget: the budget.
        spent: what all jobs have spent of it.
        unconfirmed: the part of it that nobody reported.
        others: what other jobs that are at work have set aside.
        batches: what is set aside for batches that are out.
        under_way: whether tries of the job were under way then, which may leave something over.
    """

    up_to: float
    field: str
    budget: float
    spent: float
    unconfirmed: float
    others: float
    batches: float
    under_way: bool

    def used_up(self, name: str, most: float, folder: Path) -> BudgetUsedUp:
        """Returns the error for a budget that does not hold the next request.

        Args:
            name: the model's name.
            most: what the request may cost.
            folder: the model's part of the ledger.
        """
        state = "used up" if self.spent > NEXT_TO_NOTHING else "too small"
        words = [f"the budget is {state}: {self.field} = {self.budget:g}, of which {self.spent:.6g} is spent"]
        if self.unconfirmed > NEXT_TO_NOTHING:
            words.append(
                f", {self.unconfirmed:.3g} of that for tries without a believable count of tokens, which count at "
                "their most since they may have been billed"
            )
        if self.batches > NEXT_TO_NOTHING:
            words.append(f"; {self.batches:.3g} is set aside for batches that are out")
        words.append(
            f"; the next request to '{name}' may cost {most:.3g}. Everything that was answered is stored. To go on, "
            f"raise {self.field} and run the same command again: it asks only for what is missing (the target estimate "
            f"says how much that is). If the provider has billed less than was counted, delete {folder} to count this "
            "model anew from its stored answers"
        )
        return BudgetUsedUp("".join(words))


def tightest(terms: Terms, ledger: Ledger, writer: Writer, *, under_way: bool) -> Balance:
    """Returns what the tightest budget leaves a job; the ledger's lock must be held.

    Args:
        terms: the budgets, at least one.
        ledger: what was spent.
        writer: the job's part of the ledger.
        under_way: whether tries of the job are under way.
    """
    ledger.close_the_dead()
    entries = [entry for path, entry in ledger.entries().items() if path != writer.path]
    own = writer.entry.sums
    found = []
    of_model = [entry for entry in entries if entry.is_of(terms.digest, terms.model.name)]
    for field, budget, those in (
        (f"models.{terms.model.name}.budget", terms.model.budget, of_model),
        ("budget", terms.run.budget, entries),
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
            under_way=under_way,
        )
        found.append(balance)
    return min(found, key=lambda balance: balance.up_to)
