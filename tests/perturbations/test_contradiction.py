"""Statements and their opposites."""

from __future__ import annotations

import pytest

from dialeval.perturbations.contradiction import is_question, negate, negate_statements
from dialeval.perturbations.strategy import NewText, NotApplicable


@pytest.mark.parametrize(
    ("statement", "opposite"),
    [
        ("I like it.", "I don't like it."),
        ("She lives in Rome.", "She doesn't live in Rome."),
        ("We went home early.", "We didn't go home early."),
        ("He always forgets the key.", "He doesn't always forget the key."),
        ("My brother works there.", "My brother doesn't work there."),
        ("It is cold.", "It is not cold."),
        ("I'm tired.", "I'm not tired."),
        ("i ' m tired .", "i ' m not tired ."),
        ("You can come.", "You cannot come."),
        ("They've eaten.", "They haven't eaten."),
        ("I have eaten.", "I have not eaten."),
        ("I have a dog.", "I don't have a dog."),
        ("She'll call.", "She won't call."),
        ("I don't know.", "I do know."),
        ("He isn't here.", "He is here."),
        ("i do n't mind .", "i do mind ."),
        ("We can't stay.", "We can stay."),
        ("I won't go.", "I will go."),
        ("Nobody came.", "Everybody came."),
        ("I never sing.", "I always sing."),
        ("Yes, I do.", "No, I do not."),
        ("No, it isn't.", "Yes, it is."),
        ("Of course.", "Of course not."),
        ("Let's go.", "Let's not go."),
        ("Take the second left.", "Don't take the second left."),
        ("Sounds good.", "Doesn't sound good."),
        ("Great idea!", "Not great idea!"),
        ("When it rains, I stay in.", "When it rains, I don't stay in."),
        ("I'm afraid not.", "I'm afraid so."),
        ("There's no bread.", "There's some bread."),
        ("I have got a cold.", "I have not got a cold."),
        ("Yes. ", "No. "),
    ],
)
def test_known_opposites(statement: str, opposite: str) -> None:
    negated = negate(statement)
    assert negated is not None
    assert negated.text == opposite
    assert negated.before or negated.after


@pytest.mark.parametrize(
    "text",
    ["", "Where is it?", "do you like tea", "Thank you.", "The red house.", "😀", "Hm...", "If it rains", "他不在",
     "Yeah, a very long red scarf."],
)  # fmt: skip
def test_no_opposite_of_what_states_nothing(text: str) -> None:
    assert negate(text) is None


@pytest.mark.parametrize("text", ["Is it?", "are you well", "what a day?", "Really? "])
def test_questions(text: str) -> None:
    assert is_question(text)


def test_every_statement_is_negated_and_questions_stay() -> None:
    new = negate_statements("I like it. Do you? We can go.")
    assert new == NewText("I don't like it. Do you? We cannot go.", ('"like" > "don\'t like"', '"can" > "cannot"'))
    assert negate_statements("Why?") == NotApplicable("no statement that can be negated")
