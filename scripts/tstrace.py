"""Spans, steps, scalars, tensors and gradients of a Python program in its tstrace trace.

One file, nothing but ctypes.  Under LD_PRELOAD=libtstrace.so the calls go to the session of the
process; without the library they do nothing and cost little.  See tstrace(3) for what each means.

    import tstrace
    for n, batch in enumerate(loader):
        with tstrace.iteration(n):
            with tstrace.span("forward", step="forward"):
                loss = model(batch)
            tstrace.scalar("loss", loss.item())
"""
import contextlib
import ctypes
import functools
import math
import os


class _Words(dict):
    """The words that an argument may be; another one is told with them."""

    def __missing__(self, word):
        raise ValueError("%r is none of %s" % (word, ", ".join(map(str, self))))


KINDS = _Words({"function": 0, "op": 1, "module": 2})
STEPS = _Words({None: 0, "forward": 1, "backward": 2, "optimizer": 3})
CATEGORIES = _Words({"other": 0, "parameter": 1, "activation": 2, "gradient": 3, "optimizer": 4})
STATES = _Words({"present": 0, "missing": 1, "zero": 2, "non_finite": 3})
PHASES = _Words({"train": 0, "infer": 1})
LEVELS = _Words({"none": 0, "partial": 1, "complete": 2})
SCOPES = _Words({"unknown": 0, "profiled_work": 1, "production_equivalent": 2})
EXPECTATIONS = _Words({"active": 0, "inactive": 1, "data_conditional": 2})
COVERED = ("operations", "activations", "tensors", "gradients", "logical_memory", "physical_memory",
           "device_timing")
DTYPES = _Words((name, n) for n, name in enumerate(
    "u8 i8 u16 i16 u32 i32 u64 i64 bool f8e4m3 f8e5m2 f16 bf16 f32 f64".split()))
# What other libraries call them, and letters of array interfaces, which have the size behind them.
NAMES = {"uint8": "u8", "int8": "i8", "uint16": "u16", "int16": "i16", "uint32": "u32",
         "int32": "i32", "uint64": "u64", "int64": "i64", "float8_e4m3fn": "f8e4m3",
         "float8_e5m2": "f8e5m2", "float16": "f16", "bfloat16": "bf16", "float32": "f32",
         "float64": "f64"}
NOT_KNOWN = 2**64 - 1

_u64, _text, _session = ctypes.c_uint64, ctypes.c_char_p, ctypes.c_void_p


class Error(OSError):
    """A call that was refused: errno, and what was wrong."""


class _Shape(ctypes.Structure):
    _fields_ = [("sizes", ctypes.POINTER(_u64)), ("count", ctypes.c_size_t)]


class _Op(ctypes.Structure):
    _fields_ = [("name", _text), ("inputs", ctypes.POINTER(_text)),
                ("input_count", ctypes.c_size_t), ("output", _text), ("shape", _Shape),
                ("dtype", _text), ("device", _text), ("timestamp_ns", _u64),
                ("duration_ns", _u64), ("output_dense_bytes", _u64), ("input_dense_bytes", _u64)]


class _Tensor(ctypes.Structure):
    _fields_ = [("tensor_id", _text), ("label", _text), ("shape", _Shape), ("dtype", _text),
                ("device", _text), ("requires_grad", ctypes.c_bool), ("category", ctypes.c_int),
                ("dense_bytes", _u64)]


class _Memory(ctypes.Structure):
    _fields_ = [("storage_id", _text), ("tensor_id", _text), ("op_name", _text), ("device", _text),
                ("bytes", _u64), ("timestamp_ns", ctypes.POINTER(_u64)), ("shape", _Shape),
                ("dtype", _text), ("category", ctypes.c_int)]


class _DeviceMemory(ctypes.Structure):
    _fields_ = [("device", _text), ("timestamp_ns", ctypes.POINTER(_u64)), ("used_bytes", _u64),
                ("free_bytes", _u64), ("reserved_bytes", _u64), ("capacity_bytes", _u64)]


class _Data(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("dtype", ctypes.c_int), ("shape", _Shape),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("on_device", ctypes.c_bool),
                ("stream", ctypes.c_void_p)]


class _Tag(ctypes.Structure):
    _fields_ = [("key", _text), ("value", _text)]


class _Entry(ctypes.Structure):
    _fields_ = [("root", _text), ("key", _text), ("family", _text)]


class _Family(ctypes.Structure):
    _fields_ = [("family", _text), ("expectation", ctypes.c_int), ("min_present", _u64)]


class _Gradients(ctypes.Structure):
    _fields_ = [("manifest_sha256", _text), ("expected", ctypes.POINTER(_Entry)),
                ("expected_count", ctypes.c_size_t), ("families", ctypes.POINTER(_Family)),
                ("family_count", ctypes.c_size_t)]


class _Contract(ctypes.Structure):
    _fields_ = ([("scope", ctypes.c_int)] + [(name, ctypes.c_int) for name in COVERED]
                + [(name + "_labels", ctypes.POINTER(_text)) for name in ("required", "gpu", "cpu")]
                + [(name + "_count", ctypes.c_size_t) for name in ("required", "gpu", "cpu")]
                + [("gradient_contract", ctypes.POINTER(_Gradients))])


class _Identity(ctypes.Structure):
    _fields_ = ([(name, _text) for name in ("implementation_id", "workload_id", "model_id",
                                            "config_id", "data_id", "seed_policy")]
                + [("physical_batch", _u64), ("accumulation_steps", _u64)]
                + [(name, _text) for name in ("precision", "device_state", "pair_id")])


class _Run(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("entrypoint", _text), ("correlation_id", _text),
                ("device", _text), ("phase", ctypes.c_int), ("capture_step", _u64),
                ("warmup_steps", _u64), ("device_synchronized", ctypes.c_bool),
                ("measured_region_device_synchronized", ctypes.c_bool),
                ("tags", ctypes.POINTER(_Tag)), ("tag_count", ctypes.c_size_t),
                ("contract", ctypes.POINTER(_Contract)), ("identity", ctypes.POINTER(_Identity))]


def _find():
    """The library that is in the process, or None: it is not brought in by this file."""
    try:
        library = ctypes.CDLL(None)
        library.tstrace_begin_span
    except (AttributeError, OSError):
        return None
    for name, result, *arguments in (
            ("begin_span", _u64, _text, ctypes.c_int),
            ("begin_step_span", _u64, _text, ctypes.c_int, ctypes.c_int),
            ("begin_measurement", _u64, _text),
            ("end_span", ctypes.c_int, _u64),
            ("elapsed_ns", _u64),
            ("record_completed_host_span", ctypes.c_int, _text, ctypes.c_int, _u64, _u64,
             ctypes.POINTER(_u64)),
            ("step", ctypes.c_int, _u64),
            ("step_end", ctypes.c_int),
            ("record_op", ctypes.c_int, _u64, ctypes.POINTER(_Op)),
            ("record_tensor", ctypes.c_int, _u64, ctypes.POINTER(_Tensor)),
            ("record_scalar", ctypes.c_int, _u64, _text, ctypes.c_double),
            ("record_tensor_stats", ctypes.c_int, _u64, _text, ctypes.POINTER(_Data)),
            ("record_memory_alloc", ctypes.c_int, _u64, ctypes.POINTER(_Memory)),
            ("record_memory_free", ctypes.c_int, _u64, ctypes.POINTER(_Memory)),
            ("record_device_memory", ctypes.c_int, ctypes.POINTER(_DeviceMemory)),
            ("record_data_edge", ctypes.c_int, _text, _text),
            ("record_gradient", ctypes.c_int, _text, _text, ctypes.c_int, ctypes.c_double),
            ("pause", ctypes.c_int), ("resume", ctypes.c_int), ("flush", ctypes.c_int),
            ("finish", ctypes.c_int, ctypes.c_void_p),
            ("finish_failed", ctypes.c_int, _text, ctypes.c_void_p),
            ("path", _text)):
        function = getattr(library, "tstrace_" + name)
        function.restype = result
        function.argtypes = [_session, *arguments]
    library.tstrace_open.restype = ctypes.c_int
    library.tstrace_open.argtypes = [ctypes.c_void_p, _text, ctypes.POINTER(_Run)]
    library.tstrace_error.restype = _text
    return library


_library = _find()


def _bytes(text):
    return None if text is None else text if isinstance(text, bytes) else str(text).encode()


def _shape(sizes):
    sizes = tuple(sizes)
    return _Shape((_u64 * len(sizes))(*sizes), len(sizes))


def _call(name, *arguments):
    """Make a call; a refused one raises."""
    if _library is None:
        return 0
    result = getattr(_library, "tstrace_" + name)(None, *arguments)
    if result < 0:
        raise Error(-result, (_library.tstrace_error() or b"").decode(errors="replace")
                    or os.strerror(-result))
    return result


def _contract(terms):
    """Of {"scope": .., "operations": "partial", .., "required": [..], "gpu": [..], "cpu": [..],
    "expected": [(root, key, family), ..], "families": {name: (expectation, minimum), ..}}."""
    contract = _Contract(SCOPES[terms.get("scope", "unknown")])
    for name in COVERED:
        setattr(contract, name, LEVELS[terms.get(name, "none")])
    for name in ("required", "gpu", "cpu"):
        labels = [_bytes(label) for label in terms.get(name, ())]
        setattr(contract, name + "_labels", (_text * len(labels))(*labels))
        setattr(contract, name + "_count", len(labels))
    if "expected" in terms:
        entries = [_Entry(*map(_bytes, entry)) for entry in terms["expected"]]
        families = [_Family(_bytes(name), EXPECTATIONS[expectation], minimum)
                    for name, (expectation, minimum) in terms.get("families", {}).items()]
        contract.gradient_contract = ctypes.pointer(_Gradients(
            None, (_Entry * len(entries))(*entries), len(entries),
            (_Family * len(families))(*families), len(families)))
    return contract


def open(path=None, entrypoint=None, phase="train", capture_step=1, warmup_steps=None, device=None,
         correlation_id=None, device_synchronized=False, region_synchronized=False, tags=None,
         contract=None, identity=None):
    """Open the session before its first event; raises when it is open.  The trace's path.

    `identity` has the members of struct tstrace_identity, `contract` what _contract says."""
    pairs = [_Tag(_bytes(key), _bytes(value)) for key, value in (tags or {}).items()]
    run = _Run(ctypes.sizeof(_Run), _bytes(entrypoint), _bytes(correlation_id), _bytes(device),
               PHASES[phase], capture_step,
               capture_step - 1 if warmup_steps is None else warmup_steps, device_synchronized,
               region_synchronized, (_Tag * len(pairs))(*pairs), len(pairs))
    if contract is not None:
        run.contract = ctypes.pointer(_contract(contract))
    if identity is not None:
        run.identity = ctypes.pointer(_Identity(**{
            key: value if isinstance(value, int) else _bytes(value)
            for key, value in identity.items()}))
    _call("open", _bytes(path), ctypes.byref(run))
    return globals()["path"]()


def available():
    """Whether the library is in this process."""
    return _library is not None


class span(contextlib.ContextDecorator):
    """A span of this thread, as context manager or decorator; `step`: a step of training."""

    def __init__(self, name, step=None, kind="function"):
        self.name, self.step, self.kind, self.ids = _bytes(name), STEPS[step], KINDS[kind], []

    def __enter__(self):
        if _library is not None:
            self.ids.append(_library.tstrace_begin_step_span(None, self.name, self.step, self.kind)
                            if self.step else
                            _library.tstrace_begin_span(None, self.name, self.kind))
        return self

    def __exit__(self, *_):
        if self.ids:
            _library.tstrace_end_span(None, self.ids.pop())
        return False


@contextlib.contextmanager
def measurement(name):
    """The measured region; one a session."""
    number = _library.tstrace_begin_measurement(None, _bytes(name)) if _library else 0
    try:
        yield
    finally:
        if number:
            _library.tstrace_end_span(None, number)


@contextlib.contextmanager
def iteration(n):
    """Iteration n of a training loop; the device's memory is looked at when it ends."""
    _call("step", n)
    try:
        yield
    finally:
        _call("step_end")


step = functools.partial(_call, "step")
pause = functools.partial(_call, "pause")
resume = functools.partial(_call, "resume")
flush = functools.partial(_call, "flush")


def elapsed_ns():
    return _library.tstrace_elapsed_ns(None) if _library else 0


def completed_span(name, start_ns, duration_ns, kind="function"):
    """A span that is over, by times as elapsed_ns() gives them; it hangs from the root."""
    _call("record_completed_host_span", _bytes(name), KINDS[kind], start_ns, duration_ns, None)


def scalar(label, value):
    _call("record_scalar", 0, _bytes(label), float(value))


def _letters(text):
    """The dtype of an array interface: "<f4"."""
    kind, size = text[1], int(text[2:])
    return "bool" if kind == "b" else "%s%d" % (kind, size * 8)


def _view(data):
    """Address, dtype, shape, strides in elements or None, whether it is on a device, stream, and
    what keeps it alive: of PyTorch's tensors, of arrays with an interface, of Python's buffers."""
    if hasattr(data, "data_ptr"):
        name = str(data.dtype).rpartition(".")[2]
        return (data.data_ptr(), NAMES.get(name, name), tuple(data.shape), tuple(data.stride()),
                bool(data.is_cuda), None, data)
    for name in ("__cuda_array_interface__", "__array_interface__"):
        array = getattr(data, name, None)
        if array is not None:
            size, strides = int(array["typestr"][2:]), array.get("strides")
            if strides is not None:
                assert not any(stride % size for stride in strides), "strides within an element"
                strides = tuple(stride // size for stride in strides)
            return (array["data"][0], _letters(array["typestr"]), tuple(array["shape"]), strides,
                    name.startswith("__cuda"), array.get("stream"), data)
    view = memoryview(data)
    letter = view.format.lstrip("@=")
    kind = "f" if letter in "efd" else "b" if letter == "?" else "u" if letter in "cBHILQN" else "i"
    raw = (ctypes.c_char * view.nbytes).from_buffer_copy(view.tobytes())
    return (ctypes.addressof(raw), _letters("=%s%d" % (kind, view.itemsize)), tuple(view.shape),
            None, False, None, raw)


def tensor_stats(label, data, dtype=None, stream=None):
    """Statistics of a tensor: of PyTorch, of an array library, or anything with a buffer.  On a
    device they are reduced on `stream`, a number as cuda_stream is, for which this waits."""
    if _library is None:
        return
    address, name, shape, strides, on_device, its_stream, kept = _view(data)
    order = None if strides is None else (ctypes.c_int64 * len(strides))(*strides)
    record = _Data(address, DTYPES[dtype or name], _shape(shape), order, on_device,
                   stream if stream is not None else its_stream)
    _call("record_tensor_stats", 0, _bytes(label), ctypes.byref(record))
    del kept


def op(name, inputs=(), output=None, shape=(), dtype=None, device=None, timestamp_ns=0,
       duration_ns=0, output_dense_bytes=0, input_dense_bytes=0):
    names = [_bytes(i) for i in inputs]
    record = _Op(_bytes(name), (_text * len(names))(*names), len(names), _bytes(output),
                 _shape(shape), _bytes(dtype), _bytes(device), timestamp_ns, duration_ns,
                 output_dense_bytes, input_dense_bytes)
    _call("record_op", 0, ctypes.byref(record))


def tensor(tensor_id, shape=(), dtype=None, device=None, label=None, requires_grad=False,
           category="other", dense_bytes=0):
    record = _Tensor(_bytes(tensor_id), _bytes(label), _shape(shape), _bytes(dtype),
                     _bytes(device), requires_grad, CATEGORIES[category], dense_bytes)
    _call("record_tensor", 0, ctypes.byref(record))


def _memory(call, storage_id, size, tensor_id, device, op_name, shape, dtype, category, time_ns):
    at = None if time_ns is None else ctypes.pointer(_u64(time_ns))
    record = _Memory(_bytes(storage_id), _bytes(tensor_id), _bytes(op_name), _bytes(device), size,
                     at, _shape(shape), _bytes(dtype), CATEGORIES[category])
    _call(call, 0, ctypes.byref(record))


def memory_alloc(storage_id, size, tensor_id=None, device=None, op_name=None, shape=(), dtype=None,
                 category="other", timestamp_ns=None):
    """A block of an allocator of the program's own; memory_free takes the same size."""
    _memory("record_memory_alloc", storage_id, size, tensor_id, device, op_name, shape, dtype,
            category, timestamp_ns)


def memory_free(storage_id, size, tensor_id=None, device=None, op_name=None, shape=(), dtype=None,
                category="other", timestamp_ns=None):
    _memory("record_memory_free", storage_id, size, tensor_id, device, op_name, shape, dtype,
            category, timestamp_ns)


def device_memory(device=None, used=NOT_KNOWN, free=NOT_KNOWN, reserved=NOT_KNOWN,
                  capacity=NOT_KNOWN):
    record = _DeviceMemory(_bytes(device), None, used, free, reserved, capacity)
    _call("record_device_memory", ctypes.byref(record))


def data_edge(source, target):
    _call("record_data_edge", _bytes(source), _bytes(target))


def gradient(root, key, state, norm=None):
    _call("record_gradient", _bytes(root), _bytes(key), STATES[state],
          math.nan if norm is None else float(norm))


def finish():
    """End the session; refuses while spans of this thread are open.  The trace's path."""
    _call("finish", None)
    return path()


def finish_failed(reason):
    _call("finish_failed", _bytes(reason), None)
    return path()


def path():
    found = _library.tstrace_path(None) if _library else None
    return found.decode(errors="surrogateescape") if found else None
