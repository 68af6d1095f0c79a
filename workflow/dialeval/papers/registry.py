"""All papers, in the order in which they are shown. Nothing but the report and the docs reads this."""

from __future__ import annotations

from dialeval.papers.botchat import BOTCHAT
from dialeval.papers.comp_analysis import COMP_ANALYSIS
from dialeval.papers.dialogbench import DIALOGBENCH
from dialeval.papers.entry import Paper
from dialeval.papers.xdial_eval import XDIAL_EVAL

PAPERS: tuple[Paper, ...] = (BOTCHAT, DIALOGBENCH, COMP_ANALYSIS, XDIAL_EVAL)
