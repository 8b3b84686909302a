#!/usr/bin/python3
"""Tests `stint agent`: real training through it, cut connections, kills, its lease, hostile runners.

Usage: agent.py STINT_BINARY smoke|trains|cuts|killed|lease|hostile

Where torch is missing, the training says so and exits 77.
"""

import os
import random
import signal
import socket
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent.parent / "python/tests"))
from agent_talk import Link, proof  # noqa: E402
from local_cloud import EXIT_SKIPPED, SECONDS_MAX, Failure, expect, wait_until  # noqa: E402
from ports import free_port  # noqa: E402

PYTHON = "/usr/bin/python3"
STEPS = 60
CUTS = 20
STRANGERS = 1000
COUNTED = 3000
SEED = 7

TRAINING = """
import sys, time
import torch, stint
from torch import nn
torch.set_num_threads(1)
torch.manual_seed(3)
points = torch.randn(64, 8, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
data = torch.utils.data.TensorDataset(points, (points.sum(dim=1) > 0).long())
model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 2)).double()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
job = stint.job(model, optimizer, batch=8, steps=int(sys.argv[2]))
for step in job.steps(data):
    with step:
        for inputs, labels in step.micro_batches():
            step.backward(nn.functional.cross_entropy(job.model(inputs), labels))
        optimizer.step()
    time.sleep(0.03)
torch.save(model.state_dict(), sys.argv[1])
"""

# Counts on both of its channels.
COUNTER = """
import json, os, socket, sys
control = socket.socket(fileno=int(os.environ["STINT_CONTROL"]))
for number in range(int(sys.argv[1])):
    print(number, flush=True)
    control.sendall(json.dumps({"step": {"number": number}}).encode() + b"\\n")
"""


class Agents:
    """Agents in folders of one computer, ended with this object."""

    def __init__(self, binary, folder):
        self.binary, self.folder = binary, folder
        self.links = []

    def link(self, machine="vm1", **more):
        """A session with the agent of a machine, joined."""
        link = Link([self.binary, "agent", "--attach", f"{self.folder}/{machine}"],
                    machine=machine, **more)
        self.links.append(link)
        return link

    def script(self, text, name="script.py"):
        """A file with a script."""
        path = Path(self.folder, name)
        path.write_text(text)
        return str(path)

    def holder(self, machine="vm1"):
        """The process that has the lock of the agent's folder, or None."""
        inode = os.stat(f"{self.folder}/{machine}/agent.lock").st_ino
        for line in Path("/proc/locks").read_text(encoding="utf-8").splitlines():
            fields = line.split()
            if fields[1] == "FLOCK" and fields[5].endswith(f":{inode}"):
                return int(fields[4])
        return None

    def clean(self):
        """Ends every agent."""
        for link in self.links:
            link.hang_up()
        for folder in Path(self.folder).iterdir():
            pid = folder.is_dir() and (folder / "agent.lock").exists() and self.holder(folder.name)
            if pid:
                os.kill(pid, signal.SIGKILL)


def is_alive(pid):
    """Whether a process runs."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def train(agents, name, cuts):
    """Trains on two agents to the end, cutting connections on the way; returns the parameters."""
    import torch  # pylint: disable=import-outside-toplevel
    links = [agents.link(f"{name}{rank}") for rank in (0, 1)]
    script, port = agents.script(TRAINING, f"{name}.py"), int(free_port())
    chance = random.Random(SEED)
    for rank, link in enumerate(links):
        expect("joined" in link.connect(), "not joined")
        link.start([PYTHON, script, f"{agents.folder}/{name}{rank}.pt", str(STEPS)], rank=rank,
                   variables=[f"PYTHONPATH={HERE.parent.parent}/python", "GLOO_SOCKET_IFNAME=lo",
                              "RANK=0", "WORLD_SIZE=1"])
    for link in links:
        link.hear_said("ready")
    for rank, link in enumerate(links):
        link.order(tell={"process": 0, "message": {"train": {
            "attempt": 1, "rank": rank, "world": 2, "master": "127.0.0.1", "port": port,
            "shares": [4, 4], "micro_batch": 4, "checkpoint": None}}})
    steps, place = [0, 0], {"folder": f"{agents.folder}/{name}-checkpoints"}
    while min(steps) < STEPS // 2:
        for rank, link in enumerate(links):
            steps[rank] = link.hear_said("step")["number"]
            if cuts and chance.random() < 0.5:
                link.cut()
    for link in links:
        link.order(tell={"process": 0, "message": {"save": {
            "attempt": 1, "step": STEPS - 2, "place": place}}})
    saved = []
    for link in links:
        while link.orders:  # Orders that come late are obeyed later.
            link.hear(lambda it: True)
    for link in links:
        if cuts:
            link.cut()
        saved.append(link.hear_said("saved")["step"])
    expect(saved[0] == saved[1] >= STEPS - 2, f"saved at {saved}")
    for rank, link in enumerate(links):
        link.hear(lambda it: "said" in it and "finished" in it["said"]["message"])
        link.order(tell={"process": 0, "message": {"end": {}}})
        ended = link.hear_kind("ended")
        expect(ended["code"] == 0, f"{link.lines()}\nworker {rank} ended with {ended}")
        told = [it["said"]["message"]["step"]["number"] for it in link.news
                if "said" in it and "step" in it["said"]["message"]]
        expect(told == list(range(1, STEPS + 1)), f"steps told: {told}")
        expect(len(link.agents) == 1, "the agent was replaced")
        link.leave()
    return torch.load(f"{agents.folder}/{name}0.pt")


def try_trains(agents):
    """A training through agents whose connections are cut ends as one that nothing disturbs."""
    try:
        import torch  # pylint: disable=import-outside-toplevel
    except ImportError:
        print("skipped: this interpreter has no torch")
        sys.exit(EXIT_SKIPPED)
    calm, cut = train(agents, "calm", False), train(agents, "cut", True)
    for name, value in calm.items():
        expect(torch.equal(value, cut[name]), f"{name} differs by {(value - cut[name]).abs().max()}")


def try_cuts(agents, cuts=CUTS, counted=COUNTED):
    """Whatever a worker says arrives once and in order, while carriers are killed."""
    link = agents.link()
    link.connect()
    link.start([PYTHON, agents.script(COUNTER), str(counted)])
    chance = random.Random(SEED)
    done = 0
    while not any("ended" in it for it in link.news):
        message = link.take()
        if message is None:
            link.connect()
        elif done < cuts and chance.random() < 3 * cuts / counted:
            link.cut()
            done += 1
    expect(done == cuts, f"{done} cuts")
    said = [it["said"]["message"]["step"]["number"] for it in link.news if "said" in it]
    expect(said == list(range(counted)), f"{len(said)} messages of {counted}")
    lines = link.lines()
    expect(lines == [str(number) for number in range(counted)], f"{len(lines)} lines of {counted}")
    expect(len(link.agents) == 1, "the agent was replaced")
    link.leave()
    wait_until(lambda: agents.holder() is None, "the agent's end")


def try_killed(agents):
    """What an agent started ends with it, and another one takes its place."""
    link = agents.link()
    link.connect()
    link.start(["/bin/sh", "-c", "sleep 1000 & echo $$ $!; wait"])
    link.start(["/bin/sh", "-c", "setsid sleep 0.01; echo $$; exec sleep 1000"], process=1,
               role="receiver")
    pids = []
    while len(pids) < 3:
        pids += [int(pid) for pid in link.hear_kind("log")["line"].split()]
    os.kill(agents.holder(), signal.SIGKILL)
    wait_until(lambda: not any(is_alive(pid) for pid in pids), "the end of all processes")
    link.hello["session"] = os.urandom(8).hex()
    link.orders, link.number = {}, 0
    expect("joined" in link.connect(), "the new agent was not joined")
    expect(len(link.agents) == 2 and not link.standing, f"{link.agents}, {link.standing}")
    link.start(["/bin/sh", "-c", "exit 5"])
    expect(link.hear_kind("ended")["code"] == 5, link.news)
    link.leave()


def try_lease(agents):
    """Without its runner an agent saves, ends the work, gives the machine back, and goes."""
    link = agents.link()
    link.connect()
    saved, released = f"{agents.folder}/saved", f"{agents.folder}/released"
    link.order(terms={"lease_s": 2.0, "grace_s": float(SECONDS_MAX),
                      "release": ["/bin/sh", "-c", f"cp {saved} {released}"],
                      "interpreter": "/bin/false"})
    link.start(["/bin/sh", "-c", f"trap 'echo saved > {saved}; exit 0' TERM; echo up; "
                "while true; do sleep 0.05; done"])
    link.start(["/bin/sh", "-c", "echo up; exec sleep 1000"], process=1, role="receiver")
    link.hear_kind("log", process=0)
    link.hear_kind("log", process=1)
    begin = time.monotonic()
    while time.monotonic() < begin + 6:  # Three leases, renewed.
        link.say(renew=True)
        time.sleep(0.2)
    expect(agents.holder() and not Path(saved).exists(), "it ended in spite of renewals")
    receiver = next(it["started"]["pid"] for it in link.news
                    if "started" in it and it["started"]["process"] == 1)
    link.hang_up()
    wait_until(lambda: Path(released).exists(), "the release")
    wait_until(lambda: agents.holder() is None, "the agent's end")
    expect(not is_alive(receiver), "the receiver is left")


def try_hostile(agents):
    """Runners that lie, shout or do not read get nothing and disturb nobody."""
    owner = agents.link()
    owner.connect()
    owner.start([PYTHON, "-c", "import time\nwhile True: print('on', flush=True); time.sleep(.05)"])
    owner.hear_kind("log")
    wrong = agents.link(secret="cd" * 32)
    wrong.call()
    wrong.hello |= {"nonce": "n", "attempt": 2}
    wrong.say(hello=wrong.hello)
    welcome = wrong.line()["welcome"]
    expect(welcome["proof"] != proof(wrong.secret, "agent", wrong.hello, welcome["nonce"]),
           "it proved a secret that it does not have")
    wrong.say(proof=welcome["proof"])
    expect(wrong.line()["refused"]["cause"] == "secret", "a proof that was sent back counted")
    stale = agents.link(attempt=1)
    refused = stale.connect()
    expect(refused["refused"]["cause"] == "attempt", refused)
    for text in (b"\0" * 100 + b"\n", b"{" * 100000 + b"\n", b"x" * (3 << 20),
                 b'{"number":1,"leave":true}\n', b'{"hello":{"protocol":"stint.agent/2"}}\n'):
        rude = agents.link()
        rude.call()
        rude.write(text)
        message = rude.line()
        expect(message is None or "refused" in message, message)
        rude.hang_up()
    before = len(owner.news)
    strangers = []
    for _ in range(STRANGERS):
        strangers.append(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET))
        strangers[-1].connect(f"{agents.folder}/vm1/agent.sock")
        strangers[-1].send(b"x" * 60000)  # A line without end.
    owner.hear(lambda it: "log" in it and len(owner.news) > before + 20)
    expect(owner.carrier.poll() is None and len(owner.agents) == 1, "the owner was disturbed")
    memory = Path(f"/proc/{agents.holder()}/statm").read_text(encoding="utf-8").split()[1]
    print(f"memory of the agent with {len(strangers)} strangers: {int(memory) * os.sysconf('SC_PAGESIZE') >> 20} MiB")
    owner.leave()


def try_smoke(agents):
    """The cheapest of each."""
    try_cuts(agents, cuts=3, counted=300)
    try_killed(agents)


MODES = {"smoke": try_smoke, "trains": try_trains, "cuts": try_cuts, "killed": try_killed,
         "lease": try_lease, "hostile": try_hostile}


def main():
    """Runs one mode."""
    binary, mode = sys.argv[1], sys.argv[2]
    with tempfile.TemporaryDirectory(prefix="stint-agent-") as folder:
        agents = Agents(os.path.abspath(binary), folder)
        try:
            MODES[mode](agents)
        except Failure as failure:
            print(failure, file=sys.stderr)
            sys.exit(1)
        finally:
            agents.clean()


if __name__ == "__main__":
    main()
