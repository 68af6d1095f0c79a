"""Lets the tests of this folder import the example run and the browser that lie beside them."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
