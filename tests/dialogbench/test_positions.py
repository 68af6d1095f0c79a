"""Where the right option stands."""

from __future__ import annotations

from collections import Counter

from dialogbench_examples import OPTIONS, item

from dialeval.dialogbench.positions import rotations, shuffled


def test_the_right_option_stays_right_wherever_it_stands() -> None:
    for number in range(50):
        found = shuffled(item(item_id=str(number), label="C"), 7)
        assert found.options[found.right] == OPTIONS[2]
        assert sorted(found.options) == sorted(OPTIONS)


def test_places_are_about_equally_frequent() -> None:
    places = Counter(shuffled(item(item_id=str(number)), 1).label for number in range(2000))
    assert set(places) == set("ABCD")
    assert max(places.values()) - min(places.values()) < 100


def test_the_place_depends_on_the_items_name_and_the_seed_alone() -> None:
    assert shuffled(item(), 3).options == shuffled(item(question="Another?", label="B"), 3).options
    drawn = {seed: [shuffled(item(item_id=str(n)), seed).label for n in range(30)] for seed in (1, 2)}
    assert drawn[1] != drawn[2]


def test_rotations_bring_the_right_option_to_every_place_once() -> None:
    found = rotations(item(label="B"))
    assert [one.label for one in found] == ["B", "C", "D", "A"]
    assert found[0] == item(label="B")
    assert all(one.options[one.right] == OPTIONS[1] for one in found)
    assert [one.options.index(OPTIONS[0]) for one in found] == [0, 1, 2, 3]
    assert [one.label for one in rotations(item(options=OPTIONS[:2]))] == ["A", "B"]
