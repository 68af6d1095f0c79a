"""The report of a run, in one HTML file that works offline, and its summary in the terminal."""
