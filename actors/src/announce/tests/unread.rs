//! The places of messages that became unread.

use super::*;
use model::event::UnreadDetail;
use model::{DirectConversation, Flag, FlagOp, RecipientId};

fn unread(view: &mut View, ids: impl IntoIterator<Item = u32>) -> Vec<UnreadDetail> {
    let messages = MessageRanges::from_sorted(ids.into_iter().map(MessageId));
    let (user, flag, op) = (HAMLET, Flag::Read, FlagOp::Remove);
    let events =
        announced_to(view, vec![Fact::Message(MessageFact::FlagsChanged { user, flag, op, messages })]);
    let [(EventBody::Flags { details, .. }, _)] = &events[..] else { panic!("{events:?}") };
    details.clone()
}

fn direct(view: &View, id: u32, recipient: u32) -> Fact {
    let mut message = Message::clone(&sent(view, id));
    (message.recipient, message.place) = (RecipientId(recipient), Place::Direct);
    Fact::Message(MessageFact::Sent { message: Arc::new(message), echo: None })
}

fn conversation(recipient: u32, users: &[UserId]) -> Fact {
    let conversation = DirectConversation { recipient: RecipientId(recipient), users: users.to_vec() };
    Fact::Message(MessageFact::ConversationCreated(conversation))
}

#[test]
fn unread_messages_have_their_places_with_and_without_bodies_in_memory() {
    let mut view = fixture::view();
    let facts = vec![
        conversation(900, &[IAGO, HAMLET]),
        conversation(901, &[IAGO, POLONIUS]),
        direct(&view, 1, 900),
        fixture::sent(&view, VERONA, 2),
        fixture::sent(&view, CORE, 3),
        direct(&view, 4, 901),
        direct(&view, 5, 900),
    ];
    fixture::apply(&mut view, facts);
    let found = unread(&mut view, 1..=5);
    let places: Vec<_> = found.iter().map(|one| (one.id.0, one.channel.clone(), one.users.clone())).collect();
    let verona = Some((VERONA, "lunch".to_owned(), true));
    assert_eq!(places, [(1, None, vec![IAGO]), (2, verona, vec![]), (5, None, vec![IAGO])]);
    view.recent.keep_none();
    assert_eq!(unread(&mut view, 1..=5), found);
}
