"""The deadline of a call."""

from __future__ import annotations

import time
from threading import Thread

import pytest

from function.core import DeadlineExceeded, deadline


def test_without_a_call_nothing_is_exceeded():
    deadline.check()


def test_a_call_in_time_goes_on():
    with deadline.within(deadline.Deadline()):
        deadline.check()


def test_a_call_over_its_deadline_is_given_up_at_the_next_step():
    limit = deadline.Deadline(at=time.monotonic() + 60)
    with deadline.within(limit):
        deadline.check()
        limit.at = time.monotonic() - 1
        with pytest.raises(DeadlineExceeded, match="deadline") as exceeded:
            deadline.check()
    assert not exceeded.value.cancelled


def test_a_call_whose_caller_left_is_given_up_at_the_next_step():
    limit = deadline.Deadline()
    with deadline.within(limit):
        neighbour = Thread(target=limit.cancel)
        neighbour.start()
        neighbour.join()
        with pytest.raises(DeadlineExceeded, match="left") as exceeded:
            deadline.check()
    assert exceeded.value.cancelled


def test_a_call_that_is_over_is_never_started():
    limit = deadline.Deadline(at=time.monotonic() - 1)
    started = []
    with pytest.raises(DeadlineExceeded), deadline.within(limit):
        started.append(True)
    assert not started


def test_a_deadline_ends_with_its_call():
    limit = deadline.Deadline()
    with deadline.within(limit):
        limit.cancel()
    deadline.check()


def test_another_thread_has_a_deadline_of_its_own():
    limit, passed = deadline.Deadline(), []
    with deadline.within(limit):
        limit.cancel()
        neighbour = Thread(target=lambda: passed.append(deadline.check()))
        neighbour.start()
        neighbour.join()
        with pytest.raises(DeadlineExceeded):
            deadline.check()
    assert passed == [None]
