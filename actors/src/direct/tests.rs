use super::*;
use crate::Server;
use crate::clock::ManualClock;
use crate::fixture::{self, HAMLET, IAGO, POLONIUS, START, VERONA};
use crate::handle::RealmHandle;
use crate::options::Options;

async fn send(realm: &RealmHandle, sender: UserId, others: &[UserId]) -> Result<(), DomainError> {
    let draft = fixture::draft(&realm.shared.view.read(), sender, VERONA, "", "hi").draft;
    let mut users: Vec<UserId> = others.iter().copied().chain([sender]).collect();
    users.sort_unstable();
    realm.send_direct(DirectDraft { draft, users }).await.map(drop)
}

#[actix::test]
async fn new_conversations_of_an_account_in_a_day_are_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let clock = ManualClock::new(START);
    let options = fixture::options(&folder.path().join("data"));
    let options = Options { conversations_daily_max: 2, clock: Arc::new(clock.clone()), ..options };
    let server = Server::start(options).await.unwrap();
    let realm = fixture::on_server(&server).await;
    send(&realm, IAGO, &[HAMLET]).await.unwrap();
    send(&realm, IAGO, &[]).await.unwrap();
    let refused = send(&realm, IAGO, &[HAMLET, POLONIUS]).await;
    assert!(matches!(refused, Err(DomainError::ConversationBudgetSpent { .. })), "{refused:?}");
    assert_eq!(realm.directory().directs().count(), 2);
    send(&realm, IAGO, &[HAMLET]).await.unwrap();
    send(&realm, HAMLET, &[IAGO]).await.unwrap();
    send(&realm, HAMLET, &[]).await.unwrap();
    clock.advance_secs(25 * 3600);
    send(&realm, IAGO, &[HAMLET, POLONIUS]).await.unwrap();
    server.stop().await.unwrap();
}

#[test]
fn conversations_of_a_bot_count_as_those_of_its_owner() {
    let view = fixture::view();
    let system = view.directory.users().find(|user| user.is_system_bot()).unwrap();
    let mut bot = User::clone(system);
    bot.bot.as_mut().unwrap().owner = Some(HAMLET);
    let iago = view.directory.user(IAGO).unwrap();
    assert_eq!((starter(&bot), starter(iago), starter(system)), (Some(HAMLET), Some(IAGO), None));
}
