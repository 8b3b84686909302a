"""Ports for tests that start several workers."""

import fcntl
import os
import random
import socket
import tempfile

# Below those that Linux gives to whoever asks for any, so that nobody gets ours by chance.
FIRST, LAST = 18000, 27999
_kept = []  # Open files, whose locks say which ports are ours until this process ends.


def free_port():
    """Returns a port of this computer that nobody listens on, as text. No other test gets it while
    this one runs, though nobody listens on it yet."""
    folder = os.path.join(tempfile.gettempdir(), f"stint-test-ports-{os.getuid()}")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    for port in random.sample(range(FIRST, LAST + 1), LAST + 1 - FIRST):
        file = open(os.path.join(folder, str(port)), "w", encoding="utf-8")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with socket.socket() as one:
                one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                one.bind(("127.0.0.1", port))
        except OSError:
            file.close()
            continue
        _kept.append(file)
        return str(port)
    raise OSError(f"no port from {FIRST} to {LAST} is free")
