"""The places of checkpoints: shards of a state, in a folder or in the memory of receivers."""

import concurrent.futures
import os
import socket
import struct

import torch

from stint import state as states
from stint.channel import FRAME_MAX, Channel
from stint.crash import crash_at
from stint.sockets import spare

CONNECT_TIMEOUT = 10  # Seconds.
TRANSFER_TIMEOUT = 60  # Without a byte.
SHARD_MAX = 64 << 30
CRC = struct.Struct("<I")


class Folder:
    """Keeps shards as files. A shard has its name only once it is complete."""

    def __init__(self, path):
        self._path = path

    def _name(self, step, number, count):
        return os.path.join(self._path, f"step-{step}", f"shard-{number}-of-{count}")

    def put(self, step, number, count, data, checksum):
        """Returns when the shard is on the disk. Raises OSError, and then leaves nothing behind."""
        name = self._name(step, number, count)
        folder = os.path.dirname(name)
        _make_folder(folder)
        try:
            with open(name + ".part", "wb", buffering=0) as file:
                _write_all(file, CRC.pack(checksum))
                bytes_of = memoryview(data.numpy())
                _write_all(file, bytes_of[:len(data) // 2])
                crash_at("send")
                _write_all(file, bytes_of[len(data) // 2:])
                os.fsync(file.fileno())
            crash_at("rename")
            os.rename(name + ".part", name)
            _sync_folder(folder)
            # Another worker may have made the folder, and not synced it yet.
            _sync_folder(os.path.dirname(folder))
        except OSError:
            _remove(name + ".part")
            raise

    def get(self, step, number, count):
        """The bytes of a shard. Raises OSError, or ValueError if they are damaged."""
        name = self._name(step, number, count)
        with open(name, "rb", buffering=0) as file:
            checksum = file.read(CRC.size)
            data = torch.empty(max(0, os.fstat(file.fileno()).st_size - CRC.size),
                               dtype=torch.uint8)
            _fill(memoryview(data.numpy()), file.readinto, name)
        if len(checksum) != CRC.size or states.checksum(data) != CRC.unpack(checksum)[0]:
            raise ValueError(f"{name} is damaged: its checksum is wrong")
        return data


class Receivers:
    """Keeps shards in the memory of other machines; shard k is stored on receiver k mod R."""

    def __init__(self, addresses, secret):
        self._addresses = addresses
        self._secret = bytes.fromhex(secret)

    def _connect(self, number):
        address, port = self._addresses[number % len(self._addresses)]
        return Receiver(address, port, self._secret)

    def put(self, step, number, count, data, checksum):
        """Returns when the receiver has confirmed the shard. Raises OSError."""
        with self._connect(number) as receiver:
            receiver.put(f"put {step} {number} {count} {len(data)} {checksum}",
                         memoryview(data.numpy()))

    def get(self, step, number, count):
        """The bytes of a shard. Raises OSError, or ValueError if they are damaged."""
        with self._connect(number) as receiver:
            return receiver.get(f"get {step} {number} {count}")


class Receiver:
    """A connection to one receiver; both ends have proven the run's secret."""

    def __init__(self, address, port, secret):
        self._who = f"the receiver {address}:{port}"
        self._socket = socket.create_connection((address, port), timeout=CONNECT_TIMEOUT)
        spare(self._socket)
        self._socket.settimeout(TRANSFER_TIMEOUT)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            self._channel = Channel(self._socket, secret, self._who, TRANSFER_TIMEOUT)
        except BaseException:
            self._socket.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._socket.close()

    def put(self, request, data):
        """Sends a shard and waits for the confirmation."""
        try:
            self._channel.write_line(request)
            for at in range(0, len(data), FRAME_MAX):
                if at == len(data) // 2 // FRAME_MAX * FRAME_MAX:
                    crash_at("send")
                self._channel.write(data[at:at + FRAME_MAX])
            answer = self._channel.read_line()
        except (BrokenPipeError, ConnectionResetError) as problem:
            raise OSError(f"{self._who} hung up: it is gone") from problem
        if answer != "kept":
            raise OSError(f"{self._who} did not store the shard: {answer}")

    def get(self, request):
        """Requests a shard."""
        self._channel.write_line(request)
        answer = self._channel.read_line().split()
        if len(answer) != 3 or answer[0] != "here" or int(answer[1]) > SHARD_MAX:
            raise OSError(f"{self._who} does not have the shard: {' '.join(answer)}")
        data = torch.empty(int(answer[1]), dtype=torch.uint8)
        target = memoryview(data.numpy())
        for at in range(0, len(data), FRAME_MAX):
            self._channel.read(target[at:at + FRAME_MAX])
        if states.checksum(data) != int(answer[2]):
            raise ValueError(f"{self._who} sent a shard whose checksum is wrong")
        return data


def place_of(facts):
    """The place of an order."""
    if "folder" in facts:
        return Folder(facts["folder"])
    return Receivers(facts["receivers"], facts["secret"])


def load(facts, step, count, checksums=None):
    """The bytes of a whole checkpoint. Raises OSError or ValueError. `checksums`, if known, are
    those that were reported when the shards were saved."""
    place = place_of(facts)
    at_once = len(facts.get("receivers", [None]))
    with concurrent.futures.ThreadPoolExecutor(at_once) as threads:
        shards = list(threads.map(lambda number: place.get(step, number, count), range(count)))
    for number, shard in enumerate(shards):
        if checksums and states.checksum(shard) != checksums[number]:
            raise ValueError(f"shard {number} of step {step} has a wrong checksum")
    return torch.cat(shards)


def _write_all(file, data):
    """Unbuffered files may write fewer bytes than requested."""
    data = memoryview(data)
    while data:
        data = data[file.write(data):]


def _fill(target, read_into, who):
    while target:
        count = read_into(target)
        if not count:
            raise OSError(f"{who} is truncated")
        target = target[count:]


def _make_folder(path):
    """Makes a folder and those above it; each that is made is on the disk with its parent."""
    parent = os.path.dirname(path)
    if parent and not os.path.isdir(parent):
        _make_folder(parent)
    try:
        os.mkdir(path, mode=0o700)
    except FileExistsError:
        return
    _sync_folder(path)
    _sync_folder(parent or ".")


def _sync_folder(path):
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _remove(path):
    try:
        os.unlink(path)
        os.rmdir(os.path.dirname(path))  # Only if no other worker has a shard in it.
    except OSError:
        pass
