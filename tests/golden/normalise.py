"""A trace without what differs from run to run, for comparing it with a golden one.

    normalise.py TRACE > NORMALISED

Times, ids of processes, paths and versions become "~"; addresses and correlation numbers are numbered as
they come.  What the program gave itself, for the span s2 and the device cuda:7, stays.  Lines of several
sources, whose order against each other is the writer's affair, stand in groups.
"""
import json
import re
import sys

OF_THE_RUN = {"run_id", "timestamp", "version", "pid", "ppid", "host", "exe", "argv", "clock", "recovery_file", "driver",
              "runtime", "cupti", "cupti_path"}
numbers = {}


def numbered(kind, value):
    seen = numbers.setdefault(kind, {})
    return "%s%d" % (kind, seen.setdefault(value, len(seen) + 1))


def is_given(event):
    return "s2" in (event.get("id"), event.get("span_id"), event.get("to_span")) or event.get("device") == "cuda:7"


def normal(key, value, given):
    if isinstance(value, dict) and key not in OF_THE_RUN:
        return {k: normal(k, v, given) for k, v in value.items()}
    if key in OF_THE_RUN or (key.endswith("_ns") and not given):
        return "~"
    if key in ("correlation", "correlation2"):
        return numbered("call ", value)
    if isinstance(value, str):
        return re.sub("0x[0-9a-f]{6,}", lambda found: numbered("address ", found.group()), value)
    return value


def group(event):
    """Which lines are written in one order: those of the thread, and those that wait for others."""
    if event["kind"] == "device_interval" and "clock_error_ns" in event:
        return "intervals"
    if event["kind"] == "memory" and event.get("source") != "api":
        return "memory"
    if event["kind"] == "device_memory" and "reason" in event:
        return "samples"
    if event.get("op_name") == "tstrace.window":
        return "windows"
    return "thread"


def main(path):
    events = [json.loads(line) for line in open(path)]
    # How often the device is looked at depends on how long the run takes.
    events = [e for e in events if e.get("reason") != "interval"]
    # What is known of the device when the first line is written depends on the machine; the last line has it.
    events[0].pop("cuda")
    groups = {"thread": [], "memory": [], "samples": [], "windows": [], "intervals": []}
    for event in events:
        given = is_given(event)
        groups[group(event)].append({k: normal(k, v, given) for k, v in event.items()})
    groups["intervals"].sort(key=lambda e: int(e["correlation"].split()[1]))
    for name, lines in groups.items():
        print("#", name)
        for line in lines:
            print(json.dumps(line, ensure_ascii=True, separators=(",", ":")))


main(sys.argv[1])
