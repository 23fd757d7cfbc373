"""Conversations: parse messages, and extract facts from them with a language model."""
