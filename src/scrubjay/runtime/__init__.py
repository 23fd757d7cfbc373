"""Runtime: threads, progress lines, private files and the paths of this machine."""
