#!/usr/bin/env bash
# Run by Snakemake in the environment that it has just made, from a copy.
set -euo pipefail
python -m pip install 'unbabel-comet==2.2.7' 'bert-score==0.3.13' 'setuptools<81'
