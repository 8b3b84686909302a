"""VMs for tools/measure_local.py: network namespaces joined by a switch, each with a shaped NIC.

The only place that knows how such VMs are made: by `stint local`, or by hand, to check the one
against the other. By hand the switch is a namespace too, so that no address of the emulation exists
on the host, and everything hangs on processes that this one started, and goes with them.
"""

import os
import subprocess

BURST_MIN = 128 * 1024  # Bytes; smaller ones keep HTB from reaching its rate.
PORT = "29500"  # Port of rank 0.
QUEUE = 4000  # Packets that wait for the NIC; fewer are dropped while all workers send at once.

# TCP settings inside a VM. BBR, the default of some computers, probes the rate repeatedly and lost
# 7 % of 100 Mbit/s between five VMs where Reno, which every computer allows, lost nothing. Links
# are idle during compute, and must not start slowly after it.
TCP = ["net.ipv4.tcp_congestion_control=reno", "net.ipv4.tcp_slow_start_after_idle=0"]


def _run(*words):
    subprocess.run(words, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


class Namespace:
    """A network namespace that lives as long as the process that holds it."""

    def __init__(self):
        # The holder ends when its input does, which is when this program ends for any reason.
        self._holder = subprocess.Popen(
            ["unshare", "--net", "sh", "-c", "echo made; exec cat"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        if self._holder.stdout.readline() != b"made\n":
            raise OSError("cannot make a network namespace; are you root?")
        self.pid = self._holder.pid

    def words(self, *command):
        """`command` inside the namespace."""
        return ["nsenter", f"--net=/proc/{self.pid}/ns/net", "--", *command]

    def run(self, *command):
        """Runs `command` inside to its end."""
        _run(*self.words(*command))

    def close(self):
        """Releases the namespace."""
        self._holder.stdin.close()
        self._holder.wait(timeout=10)
        self._holder.stdout.close()


def shape(namespace, device, rate):
    """Limits the egress of `device` to `rate` bits per second."""
    burst = str(max(BURST_MIN, int(rate / 8 / 1000)))
    tc = ["tc", "qdisc", "add", "dev", device]
    namespace.run(*tc, "root", "handle", "1:", "htb", "default", "1")
    namespace.run("tc", "class", "add", "dev", device, "parent", "1:", "classid", "1:1", "htb",
                  "rate", f"{int(rate)}bit", "burst", burst, "cburst", burst, "quantum", "60000")
    namespace.run(*tc, "parent", "1:1", "pfifo", "limit", str(QUEUE))


class Vms:
    """One VM for each of `rates` (bits per second), while it is open."""

    def __init__(self, rates):
        self._rates = rates
        self._all = []

    def __enter__(self):
        try:
            switch = self._make()
            switch.run("ip", "link", "add", "switch", "type", "bridge")
            switch.run("ip", "link", "set", "switch", "up")
            for number, rate in enumerate(self._rates):
                self._add(switch, number, rate)
        except BaseException:
            self.__exit__()
            raise
        return self

    def _make(self):
        self._all.append(Namespace())
        return self._all[-1]

    def _add(self, switch, number, rate):
        vm = self._make()
        port = f"port{number}"
        switch.run("ip", "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns",
                   str(vm.pid))
        switch.run("ip", "link", "set", port, "master", "switch", "up")
        vm.run("ip", "link", "set", "lo", "up")
        vm.run("ip", "address", "add", f"{self.address(number)}/24", "dev", "eth0")
        vm.run("ip", "link", "set", "eth0", "up")
        vm.run("sysctl", "-q", "-w", *TCP)
        shape(switch, port, rate)
        shape(vm, "eth0", rate)

    def __exit__(self, *_):
        for namespace in reversed(self._all):
            namespace.close()
        self._all = []

    @staticmethod
    def address(number):
        """The address of a VM, inside the emulation."""
        return f"10.77.0.{number + 1}"

    def start(self, number, command, environment, **more):
        """Starts `command` on a VM; the caller waits for it."""
        return subprocess.Popen(self._all[number + 1].words(*command), env=environment,
                                stdin=subprocess.DEVNULL, **more)


def run_by_hand(rates, command, environment, limit):
    """Runs `command` on VMs with NICs of these rates; returns the output of the first one."""
    with Vms(rates) as vms:
        workers = []
        try:
            for number in range(len(rates)):
                ranked = dict(environment, RANK=str(number), LOCAL_RANK="0",
                              NODE_RANK=str(number), WORLD_SIZE=str(len(rates)),
                              MASTER_ADDR=vms.address(0), MASTER_PORT=PORT,
                              GLOO_SOCKET_IFNAME="eth0")
                workers.append(vms.start(number, command, ranked, text=True,
                                         stdout=subprocess.PIPE if number == 0 else None))
            output, _ = workers[0].communicate(timeout=limit)
            for worker in workers:
                worker.wait(timeout=60)
        finally:
            for worker in workers:
                if worker.poll() is None:
                    worker.kill()
                    worker.wait()
    if any(worker.returncode for worker in workers):
        raise RuntimeError("a worker failed")
    return output.splitlines()


def run_by_stint(stint, cluster, command, environment, limit, quota=None):
    """The same on a cluster of `stint local`, given as its text; `quota` limits the processors of
    each VM."""
    name = f"measure-{os.getpid()}"
    words = [f"{key}={value}" for key, value in environment.items()]
    limits = ["--quota", str(quota)] if quota else []
    subprocess.run([stint, "local", "up", "-q", "--cluster", cluster, "--name", name, *limits],
                   check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, timeout=60)
    try:
        said = subprocess.run([stint, "local", "exec", "--name", name, "--", "env", *words,
                               *command], check=True, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, text=True, timeout=limit).stdout
    finally:
        subprocess.run([stint, "local", "down", "-q", "--name", name], check=True,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, timeout=60)
    first = "vm1: "
    return [line[len(first):] for line in said.splitlines() if line.startswith(first)]
