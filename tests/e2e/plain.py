#!/usr/bin/python3
"""Tests `stint run` on scripts without stint.Job: unchanged, failing, hanging, resuming.

Usage: plain.py STINT_BINARY smoke|as_it_is|fails|hangs|resumes

Where namespaces are not allowed or torch is missing, it says so and exits 77.
"""

import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from local_cloud import expect  # noqa: E402
from run import PYTHON, Runs, main, said_by  # noqa: E402

# A loop as tutorials have it. `trouble` is called before each step.
SCRIPT = """
import os, sys, time
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

torch.set_num_threads(1)
dist.init_process_group("gloo")
rank = dist.get_rank()
restarts = int(os.environ["TORCHELASTIC_RESTART_COUNT"])
model = DDP(torch.nn.Linear(16, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
first, path = 0, os.path.join(os.environ["STINT_CHECKPOINT_DIR"], "last.pt")
if SAVES and os.path.exists(path):
    state = torch.load(path)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    first = state["step"]
print("start at", first, flush=True)
for step in range(first, int(sys.argv[1])):
    TROUBLE
    loss = model(torch.randn(8, 16)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    time.sleep(0.02)
    if SAVES and rank == 0 and (step + 1) % 10 == 0:
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(),
                    "step": step + 1}, path + ".new")
        os.replace(path + ".new", path)
print("done", flush=True)
"""


def script(runs, name, trouble="pass", saves=False):
    """Writes a script; returns its path."""
    path = Path(runs.folder, name + ".py")
    path.write_text(SCRIPT.replace("TROUBLE", trouble).replace("SAVES", str(saves)))
    return str(path)


def words(runs, name, steps, *more, cluster="2x local.large", **kind):
    command = [PYTHON, script(runs, name, **kind), str(steps)]
    return runs.words(name, cluster, steps, "--compute", "real", *more, command=command)


def try_as_it_is(runs, steps=300):
    process = runs.begin(*words(runs, "asis", steps))
    runs.wait_for(process, "asis", "step-done")
    runs.wait_for(process, "asis", "step-done")
    now = runs.report("asis")
    expect(now["reached"] > 0 and now["plain"], f"status does not follow the script: {now}")
    said = runs.end(process, 0)
    report = runs.report("asis")
    expect(report["state"] == "trained" and report["reached"] == steps,
           f"{said}\n{report['state']} after step {report['reached']}")
    expect(report["saved"] == 0 and "trained and saved" not in said, f"{said}\nnothing was saved")
    expect(len(report["attempts"]) == 1, f"{said}\nit was started again")
    expect("starts again" in said, f"{said}\nno warning that a loss means to begin again")


def try_fails(runs):
    trouble = 'if step == 20 and rank == 1: raise ValueError("bad sample")'
    process = runs.begin(*words(runs, "fails", 100, trouble=trouble))
    said = runs.end(process, 1)
    starts = said.count("the workers restart")
    expect(starts == 4, f"{said}\n{starts} restarts, not 4")
    report = runs.report("fails")
    expect("ValueError: bad sample" in report["reason"] and "vm2" in report["reason"],
           f"the first failure is not shown: {report['reason']}")
    expect("stint logs fails --rank 1" in said, f"{said}\nno command that shows the output")


def try_hangs(runs):
    trouble = "if step == 10 and not restarts: time.sleep(3600)"
    process = runs.begin(*words(runs, "hangs", 30, "--hang-limit", "8s", trouble=trouble))
    said = runs.end(process, 0)
    expect("No step for 8 s" in said, f"{said}\nthe hang was not noticed")
    expect(len(runs.report("hangs")["attempts"]) == 2, f"{said}\nnot two starts")


def try_resumes(runs):
    process = runs.begin(*words(runs, "resumes", 400, "--notice", "0s", saves=True,
                                cluster="2x local.large:spot"))
    runs.wait_for(process, "resumes", "saved")
    runs.run("local", "preempt", "vm2", "--name", "run-resumes", "--notice", "0s")
    seen = runs.wait_for(process, "resumes", "workers-up", attempt=2)
    event = runs.events("resumes")[seen - 1]
    expect(event["step"] >= 10 and event["step"] % 10 == 0,
           f"{said_by(process)}\nit continued at {event}")
    process.send_signal(signal.SIGKILL)
    process.wait()
    code, said = runs.ask("run", "--resume", "resumes")
    expect(code == 0, f"{said}\nexit {code}")
    report = runs.report("resumes")
    expect(report["reached"] == 400 and report["saved"] == 400 and report["plain"],
           f"{said}\n{report['reached']} steps, {report['saved']} saved")
    files = [one["path"] for one in report["files"]]
    expect(any(one.endswith("/script/last.pt") for one in files), f"files: {files}")


MODES = {"smoke": lambda runs, _: try_as_it_is(runs, 100),
         "as_it_is": lambda runs, _: try_as_it_is(runs),
         "fails": lambda runs, _: try_fails(runs),
         "hangs": lambda runs, _: try_hangs(runs),
         "resumes": lambda runs, _: try_resumes(runs)}


if __name__ == "__main__":
    main(__doc__, MODES, Runs)
