"""Meta-evaluation: scores of judges beside the ratings of people, and what follows from the two."""
