"""Lets the tests of engines and protocols import the scripted engine that lies beside this file."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
