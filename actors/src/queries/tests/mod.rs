//! Narrows and windows against a plain table: every message with who was given it and what they made of it, looked at
//! one by one.

mod naive;
mod search_scope;

use super::bodies::still_readable;
use super::fetch::window;
use super::search::Search;
use super::{Anchor, NEWEST, Range, Window};
use crate::fixture::{HAMLET, IAGO, POLONIUS};
use model::{MessageId, UserId};
use naive::{Step, Table, any_step};
use proptest::prelude::*;
use rules::narrow::{Plan, locate_narrow, parse_narrow};
use serde_json::{Value, json};

const PEOPLE: [UserId; 3] = [IAGO, HAMLET, POLONIUS];

/// Operator and operand of terms that mean something in the table.
fn any_term() -> impl Strategy<Value = Value> {
    let terms = vec![
        ("channel", json!("Verona")),
        ("channel", json!("core team")),
        ("channel", json!("vault")),
        ("channels", json!("public")),
        ("topic", json!("Pens")),
        ("topic", json!("✔ ink")),
        ("dm", json!([IAGO.0])),
        ("dm", json!([HAMLET.0, POLONIUS.0])),
        ("dm-including", json!(HAMLET.0)),
        ("dm-including", json!(IAGO.0)),
        ("group-pm-with", json!(POLONIUS.0)),
        ("sender", json!(IAGO.0)),
        ("sender", json!(HAMLET.0)),
        ("is", json!("dm")),
        ("is", json!("starred")),
        ("is", json!("unread")),
        ("is", json!("mentioned")),
        ("is", json!("alerted")),
        ("is", json!("followed")),
        ("is", json!("muted")),
        ("is", json!("resolved")),
        ("in", json!("home")),
        ("in", json!("all")),
        ("has", json!("link")),
        ("has", json!("image")),
        ("id", json!(7)),
        ("near", json!(7)),
    ];
    (prop::sample::select(terms), prop::bool::weighted(0.3)).prop_map(
        |((operator, operand), negated)| json!({"operator": operator, "operand": operand, "negated": negated}),
    )
}

fn any_narrow() -> impl Strategy<Value = Vec<Value>> {
    prop::collection::vec(any_term(), 0..4)
}

/// The plan of a narrow; none where it is refused, because no message can be both in a channel and direct.
fn plan(table: &Table, asker: UserId, narrow: &[Value]) -> Option<Plan> {
    let terms = parse_narrow(&Value::Array(narrow.to_vec())).unwrap();
    let (view, asker) = (&table.view, table.view.directory.user(asker).unwrap());
    let located = locate_narrow(&view.directory, Some(asker), &terms, |_| None).unwrap();
    located.plan(&view.directory, Some(asker)).ok()
}

/// A window cut out of a list, the plain way.
fn cut(found: &[u32], anchor: u64, range: &Range) -> Window {
    let ids = || found.iter().copied();
    let mut before: Vec<u32> = ids().filter(|id| u64::from(*id) < anchor).collect();
    before.drain(..before.len().saturating_sub(range.num_before));
    let after: Vec<u32> = ids().filter(|id| u64::from(*id) > anchor).take(range.num_after).collect();
    let alone = range.num_before == 0 && range.num_after == 0;
    let middle = ids().find(|id| u64::from(*id) == anchor && (range.include_anchor || alone));
    Window {
        anchor,
        found_oldest: anchor == 0 || before.len() < range.num_before,
        found_newest: anchor >= NEWEST || after.len() < range.num_after,
        found_anchor: middle.is_some(),
        ids: before.into_iter().chain(middle).chain(after).map(MessageId).collect(),
    }
}

fn any_range() -> impl Strategy<Value = Range> {
    let anchor = prop_oneof![
        Just(Anchor::Newest),
        Just(Anchor::Oldest),
        Just(Anchor::FirstUnread),
        (0u64..45).prop_map(Anchor::Id),
        Just(Anchor::Id(u64::from(u32::MAX))),
        Just(Anchor::Id(u64::from(u32::MAX) + 1)),
    ];
    (anchor, 0usize..5, 0usize..5, any::<bool>()).prop_map(
        |(anchor, num_before, num_after, include_anchor)| Range {
            anchor,
            num_before,
            num_after,
            include_anchor,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn narrow_results_match_naive_evaluation(
        steps in prop::collection::vec(any_step(), 0..60),
        narrows in prop::collection::vec(any_narrow(), 1..6),
        range in any_range(),
    ) {
        let mut table = Table::new();
        steps.iter().for_each(|step: &Step| table.take(step));
        for narrow in &narrows {
            for asker in PEOPLE {
                let Some(plan) = plan(&table, asker, narrow) else { continue };
                let expected = table.found(asker, narrow);
                let user = table.view.directory.user(asker).unwrap().clone();
                let found: Vec<u32> = Search::new(&table.view, Some(&user), &plan, None).into_set().iter().collect();
                prop_assert_eq!(&found, &expected, "{:?} for {}: {:?}", narrow, asker, plan);
                let anchor = match range.anchor {
                    Anchor::Newest => NEWEST,
                    Anchor::Oldest => 0,
                    Anchor::Id(id) => id,
                    Anchor::FirstUnread => table.first_unread(asker, narrow).map_or(NEWEST, u64::from),
                };
                let laid = window(&table.view, Some(&user), (&plan, None), &range);
                // Nothing of it is dropped when it is examined again.
                prop_assert_eq!(&still_readable(&table.view, Some(&user), &laid.ids), &laid.ids);
                prop_assert_eq!(laid, cut(&expected, anchor, &range), "{:?} for {}", narrow, asker);
            }
        }
    }
}
