"""Cost of a change of code that changes no result.

Runs the small configuration of the tests in a new folder, changes a line of the first stage, and runs it again: the
processor time of both and of a run with nothing to do, and how many jobs restored cached outputs. Takes 1 min.
"""

from __future__ import annotations

import os
import resource
import sys
import tempfile
from pathlib import Path

from gates import ROOT, Gates, arguments

sys.path.insert(0, str(ROOT / "tests/support"))

from workspace import Workspace, new_workspace


def timed(workspace: Workspace) -> tuple[float, int]:
    """Run the workflow; return the processor seconds, its jobs included, and how many jobs restored cached outputs."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = workspace.start()
    output, _ = process.communicate()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert process.returncode == 0, output
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, output.count("is put back")


def main() -> int:
    """Run, change, run again."""
    gates = Gates(__file__, arguments(__doc__).parse_args())
    os.environ["WORKSPACE_PROJECT"] = str(ROOT)
    with tempfile.TemporaryDirectory() as folder:
        workspace = new_workspace(Path(folder) / "work")
        whole, _ = timed(workspace)
        gates.told("the tests' small run from scratch", whole, unit="CPU s")
        nothing, _ = timed(workspace)
        gates.told("the same with nothing to do", nothing, unit="CPU s")
        workspace.edit("workflow/dialeval/stages/corpora.py", "def read_corpus", "UNUSED = 1\n\n\ndef read_corpus")
        seconds, jobs = timed(workspace)
        gates.at_most(
            "after a changed line that changes nothing made", seconds / whole, 0.25, unit="x", against="from scratch"
        )
        gates.told("jobs that it put back", jobs)
    return gates.finish()


if __name__ == "__main__":
    sys.exit(main())
