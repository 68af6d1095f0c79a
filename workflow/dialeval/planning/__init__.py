"""What a study will ask, cost and show: usage, prices, power, and what is missing before it starts."""
