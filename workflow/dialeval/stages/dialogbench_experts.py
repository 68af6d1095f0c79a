"""Reads what experts answered to test items."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel

from dialeval.aggregation.dialogbench.people import SIMULATED
from dialeval.corpora.expert_answers import read_expert_answers
from dialeval.dialogbench.item_table import read_items
from dialeval.errors import UserError, nearest
from dialeval.schemas.dialogbench import EXPERT_ANSWERS
from dialeval.tables import to_table, write_table
from dialeval.text.counting import counted


class Settings(BaseModel, defer_build=True):
    """Which experts are a simulation."""

    simulated: list[str]


def stage(settings: Settings, items: Path, file: Path, answers: Path) -> None:
    """Writes the table `expert_answers`, and says what was read and left out."""
    item_of, origin_of = read_items(items)
    reading = read_expert_answers(
        file, {name: one for name, one in item_of.items() if origin_of[name]["variant"] == "full"}
    )
    experts = dict.fromkeys(one.expert for one in reading.answers)
    for name in settings.simulated:
        if name not in experts:
            raise UserError(
                f"dialogbench.experts.simulated: nobody in {file} is called '{name}'; {nearest(name, experts)}"
            )
    rows = []
    for one in reading.answers:
        item = item_of[one.item_id]
        rows.append(
            {
                "source": origin_of[one.item_id]["source"],
                "cluster": origin_of[one.item_id]["cluster"],
                "item_id": one.item_id,
                "task": item.task,
                "domain": item.domain,
                "language": item.language,
                "n_options": len(item.options),
                "expert": one.expert + SIMULATED * (one.expert in settings.simulated),
                "label": item.label,
                "choice": one.choice,
            }
        )
    write_table(answers, EXPERT_ANSWERS, to_table(EXPERT_ANSWERS, rows))
    n_items = len({one.item_id for one in reading.answers})
    print(
        f"{counted(len(rows), 'answer')} of {counted(len(experts), 'expert')} to {counted(n_items, 'item')}; "
        f"left blank: {counted(reading.blank, 'row')}"
    )
    if reading.moved:
        print(f"{reading.moved} letters meant options that stand elsewhere now, and were read by the options' words")
