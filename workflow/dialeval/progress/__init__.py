"""How far a stage, its job and the whole run are, in lines for people and in small files."""

from dialeval.jobs.progress import Progress

__all__ = ["Progress"]
