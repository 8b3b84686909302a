"""The workers that train together, until the next change of machines."""

import datetime
import math
import os
import socket
import stat
import threading
import time

import torch.distributed as dist

# For a worker that hangs. One that is gone is noticed by its connections, or the runner says so.
PEER_TIMEOUT = datetime.timedelta(seconds=float(os.environ.get("STINT_PEER_TIMEOUT", 120)))
CONNECT_AGAIN = 0.02  # Seconds.
KEEP_ALIVE = {"TCP_KEEPIDLE": 5, "TCP_KEEPINTVL": 2, "TCP_KEEPCNT": 3}  # Noticed after 11 s.

_spared = set()  # Sockets of this process that belong to no group, by inode.


class NoGroup(RuntimeError):
    """The others were not reached, or the runner had other orders."""


def spare(connection):
    """Keeps a connection of ours from being shut down together with a group."""
    _spared.add(os.fstat(connection.fileno()).st_ino)


def _sockets():
    """The descriptors of this process's sockets, by inode."""
    found = {}
    for name in os.listdir("/proc/self/fd"):
        try:
            about = os.fstat(int(name))
        except OSError:
            continue  # Closed since.
        if stat.S_ISSOCK(about.st_mode):
            found[about.st_ino] = int(name)
    return found


def _each(inodes, act):
    """Does something to the connections with these inodes."""
    for inode, descriptor in _sockets().items():
        if inode not in inodes:
            continue
        try:
            with socket.socket(fileno=os.dup(descriptor)) as one:
                connects = (one.family in (socket.AF_INET, socket.AF_INET6)
                            and one.type == socket.SOCK_STREAM
                            and not one.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN))
                if connects and os.fstat(one.fileno()).st_ino == inode:
                    act(one)
        except OSError:
            pass  # It is gone already, which is as well.


def _keep_alive(connection):
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in KEEP_ALIVE.items():
        connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


class Group:
    """A Gloo process group that another thread can break off.

    Gloo has no way to give up a sum, and a machine that vanishes does not reset its connections.
    But the group's sockets are this process's own: those that were opened while it was joined. Once
    they are shut down, all that waits for them fails at once.
    """

    def __init__(self):
        self._lock = threading.Lock()
        self._attempt = None  # None: there is no group.
        self._before = set()  # Sockets that were there before.
        self._sockets = None  # The group's; None: it is still being joined.
        self.broken_off = False

    def join(self, rank, world, master, port, attempt):
        """Waits for all others. Raises NoGroup if that fails."""
        with self._lock:
            self._attempt, self._before, self._sockets = attempt, set(_sockets()), None
            self.broken_off = False
        try:
            if rank > 0:
                self._await_master(master, port)
            store = dist.TCPStore(master, port, world, rank == 0, timeout=PEER_TIMEOUT,
                                  wait_for_workers=False)
            dist.init_process_group("gloo", store=store, rank=rank, world_size=world,
                                    timeout=PEER_TIMEOUT, group_name=f"attempt-{attempt}")
        except RuntimeError as problem:
            raise NoGroup(str(problem)) from problem
        with self._lock:
            self._sockets = set(_sockets()) - self._before - _spared
            if self.broken_off:
                raise NoGroup("the group was broken off while it was joined")
            _each(self._sockets, _keep_alive)

    def leave(self):
        """After this there is no group; sums that are under way fail."""
        self.break_off()
        if dist.is_initialized():
            dist.destroy_process_group()
        # A group that was never complete leaves its number behind, and the next one's must be
        # the same on all workers.
        counter = getattr(dist.distributed_c10d, "_world", None)
        if counter is not None:
            counter.group_count = 0
        with self._lock:
            self._attempt = None

    def break_off(self, before=math.inf):
        """Makes all that waits for the group of an attempt before this one fail. May be called by
        any thread, at any time."""
        with self._lock:
            if self._attempt is None or self._attempt >= before:
                return
            self.broken_off = True
            mine = self._sockets
            if mine is None:
                mine = set(_sockets()) - self._before - _spared
            _each(mine, lambda one: one.shutdown(socket.SHUT_RDWR))

    def _await_master(self, master, port):
        """Waits until the first worker listens. PyTorch would look once a second, and not stop."""
        deadline = time.monotonic() + PEER_TIMEOUT.total_seconds()
        while not self.broken_off:
            try:
                socket.create_connection((master, port), timeout=1).close()
                return
            except OSError as problem:
                if time.monotonic() > deadline:
                    raise RuntimeError(f"connection to {master}:{port} failed: {problem}")
            time.sleep(CONNECT_AGAIN)
        raise NoGroup("the group was broken off while it was joined")
