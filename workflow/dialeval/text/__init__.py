"""What text is made of, and which texts belong together: for whatever counts, compares or learns from them."""
