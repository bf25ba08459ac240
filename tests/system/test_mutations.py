"""A table of deliberate mutations. Each row breaks one thing and names the check that must fail
then, and that passes without it; at the end, the checks that rest on what a database does, in
databases.
"""

from collections.abc import Callable
from inspect import signature
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from purse import PurseError
from tests.campaign import test_bill
from tests.campaign.ledger import test_level, test_limits, test_masks, test_period
from tests.campaign.rules import test_asks, test_reports
from tests.campaign.run import test_forget, test_restore
from tests.campaign.terms import test_arms
from tests.support import level_checks, mutations, storages
from tests.support import level_mutations as levels
from tests.support import promise_checks as promises
from tests.support import traffic_checks as checks
from tests.support import traffic_mutations as traffic
from tests.support.client_log import ClientLog
from tests.support.fault_injection import mounted
from tests.support.soak import SOAK, scale
from tests.system import test_power_cuts, test_recorded_journals, test_unavailable

pytestmark = test_power_cuts.pytestmark
numbers = count()


def a_power_cut_takes_nothing(folder: Path) -> None:
    """A few lives of the long test, with a log as long as it usually is."""
    home, log = test_power_cuts.new_home(folder / f"home-{next(numbers)}"), ClientLog()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(test_power_cuts, "LOG", 1000)
        for cut in (2, 4, 6):  # even: what was not synced is gone
            with mounted() as disk:
                test_power_cuts.lived(
                    disk, home, next_home := folder / f"home-{next(numbers)}", log, cut
                )
            home = next_home


class Row(NamedTuple):
    """What is broken, and the check that must notice: of a place, of a folder, or a test of
    campaigns that is run in that place.
    """

    break_it: Callable[[pytest.MonkeyPatch], None]
    check: Callable[..., None]
    only: str = ""  # the place, where there is no other


the_same_report_again = (
    test_reports.test_the_same_report_again_gets_the_same_answer_and_another_a_conflict
)
a_repeat_is_held = test_asks.test_a_repeat_does_not_hand_out_tickets_for_which_nothing_is_held
masks_are_counted = test_masks.test_masks_are_counted_as_they_were_asked_for
an_arm_comes_and_goes = test_arms.test_an_arm_is_added_chosen_retired_and_comes_back
what_failed_or_was_void = test_reports.test_nothing_is_learnt_from_what_failed_or_was_void
an_earlier_export_is_handed_over = (
    test_recorded_journals.test_an_export_of_an_earlier_version_of_a_policy_is_handed_over
)
ROWS = [
    Row(mutations.drop_the_guard, promises.a_refusal_says_that_the_rest_is_held),
    Row(mutations.drop_the_guard_and_the_check, promises.the_budget_holds),
    Row(
        mutations.drop_the_guard_and_the_check,
        test_asks.test_the_last_of_the_budget_is_held_and_not_one_unit_more,
    ),
    Row(mutations.take_reports_twice, the_same_report_again),
    Row(mutations.take_reports_twice, promises.a_report_counts_once),
    Row(mutations.void_after_tell, the_same_report_again),
    Row(mutations.forget_conflicts, the_same_report_again),
    Row(mutations.hold_twice, promises.a_request_is_answered_once),
    Row(mutations.hold_twice, test_asks.test_a_request_is_answered_once),
    Row(
        mutations.release_on_expiry,
        test_asks.test_a_hold_that_outlives_its_deadline_is_presumed_spent,
    ),
    Row(mutations.swallow_overruns, test_reports.test_a_cost_above_its_maximum_is_recorded_in_full),
    Row(
        mutations.spend_up_to_the_hold,
        test_bill.test_calls_that_are_open_may_exceed_the_budget_and_no_other,
    ),
    Row(
        mutations.expect_what_was_declared, test_bill.test_one_outlier_may_leave_no_money_for_an_arm
    ),
    Row(mutations.let_asks_overdraw, promises.the_budget_holds),
    Row(mutations.look_past_limits_unchecked, promises.no_limit_is_passed),
    Row(mutations.let_labels_overdraw, promises.no_limit_is_passed),
    Row(
        mutations.give_refunds_of_ended_periods_to_labels,
        test_limits.test_a_bill_above_its_hold_counts_in_full_and_a_period_forgives_it,
    ),
    Row(
        mutations.forget_own_limits,
        test_limits.test_a_lowered_limit_holds_at_once_and_a_raised_one_too,
    ),
    Row(
        mutations.ask_without_labels,
        test_limits.test_an_ask_without_the_label_is_refused_unless_that_is_allowed,
    ),
    Row(
        mutations.show_the_policy_the_rest_of_a_user,
        test_limits.test_a_poor_user_does_not_end_the_game_of_others,
    ),
    Row(mutations.alert_on_what_was_held, test_bill.test_accounts_count_it_too_and_say_so),
    Row(levels.book_nothing_above, test_bill.test_accounts_count_it_too_and_say_so),
    Row(mutations.cache_the_counters, promises.two_objects_share_a_budget),
    Row(mutations.acknowledge_before_commit, promises.what_is_acknowledged_is_seen_by_others),
    Row(mutations.acknowledge_before_commit, a_power_cut_takes_nothing, only="sqlite"),
    Row(mutations.sync_less, a_power_cut_takes_nothing, only="sqlite"),
    Row(
        mutations.use_the_probability_of_now,
        promises.a_late_report_is_weighed_by_its_own_probability,
    ),
    Row(mutations.forget_who_takes_over, an_earlier_export_is_handed_over),
    Row(mutations.trust_checkpoints, promises.a_damaged_checkpoint_is_not_used),
    Row(mutations.write_over_the_journal, promises.the_journal_stays_as_it_is),
    Row(mutations.lock_nothing, promises.two_at_once_wait_for_each_other),
    Row(
        mutations.pay_what_was_settled_again,
        test_reports.test_whichever_comes_last_the_money_moves_once,
    ),
    Row(mutations.keep_the_hold_of_what_failed, what_failed_or_was_void),
    Row(mutations.learn_from_what_was_void, what_failed_or_was_void),
    Row(traffic.ignore_masks, masks_are_counted),
    Row(traffic.hold_the_maximum_of_the_arm, an_arm_comes_and_goes),
    Row(traffic.allow_any_maximum, checks.the_maximum_of_a_call_is_at_most_that_of_its_arm),
    Row(traffic.choose_what_does_not_fit, masks_are_counted),
    Row(traffic.go_on_for_ever, checks.asks_end_and_reports_are_still_taken),
    Row(traffic.hand_out_the_dead, a_repeat_is_held),
    Row(traffic.cool_down_as_long_as_at_first, checks.a_cool_down_doubles_and_ends),
    Row(traffic.cool_down_for_ever, checks.a_cool_down_doubles_and_ends),
    Row(traffic.never_recover, checks.a_cool_down_doubles_and_ends),
    Row(traffic.cool_down_for_calls_in_flight, checks.calls_in_flight_are_one_failure),
    Row(traffic.probe_at_will, checks.one_probe_at_a_time_tries_an_arm),
    Row(traffic.never_recover, checks.one_probe_at_a_time_tries_an_arm),
    Row(traffic.wait_for_a_lost_probe, checks.one_probe_at_a_time_tries_an_arm),
    Row(traffic.learn_missing_rewards_twice, checks.a_missing_reward_is_learnt_once_with_its_value),
    Row(traffic.miss_another_value, checks.a_missing_reward_is_learnt_once_with_its_value),
    Row(traffic.wait_for_rewards_for_ever, checks.a_missing_reward_is_learnt_once_with_its_value),
    Row(
        traffic.learn_missing_rewards_after_the_ask,
        checks.an_ask_learns_what_its_transaction_gives_up,
    ),
    Row(traffic.clip_nothing, checks.a_reward_outside_the_range_is_seen_as_its_end),
    Row(
        traffic.forget_the_chance_of_exploration,
        checks.the_ticket_carries_the_chance_of_exploration,
    ),
    Row(traffic.choose_the_retired, an_arm_comes_and_goes),
    Row(traffic.forget_the_first_pull_of_a_new_arm, checks.a_new_arm_gets_its_first_pull),
    Row(traffic.listen_for_ever, checks.a_silent_arm_gets_a_fifth),
    Row(traffic.count_no_masks, masks_are_counted),
    Row(traffic.count_masks_twice, masks_are_counted),
    Row(levels.book_nothing_above, level_checks.an_account_has_what_is_below_it),
    Row(levels.book_on_the_nearest_account_alone, level_checks.an_account_has_what_is_below_it),
    Row(levels.forget_refunds_above, level_checks.an_account_has_what_is_below_it),
    Row(levels.look_at_the_campaign_only, level_checks.a_refusal_names_the_level_that_lacks),
    Row(levels.look_at_the_campaign_only, level_checks.the_policy_sees_the_least_that_is_left),
    Row(levels.overspend_accounts, promises.no_level_is_overspent),
    Row(mutations.lock_nothing, promises.campaigns_of_an_account_take_turns, only="sqlite"),
    Row(levels.lock_no_account, promises.campaigns_of_an_account_take_turns, only="postgres"),
    Row(
        levels.lock_from_the_bottom_up,
        level_checks.locks_are_taken_from_the_top_down,
        only="postgres",
    ),
    Row(levels.ask_under_stopped_accounts, level_checks.a_paused_account_gives_nothing_out),
    Row(levels.forget_top_ups, level_checks.a_top_up_of_an_account_counts_once),
    Row(levels.renew_twice_unseen, promises.a_boundary_is_in_the_journal_once),
    Row(levels.renew_twice, level_checks.a_boundary_is_made_once),
    Row(levels.resume_by_the_clock, level_checks.a_boundary_is_made_once),
    Row(levels.renew_once_a_transaction, level_checks.missed_boundaries_are_made_in_order),
    Row(levels.renew_what_is_paused, level_checks.nothing_is_renewed_while_it_is_paused),
    Row(
        levels.keep_the_refunds_of_ended_periods,
        level_checks.the_refund_of_an_ended_period_is_dropped,
    ),
    Row(
        levels.keep_the_refunds_of_ended_periods,
        test_period.test_and_are_dropped_once_that_period_has_ended,
    ),
    Row(levels.carry_all, level_checks.what_is_left_is_dropped_at_the_boundary),
    Row(
        levels.wait_for_the_hour_of_a_clock_that_was_ahead,
        test_level.test_events_go_on_after_a_clock_that_was_ahead,
    ),
    Row(
        levels.wait_for_the_period_of_a_clock_that_was_ahead,
        test_level.test_periods_go_on_after_a_clock_that_was_ahead,
    ),
    Row(
        levels.grant_again_what_a_clock_comes_back_to,
        test_level.test_a_clock_that_comes_and_goes_grants_nothing_again,
    ),
    Row(
        levels.grant_once_what_a_clock_jumps_over,
        test_period.test_a_clock_that_is_wrong_by_decades_is_one_entry_with_the_same_money,
    ),
    Row(
        mutations.believe_a_journal,
        test_restore.test_what_no_method_takes_is_not_restored,
        only="memory",
    ),
    Row(levels.keep_salts, test_forget.test_a_name_is_nowhere_and_all_else_is_as_it_was),
    Row(levels.salt_all_alike, test_forget.test_equal_labels_leave_no_equal_hashes, only="memory"),
    Row(
        levels.leave_the_journal_open,
        test_forget.test_a_name_is_nowhere_and_all_else_is_as_it_was,
        only="sqlite",
    ),
    Row(
        levels.keep_what_was_found_before,
        test_forget.test_an_audit_beside_it_keeps_no_name,
        only="sqlite",
    ),
    Row(levels.learn_on, test_forget.what_is_open_elsewhere_goes_on, only="memory"),
    Row(levels.tell_nobody_of_clocks, test_level.test_somebody_is_told_for_a_day),
    Row(mutations.fail_open, test_unavailable.test_another_program_holds_the_lock, only="sqlite"),
    Row(
        mutations.fail_open,
        test_unavailable.test_another_session_locks_the_campaign_in_postgres,
        only="postgres",
    ),
    Row(mutations.hold_another_amount, promises.an_audit_decides_every_hold_again),
    Row(mutations.book_another_amount, promises.what_is_spent_is_what_the_entries_say),
]
SECOND_LINES = [  # the rules are broken, and the database still refuses
    Row(mutations.drop_the_guard, promises.the_budget_holds),
    Row(mutations.forget_reports, promises.a_report_counts_once),
    Row(mutations.forget_requests, promises.a_request_is_answered_once),
    Row(levels.renew_twice, promises.a_boundary_is_in_the_journal_once),
    Row(levels.look_at_the_campaign_only, promises.no_level_is_overspent),
    Row(mutations.look_past_limits, promises.no_limit_is_passed),
]
IN_A_FOLDER = (a_power_cut_takes_nothing, test_unavailable.test_another_program_holds_the_lock)
OF_RULES = (checks.__name__, level_checks.__name__)
PLACES = ["sqlite", "postgres"][: scale(1, 2)]


def name_of(value: object) -> str:
    return (
        f"{value.break_it.__name__}-{value.check.__name__}"
        if isinstance(value, Row)
        else str(value)
    )


def run(row: Row, place: str, build: Any, folder: Path) -> None:
    """The check of a row, in a new place."""
    if row.check in IN_A_FOLDER:
        (new := folder / f"folder-{next(numbers)}").mkdir()
        row.check(new)
    elif row.check is test_unavailable.test_another_session_locks_the_campaign_in_postgres:
        row.check(build(place).address)
    elif row.check.__module__ in (promises.__name__, *OF_RULES):
        row.check(lambda: build(place))
    elif "harness" in signature(row.check).parameters:
        row.check(build(place))
    else:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(storages, "MemoryHarness", lambda: build(place))
            row.check()


def places_of(row: Row) -> list[str]:
    """Where a row is tried; what breaks a rule alone is tried in memory in a short test."""
    if row.only:
        return [row.only]
    rules = row.check.__module__ in (*OF_RULES, test_level.__name__, test_period.__name__)
    return ["memory"] if rules and not SOAK else PLACES


@pytest.mark.parametrize(
    ("row", "place"), [(row, place) for row in ROWS for place in places_of(row)], ids=name_of
)
def test_a_mutation_is_noticed(
    row: Row, place: str, make_harness: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if row.check.__module__ == test_unavailable.__name__:
        test_unavailable.have_no_patience(monkeypatch)
    run(row, place, make_harness, tmp_path)
    row.break_it(monkeypatch)
    with pytest.raises((AssertionError, PurseError, pytest.fail.Exception)) as noticed:
        run(row, place, make_harness, tmp_path)
    what = (row.break_it.__doc__ or "").splitlines()[0]
    said = (str(noticed.value).splitlines() or ["an assertion without words"])[0]
    print(f"{place:8} {what:90} {row.check.__name__}: {said[:80]}")


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("row", SECOND_LINES, ids=name_of)
def test_the_database_stands_behind_the_rules(
    row: Row, place: str, make_harness: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    row.break_it(monkeypatch)
    run(row, place, make_harness, tmp_path)


CHECKS = [  # those that rest on what a database does
    promises.no_level_is_overspent,
    promises.campaigns_of_an_account_take_turns,
    level_checks.a_top_up_of_an_account_counts_once,
    level_checks.a_boundary_is_made_once,
]
UNBOOKED = [
    levels.book_nothing_above,
    levels.book_on_the_nearest_account_alone,
    levels.forget_refunds_above,
]


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_a_promise_of_accounts_and_periods(
    make_harness: Callable[[str], storages.StorageHarness], kind: str, check: Callable[..., Any]
) -> None:
    check(lambda: make_harness(kind))


@pytest.mark.parametrize("broken", UNBOOKED, ids=lambda broken: broken.__name__)
def test_audits_notice_what_was_not_booked(
    monkeypatch: pytest.MonkeyPatch, broken: Callable[[pytest.MonkeyPatch], None]
) -> None:
    """Of the account and of the campaign; the money is in the campaign's journal."""
    made = level_checks.tree(storages.MemoryHarness(), 9, 9)
    made.one.ask()
    with monkeypatch.context() as patch:
        broken(patch)
        made.one.void(1)
        made.one.ask()
    for level in (made.company, made.one):
        assert level.audit().findings, level.name
