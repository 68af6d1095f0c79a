"""Where the files of a run come from, and what follows from that: what is put back, left over or outdated."""

from dialeval.provenance.records import read_provenance

__all__ = ["read_provenance"]
