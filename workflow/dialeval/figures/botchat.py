"""BotChat's figures, all of them: tables with the schemas `botchat/...` in, matplotlib figures out."""

from dialeval.figures.botchat_arena import figure5_arena, figure_arena_ratings
from dialeval.figures.botchat_lengths import figure2_seed_lengths, figure3_utterance_lengths
from dialeval.figures.botchat_rates import figure4_unieval, figure6_gteval, figure7_unieval_at_gt_length

__all__ = [
    "figure2_seed_lengths",
    "figure3_utterance_lengths",
    "figure4_unieval",
    "figure5_arena",
    "figure6_gteval",
    "figure7_unieval_at_gt_length",
    "figure_arena_ratings",
]
