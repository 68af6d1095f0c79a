"""Lets the command be typed as `python -m dialeval`, where its own name is not on the path."""

import sys

from dialeval.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
