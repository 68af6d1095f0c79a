"""`dialeval.evaluate` from a data frame to a finished run: with an embedded judge, and with one behind an endpoint."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from loopback_endpoint import Call, LoopbackEndpoint, Reply, completion, refusal
from workspace import WARM_START

import dialeval

pytestmark = pytest.mark.workflow
KEY = "secret-0123456789"


def talks(n: int = 6) -> pd.DataFrame:
    """Return dialogues of two systems on n cases, a row for each utterance."""
    words = {"able": "That sounds fun; who went with you?", "weak": "Yes yes yes yes."}
    return pd.DataFrame(
        {"dialogue_id": f"d{case}", "case_id": f"d{case}", "system": system, "speaker": speaker, "text": text}
        for case in range(n)
        for system, reply in words.items()
        for speaker, text in (("user", f"I went to town {case} today."), ("assistant", f"{reply} ({case})"))
    )


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets runs and jobs be forks of a process that has imported what they need."""
    library = Path(os.environ["WORKSPACE_PROJECT"]) / "workflow"
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, [WARM_START, library])))
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def judge(call: Call) -> Reply:
    """Find `able` tactful and better, wherever it stands; takes no other key than ours."""
    if call.headers.get("authorization") != f"Bearer {KEY}":
        return Reply(refusal("Incorrect API key provided", code="invalid_api_key"), status=401)
    if "tact -" in call.text:
        return Reply(completion("tact - 5" if "sounds fun" in call.text else "tact - 2"))
    first = call.text.find("sounds fun") < call.text.find("Yes yes")
    return Reply(completion(f"Choice: {'A' if first else 'B'}\nReason: it asks."))


def test_a_judge_behind_an_endpoint_scores_a_frame_with_one_request_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("MY_KEY", raising=False)
    folder = tmp_path / "study"
    with LoopbackEndpoint(judge) as endpoint:
        options = {"criteria": {"tact": "Is it tactful?"}, "folder": folder, "base_url": endpoint.url}
        with pytest.raises(
            dialeval.UserError, match="environment variable MY_KEY.*is not set.*export MY_KEY"
        ) as failed:
            dialeval.evaluate(talks(), "clerk=maker/clerk", **options, api_key_env="MY_KEY")
        assert str(folder) in str(failed.value)
        assert not endpoint.log
        monkeypatch.setenv("MY_KEY", KEY)
        run = dialeval.evaluate(talks(), "clerk=maker/clerk", **options, api_key_env="MY_KEY")
        # 12 dialogues under one criterion, and 6 pairs in both orders
        assert len(endpoint.log) == 12 + 6 * 2
        again = dialeval.evaluate(talks(8), "clerk=maker/clerk", **options, api_key_env="MY_KEY")
        assert len(endpoint.log) == 16 + 8 * 2, "only the new dialogues"
    means = again["quality/means"].set_index("system")["estimate"]
    assert means.to_dict() == {"able": 5.0, "weak": 2.0}
    cases = run.cases("better")
    assert set(cases["status"]) == {"ok"}
    assert all(row.outcome == ("left" if row.left == "able" else "right") for row in cases.itertuples())
    marks = {"able": "sounds fun", "weak": "Yes yes"}
    for side in ("left", "right"):
        assert all(marks[system] in text for system, text in zip(cases[side], cases[f"{side}_dialogue"], strict=True))
    shown = cases.set_index("left").loc["able", "left_dialogue"].iloc[0]
    assert shown == "user: I went to town 0 today.\nassistant: That sounds fun; who went with you? (0)"
    assert "| able" in again._repr_markdown_()
    assert f"report: {folder / 'results' / 'report' / 'index.html'}" in capsys.readouterr().out
    assert not any(KEY.encode() in path.read_bytes() for path in folder.rglob("*") if path.is_file())


def test_a_budget_is_kept_and_a_higher_one_resumes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", KEY)
    with LoopbackEndpoint(judge) as endpoint:
        options: dict[str, Any] = {"criteria": {"tact": "Is it tactful?"}, "folder": tmp_path, "api_key_env": "MY_KEY"}
        options |= {"base_url": endpoint.url, "pairs": False, "price_input": 2.5, "price_output": {"clerk": 10}}
        with pytest.raises(dialeval.UserError, match="budget"):
            dialeval.evaluate(talks(), "clerk=c", **options, budget=0.000001)
        assert not endpoint.log
        run = dialeval.evaluate(talks(), "clerk=c", **options, budget=5)
        assert len(endpoint.log) == 12
    assert 0 < run["usage"]["spent"].sum() < 5


def test_an_embedded_judge_scores_one_system_without_cases(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    frame = talks().query("system == 'able'").drop(columns=["system", "case_id"])
    run = dialeval.evaluate(frame, "forest", "coherence", folder=tmp_path, system="mine", cores=2)
    assert capsys.readouterr().out.count("6 dialogues with 12 utterances") == 1
    assert run["quality/means"]["system"].tolist() == ["mine"]
    assert run["quality/means"]["n"].tolist() == [6]
    cases = run.cases("quality")
    assert len(cases) == 6
    assert cases["left_dialogue"].str.startswith("user: I went to town").all()
    with pytest.raises(dialeval.UserError, match="no judgements under a protocol 'qualty'; did you mean 'quality'"):
        run.cases("qualty")


SCRIPT = """
import pandas, dialeval
dialeval.evaluate(pandas.read_json({frame!r}), "clerk=c", "coherence", folder={folder!r}, base_url={url!r}, pairs=False)
"""


def test_ctrl_c_ends_the_run_and_keeps_what_was_answered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WARM_START")  # signals do not reach what it starts
    folder = tmp_path / "study"
    talks(20).to_json(tmp_path / "frame.json")

    def slowly(call: Call) -> Reply:
        return Reply(completion("coherence - 4"), delay=0.0 if len(endpoint.log) < 8 else 60.0)

    with LoopbackEndpoint(slowly) as endpoint:
        words = {"frame": str(tmp_path / "frame.json"), "folder": str(folder), "url": endpoint.url}
        process = subprocess.Popen(
            [sys.executable, "-c", SCRIPT.format(**words)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        while len(endpoint.log) < 8:
            assert process.poll() is None, process.communicate()[0]
            time.sleep(0.1)
        os.kill(process.pid, signal.SIGINT)  # as a notebook does; a terminal sends it to all processes
        output = process.communicate(timeout=120)[0]
    assert process.returncode != 0
    assert output.rstrip().endswith("KeyboardInterrupt"), output
    assert re.search(r"stopped; stored responses are kept: call evaluate with folder='.*study' again", output)
    stored = [line for path in folder.glob("store/*/*/*.jsonl") for line in path.open("rb")]
    assert 0 < len(stored) < 40
    running = subprocess.run(["ps", "-s", str(process.pid), "-o", "args="], capture_output=True, text=True, check=False)
    assert running.stdout == "", "no process of the run is left"
