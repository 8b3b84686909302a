"""Marks points in time of a device's work, at little cost."""

import resource
import time

import torch


class ProcessorClock:
    """Time of a processor, which has finished its work when the call returns."""

    mark = staticmethod(time.perf_counter)

    @staticmethod
    def seconds(begin, end):
        return end - begin

    @staticmethod
    def passed(_mark):
        return True

    @staticmethod
    def wait():
        """No work is ever outstanding."""

    @staticmethod
    def peak_bytes():
        """Returns the peak memory of the process."""
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


class CudaClock:
    """Time of a GPU, by events in its current stream. Not yet run on a GPU."""

    @staticmethod
    def mark():
        event = torch.cuda.Event(enable_timing=True)
        event.record()
        return event

    @staticmethod
    def seconds(begin, end):
        return begin.elapsed_time(end) / 1e3

    @staticmethod
    def passed(mark):
        return mark.query()

    @staticmethod
    def wait():
        torch.cuda.synchronize()

    @staticmethod
    def peak_bytes():
        """Returns the peak memory of PyTorch's allocator."""
        return torch.cuda.max_memory_allocated()


def clock_of(device):
    """Returns the clock of a torch.device."""
    return CudaClock if device.type == "cuda" else ProcessorClock
