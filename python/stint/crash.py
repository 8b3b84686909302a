"""Points at which a test can kill this process."""

import os
import signal

POINTS = ("copy", "send", "rename", "kept", "restore", "share")


def crash_at(point, variables=os.environ):
    """Kills this process if STINT_CRASH_AT names the point. With STINT_CRASH_ONCE, a file that is
    made then, it happens only to the first process that comes here."""
    if variables.get("STINT_CRASH_AT") != point:
        return
    once = variables.get("STINT_CRASH_ONCE")
    if once:
        try:
            os.close(os.open(once, os.O_CREAT | os.O_EXCL, 0o600))
        except FileExistsError:
            return
    os.kill(os.getpid(), signal.SIGKILL)
