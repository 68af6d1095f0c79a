"""What stands in place of a system message keeps what it says."""

from __future__ import annotations

from dialeval.engines.request import Message
from dialeval.engines.system_messages import merge_system

SYSTEM, ONE, TWO = Message("system", "Be brief."), Message("user", "Hello."), Message("assistant", "Hi.")


def test_system_text_goes_into_the_first_user_message() -> None:
    assert merge_system((SYSTEM, ONE)) == (Message("user", "Be brief.\n\nHello."),)
    assert merge_system((SYSTEM, TWO, ONE)) == (Message("user", "Be brief."), TWO, ONE)
    assert merge_system((ONE,)) == (ONE,)
    assert merge_system((TWO, ONE))[0].role == "user"
