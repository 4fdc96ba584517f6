"""Traces made line by line, and what the command says of them.  B is the build folder, in the environment."""
import json
import os
import subprocess

TSTRACE = os.environ["B"] + "/tstrace"
META = dict(kind="meta", schema="candle-graph/trace/10", run_id="r", correlation_id="c", entrypoint="e", phase="infer",
            timestamp="2026-01-01T00:00:00Z", capture_step=1, warmup_steps=0, device="cuda:0", timing_mode="host",
            capture_contract=dict(measurement_scope="unknown", operations="partial", logical_memory="partial",
                                  physical_memory="partial", device_timing="partial"), tags={})
END_NS = 10**12


def interval(start, duration, stream="7", name="_Z3addPfS_", activity="kernel", device="cuda:0", **more):
    return dict(kind="device_interval", span_id="s1", device=device, stream_id=stream, clock_id="monotonic", backend="cupti",
                start_ns=start, duration_ns=duration, name=name, activity=activity, context=1, **more)


def op(api, at, **more):
    return dict(kind="op", span_id="s1", op_name=more.pop("op_name", api), inputs=[], shape=[], dtype="", device="cuda:0",
                duration_ns=1000, timestamp_ns=at, input_dense_bytes=0, api=api, **more)


def memory(action, at, storage, size, **more):
    return dict(kind="memory", timestamp_ns=at, storage_id=storage, tensor_id=storage, span_id="s1", device="cuda:0",
                bytes=size, action=action, dtype="u8", memory_kind=more.pop("memory_kind", "device"), **more)


def line(event):
    return json.dumps(event, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode() + b"\n"


def trace(events, terminal={}, meta={}):
    """A whole trace as bytes; without its end when `terminal` is None.  An event that is bytes is taken as it is."""
    events = [dict(META, **meta), dict(kind="span_start", id="s1", name="e", start_ns=0, span_kind="function", measured=True),
              *events, dict(kind="span_end", id="s1", duration_ns=END_NS)]
    if terminal is not None:
        events.append(dict(dict(kind="terminal", outcome="complete", timestamp_ns=END_NS), **terminal))
    return b"".join(e if isinstance(e, bytes) else line(e) for e in events)


def tstrace(verb, data, *options, **more):
    """Status, stdout and stderr."""
    p = subprocess.run([TSTRACE, verb, *options, "-"], input=data, capture_output=True, timeout=60, **more)
    return p.returncode, p.stdout, p.stderr


def summary(data, *options, **more):
    """The summary of these bytes, parsed when no option is given, else its text."""
    status, out, err = tstrace("summary", data, *(options or ["--json"]), **more)
    assert status == 0 and not err, (status, err)
    return out.decode() if options else json.loads(out)
