"""The papers' own numbers, one module and one CSV file per paper, for columns beside ours."""
