"""`make fuzz`: feed what strangers may send with inputs that coverage guides, and keep the useful ones."""
