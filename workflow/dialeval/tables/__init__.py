"""How tables are written to files and read back, on file systems that lag behind as well."""
