import gc
import threading
from typing import Any

import pytest

from purse import PurseError
from purse.campaign.storage.connection_pool import _MOST_IDLE, ConnectionPool
from purse.errors import StorageUnavailable


class Connection:
    closed = False


class Owner:
    """Counts what its pool opens and closes."""

    def __init__(self, most: int = 2, timeout: float = 0.05) -> None:
        self.made: list[Connection] = []
        self.pool = ConnectionPool(self.connect, self.close, most, timeout)

    def connect(self) -> Connection:
        self.made.append(Connection())
        return self.made[-1]

    def close(self, connection: Connection) -> None:
        assert not connection.closed
        connection.closed = True


def test_a_connection_is_used_again_and_by_one_at_a_time() -> None:
    owner = Owner()
    with owner.pool.use() as first, owner.pool.use() as second:
        assert first is not second
    with owner.pool.use() as third:
        assert third in (first, second)
    assert len(owner.made) == 2


def test_where_all_are_in_use_one_waits_only_so_long() -> None:
    owner = Owner(most=1)
    with (
        owner.pool.use(),
        pytest.raises(StorageUnavailable, match="all 1 connections"),
        owner.pool.use(),
    ):
        pass
    with owner.pool.use():
        pass


def test_a_connection_is_closed_after_a_foreign_error_and_kept_after_ours() -> None:
    owner = Owner()
    for error, closed in ((PurseError("ours"), False), (ZeroDivisionError(), True)):
        with pytest.raises(type(error)), owner.pool.use() as used:
            raise error
        assert used.closed is closed
    assert owner.pool.idle == []


def test_one_that_was_lost_is_replaced_when_it_cannot_begin() -> None:
    owner = Owner()
    with owner.pool.use() as lost:
        pass

    def begin(connection: Connection) -> None:
        if connection is lost:
            raise ConnectionError

    with owner.pool.use(begin) as used:
        assert used is not lost
    assert lost.closed
    owner.pool.close_idle(owner.close)
    with pytest.raises(ZeroDivisionError), owner.pool.use(lambda _: 1 / 0):  # a new one, too
        pass
    assert owner.made[-1].closed
    with owner.pool.use(), owner.pool.use():
        pass  # none of them counts as used


def test_few_are_kept() -> None:
    owner = Owner(most=_MOST_IDLE + 3)
    using = [owner.pool.use() for _ in range(_MOST_IDLE + 3)]
    for each in using:
        each.__enter__()
    for each in using:
        each.__exit__(None, None, None)
    assert len(owner.pool.idle) == _MOST_IDLE
    assert sum(each.closed for each in owner.made) == 3
    owner.pool.close_idle(owner.close)
    assert all(each.closed for each in owner.made)


def test_while_it_is_drained_nobody_gets_a_connection() -> None:
    owner = Owner(timeout=60)
    with owner.pool.use() as used, owner.pool.drained(owner.close, 0.01) as free:
        assert not free
    got: list[Any] = []

    def work() -> None:
        with owner.pool.use() as connection:
            got.append(connection)

    with owner.pool.drained(owner.close) as free:
        assert free
        assert used.closed
        thread = threading.Thread(target=work)
        thread.start()
        thread.join(0.05)
        assert got == []
    thread.join()
    assert len(got) == 1


def test_a_pool_does_not_keep_its_owner_alive() -> None:
    gc.disable()
    try:
        gone: list[int] = []

        class Mortal(Owner):
            def __del__(self) -> None:
                with self.pool.drained(self.close):
                    gone.append(len(self.made))

        owner = Mortal()
        with owner.pool.use() as used:
            pass
        del owner
        assert gone == [1]
        assert used.closed
    finally:
        gc.enable()
