"""The evaluation protocols: what is asked (plan) and what an answer means (parse), side by side."""
