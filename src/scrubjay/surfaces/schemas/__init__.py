"""JSON schemas of what the commands print with `--json`, one file each."""
