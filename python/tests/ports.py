"""Ports for tests that start several workers."""

import socket


def free_port():
    """Returns a port of this computer that nobody listens on, as text."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return str(one.getsockname()[1])
