#!/usr/bin/env bash
# Run by Snakemake in the environment that it has just made. The project stays where it is, so that the jobs run the
# code that their fingerprints are of.
set -euo pipefail
python -m pip install --editable "$(dirname "${BASH_SOURCE[0]}")/.."
