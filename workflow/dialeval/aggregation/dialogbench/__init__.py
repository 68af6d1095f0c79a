"""DialogBench's tables, as rows: of items, of right answers, of places, of people, of what was written."""
