"""The channel between a worker and a receiver of checkpoints.

Both ends prove the run's secret, and all that is sent after that is authenticated; it is not
encrypted. src/checkpoint/receiver_protocol.h describes the protocol.
"""

import hashlib
import hmac
import os
import struct
import time

PROTOCOL = "stint.receiver/2"
NONCE_BYTES = 16
LINE_MAX = 4096
FRAME_MAX = 1 << 20
HEAD = struct.Struct(">I")
COUNTED_HEAD = struct.Struct(">QI")
TAG_BYTES = 32


def derived(secret, role, purpose, nonces):
    """The proof, or the key, of one end of a connection, in bytes. `nonces` are the receiver's and
    the client's."""
    text = " ".join((PROTOCOL, role, purpose, *nonces))
    return hmac.new(secret, text.encode(), hashlib.sha256).digest()


class Frames:
    """The frames of one sender, which are numbered."""

    def __init__(self, key):
        self._keyed = hmac.new(key, digestmod=hashlib.sha256)
        self._number = 0

    def tag(self, data):
        """The HMAC of the next frame."""
        tag = self._keyed.copy()
        tag.update(COUNTED_HEAD.pack(self._number, len(data)))
        tag.update(data)
        self._number += 1
        return tag.digest()


class Channel:
    """The client's end. Raises OSError where the other end is gone, is no receiver, or does not
    prove the secret within this many seconds, and where a frame is not authentic. `who` names the
    other end in errors. Waits are limited by the timeout of the connection from then on."""

    def __init__(self, connection, secret, who, seconds):
        self._connection = connection
        self._who = who
        self._deadline = time.monotonic() + seconds
        timeout = connection.gettimeout()
        nonces = (self._nonce(), os.urandom(NONCE_BYTES).hex())
        proof = derived(secret, "client", "proof", nonces).hex()
        connection.sendall(f"{PROTOCOL} {nonces[1]} {proof}\n".encode())
        if not hmac.compare_digest(self._first_line().encode(),
                                   derived(secret, "receiver", "proof", nonces).hex().encode()):
            raise OSError(f"{who} does not know the secret of the run; nothing was sent to it")
        connection.settimeout(timeout)
        self._own = Frames(derived(secret, "client", "key", nonces))
        self._theirs = Frames(derived(secret, "receiver", "key", nonces))

    def write_line(self, line):
        """Sends a line in one packet."""
        data = (line + "\n").encode()
        self._connection.sendall(HEAD.pack(len(data)) + data + self._own.tag(data))

    def write(self, data):
        """Sends a frame of at most FRAME_MAX bytes."""
        self._connection.sendall(HEAD.pack(len(data)))
        self._connection.sendall(data)
        self._connection.sendall(self._own.tag(data))

    def read_line(self):
        """A line without its newline."""
        size = self._size()
        if not 0 < size <= LINE_MAX:
            raise self._false()
        data = bytearray(size)
        self._fill(memoryview(data))
        if data.find(b"\n") != size - 1:
            raise self._false()
        return data[:-1].decode(errors="replace")

    def read(self, target):
        """Fills `target`, a memoryview, from a frame of as many bytes."""
        if self._size() != len(target):
            raise self._false()
        self._fill(target)

    def _nonce(self):
        """Of the receiver, from its first line."""
        words = self._first_line().split(" ")
        if words[0] != PROTOCOL and words[0].startswith(PROTOCOL.split("/", 1)[0] + "/"):
            raise OSError(f"{self._who} speaks {words[0]}, and this is {PROTOCOL}: use the same "
                          "version of stint on all machines")
        if len(words) != 2 or words[0] != PROTOCOL:
            raise OSError(f"{self._who} is not a receiver: it answers '{' '.join(words)[:40]}'")
        return words[1]

    def _first_line(self):
        """A line before both ends have proven the secret, byte by byte: frames follow."""
        line = b""
        while not line.endswith(b"\n"):
            # Who sends a byte now and then is not silent, but takes too long.
            self._connection.settimeout(max(0.001, self._deadline - time.monotonic()))
            byte = self._connection.recv(1)
            if not byte or len(line) > LINE_MAX:
                raise OSError(f"{self._who} hung up: it is gone, or the secret is wrong")
            line += byte
        return line.decode(errors="replace").rstrip("\n")

    def _size(self):
        head = bytearray(HEAD.size)
        self._read_into(memoryview(head))
        return HEAD.unpack(head)[0]

    def _fill(self, target):
        """Reads the rest of a frame."""
        self._read_into(target)
        tag = bytearray(TAG_BYTES)
        self._read_into(memoryview(tag))
        if not hmac.compare_digest(tag, self._theirs.tag(target)):
            raise self._false()

    def _read_into(self, target):
        while target:
            count = self._connection.recv_into(target)
            if not count:
                raise OSError(f"{self._who} closed the connection before its answer was complete")
            target = target[count:]

    def _false(self):
        return OSError(f"{self._who} sent an answer that is not authentic")
