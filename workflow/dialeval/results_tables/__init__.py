"""Tables of a finished run: which there are, what their columns mean, and how others take them over."""
