"""The page on which one person labels: one HTML file that works from disk, and exports the labels."""

from dialeval.labels.page.rendering import page_html

__all__ = ["page_html"]
