"""What keeps memories and what finds them; the protocols are in `protocols.py`."""
