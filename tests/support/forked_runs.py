"""Runs many Python commands from one start of Python: a fork of a process that has imported what is slow.

    python forked_runs.py < commands.jsonl > results.jsonl

Commands of a line are [["snakemake", ...] or ["python", "-m", module, ...] or ["python", script, ...], ...]; their
results are a line [[exit status, output], ...] in their order.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
import tempfile
from pathlib import Path


def run(words: list[str]) -> tuple[int, str]:
    """Runs one command in a fork and returns its exit status and output."""
    with tempfile.TemporaryFile() as output:
        child = os.fork()
        if child == 0:
            os.dup2(output.fileno(), 1)
            os.dup2(output.fileno(), 2)
            status = 1
            try:
                _become(words)
                status = 0
            except SystemExit as ending:
                status = ending.code if isinstance(ending.code, int) else 0 if ending.code is None else 1
                if isinstance(ending.code, str):
                    print(ending.code)
            except BaseException:
                import traceback

                traceback.print_exc()
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
        _, ended = os.waitpid(child, 0)
        output.seek(0)
        return os.waitstatus_to_exitcode(ended), output.read().decode(errors="replace")


def _become(words: list[str]) -> None:
    if words[0] == "snakemake":
        from snakemake.cli import main

        sys.argv = words
        main(words[1:])
    elif words[1] == "-m":
        sys.argv = words[2:]
        sys.modules.pop(words[2], None)
        runpy.run_module(words[2], run_name="__main__", alter_sys=True)
    else:
        sys.argv = words[1:]
        sys.path.insert(0, str(Path(words[1]).parent))
        runpy.run_path(words[1], run_name="__main__")


if __name__ == "__main__":
    import snakemake.cli
    import snakemake.dag  # noqa: F401
    from warm_start import build_models, import_ours, import_what_rules_use

    import_ours()  # remembered by every fork
    import_what_rules_use(Path.cwd())
    build_models()
    for line in sys.stdin:
        print(json.dumps([run(words) for words in json.loads(line)]), flush=True)
