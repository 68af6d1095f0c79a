from __future__ import annotations

import numpy as np
import pytest

from dialeval.engines.embedded.taken_up import NAMES, TakenUp
from dialeval.engines.embedded.texts import Batch
from dialeval.engines.request import Dialogue


def values(taken_up: TakenUp, *dialogues: Dialogue) -> dict[str, list[float]]:
    table = taken_up.values(Batch(dialogues))
    assert np.isfinite(table).all()
    return {name: [float(value) for value in table[:, number]] for number, name in enumerate(NAMES)}


@pytest.fixture(scope="module")
def taken_up() -> TakenUp:
    """Of seven utterances two have the word rare, six the word common: idf ln(8 / 3) = .9808 and ln(8 / 7) = .1335."""
    return TakenUp(["rare common", "rare common", *["common"] * 4, "other"])


def test_sums_by_rarity(taken_up: TakenUp) -> None:
    rare, common, strange = 0.9808, 0.1335, np.log(8)
    found = values(taken_up, ("rare", "common", "Rares common blue"))
    assert found["rarest_taken_up"] == pytest.approx([0, 0, rare], abs=1e-4)
    assert found["rarest_taken_up_from_last"] == pytest.approx([0, 0, common], abs=1e-4)
    total = rare + common
    assert found["share_taken_up"] == pytest.approx([0, 0, total / (total + strange)], abs=1e-4)
    assert found["taken_up"][2] == pytest.approx(np.log1p(total), abs=1e-4)
    assert found["taken_up_squared"][2] == pytest.approx(np.log1p(rare**2 + common**2), abs=1e-4)
    assert found["root_taken_up_squared"][2] == pytest.approx(np.hypot(rare, common), abs=1e-4)
    assert found["root_taken_up_from_last_squared"][2] == pytest.approx(common, abs=1e-4)
    assert found["taken_up_from_last_squared"][2] == pytest.approx(np.log1p(common**2), abs=1e-4)
    assert found["rarest_new"] == pytest.approx([rare, common, strange], abs=1e-4)
    assert found["new"][2] == pytest.approx(np.log1p(strange), abs=1e-4)
    assert found["turn"] == [0, 1, 2]
    assert found["said_before"] == pytest.approx(np.log1p([0, 1, 2]))
    assert found["said_last"] == pytest.approx(np.log1p([0, 1, 1]))


def test_words_never_heard_are_told_apart(taken_up: TakenUp) -> None:
    found = values(taken_up, ("zorp", "flim", "zorp"))
    assert found["rarest_taken_up"] == pytest.approx([0, 0, np.log(8)])


def test_a_dialogue_is_described_the_same_beside_others(taken_up: TakenUp) -> None:
    first, second = ("rare", "rare zorp"), ("common", "zorp", "...", "")
    both, alone = values(taken_up, first, second), values(taken_up, second)
    assert {name: found[2:] for name, found in both.items()} == alone


def test_nothing_but_marks() -> None:
    assert values(TakenUp(["...", "?!"]), ("...", ""))["new"] == [0, 0]
