#!/usr/bin/env bash
# Run by Snakemake in the environment that it has just made, from a copy. The project stays where it is, so that the jobs
# run the code that their fingerprints are of.
set -euo pipefail
python -m pip install --editable "${DIALEVAL_PROJECT:?is set by the workflow: run snakemake --sdm conda}[train]"
