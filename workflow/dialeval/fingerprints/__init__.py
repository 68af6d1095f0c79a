"""Digests by which other code and other files of the user's are noticed, whatever their time stamps say."""
