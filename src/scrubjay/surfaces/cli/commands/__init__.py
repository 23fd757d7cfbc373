"""The commands of the shell: each takes the parsed line and returns an exit code."""
