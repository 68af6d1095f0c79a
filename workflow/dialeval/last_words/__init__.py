"""What a run that failed says last: why each job failed, where its log is, and the command to go on."""

from dialeval.last_words.gathered import say_at_exit
from dialeval.last_words.notices import Notices

__all__ = ["Notices", "say_at_exit"]
