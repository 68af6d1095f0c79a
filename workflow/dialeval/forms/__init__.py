"""The forms of a question to a judge: what is asked (plan) and what an answer means (parse), side by side."""
