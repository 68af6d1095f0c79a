"""The four papers: each of their tables and figures, and what reproduces it here."""
