use super::*;
use crate::Server;
use crate::channel::unread_in;
use crate::fixture::{self, CORE, HAMLET, IAGO, VERONA};
use model::{MessageRanges, SubscriptionFact};

/// Two unread messages in each channel, which are not neighbors.
fn view() -> View {
    let mut view = fixture::view();
    for id in 1..=4 {
        let channel = if id % 2 == 1 { VERONA } else { CORE };
        let sent = fixture::sent(&view, channel, id);
        fixture::apply(&mut view, vec![sent]);
    }
    view
}

fn leaving(channel: ChannelId, users: &[UserId]) -> Leaving {
    Leaving { channel, users: users.to_vec() }
}

/// The facts of a frame in short: who leaves what, and who has read how many messages.
fn short(facts: &[Fact]) -> Vec<String> {
    let fact = |fact: &Fact| match fact {
        Fact::Subscription(SubscriptionFact::Removed { channel, users, .. }) => {
            let users: Vec<String> = users.iter().map(ToString::to_string).collect();
            format!("{} leave {channel}", users.join(" "))
        }
        Fact::Message(MessageFact::FlagsChanged { user, messages: MessageRanges(ranges), .. }) => {
            format!("{user} reads {}", ranges.len())
        }
        other => format!("{other:?}"),
    };
    facts.iter().map(fact).collect()
}

#[test]
fn one_frame_has_all_channels() {
    let wanted = vec![leaving(VERONA, &[IAGO, HAMLET]), leaving(CORE, &[IAGO, HAMLET])];
    let (part, facts) = decide(&view(), wanted, (MessageId(4), IAGO), Room::default());
    assert_eq!(
        short(&facts),
        ["4 5 leave 1", "4 reads 2", "5 reads 2", "4 leave 2", "4 reads 2"],
        "with the unread messages"
    );
    let done = |channel, removed, not_subscribed| Unsubscribed { channel, removed, not_subscribed };
    assert_eq!(
        part.outcomes,
        [done(VERONA, vec![IAGO, HAMLET], vec![]), done(CORE, vec![IAGO], vec![HAMLET])]
    );
    assert!(part.left.is_empty());
}

#[test]
fn what_does_not_fit_is_left_for_the_next_frame() {
    let wanted = || vec![leaving(VERONA, &[IAGO, HAMLET]), leaving(CORE, &[IAGO])];
    let frame = |users, ranges| {
        let room = Room { users, ranges };
        let (part, facts) = decide(&view(), wanted(), (MessageId(4), IAGO), room);
        (short(&facts), part.left)
    };
    let left = vec![leaving(VERONA, &[HAMLET]), leaving(CORE, &[IAGO])];
    assert_eq!(frame(1, 99), (vec!["4 leave 1".into(), "4 reads 2".into()], left.clone()));
    assert_eq!(frame(99, 2), (vec!["4 leave 1".into(), "4 reads 2".into()], left));
    // A user stays until all of the unread messages are marked as read.
    assert_eq!(frame(99, 1), (vec!["4 reads 1".into()], wanted()));
}

async fn send(realm: &crate::RealmHandle) {
    let draft = fixture::draft(&realm.shared.view.read(), IAGO, VERONA, "lunch", "hi");
    realm.send_to_channel(draft).await.unwrap();
}

#[actix::test]
async fn request_is_one_frame_and_includes_messages_that_are_not_durable_yet() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(fixture::options(&folder.path().join("data"))).await.unwrap();
    let realm = fixture::on_server(&server).await;
    let frames = || realm.shared.view.read().progress.sequence.0;
    send(&realm).await;
    let before = frames();
    let left = realm.unsubscribe(vec![VERONA, CORE], vec![IAGO, HAMLET], IAGO);
    // Decided by the channel's own actor, before and after the request arrives.
    let (_, left, _) = tokio::join!(send(&realm), left, send(&realm));
    assert_eq!(left.unwrap().iter().map(|done| done.removed.len()).collect::<Vec<_>>(), [2, 1]);
    assert_eq!(frames() - before, 3, "two messages, and one frame for both channels");
    let unread = |channel, user| unread_in(&realm.shared.view.read(), channel, user);
    for (channel, user) in [(VERONA, IAGO), (VERONA, HAMLET), (CORE, IAGO)] {
        assert!(!realm.directory().is_subscribed(channel, user));
        assert_eq!(unread(channel, user), MessageRanges::default(), "{channel} {user}");
    }
    server.stop().await.unwrap();
}
