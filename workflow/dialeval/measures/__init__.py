"""What a measure knows beside judgements, judgements in groups, and pairwise verdicts as arrays."""
