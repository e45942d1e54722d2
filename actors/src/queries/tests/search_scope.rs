//! The messages that a search covers, against the query that finds all of them at once.

use super::*;
use crate::queries::search_scope::{Covered, ScopeSearch, SearchScope};
use model::{ChannelFact, ChannelId, Fact, Frame, Message, MessageFact, Place, RecipientId, Sequence};
use model::{Subscription, SubscriptionFact, User};
use roaring::RoaringBitmap;
use rules::narrow::Term;
use std::sync::Arc;
use storage::View;

/// The scope of a narrow, and the turns that it took; none where the narrow is refused.
fn scope(view: &View, asker: &User, terms: &[Term], covered: Covered) -> Option<(SearchScope, usize)> {
    let mut search = ScopeSearch::begin(view, Some(asker), terms, covered).ok()?;
    let mut turns = 1;
    while search.take_turn(view) {
        turns += 1;
    }
    Some((search.finish(view), turns))
}

fn terms(narrow: &[Value]) -> Vec<Term> {
    parse_narrow(&Value::Array(narrow.to_vec())).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn search_finds_what_all_sets_have(
        steps in prop::collection::vec(any_step(), 0..60),
        later in prop::collection::vec(any_step(), 0..6),
        narrows in prop::collection::vec(any_narrow(), 1..6),
        range in any_range(),
        text in prop::collection::btree_set(1u32..45, 0..40),
    ) {
        let mut table = Table::new();
        steps.iter().for_each(|step: &Step| table.take(step));
        let text: RoaringBitmap = text.into_iter().collect();
        let mut scopes = Vec::new();
        for (narrow, asker) in narrows.iter().flat_map(|narrow| PEOPLE.map(|asker| (narrow, asker))) {
            let user = table.view.directory.user(asker).unwrap().clone();
            let Some((found, _)) = scope(&table.view, &user, &terms(narrow), Covered::Window(range)) else {
                continue;
            };
            let plan = plan(&table, asker, narrow).unwrap();
            let expected = window(&table.view, Some(&user), (&plan, Some(&text)), &range);
            prop_assert_eq!(found.window(&text, &range), expected, "{:?} for {}", narrow, asker);

            let all = Search::new(&table.view, Some(&user), &plan, Some(&text));
            let wanted: Vec<MessageId> = (1..45).map(MessageId).collect();
            let expected: Vec<MessageId> = wanted.iter().copied().filter(|id| all.contains(id.0)).collect();
            let (some, _) =
                scope(&table.view, &user, &terms(narrow), Covered::Matching(wanted.clone())).unwrap();
            prop_assert_eq!(some.matching(&wanted, &text), expected, "{:?} for {}", narrow, asker);
            scopes.push((found, narrow, asker));
        }
        // What is committed before the answer takes messages away.
        later.iter().for_each(|step| table.take(step));
        for (found, narrow, asker) in scopes {
            let user = table.view.directory.user(asker).unwrap().clone();
            let shown = found.window(&text, &range).ids;
            let now = table.found(asker, narrow);
            let expected: Vec<MessageId> = shown.iter().copied().filter(|id| now.contains(&id.0)).collect();
            let still = found.still(&table.view, Some(&user), &terms(narrow), shown);
            prop_assert_eq!(still, expected, "{:?} for {}", narrow, asker);
        }
    }
}

/// Hamlet in so many further channels, each with a message.
fn view_with_channels(count: u32) -> View {
    let mut view = crate::fixture::view();
    let pattern = view.directory.channel(crate::fixture::CORE).unwrap().clone();
    for number in 1..=count {
        let id = ChannelId(1000 + number);
        let mut channel = model::Channel::clone(&pattern);
        (channel.id, channel.recipient, channel.name) = (id, RecipientId(id.0), format!("channel {number}"));
        let place = Place::Channel { channel: id, topic: "pens".into() };
        let sent = Message::new(MessageId(number), IAGO, RecipientId(id.0), place, crate::fixture::START);
        let record = Subscription::start("#76ce90".into(), MessageId(0));
        let facts = vec![
            Fact::Channel(ChannelFact::Created(Box::new(channel))),
            Fact::Subscription(SubscriptionFact::Added {
                channel: id,
                subscribers: vec![(HAMLET, record)],
                by: HAMLET,
            }),
            Fact::Message(MessageFact::Sent { message: Arc::new(sent), echo: None }),
        ];
        let (sequence, first_event) = (view.progress.sequence.0 + 1, view.progress.last_event.next());
        view.apply(Sequence(sequence), &Frame { at: crate::fixture::START, first_event, facts }).unwrap();
    }
    view
}

/// Every round of a search looks at the scope alone, which is found in turns of the same size however many channels there are.
#[test]
fn turns_grow_with_channels_but_not_what_a_turn_reads() {
    let range = Range { anchor: Anchor::Newest, num_before: 3, num_after: 0, include_anchor: true };
    for (channels, expected) in [(200, 1), (600, 3), (2000, 8)] {
        let view = view_with_channels(channels);
        let user = view.directory.user(HAMLET).unwrap().clone();
        let (found, turns) = scope(&view, &user, &[], Covered::Window(range)).unwrap();
        assert_eq!(turns, expected, "{channels} channels");
        let text: RoaringBitmap = (1..=channels).step_by(2).collect();
        let window = found.window(&text, &range);
        let newest: Vec<u32> = text.iter().rev().take(3).collect();
        assert_eq!(window.ids.iter().rev().map(|id| id.0).collect::<Vec<_>>(), newest);
    }
}
