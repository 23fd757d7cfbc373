"""Runtime: threads, progress lines and the paths of this machine."""
