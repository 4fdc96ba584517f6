"""A trace for the end-to-end tests: read strictly, with the questions they ask most."""
import json
from collections import Counter


def _object(pairs):
    keys = Counter(key for key, _ in pairs)
    twice = [key for key, n in keys.items() if n > 1]
    assert not twice, "keys twice in one object: %s" % twice
    return dict(pairs)


def _no_constant(text):
    raise ValueError("%s is not JSON" % text)


def _finite(text):
    value = float(text)
    assert value - value == 0, "%s overflows" % text
    return value


def load(path):
    data = open(path, "rb").read()
    assert data.endswith(b"\n") and b"\0" not in data, path
    return [json.loads(line, object_pairs_hook=_object, parse_constant=_no_constant, parse_float=_finite)
            for line in data.decode("utf-8").split("\n")[:-1]]


class Trace:
    def __init__(self, path):
        self.all = load(path)
        self.meta, self.terminal = self.all[0], self.all[-1]
        assert self.meta["kind"] == "meta" and self.terminal["kind"] == "terminal", path

    def of(self, kind, **keys):
        return [e for e in self.all if e["kind"] == kind and all(e.get(k) == v for k, v in keys.items())]

    def allocs(self, **keys):
        return self.of("memory", action="alloc", **keys)

    def frees(self, **keys):
        return self.of("memory", action="free", **keys)

    def intervals(self, activity, **keys):
        return self.of("device_interval", activity=activity, **keys)

    def launches(self):
        """Kernel launches that ran: neither failed nor captured into a graph."""
        return [e for e in self.of("op") if "grid" in e and "error" not in e and "captured" not in e]

    def live(self):
        """Storage that is live at the end: id -> bytes."""
        live = {}
        for e in sorted(self.of("memory"), key=lambda e: e["timestamp_ns"]):
            if e["action"] == "alloc":
                assert e["storage_id"] not in live, e
                live[e["storage_id"]] = e["bytes"]
            else:
                assert live.pop(e["storage_id"]) == e["bytes"], e
        return live

    def facts(self):
        """What does not depend on the API that the program used: each with how often.  A failed call is no
        such fact: it may be the runtime or the driver that refuses it."""
        found = Counter()
        for e in self.all:
            if e.get("error"):
                continue
            if e["kind"] == "memory":
                found[e["action"], e["memory_kind"], e["bytes"], e["device"]] += 1
            elif e["kind"] == "op" and "grid" in e:
                found["launch", e["op_name"], tuple(e["grid"]), tuple(e["block"]), e.get("shared_bytes", 0),
                      e.get("captured", False)] += 1
            elif e["kind"] == "op" and "api" in e and ("memcpy" in e["api"].lower() or "memset" in e["api"].lower()):
                found["copy or set", e.get("bytes", 0), e.get("captured", False)] += 1
        return found


def same_facts(a, b):
    only_a, only_b = a.facts() - b.facts(), b.facts() - a.facts()
    assert not only_a and not only_b, "only in the first: %s\nonly in the second: %s" % (only_a, only_b)
