"""What judges learn from: pairs of a true and a spoiled dialogue, or turn, made of people's dialogues."""
