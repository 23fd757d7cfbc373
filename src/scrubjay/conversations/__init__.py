"""Conversations: messages, and the facts that a language model extracts from them."""
