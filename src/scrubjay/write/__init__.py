"""Writing: memories, chunks, vectors, links, files and entries into a store."""
