//! Buckets that drain evenly and exact windows, several rules, shared keys, and the bound of the table.

use super::*;

const NOW: MonotonicTime = MonotonicTime(Duration::from_secs(1_000_000));

fn after(secs: u64) -> MonotonicTime {
    MonotonicTime(NOW.0 + Duration::from_secs(secs))
}

fn limits(rules: &[(u32, u32)], keys_max: usize) -> Limits {
    let rules = rules.iter().map(|(window_secs, count)| Rule { window_secs: *window_secs, count: *count });
    Limits::new(Rules::default().with(Bucket::ApiByUser, rules.collect()), keys_max)
}

#[test]
fn window_refuses_beyond_its_count() {
    let limits = limits(&[(60, 3)], 100);
    for remaining in [2, 1, 0] {
        let status = limits.acquire(Bucket::ApiByUser, 7, NOW).unwrap();
        assert_eq!((status.limit, status.remaining, status.retry_after_secs), (3, remaining, None));
        assert!(status.check().is_ok());
    }
    let refused = limits.acquire(Bucket::ApiByUser, 7, NOW).unwrap();
    assert_eq!((refused.remaining, refused.retry_after_secs), (0, Some(20.0)));
    assert_eq!(refused.reset_in, Duration::from_secs(60));
    assert_eq!(refused.check(), Err(RateLimited { retry_after_secs: 20.0 }));
    // Other keys and other buckets are not affected.
    assert!(limits.acquire(Bucket::ApiByUser, 8, NOW).unwrap().check().is_ok());
    assert!(limits.acquire(Bucket::EventsByUser, 7, NOW).is_none());
    // After the wait one call fits, not three.
    let later = after(20);
    assert!(limits.acquire(Bucket::ApiByUser, 7, later).unwrap().check().is_ok());
    assert!(limits.acquire(Bucket::ApiByUser, 7, later).unwrap().check().is_err());
}

#[test]
fn shared_key_has_the_calls_of_several() {
    let limits = limits(&[(60, 2)], 100);
    let acquire = || limits.acquire_shared(Bucket::ApiByUser, ("bots", 3), NOW).unwrap();
    assert_eq!((acquire().limit, acquire().remaining), (6, 4));
    assert!((0..4).all(|_| acquire().check().is_ok()) && acquire().check().is_err());
}

#[test]
fn every_rule_of_a_bucket_must_be_satisfied() {
    let limits = limits(&[(3600, 2), (86400, 3)], 100);
    let acquire = |hours: u64| limits.acquire(Bucket::ApiByUser, "a@b", after(hours * 3600)).unwrap();
    assert_eq!(acquire(0).limit, 3);
    assert!(acquire(0).check().is_ok());
    assert!(acquire(0).check().is_err(), "two an hour");
    assert!(acquire(1).check().is_ok());
    assert!(acquire(2).check().is_err(), "three a day");
    assert!(acquire(8).check().is_ok());
}

fn failures(rules: &[(u32, u32)]) -> Limits {
    let rules = rules.iter().map(|(window_secs, count)| Rule { window_secs: *window_secs, count: *count });
    Limits::new(Rules::default().with(Bucket::AuthenticateByUsername, rules.collect()), 100)
}

#[test]
fn exact_window_is_never_exceeded() {
    let limits = failures(&[(1800, 5)]);
    let fail = |secs| limits.acquire(Bucket::AuthenticateByUsername, "iago", after(secs)).unwrap();
    for secs in [0, 1, 2, 3, 4] {
        assert!(fail(secs).check().is_ok());
    }
    // An evenly draining bucket would let one through every six minutes.
    for secs in [5, 360, 720, 1799] {
        let refused = fail(secs);
        assert_eq!((refused.remaining, refused.retry_after_secs), (0, Some((1800 - secs) as f64)));
    }
    assert!(fail(1800).check().is_ok(), "the first one has left the window");
    assert_eq!(fail(1800).retry_after_secs, Some(1.0), "and no other one");
    assert!(fail(10_000).check().is_ok());
}

#[test]
fn refund_and_clear() {
    let limits = failures(&[(1800, 2)]);
    let fail = || limits.acquire(Bucket::AuthenticateByUsername, "iago", NOW).unwrap();
    for _ in 0..5 {
        assert_eq!(fail().remaining, 1);
        limits.refund(Bucket::AuthenticateByUsername, "iago");
    }
    assert!(fail().check().is_ok() && fail().check().is_ok() && fail().check().is_err());
    limits.clear(Bucket::AuthenticateByUsername, "iago");
    assert!(fail().check().is_ok());
}

#[test]
fn exact_rules_must_all_be_satisfied() {
    let limits = failures(&[(3600, 2), (86400, 3)]);
    let fail = |hours: u64| {
        limits.acquire(Bucket::AuthenticateByUsername, "iago", after(hours * 3600)).unwrap().check().is_ok()
    };
    assert_eq!([fail(0), fail(0), fail(0)], [true, true, false], "two an hour");
    assert_eq!([fail(1), fail(2), fail(23)], [true, false, false], "three a day");
    assert_eq!([fail(24), fail(24), fail(24)], [true, true, false]);
}

#[test]
fn table_is_bounded_and_overflow_is_limited() {
    let limits = limits(&[(60, 2)], 160);
    let mut refused = 0;
    for key in 0..10_000 {
        refused += u32::from(limits.acquire(Bucket::ApiByUser, key, NOW).unwrap().check().is_err());
    }
    assert!(limits.keys() <= 160, "{}", limits.keys());
    assert!(refused > 9_000, "{refused}");
    // Once the old ones have drained there is room again.
    let later = after(120);
    assert!(limits.acquire(Bucket::ApiByUser, 20_000, later).unwrap().check().is_ok());
    assert!(limits.keys() <= 160);
}

#[test]
fn changed_rules_apply_at_once() {
    let limits = limits(&[(60, 1)], 10);
    let is_free = || limits.acquire(Bucket::ApiByUser, 1, NOW).is_none_or(|status| status.check().is_ok());
    assert!(is_free() && !is_free());
    limits.set_rules(Rules::default());
    assert!(is_free() && is_free(), "without rules nothing is limited");
    let rule = Rule { window_secs: 60, count: 10 };
    limits.set_rules(Rules::default().with(Bucket::ApiByUser, vec![rule]));
    assert_eq!(limits.acquire(Bucket::ApiByUser, 2, NOW).unwrap().limit, 10);
    assert!(!is_free(), "what was counted still counts");
}
