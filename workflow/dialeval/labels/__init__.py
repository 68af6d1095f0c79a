"""People's labels: what is drawn for people, the pages on which they label, and reading back what they said."""
