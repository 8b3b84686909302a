#!/usr/bin/python3
"""Tests hosts that ssh reaches, with OpenSSH's servers in namespaces of their own.

Usage: ssh.py STINT_BINARY PROVIDER_TEST smoke|all

It starts the servers, and src/provider/ssh/ssh_sshd_test.cc uses them. Where there is no sshd, or
namespaces are not allowed, it says so and exits 77.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from local_cloud import EXIT_SKIPPED, SECONDS_MAX, expect  # noqa: E402

INSIDE = "STINT_SSH_INSIDE"  # Set once this process has a network of its own.
SSHD = "/usr/sbin/sshd"  # It starts itself again, hence the whole path.
HOSTS = ("good", "unknown", "changed", "full", "other")
SMOKE = "SshSshdTest.AHostWorks:SshSshdTest.AnUnknownHostKeyIsRefused"

# A host: its NIC, a home folder, and nothing of the computer's /run.
SETUP = """
set -e
while ! ip link show eth0 >/dev/null 2>&1; do sleep 0.01; done
ip link set lo up; ip address add {address}/24 dev eth0; ip link set eth0 up
if test {name} = full; then
  mount -t tmpfs -o size=64k tmpfs /root
else
  mount --bind {folder}/{name}-home /root
fi
test {name} != other || mount --bind {folder}/uname "$(command -v uname)"
mount --bind {folder}/shadow /etc/shadow
mount -t tmpfs tmpfs /run; mkdir -m 755 /run/sshd
exec {sshd} -D -e -f {folder}/{name}.sshd
"""

SERVER = """
ListenAddress {address}
HostKey {folder}/{name}.key
AuthorizedKeysFile {folder}/user.pub
PermitRootLogin prohibit-password
PasswordAuthentication no
StrictModes no
UsePAM no
PidFile none
"""

CLIENT = """
Host {name}
  HostName {address}
  HostKeyAlias {name}
"""

ALL = """
Host *
  User root
  IdentityFile {folder}/user
  IdentitiesOnly yes
  UserKnownHostsFile {folder}/known
  GlobalKnownHostsFile none
"""


def skip(why):
    """Ends with the code of tests that are not run."""
    print(f"skipped: {why}")
    sys.exit(EXIT_SKIPPED)


def run(*words):
    """Runs a program that must succeed; its output."""
    ran = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS_MAX, check=False)
    expect(ran.returncode == 0, f"{' '.join(words)}: {ran.stderr}")
    return ran.stdout


def make_key(path):
    """Makes a key pair; the public key."""
    run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path)
    return Path(path + ".pub").read_text(encoding="utf-8").strip()


def write_files(folder):
    """Writes keys and configurations of all hosts."""
    make_key(f"{folder}/user")
    Path(folder, "shadow").write_text("root:*:19000:0:99999:7:::\nsshd:!:19000::::::\n")
    Path(folder, "uname").write_text("#!/bin/sh\necho riscv64\n")
    os.chmod(f"{folder}/uname", 0o755)
    config, known = "", ""
    for number, name in enumerate(HOSTS, 1):
        facts = {"name": name, "folder": folder, "address": f"10.88.0.{number}", "sshd": SSHD}
        key = make_key(f"{folder}/{name}.key")
        if name == "changed":
            key = make_key(f"{folder}/changed.other")
        known += "" if name == "unknown" else f"{name} {key}\n"
        Path(folder, f"{name}-home").mkdir()
        Path(folder, f"{name}.sshd").write_text(SERVER.format(**facts))
        Path(folder, f"{name}.setup").write_text(SETUP.format(**facts))
        config += CLIENT.format(**facts)
    Path(folder, "config").write_text(config + ALL.format(folder=folder))
    Path(folder, "known").write_text(known)


def start_host(folder, name):
    """Starts the server of a host and connects it; its process."""
    log = open(f"{folder}/{name}.log", "w", encoding="utf-8")
    process = subprocess.Popen(["unshare", "--net", "--mount", "--propagation", "private",
                                "/bin/sh", f"{folder}/{name}.setup"], stdin=subprocess.DEVNULL,
                               stdout=log, stderr=log)
    own = os.readlink("/proc/self/ns/net")
    end = time.monotonic() + SECONDS_MAX
    while os.readlink(f"/proc/{process.pid}/ns/net") == own:
        expect(process.poll() is None and time.monotonic() < end, f"{name} has no namespace")
        time.sleep(0.01)
    run("ip", "link", "add", name, "type", "veth", "peer", "name", "eth0", "netns",
        str(process.pid))
    run("ip", "link", "set", name, "master", "hosts", "up")
    while "listening" not in Path(f"{folder}/{name}.log").read_text(encoding="utf-8"):
        expect(process.poll() is None and time.monotonic() < end,
               f"{name}: {Path(f'{folder}/{name}.log').read_text(encoding='utf-8')}")
        time.sleep(0.02)
    return process


def main():
    """Starts the hosts and runs the tests."""
    binary, tests, mode = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3]
    if not os.path.exists(SSHD) or not shutil.which("ssh"):
        skip("there is no sshd (Debian: openssh-server)")
    if os.geteuid() != 0:
        skip("namespaces with servers in them need root")
    if INSIDE not in os.environ:
        allowed = subprocess.run(["unshare", "--net", "--mount", "true"], check=False)
        if allowed.returncode != 0:
            skip("namespaces are not allowed here")
        # All servers end with the first process of the namespace.
        os.execvpe("unshare", ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child",
                               "--mount-proc", sys.executable, *sys.argv],
                   os.environ | {INSIDE: "1"})
    with tempfile.TemporaryDirectory(prefix="stint-ssh-") as folder:
        write_files(folder)
        run("ip", "link", "set", "lo", "up")
        run("ip", "link", "add", "hosts", "type", "bridge")
        run("ip", "address", "add", "10.88.0.254/24", "dev", "hosts")
        run("ip", "link", "set", "hosts", "up")
        servers = [start_host(folder, name) for name in HOSTS]
        tested = subprocess.run(
            [tests, "--gtest_filter=" + (SMOKE if mode == "smoke" else "SshSshdTest.*")],
            env=os.environ | {"STINT_SSHD": folder, "STINT_BINARY": binary}, check=False)
        for server in servers:
            server.kill()
            server.wait()
    sys.exit(tested.returncode)


if __name__ == "__main__":
    main()
