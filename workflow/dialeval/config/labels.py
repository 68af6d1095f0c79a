"""People's labels: where they lie, and what is drawn for people to label."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from dialeval.config.section import Count, Name, Number, Section, Whole

Asked = Annotated[str, Field(min_length=1, max_length=2_000)]


class Labels(Section):
    """What people say of the very dialogues that judges judge (see docs/labels.md)."""

    path: Path = Field(
        description="Folder of people's labels: what pages export, and CSV files of other tools; relative to where the "
        "run is started, or absolute. The draw is written down there too."
    )
    protocols: list[Name] | None = Field(
        None, min_length=1, description="Protocols whose questions people answer; null: all about systems' dialogues."
    )
    n: Count = Field(
        50, description="How many are drawn under each protocol: dialogues of each system; of pairs, in all."
    )
    by: Literal["random", "cases", "score", "uncertainty"] = Field(
        "random",
        description="random; cases (every system's dialogue on cases drawn at random); score (evenly over the judge's "
        "scores); uncertainty (half at random, half where the judge is least sure).",
    )
    questions: dict[Name, Asked | dict[Name, Asked]] = Field(
        {},
        description="By protocol, what annotators are asked in place of our words: what its template asks of a judge; "
        "a text, or {criterion: text} where it asks about several. With criteria, only a protocol with a template of "
        "your own has one; others ask in the criteria's words.",
    )
    judge: Name | None = Field(
        None, description="Whose scores `by: score` and `by: uncertainty` go by; null: the protocol's first judge."
    )
    annotators: list[Name] = Field(["annotator-1"], min_length=1, description="Who labels: a page for each.")
    each: Annotated[Whole, Field(ge=1)] | None = Field(
        None, description="How many annotators label each dialogue or pair; null: all of them."
    )
    target: Literal["new", "these"] = Field(
        "new",
        description="What intervals are about: new (what people would say on new cases) or these (of these dialogues).",
    )
    panel: Literal["mean", "dawid_skene"] | None = Field(
        "mean",
        description="How several judges become one proxy: mean, or dawid_skene where one may be bad; null: not at all.",
    )
    confidence: Annotated[Number, Field(gt=0, lt=1)] = Field(0.95, description="Confidence of the intervals.")
    price: Annotated[Number, Field(ge=0)] | None = Field(
        None, description="Price of one label, in the currency of the models' prices; `estimate` weighs it with seeds."
    )
    simulated: list[Name] = Field(
        [], description="Annotators who are a simulation and no people: every table calls them so."
    )
