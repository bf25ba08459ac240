from __future__ import annotations

import os
import threading

import purse.campaign.fork_safety  # noqa: F401  (what happens at a fork)
from purse.compiler.numba_contract import COMPILER_LOCK


def test_a_child_can_compile_whatever_a_thread_of_the_parent_compiled_at_the_fork() -> None:
    compiling, finish = threading.Event(), threading.Event()

    def compile_for_a_while() -> None:
        with COMPILER_LOCK:
            compiling.set()
            finish.wait(0.2)

    thread = threading.Thread(target=compile_for_a_while)
    thread.start()
    assert compiling.wait(10)
    child = os.fork()
    if child == 0:
        os._exit(0 if COMPILER_LOCK._lock.acquire(timeout=5) else 1)
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    with COMPILER_LOCK:  # and so can the parent
        pass
