"""Points at which a test can kill this process."""

import os
import signal

POINTS = ("copy", "send", "rename", "kept", "restore", "share")


def crash_at(point, variables=os.environ):
    """Kills this process if the point is in the comma-separated list of STINT_CRASH_AT. With
    STINT_CRASH_ONCE only the first process that reaches the point is killed: it creates the file of
    that name with the suffix ".POINT"."""
    if point not in variables.get("STINT_CRASH_AT", "").split(","):
        return
    once = variables.get("STINT_CRASH_ONCE")
    if once:
        try:
            os.close(os.open(f"{once}.{point}", os.O_CREAT | os.O_EXCL, 0o600))
        except FileExistsError:
            return
    os.kill(os.getpid(), signal.SIGKILL)
