"""Detection of changes: which memory says something else about the same matter than an earlier one."""
