"""Tables of text files: reading, parsing and encoding as numbers."""
