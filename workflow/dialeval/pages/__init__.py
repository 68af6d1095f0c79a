"""What the HTML pages of the project share: one file each, which works from disk and asks nothing of any network."""
