"""What a changed line costs that changes nothing that is made: `python benchmarks/put_back.py FOLDER`.

Runs the small configuration of the tests in a new folder, changes a line of the first stage, and runs it again. Prints
processor time of both and of a run with nothing to do, and how many jobs were put back.
"""

from __future__ import annotations

import os
import resource
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests/support"))

from workspace import Workspace, new_workspace  # noqa: E402 - stands in the tests' folder


def timed(workspace: Workspace, what: str) -> None:
    """Runs the workflow and prints what it took, its jobs included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = workspace.start()
    output, _ = process.communicate()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert process.returncode == 0, output
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"{what}: {seconds:.1f} s of processor time, {output.count('is put back')} jobs put back", flush=True)


def main() -> None:
    """Runs, changes, runs again."""
    os.environ["WORKSPACE_PROJECT"] = str(ROOT)
    workspace = new_workspace(Path(sys.argv[1]))
    timed(workspace, "from scratch")
    timed(workspace, "nothing to do")
    workspace.edit("workflow/dialeval/stages/read_corpus.py", "if __name__", "UNUSED = 1\n\nif __name__")
    timed(workspace, "a changed line that changes nothing")


if __name__ == "__main__":
    main()
