"""The page on prompts, generated from their descriptions."""
