"""Which judges are the best, each model counting once, by whatever methods and under whatever names it judged."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from dialeval.aggregation.metaeval.cells import ANNOTATION, Scorer


@dataclass(frozen=True)
class Candidates:
    """Who may be among the best judges.

    Attributes:
        named: judges that are ensembles themselves, of which none is a member of another.
        pool: the judges that may be members; None for all.
        models: judge -> the model that it is, where several judges are one model; such judges count once.
    """

    named: Collection[str] = ()
    pool: Collection[str] | None = None
    models: Mapping[str, str] = field(default_factory=dict)

    def may_be(self, scorer: Scorer) -> bool:
        """Returns whether a scorer may be among them: no ensemble, and nobody whose ratings came with a corpus."""
        among = self.pool is None or scorer.judge in self.pool
        return among and scorer.method != ANNOTATION and scorer.judge not in self.named

    def model_of(self, judge: str) -> str:
        """Returns what a judge counts as."""
        return self.models.get(judge, judge)

    def best_first(self, correlation: Mapping[Scorer, float]) -> list[Scorer]:
        """Returns the judges by their correlation, the highest first, each model by its best method alone."""
        best: dict[str, Scorer] = {}
        for scorer in sorted(correlation, key=lambda scorer: (-correlation[scorer], scorer)):
            best.setdefault(self.model_of(scorer.judge), scorer)
        return list(best.values())
