"""What a run that failed says last: why each job failed, where its log is, and the command to go on."""

from dialeval.jobs.failure_summary import Notices, say_at_exit

__all__ = ["Notices", "say_at_exit"]
