#!/usr/bin/python3
"""Runs `stint demo --run` many times and compares the bills with their forecasts.

Usage: tools/measure_demo.py STINT_BINARY [--runs 20] [--busy 2]

--busy keeps so many processes computing meanwhile. Exit 1: a run did not end well, no machine was
lost in it, or fewer than three quarters of the bills are within their 80 % interval.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile


def demonstrate(binary, folder):
    """Runs the demonstration once; returns the report of its run."""
    environment = dict(os.environ, XDG_STATE_HOME=folder, HOME=folder)
    done = subprocess.run([binary, "demo", "--run"], env=environment, capture_output=True,
                          text=True, check=False)
    if done.returncode:
        sys.exit(f"stint demo --run: exit {done.returncode}\n{done.stderr}")
    told = subprocess.run([binary, "report", "-o", "json"], env=environment, capture_output=True,
                          text=True, check=True)
    return json.loads(told.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("binary")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--busy", type=int, default=2, help="processes that compute meanwhile")
    options = parser.parse_args()
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"])
            for _ in range(options.busy)]
    within = well = 0
    print("run  steps  lost at  cost     forecast (80 %)          within")
    try:
        for number in range(1, options.runs + 1):
            with tempfile.TemporaryDirectory() as folder:
                report = demonstrate(os.path.abspath(options.binary), folder)
            cost = report["forecast"]["cost_usd"]
            inside = cost["p10"] <= report["cost_usd"] <= cost["p90"]
            lost = next((one["to_step"] for one in report["attempts"]), 0)
            within += inside
            well += report["state"] == "trained" and report["losses"] >= 1
            print(f"{number:3}  {report['steps']:5}  {lost:7}  ${report['cost_usd']:.4f}  "
                  f"${cost['mean']:.4f} ({cost['p10']:.4f}-{cost['p90']:.4f})  "
                  f"{'yes' if inside else 'NO'}", flush=True)
    finally:
        for process in busy:
            process.kill()
            process.wait()
    print(f"{well} of {options.runs} ended well after a loss; {within} bills within the interval")
    return 0 if well == options.runs and within >= 0.75 * options.runs else 1


if __name__ == "__main__":
    sys.exit(main())
