"""The connections of this process, also those that were opened by libraries."""

import os
import socket
import stat

KEEP_ALIVE = {"TCP_KEEPIDLE": 5, "TCP_KEEPINTVL": 2, "TCP_KEEPCNT": 3}  # Noticed after 11 s.

_spared = set()  # Sockets that belong to no group, by inode.


def spare(connection):
    """Keeps a connection of ours from being taken for one of a group."""
    _spared.add(os.fstat(connection.fileno()).st_ino)


def sockets():
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


def connections_since(before):
    """Second descriptors of the TCP connections that were not among the inodes `before`."""
    found = []
    for inode, descriptor in sockets().items():
        if inode in before or inode in _spared:
            continue
        try:
            one = socket.socket(fileno=os.dup(descriptor))
        except OSError:
            continue  # Closed since.
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
    """Whether one end of a connection has this port; also if it is not connected any more."""
    try:
        return port in (connection.getsockname()[1], connection.getpeername()[1])
    except OSError:
        return True


def keep_alive(connection):
    """Has the kernel look whether the other end is still there when nothing is said."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in KEEP_ALIVE.items():
        connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


def shut_down(connection):
    """Makes all that waits for a connection fail."""
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass  # It is gone already, which is as well.
