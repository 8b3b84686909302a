#!/usr/bin/python3
"""Tests the emulated cloud: programs on VMs, network rates, metadata, and removal.

Usage: local_cloud.py STINT_BINARY smoke|basics|metadata|life|rent|pool|probe|cycles|crashes
       [--cycles N] [--strict]

--strict also compares all namespaces, interfaces and cgroups of the computer before and after, for
when nothing else makes any meanwhile. Where namespaces are not allowed, it says so and exits 77.
"""

import argparse
import contextlib
import glob
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

EXIT_SKIPPED = 77
SECONDS_MAX = 300  # For any event; computers may be busy.
LOOK = 0.02  # Polling interval in seconds.
NAME = f"e2e{os.getpid()}"
PRICES = {"on-demand": 0.1 / 3600, "spot": 0.03 / 3600}  # Of local.small, USD/s.
PAYLOAD_SHARE = 1448 / 1514  # TCP payload per Ethernet frame at an MTU of 1500.
RATE_MIN, RATE_MAX = 0.85, 1.15  # Relative to the expected rate.
RATE_BUSY = 0.3  # Least ratio, where the computer is busy in all attempts.
RATE_TRIES = 5

# Rank 1 sends this many bytes to rank 0, which times them from the first quarter on. A small buffer
# prevents bytes that arrive while rank 0 does not run from counting as fast.
TRANSFER = """
import os, socket, sys, time
address = (os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))
size = int(sys.argv[1])
if os.environ["RANK"] == "0":
    server = socket.socket()
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 17)
    server.bind(address)
    server.listen()
    connection, _ = server.accept()
    count, begin, before = 0, 0, 0
    while count < size:
        count += len(connection.recv(1 << 20))
        if not begin and count >= size / 4:
            begin, before = time.monotonic(), count
    print((count - before) * 8 / (time.monotonic() - begin))
else:
    end = time.monotonic() + 120
    while True:
        try:
            connection = socket.create_connection(address)
            break
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)
    connection.sendall(bytes(size))
    connection.recv(1)  # Until the other end is done.
"""

METADATA = """
set -eu
base=$AWS_EC2_METADATA_SERVICE_ENDPOINT/latest
token=$(curl -sf -X PUT "$base/api/token" -H "X-aws-ec2-metadata-token-ttl-seconds: 60")
get() { curl -s -w ' %{http_code}' -H "X-aws-ec2-metadata-token: $token" "$base/meta-data/$1"; echo; }
get instance-type
get instance-life-cycle
get spot/instance-action
get events/recommendations/rebalance
curl -s -o /dev/null -w '%{http_code}\\n' "$base/meta-data/instance-type"
"""


class Failure(Exception):
    """A check failed."""


def expect(condition, message):
    """Fails with the message unless the condition holds."""
    if not condition:
        raise Failure(message)


def wait_until(condition, what):
    """Waits for a condition; returns its value."""
    end = time.monotonic() + SECONDS_MAX
    while not (found := condition()):
        expect(time.monotonic() < end, f"{what}: not within {SECONDS_MAX} s")
        time.sleep(LOOK)
    return found


class World:
    """A separate folder for the journals, and the means to find remains."""

    def __init__(self, binary, folder):
        self.binary = binary
        self.folder = folder
        self.environment = dict(os.environ, XDG_STATE_HOME=folder, XDG_DATA_HOME=folder + "/data")

    def start(self, *words, **variables):
        """Starts stint with these words."""
        return subprocess.Popen([self.binary, *words], env=self.environment | variables, text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)

    def run(self, *words, code=0):
        """Runs stint to its end and returns its output."""
        process = self.start(*words)
        out, err = process.communicate(timeout=SECONDS_MAX)
        expect(process.returncode == code,
               f"stint {' '.join(words)}: exit {process.returncode}, not {code}\n{out}{err}")
        return out if code == 0 else err

    def processes(self):
        """Returns the processes that were started in this world."""
        mark = f"XDG_STATE_HOME={self.folder}\0".encode()
        found = []
        for path in glob.glob("/proc/[0-9]*/environ"):
            with contextlib.suppress(OSError):
                if mark in Path(path).read_bytes():
                    found.append(int(path.split("/")[2]))
        return found

    def leftovers(self):
        """Returns the processes, cgroups and files of this world."""
        # A dot ends the cluster's name; another test's may begin as ours does.
        cgroups = glob.glob(f"/sys/fs/cgroup/**/stint-local-{NAME}.*", recursive=True)
        files = [str(path) for path in Path(self.folder, "stint/local").glob("*")]
        return [f"process {pid}" for pid in self.processes()] + cgroups + files

    def running(self, program):
        """Returns the processes of this world whose command line begins with a program."""
        return [pid for pid in self.processes()
                if cmdline(pid).split(b"\0")[0] == program.encode()]

    def expect_nothing_left(self, when):
        """Fails unless all remains disappear; the kernel needs time."""
        end = time.monotonic() + SECONDS_MAX
        while (left := self.leftovers()) and time.monotonic() < end:
            time.sleep(LOOK)
        expect(not left, f"left {when}: {left}")

    def clean(self):
        """Ends the remains of a failure."""
        for pid in self.processes():
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        self.start("local", "clean").communicate(timeout=SECONDS_MAX)


def computer():
    """Returns all namespaces, interfaces and cgroups."""
    spaces = set()
    for path in glob.glob("/proc/[0-9]*/ns/*"):
        with contextlib.suppress(OSError):
            spaces.add(os.readlink(path))
    return spaces | set(os.listdir("/sys/class/net")) | set(
        glob.glob("/sys/fs/cgroup/**/stint-local-*", recursive=True))


def smoke(world, _options):
    """A cluster is started, runs programs, loses a VM and is removed without remains."""
    world.run("local", "up", "--cluster", "2x local.small:spot", "--name", NAME)
    out = world.run("local", "exec", "--", "sh", "-c", "echo $RANK/$WORLD_SIZE $STINT_VM")
    expect(sorted(out.split("\n")) == ["", "vm1: 0/2 vm1", "vm2: 1/2 vm2"], out)
    world.run("local", "preempt", "vm2", "--notice", "0s")
    wait_until(lambda: phases_of(world) == ["running", "taken"], "vm2 is taken")
    cluster, _ = status_of(world.run("local", "down", "-o", "json"))
    expect_bill(cluster, [])


def basics(world, _options):
    """Programs run on each VM with its rank, and the network has the stated rate."""
    world.run("local", "up", "--cluster", "2x local.small", "--name", NAME)
    out = world.run("local", "exec", "--", "sh", "-c", "echo $RANK/$WORLD_SIZE $STINT_VM")
    expect(sorted(out.split("\n")) == ["", "vm1: 0/2 vm1", "vm2: 1/2 vm2"], out)
    world.run("local", "exec", "--", "sh", "-c", "test $RANK = 0 || exit 7; sleep 100", code=7)
    wait_until(lambda: not world.running("sleep"), "others are ended with the one that failed")
    err = world.run("local", "up", "--cluster", "local.small", "--name", NAME, code=2)
    expect("is in use" in err, err)
    expect_rate(world, "vm1", "vm2", 100)
    interrupted = world.start("local", "exec", "--", "sleep", "1000")
    wait_until(lambda: len(world.running("sleep")) == 2, "both VMs run it")
    interrupted.send_signal(signal.SIGINT)
    expect(interrupted.wait(SECONDS_MAX) == 130, "an interrupt exits 130")
    world.run("local", "down")


def cmdline(pid):
    """Returns the command line of a process, or nothing."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def metadata(world, _options):
    """A stock client inside a VM reads token, type and spot notice; then the VM is lost."""
    world.run("local", "up", "--cluster", "local.large:spot + local.small", "--name", NAME)
    ask = ("local", "exec", "--vms", "vm1", "--", "sh", "-c", METADATA)
    lines = [line.removeprefix("vm1: ") for line in world.run(*ask).split("\n")]
    expect(lines == ["local.large 200", "spot 200", " 404", " 404", "401", ""], lines)
    world.run("local", "preempt", "vm1", "--notice", "1h")
    lines = [line.removeprefix("vm1: ") for line in world.run(*ask).split("\n")]
    expect('{"action":"terminate","time":"' in lines[2] and lines[2].endswith(" 200"), lines)
    expect('{"noticeTime":"' in lines[3] and lines[3].endswith(" 200"), lines)
    # A VM that is interrupted while a program runs on it fails that program.
    holder = hold(world, "vm1")
    world.run("local", "preempt", "vm1", "--notice", "0s")
    expect(holder.wait(SECONDS_MAX) == 137, f"a program is killed, not {holder.returncode}")
    holder.communicate()
    expect(phases_of(world) == ["taken", "running"], phases_of(world))
    world.run("local", "exec", "--vms", "vm1", "--", "true", code=1)
    world.run("local", "down")


def hold(world, vm):
    """Starts a program on a VM; returns the client when the program runs."""
    client = world.start("local", "exec", "--vms", vm, "--", "sleep", "1000")
    wait_until(lambda: world.running("sleep"), f"a program runs on {vm}")
    return client


def phases_of(world):
    """Returns the phases of the VMs of the only cluster."""
    [cluster] = json.loads(world.run("local", "list", "-o", "json"))["clusters"]
    return [vm["phase"] for vm in cluster["vms"]]


def life(world, _options):
    """VMs with random lifetimes are interrupted by themselves, and on-demand VMs stay."""
    world.run("local", "up", "--cluster", "2x local.small:spot + local.small", "--name", NAME,
              "--life", "hazard:1s", "--notice", "1s")
    wait_until(lambda: phases_of(world) == ["taken", "taken", "running"], "a mean life of 1 s ends")
    world.run("local", "down")


def status_of(text):
    """Returns a cluster's status and its VMs by name."""
    cluster = json.loads(text)
    return cluster, {vm["name"]: vm for vm in cluster["vms"]}


def bill_of(vm, changes):
    """Returns the expected cost of a VM: seconds x price, piece by piece."""
    edges = [(0.0, 1.0)] + (changes if vm["market"] == "spot" else []) + [(float("inf"), 1.0)]
    begin, end = vm["born_s"], vm["born_s"] + vm["age_s"]
    return PRICES[vm["market"]] * sum(
        factor * max(0.0, min(end, after) - max(begin, at))
        for (at, factor), (after, _) in zip(edges, edges[1:]))


def expect_bill(cluster, changes):
    """Fails unless the bill is the sum over all VMs of the cluster's life."""
    for market, key in (("on-demand", "cost_on_demand_usd"), ("spot", "cost_spot_usd")):
        vms = [vm for vm in cluster["vms"] if vm["market"] == market]
        for vm in vms:
            expect(abs(vm["cost_usd"] - bill_of(vm, changes)) < 1e-9, vm)
        expect(abs(cluster[key] - sum(bill_of(vm, changes) for vm in vms)) < 1e-9, cluster)


def expect_rate(world, first, second, megabits):
    """Fails unless the second VM sends to the first at a rate. It is never faster; the lower limit
    depends on the load of the computer, so that there are several attempts."""
    words = ("local", "exec", "--vms", f"{first},{second}", "--", sys.executable, "-c", TRANSFER,
             str(int(megabits * 1e6 / 8 * 2)))
    shares = []
    while not shares or (max(shares) < RATE_MIN and len(shares) < RATE_TRIES):
        rate = float(world.run(*words).split()[1])
        shares.append(rate / (megabits * 1e6 * PAYLOAD_SHARE))
        print(f"{megabits} Mbit/s: {rate / 1e6:.2f} Mbit/s of payload, {shares[-1]:.3f} of what is right")
        expect(shares[-1] < RATE_MAX, f"the network runs at {shares[-1]:.3f} of its rate")
    expect(max(shares) > RATE_BUSY, f"the network runs at {shares} of its rate")


def rent(world, options):
    """VMs are launched and released in a running cluster; a killed client has no effect on it."""
    world.run("local", "up", "--cluster", "none", "--name", NAME)
    begin = time.monotonic()
    world.run("local", "add", "a", "local.small")
    print(f"a VM is added in {time.monotonic() - begin:.2f} s")
    world.run("local", "add", "b", "local.small:spot")
    expect_rate(world, "a", "b", 100)
    _, vms = status_of(world.run("local", "reshape", "b", "30Mbit/s", "-o", "json"))
    expect(abs(vms["b"]["network_bytes_per_s"] - 30e6 / 8) < 1, vms)
    expect_rate(world, "a", "b", 30)
    expect_rate(world, "b", "a", 30)
    holder = hold(world, "b")
    _, vms = status_of(world.run("local", "release", "b", "-o", "json"))
    expect(vms["b"]["released"] and vms["b"]["phase"] == "taken", vms)
    expect(holder.wait(SECONDS_MAX) == 137, f"a program on it is killed, not {holder.returncode}")
    holder.communicate()
    _, later = status_of(world.run("local", "release", "b", "-o", "json"))
    expect(later["b"]["cost_usd"] == vms["b"]["cost_usd"], "one that was released costs no more")
    expect("was a VM b" in world.run("local", "add", "b", "local.small", code=2), "names stay")
    for i in range(options.cycles * 10):
        world.run("local", "add", f"c{i}", "local.small")
        world.run("local", "release", f"c{i}")
    for i in range(20):
        killed = world.start("local", "add", f"k{i}", "local.small")
        time.sleep(i * 0.01)
        killed.kill()
        killed.communicate()
    [cluster] = json.loads(world.run("local", "list", "-o", "json"))["clusters"]
    alive = [vm["name"] for vm in cluster["vms"] if vm["phase"] != "taken"]
    expect("a" in alive and not [name for name in alive if name[0] == "c"], alive)
    world.run("local", "exec", "--vms", alive[-1], "--", "true")
    wait_until(lambda: len(world.processes()) == 1 + len(alive), "a process per VM, and the keeper")
    cluster, _ = status_of(world.run("local", "down", "-o", "json"))
    expect_bill(cluster, [])


def pool(world, _options):
    """The pool's size and prices over time preempt VMs and change the bill."""
    for change in (6, 30, 150):
        if follow_pool(world, change):
            return
    expect(False, "the first change always came before all VMs were there")


def start_pool(world, change):
    """Starts a cluster with a pool that changes twice; returns its status."""
    table = Path(world.folder, "pool.csv")
    table.write_text("at_s,spot,price_factor,unannounced\n0,3,,\n"
                     f"{change},1,2.5,\n{2 * change},0,0.5,true\n")
    world.run("local", "up", "--cluster", "none", "--name", NAME, "--pool", str(table),
              "--notice", f"{change / 2}s")
    for vm in ("s1", "s2", "s3"):
        if world.start("local", "add", vm, "local.small:spot").wait(SECONDS_MAX):
            break
    [cluster] = json.loads(world.run("local", "list", "-o", "json"))["clusters"]
    return cluster


def follow_pool(world, change):
    """Follows a pool to its end. Returns whether its VMs were up before its first change."""
    cluster = start_pool(world, change)
    if cluster["age_s"] > change:
        world.run("local", "down")
        return False
    refused = world.start("local", "add", "s4", "local.small:spot")
    err = refused.communicate(timeout=SECONDS_MAX)[1]
    expect(refused.returncode == 5 and "no spot capacity" in err, err)
    world.run("local", "add", "vm5", "local.small")
    changes = [(float(change), 2.5), (2.0 * change, 0.5)]
    seen = []

    def over():
        [cluster] = json.loads(world.run("local", "list", "-o", "json"))["clusters"]
        expect_bill(cluster, changes)
        age = cluster["age_s"]
        spot = [vm for vm in cluster["vms"] if vm["market"] == "spot"]
        phases = [vm["phase"] for vm in spot]
        expect(all(vm["phase"] == "running" for vm in cluster["vms"] if vm not in spot), cluster)
        if phases not in seen:
            seen.append(phases)
        for vm in spot:
            if "takes_in_s" in vm:
                left = 1.5 * change - age
                expect(abs(vm["takes_in_s"] - left) < 1e-6, f"{vm}: not {left}")
        capacity = 3 if age < change else 1 if age < 2 * change else 0
        expect(cluster["spot_capacity"] == capacity, cluster)
        return phases == ["taken"] * 3

    wait_until(over, "the pool takes its VMs")
    order = [["running"] * 3, ["running", "noticed", "noticed"], ["running", "taken", "taken"],
             ["taken"] * 3]
    # A busy computer may miss one between two polls.
    expect(seen == [phases for phases in order if phases in seen], seen)
    cluster, vms = status_of(world.run("local", "down", "-o", "json"))
    expect_bill(cluster, changes)
    for name, end in (("s1", 2 * change), ("s2", 1.5 * change), ("s3", 1.5 * change)):
        late = vms[name]["born_s"] + vms[name]["age_s"] - end
        print(f"{name} went {late:.3f} s after its time")
        expect(late >= 0, f"{name} went {-late:.3f} s before its time")
    return True


def probe(world, _options):
    """A probe measures the rate of the network, and is folded into a calibration."""
    if subprocess.run(["/usr/bin/python3", "-c", "import torch"], stderr=subprocess.DEVNULL,
                      check=False).returncode:
        print("SKIP: /usr/bin/python3 has no torch")
        sys.exit(EXIT_SKIPPED)
    lines, folded = f"{world.folder}/probe.jsonl", f"{world.folder}/lab.json"
    words = ("probe", "network", "--cluster", "3x local.large", "--sizes", "1MB,2MB", "--repeats",
             "2", "--rounds", "2", "--out", lines)
    out = json.loads(world.run(*words, "--fold", folded, "-o", "json"))
    # Two sizes over two and three VMs; the larger one over the two pairs that are not among them.
    expect(len(out["sums"]) == 6, out["sums"])
    for one in out["sums"]:
        share = one["bus_bytes_per_s"] / (500e6 / 8 * PAYLOAD_SHARE)
        print(f"{len(one['vms'])} VMs, {one['bytes'] / 1e6:.0f} MB: {share:.3f} of what is right")
        expect(0 < share < 1.2, f"a sum ran at {share:.3f} of the network's rate")
    expect(set(out["spread"]) == {"repeats", "time", "pairs"}, out["spread"])
    expect(len(Path(lines).read_text().splitlines()) == 1 + 6 * 2 * 2, "all times are kept")
    data = json.loads(Path(folded).read_text())["data"]
    expect(data[-1]["rows"] == 6 and "probe network" in data[-1]["provenance"], data)
    sheet = world.run("predict", "--job", "paced-20mb", "--cluster", "3x local.large",
                      "--calibration", folded)
    expect("(n 6)" in sheet, sheet)
    world.expect_nothing_left("after a probe")
    before = len(Path(lines).read_text().splitlines())
    interrupted = world.start(*words, "--every", "10min")
    wait_until(lambda: len(Path(lines).read_text().splitlines()) >= before + 3
               or interrupted.poll() is not None, "a probe measures")
    expect(interrupted.poll() is None, "a probe that goes on ended")
    interrupted.send_signal(signal.SIGINT)
    expect(interrupted.wait(SECONDS_MAX) == 130,
           f"an interrupt exits 130, not {interrupted.returncode}")
    interrupted.communicate()


def cycles(world, options):
    """Nothing is left after many clusters were started and removed."""
    begin = time.monotonic()
    for _ in range(options.cycles):
        world.run("local", "up", "--cluster", "2x local.small", "--name", NAME)
        world.run("local", "down", "--name", NAME)
    spent = time.monotonic() - begin
    print(f"{options.cycles} cycles in {spent:.1f} s")


def keeper_of(world):
    """Returns the pid of the keeper by its journal, or nothing."""
    try:
        lines = Path(world.folder, "stint/local", NAME, "journal").read_text().split("\n")
        pids = [json.loads(line)["pid"] for line in lines if '"pid"' in line]
    except (OSError, ValueError):
        return None
    return pids[1] if len(pids) > 1 else None


def kill(pid):
    """Kills a process, and waits until it has ended."""
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not is_there(pid), f"process {pid} ends")


def is_there(pid):
    """Returns whether a process exists and is no zombie."""
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


def hangs(world):
    """Returns whether a process of this world hangs."""
    for pid in world.processes():
        with contextlib.suppress(OSError):
            if "pause" in Path(f"/proc/{pid}/wchan").read_text():
                return True
    return False


def crash(world, step, words, both):
    """Kills the keeper, and maybe its maker, at a step of creation."""
    maker = world.start(*words, STINT_LOCAL_STOP_AT=step)
    wait_until(lambda: hangs(world) or maker.poll() is not None, f"{step} is reached")
    expect(maker.poll() is None, f"{step}: never reached, exit {maker.returncode}")
    keeper = keeper_of(world)
    if keeper:
        kill(keeper)
    if both or not keeper:
        maker.kill()
        maker.wait()
        world.run("local", "clean")
    else:
        expect(maker.wait(SECONDS_MAX) == 5, f"{step}: the maker of a dead keeper exits 5")
    maker.communicate()
    world.expect_nothing_left(f"after kill -9 at {step}")


def crashes(world, _options):
    """Nothing is left after kill -9 at every step of creation, and of a running cluster."""
    quota = any(os.access(path, os.W_OK) for path in ("/sys/fs/cgroup/cpu", "/sys/fs/cgroup"))
    words = ["local", "up", "--cluster", "2x local.small", "--name", NAME]
    words += ["--quota", "0.5"] if quota else []
    steps = ["folder", "journal", "socket", "namespaces", "switch"]
    for vm in ("vm1", "vm2"):
        steps += [f"{vm}-noted", f"{vm}-quota"] if quota else []
        steps += [f"{vm}-process", f"{vm}-plugged", f"{vm}-ready"]
    steps.append("made")
    added = [step.replace("vm2", "vm3") for step in steps if step.startswith("vm2")]
    for step in added:
        world.start(*words, STINT_LOCAL_STOP_AT=step).communicate(timeout=SECONDS_MAX)
        crash(world, step, ["local", "add", "vm3", "local.small"], both=True)
    for step in steps:
        crash(world, step, words, both=True)
        if step not in ("folder", "journal", "socket"):
            crash(world, step, words, both=False)
            world.run("local", "clean")
    world.run(*words)
    kill(keeper_of(world))
    expect("clean" in world.run("local", "down", code=1), "down names clean")
    world.run("local", "clean")
    print(f"{len(steps) + len(added)} steps" + ("" if quota else ", without quotas"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("what", choices=["smoke", "basics", "metadata", "life", "rent", "pool", "probe",
                                         "cycles", "crashes"])
    parser.add_argument("--cycles", type=int, default=10)
    parser.add_argument("--strict", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="stint-e2e-") as folder:
        world = World(os.path.abspath(options.binary), folder)
        report = world.start("doctor", "-o", "json").communicate(timeout=SECONDS_MAX)[0]
        for finding in json.loads(report)["findings"]:
            if finding["feature"] == "local cloud" and finding["level"] != "ok":
                print(f"SKIP: {finding['detail']}")
                sys.exit(EXIT_SKIPPED)
        before = computer() if options.strict else set()
        try:
            globals()[options.what](world, options)
            world.expect_nothing_left("at the end")
            end = time.monotonic() + 10
            while options.strict and (added := computer() - before):
                expect(time.monotonic() < end, f"new on the computer: {added}")
                time.sleep(0.1)
        except BaseException as failure:
            world.clean()
            if not isinstance(failure, Failure):
                raise
            print(f"FAILED: {failure}")
            sys.exit(1)


if __name__ == "__main__":
    main()
