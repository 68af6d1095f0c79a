"""What a long stage says of itself."""

from __future__ import annotations

import io

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
