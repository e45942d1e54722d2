use crate::directory::tests::{directory, group};
use crate::{Directory, GroupId, UserId};
use std::collections::BTreeSet;
use std::time::Instant;

/// All direct and indirect members of a group, by visiting all of its subgroups.
fn walked(directory: &Directory, id: GroupId) -> BTreeSet<UserId> {
    let mut groups = directory.subgroups_of(id);
    groups.insert(id);
    let records = groups.iter().filter_map(|id| directory.group(*id));
    records.flat_map(|record| record.members.iter().copied()).collect()
}

/// The groups that directly contain a group, by searching all groups.
fn searched_supergroups(directory: &Directory, id: GroupId) -> BTreeSet<GroupId> {
    let above = directory.groups().filter(|record| record.subgroups.contains(&id));
    above.map(|record| record.id).collect()
}

fn assert_resolved(directory: &Directory) {
    for record in directory.groups() {
        let supergroups: BTreeSet<GroupId> = directory.supergroups_of(record.id).collect();
        assert_eq!(supergroups, searched_supergroups(directory, record.id), "group {}", record.id.0);
        let mut above: BTreeSet<GroupId> = directory.groups().map(|above| above.id).collect();
        above.retain(|above| *above == record.id || directory.subgroups_of(*above).contains(&record.id));
        assert_eq!(directory.group_and_supergroups(record.id), above, "group {}", record.id.0);
        let resolved: BTreeSet<UserId> = directory.members_of(record.id).into_iter().collect();
        assert_eq!(resolved, walked(directory, record.id), "group {}", record.id.0);
    }
    let all: usize = directory.groups().map(|record| directory.members_of(record.id).len()).sum();
    assert_eq!(directory.membership_count(), all);
}

#[test]
fn nested_groups_are_resolved_upwards() {
    let mut directory = directory();
    directory.put_group(group(1, &[10], &[]));
    directory.put_group(group(2, &[20], &[1]));
    directory.put_group(group(3, &[], &[2]));
    assert!(directory.is_in_group(GroupId(3), UserId(10)));
    directory.change_members(GroupId(1), &[UserId(11)], &[]);
    assert!(directory.is_in_group(GroupId(3), UserId(11)));
    directory.change_members(GroupId(1), &[], &[UserId(10)]);
    assert!(!directory.is_in_group(GroupId(3), UserId(10)));
    assert!(directory.is_in_group(GroupId(2), UserId(20)));
    assert_eq!(directory.subgroups_of(GroupId(3)), BTreeSet::from([GroupId(1), GroupId(2)]));
}

#[test]
fn who_is_in_twice_stays_when_one_way_ends() {
    let mut directory = directory();
    directory.put_group(group(1, &[10], &[]));
    directory.put_group(group(2, &[10], &[]));
    // A diamond: 4 contains 1 by way of 3 and, with 2, directly.
    directory.put_group(group(3, &[], &[1]));
    directory.put_group(group(4, &[], &[1, 2, 3]));
    directory.change_members(GroupId(1), &[], &[UserId(10)]);
    assert!(directory.is_in_group(GroupId(4), UserId(10)) && !directory.is_in_group(GroupId(3), UserId(10)));
    directory.put_group(group(4, &[], &[3]));
    assert!(!directory.is_in_group(GroupId(4), UserId(10)));
    assert_resolved(&directory);
}

#[test]
fn a_cycle_of_groups_ends() {
    let mut directory = directory();
    directory.put_group(group(1, &[10], &[2]));
    directory.put_group(group(2, &[20], &[1]));
    assert!(directory.is_in_group(GroupId(1), UserId(20)));
    assert!(directory.is_in_group(GroupId(2), UserId(10)));
}

#[test]
fn the_order_of_records_does_not_matter() {
    let records =
        [group(1, &[10], &[]), group(2, &[20], &[1]), group(3, &[], &[1, 2]), group(4, &[40], &[3])];
    let (mut forwards, mut backwards) = (directory(), directory());
    records.iter().for_each(|record| forwards.put_group(record.clone()));
    records.iter().rev().for_each(|record| backwards.put_group(record.clone()));
    assert_eq!(forwards, backwards);
    assert_resolved(&backwards);
}

/// A fixed sequence of pseudorandom numbers below `limit`.
fn numbers(mut seed: u64) -> impl FnMut(u32) -> u32 {
    move |limit| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as u32 % limit
    }
}

/// What changed between two directories, by comparing all members.
fn assert_changes_found(before: &Directory, after: &Directory) {
    for record in after.groups() {
        let (was, is) = (walked(before, record.id), walked(after, record.id));
        let changed: BTreeSet<UserId> = was.symmetric_difference(&is).copied().collect();
        assert_eq!(after.members_changed_since(before, record.id), changed, "group {}", record.id.0);
        if let Some(earlier) = before.group(record.id) {
            let joined = record.members.iter().copied().filter(|user| !earlier.members.contains(user));
            let joined: Vec<UserId> = joined.collect();
            assert_eq!(record.members_not_in(earlier), joined);
        }
    }
}

#[test]
fn any_changes_lead_to_what_walking_finds() {
    for seed in 0..50 {
        let mut next = numbers(seed);
        let mut directory = directory();
        for _ in 0..60 {
            let before = directory.clone();
            let id = next(8);
            if next(3) == 0 && directory.group(GroupId(id)).is_some() {
                directory.change_members(GroupId(id), &[UserId(next(10))], &[UserId(next(10))]);
            } else {
                let members: Vec<u32> = (0..next(4)).map(|_| next(10)).collect();
                // Only smaller ids are inside: no cycles.
                let subgroups: Vec<u32> = (0..id).filter(|_| next(3) == 0).collect();
                directory.put_group(group(id, &members, &subgroups));
            }
            assert_resolved(&directory);
            assert_changes_found(&before, &directory);
        }
    }
}

#[test]
fn one_person_in_a_deep_nest_of_large_groups_is_quick() {
    let mut directory = directory();
    let everybody: Vec<u32> = (0..10_000).collect();
    directory.put_group(group(1, &everybody, &[]));
    for id in 2..=200 {
        directory.put_group(group(id, &[id + 20_000], &[id - 1]));
    }
    let started = Instant::now();
    for user in 30_000..30_100 {
        directory.change_members(GroupId(1), &[UserId(user)], &[]);
        directory.change_members(GroupId(1), &[], &[UserId(user)]);
    }
    // 40,000 sets of 10,000 users: rebuilding all of them would take seconds.
    let per_change = started.elapsed() / 200;
    assert!(per_change.as_millis() < 50, "{per_change:?} a change");
    assert_eq!(directory.members_of(GroupId(200)).len(), 10_199);
}
