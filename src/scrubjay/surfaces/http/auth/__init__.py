"""Authentication: API keys and browser logins."""
