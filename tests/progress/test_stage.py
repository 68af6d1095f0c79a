"""What a long stage says of itself."""

from __future__ import annotations

import io

import pytest

from dialeval.progress import Progress


def test_lines_tell_tokens_failures_and_what_the_engine_adds() -> None:
    stream = io.StringIO()
    progress = Progress("self-chat", 4, "utterances", every=0, stream=stream)
    progress.extra = lambda: "87% of prompt tokens cached"
    progress.advance(tokens=20)
    progress.advance(failed=True)
    progress.advance(stored=True)
    progress.finish()
    first, second, third, closing = stream.getvalue().splitlines()
    assert first.startswith("self-chat: 1/4 (25%), ")
    assert " tokens/s, 87% of prompt tokens cached, " in first
    assert second.endswith("0 from the store, 1 failed")
    assert third.startswith("self-chat: 3/4 (75%), ")
    assert closing.startswith("self-chat: 3 utterances done in ")
    assert " tokens/s, 87% of prompt tokens cached (2 asked, 1 from the store, 1 failed)" in closing


def test_what_is_not_known_is_left_out() -> None:
    stream = io.StringIO()
    progress = Progress("reading", None, "rows", every=0, stream=stream)
    progress.advance()
    progress.finish()
    assert "tokens" not in stream.getvalue()
    assert "%" not in stream.getvalue()


def test_the_time_left_follows_the_pace_of_what_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the loading of a model before the first answer nor answers from the store say how long the rest takes."""
    now = [0.0]
    monkeypatch.setattr("dialeval.progress.stage.time.monotonic", lambda: now[0])
    stream = io.StringIO()
    progress = Progress("rating", 1000, "answers", every=5.0, stream=stream)
    for _ in range(500):
        progress.advance(stored=True)
    for now[0] in (60.0, 62.0, 64.0, 66.0, 68.0, 70.0):
        progress.advance()
    loaded, paced = stream.getvalue().splitlines()
    assert "501/1000" in loaded
    assert "left" not in loaded
    assert "504/1000" in paced
    assert "16 min left" in paced  # 496 more at one in two seconds
