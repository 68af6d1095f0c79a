"""Transcripts: dialogues of anyone's systems, in the formats that they are exported in. One module reads one format."""
