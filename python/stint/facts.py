"""What is known of a job without timing it: sizes, device, libraries."""

import os
import platform
import re

import torch

FIRST_BUCKET_BYTES = 1 << 20  # torch.distributed._DEFAULT_FIRST_BUCKET_BYTES.
BUCKET_BYTES = 25 << 20       # DistributedDataParallel's bucket_cap_mb.

# What the driver calls the GPUs whose names the catalogue shortens in another way.
GPU_NAMES = (
    (r"A100-SXM4-(\d+)GB", r"A100-\1GB-SXM"), (r"A100-PCIE-(\d+)GB", r"A100-\1GB-PCIe"),
    (r"A100 80GB PCIe", "A100-80GB-PCIe"), (r"H100 80GB HBM3", "H100-SXM"),
    (r"H100 PCIe", "H100-PCIe"), (r"H200", "H200-SXM"), (r"V100-SXM2-16GB", "V100-SXM2"),
    (r"V100-PCIE-16GB", "V100-PCIe"), (r"P100-PCIE-16GB", "P100-PCIe"),
    (r"P100-SXM2-16GB", "P100-SXM2"), (r"GeForce RTX (\d+)( Ti)?", r"RTX\1\2"),
    (r"TITAN RTX", "Titan-RTX"),
)


def nbytes(tensor):
    return tensor.numel() * tensor.element_size()


def bytes_of(tensors):
    return sum(nbytes(one) for one in tensors)


def parameters_of(optimizers):
    """Returns the parameters that optimizers train, each once. Frozen ones are not trained."""
    found = {id(parameter): parameter for optimizer in optimizers
             for group in optimizer.param_groups for parameter in group["params"]}
    return [parameter for parameter in found.values() if parameter.requires_grad]


def gpu_name(name):
    """Returns the catalogue's name for a GPU that its driver calls `name`."""
    name = re.sub(r"^(NVIDIA |Tesla )+", "", name)
    for pattern, short in GPU_NAMES:
        match = re.fullmatch(pattern, name)
        if match:
            return match.expand(short).replace(" ", "")
    return name


def processor_name():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            match = re.search(r"^model name\s*:\s*(.+)$", file.read(), re.M)
    except OSError:
        match = None
    return match[1].strip() if match else platform.processor() or platform.machine()


def device_name(device):
    if device.type == "cuda":
        return gpu_name(torch.cuda.get_device_name(device))
    return processor_name()


def blas_library():
    """Returns the BLAS library that is loaded into this process, or what PyTorch was built with."""
    try:
        with open("/proc/self/maps", encoding="utf-8") as file:
            paths = set(re.findall(r"(/\S*lib(?:openblas|mkl_rt|blis|atlas|cblas|blas)\S*)",
                                   file.read()))
    except OSError:
        paths = set()
    if paths:
        return min(os.path.realpath(path) for path in paths)
    built = re.search(r"BLAS_INFO=(\w+)", torch.__config__.show())
    return built[1] if built else "unknown"


def environment(device):
    """Returns versions and libraries, by name."""
    facts = {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "blas": blas_library(),
        "threads": str(torch.get_num_threads()),
        "system": f"{platform.system()} {platform.release()}",
    }
    if device.type == "cuda":
        facts["cuda"] = str(torch.version.cuda)
        facts["cudnn"] = str(torch.backends.cudnn.version())
    return facts


def state_bytes(optimizers):
    """Returns the bytes of the tensors that optimizers keep besides the parameters, each once."""
    found = {id(value): value for optimizer in optimizers for state in optimizer.state.values()
             if isinstance(state, dict) for value in state.values()
             if isinstance(value, torch.Tensor)}
    return bytes_of(found.values())


def buckets_of(parameters, first=FIRST_BUCKET_BYTES, cap=BUCKET_BYTES):
    """Returns `parameters`, given in the order their gradients become ready, in the buckets of
    DistributedDataParallel: one is closed when it has reached its cap, and each type of number has
    buckets of its own."""
    buckets, limit = [], {}
    open_buckets = {}
    for parameter in parameters:
        key = (parameter.dtype, parameter.device)
        bucket = open_buckets.setdefault(key, [])
        bucket.append(parameter)
        if sum(nbytes(one) for one in bucket) >= limit.get(key, first):
            buckets.append(open_buckets.pop(key))
            limit[key] = cap
    return buckets + list(open_buckets.values())
