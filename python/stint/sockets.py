"""The connections of this process, including those that libraries opened."""

import os
import socket
import stat

# A loss is detected after 11 s.
KEEP_ALIVE = {"TCP_KEEPIDLE": 5, "TCP_KEEPINTVL": 2, "TCP_KEEPCNT": 3}

_spared = set()  # Sockets that belong to no group, by inode.


def spare(connection):
    """Excludes a connection of ours from those of a group."""
    _spared.add(os.fstat(connection.fileno()).st_ino)


def sockets():
    """The descriptors of this process's sockets, by inode."""
    found = {}
    for name in os.listdir("/proc/self/fd"):
        try:
            about = os.fstat(int(name))
        except OSError:
            continue  # Closed meanwhile.
        if stat.S_ISSOCK(about.st_mode):
            found[about.st_ino] = int(name)
    return found


def connections_since(before):
    """Second descriptors of the TCP connections that were not among the inodes `before`."""
    found = []
    for inode, descriptor in sockets().items():
        if inode in before or inode in _spared:
            continue
        try:
            one = socket.socket(fileno=os.dup(descriptor))
        except OSError:
            continue  # Closed meanwhile.
        connects = (one.family in (socket.AF_INET, socket.AF_INET6)
                    and one.type == socket.SOCK_STREAM
                    and not one.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
                    and os.fstat(one.fileno()).st_ino == inode)
        if connects:
            found.append(one)
        else:
            one.close()
    return found


def uses_port(connection, port):
    """Whether one end of a connection has this port, even if it is no longer connected."""
    try:
        return port in (connection.getsockname()[1], connection.getpeername()[1])
    except OSError:
        return True


def keep_alive(connection):
    """Makes the kernel check idle connections for a lost peer."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in KEEP_ALIVE.items():
        connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


def shut_down(connection):
    """Makes all waits for a connection fail."""
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass  # It is already closed.
