"""Provenance of a run's files: fingerprints, records, cached outputs, unused and outdated files."""

from dialeval.provenance.records import read_provenance

__all__ = ["read_provenance"]
