"""How does a worker process keep one statement from taking the machine's memory?"""

from __future__ import annotations


def limit_memory(extra_bytes: int) -> bool:
    """Let this process take at most `extra_bytes` of address space more than it holds now; for a worker's start.

    What then asks for more gets `MemoryError` (in Python) or an out-of-memory error (in the engine), which the
    engines report as `too_large`. Returns False where the platform has no such limit.
    """
    try:
        import resource
        from pathlib import Path

        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except (ImportError, OSError, ValueError, IndexError):
        return False
    wanted = pages * resource.getpagesize() + extra_bytes
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_AS, (wanted, hard))
    return True
