"""Text analysis: tokens, languages, query syntax, snippets and dates."""
