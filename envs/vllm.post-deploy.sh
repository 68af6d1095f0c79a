#!/usr/bin/env bash
# As core.post-deploy.sh, with vLLM.
set -euo pipefail
python -m pip install --editable "$(dirname "${BASH_SOURCE[0]}")/..[vllm]"
