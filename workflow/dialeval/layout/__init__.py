"""Where the files of a run lie: every path below its results, by the configuration."""

from dialeval.layout.run import Layout

__all__ = ["Layout"]
