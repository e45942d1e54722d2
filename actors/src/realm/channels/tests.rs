use super::*;
use crate::fixture::{self, HAMLET, IAGO, VERONA};
use crate::{RealmHandle, Server};
use model::MessageRanges;
use std::path::Path;

async fn start(data: &Path) -> Arc<Server> {
    Server::start(fixture::options(data)).await.unwrap()
}

fn unread(realm: &RealmHandle) -> MessageRanges {
    unread_in(&realm.shared.view.read(), VERONA, HAMLET)
}

#[actix::test]
async fn archived_channel_becomes_read_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = start(&data).await;
    let realm = fixture::on_server(&server).await;
    let draft = fixture::draft(&realm.shared.view.read(), IAGO, VERONA, "lunch", "hi");
    realm.send_to_channel(draft).await.unwrap();
    // All that is durable when the server is killed now.
    realm.execute(ArchiveChannel { by: IAGO, channel: VERONA.0.into() }).await.unwrap();
    assert!(!unread(&realm).is_empty());
    server.stop().await.unwrap();
    drop(realm);

    let server = start(&data).await;
    let realm = server.realms().pop().unwrap();
    assert!(!unread(&realm).is_empty());
    while !realm.shared.view.read().pending_reads.is_empty() {
        realm.finish_due().await.unwrap();
        tokio::task::yield_now().await;
    }
    assert!(unread(&realm).is_empty());
    server.stop().await.unwrap();
}

#[test]
fn what_is_marked_unread_after_it_was_read_stays_unread() {
    let (realm, ..) = fixture::shared();
    let decide = |command| crate::realm::testing::decide(&realm, command).unwrap();
    let read = || decide(ReadArchived { channel: VERONA });
    let sent = fixture::sent(&realm.view.read(), VERONA, 1);
    fixture::apply(&mut realm.view.write(), vec![sent]);
    assert_eq!(read(), (false, Vec::new()), "it is not archived");
    let (_, facts) =
        crate::realm::testing::decide(&realm, ArchiveChannel { by: IAGO, channel: VERONA.0.into() }).unwrap();
    fixture::apply(&mut realm.view.write(), facts);
    let (has_more, facts) = read();
    assert!(!has_more);
    fixture::apply(&mut realm.view.write(), facts);
    let unread = || unread_in(&realm.view.read(), VERONA, HAMLET);
    assert!(unread().is_empty() && realm.view.read().pending_reads.is_empty());
    let messages = MessageRanges::from_sorted([model::MessageId(1)]);
    let (user, flag, op) = (HAMLET, Flag::Read, model::FlagOp::Remove);
    let marked = Fact::Message(MessageFact::FlagsChanged { user, flag, op, messages });
    fixture::apply(&mut realm.view.write(), vec![marked]);
    assert_eq!(read(), (false, Vec::new()));
    assert!(!unread().is_empty());
}
