"""The entries of the figures: what draws them exists and takes what they give it, and each stands for itself."""

from __future__ import annotations

import inspect
from importlib import import_module
from pathlib import Path

import pytest

from dialeval.errors import UserError
from dialeval.figures import registry
from dialeval.figures.registry import Figure, drawings
from dialeval.provenance.fingerprints import fingerprint
from dialeval.stages import stage_function
from dialeval.stages.figures import Drawing, DrawSettings
from dialeval.stages.figures import draw as stage

PARTS = {name: part for name, part in vars(registry).items() if isinstance(part, tuple) and isinstance(part[0], Figure)}
EVERY = [figure for part in PARTS.values() for figure in part]
OPTIONS = {"n": [8, 16], "title": ["mine"], "arena_min": 4, "interval": "95 % interval", "protocol": ["mine"]}


@pytest.mark.parametrize("figure", EVERY, ids=lambda figure: figure.name)
def test_what_draws_a_figure_takes_its_tables_and_options(figure: Figure) -> None:
    for drawing in figure.drawings(OPTIONS):
        draw = getattr(import_module(drawing.modules[0]), drawing.draw.partition(".")[2])
        options = {**drawing.options, **({"order": ["a"]} if drawing.order else {})}
        inspect.signature(draw).bind(*drawing.tables, **options)
        assert ("order" in inspect.signature(draw).parameters) == bool(drawing.order)
        assert drawing.title
        assert drawing.caption.endswith(".")
        assert "{" not in drawing.name + drawing.title + drawing.caption + "".join(drawing.tables)


def test_names_are_distinct_within_a_part() -> None:
    for part in PARTS.values():
        names = [drawing.name for drawing in drawings(part, OPTIONS)]
        assert len(set(names)) == len(names)


def test_a_figure_of_which_there_are_several_has_one_for_every_value() -> None:
    found = {drawing.name: drawing for drawing in drawings(registry.BOTCHAT, OPTIONS)}
    assert found["figure5_arena_n16"].options == {"n": 16}
    assert found["figure5_arena_n16"].title == "Arena: who wins against whom, N = 16"
    assert "figure5_arena_n4" not in found


def test_only_figures_whose_tables_a_run_has_are_drawn() -> None:
    found = drawings(registry.BOTCHAT, OPTIONS, ["botchat/seeds", "gteval/win_rates"])
    assert [drawing.name for drawing in found] == ["figure2_seed_lengths", "figure6_gteval"]


def test_a_figure_without_its_table_says_which() -> None:
    drawing = Drawing(**drawings(registry.BATTLES, OPTIONS)[0].settings())
    with pytest.raises(UserError, match="figure mine needs the table 'battles/mine'; given: battles/yours"):
        stage(DrawSettings(drawings=[drawing]), [Path("tables/battles/yours.parquet")], [], Path())


def test_no_stage_reaches_the_entries_or_the_figures_of_other_parts() -> None:
    modules = {figure.draw.partition(".")[0] for figure in EVERY}
    reached = {definition.module for definition in _reached(stage_function("draw"))}
    assert not reached & {f"dialeval.figures.{module}" for module in (*modules, "entries")}
    assert fingerprint("dialeval.figures.botchat") != fingerprint("dialeval.figures.pairwise")


def _reached(module: str) -> frozenset[object]:
    from dialeval.provenance.fingerprints import _reach

    return _reach(module)[0]
