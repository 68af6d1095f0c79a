"""Where the files of a run lie: every path below its results, by the configuration."""
