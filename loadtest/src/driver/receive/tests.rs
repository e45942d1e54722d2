//! Receivers that rest or are refused, and what they find wrong with events.

use super::*;
use crate::driver::send::{Sender, Sent, open_unchecked};
use crate::fake::{self, Faults};
use crate::recorder::Window;
use crate::scenario::Scenario;
use crate::setup::Stage;
use crate::text::Writer;

#[test]
fn events_of_other_types_and_escaped_contents_are_read() {
    let body = br#"{"result":"success","events":[{"id":1,"type":"heartbeat"},
        {"id":2,"type":"message","flags":[],"message":{"id":9,"stream_id":3,"content":"a \"b\""}},
        {"id":3,"type":"message","message":{"id":10,"content":"to people"}}]}"#;
    let parsed: EventsReply = serde_json::from_slice(body).unwrap();
    assert_eq!(parsed.events.len(), 3);
    let message = parsed.events[1].message.as_ref().unwrap();
    assert_eq!((message.id, message.stream_id, message.content.as_ref()), (9, Some(3), "a \"b\""));
}

/// What a receiver of channel 3 finds wrong: duplicates, and events out of order. The content of a message is its id.
fn check(events: &[(i64, Option<u64>)]) -> (u64, u64, u64) {
    let mut checks = Checks::new(-1, &[3]);
    let now = Instant::now();
    for (id, message) in events {
        let message =
            message.map(|id| EventMessage { id, stream_id: Some(3), content: id.to_string().into() });
        let read = |content: &str| Some(Written { sent: now, hash: content.parse().unwrap() });
        checks.take(&Event { id: *id, message }, read);
    }
    assert_eq!(checks.last_event_id, events.iter().map(|event| event.0).max().unwrap());
    (checks.seen[&3].count(), checks.duplicates, checks.out_of_order)
}

#[test]
fn events_in_a_wrong_order_are_neither_lost_nor_duplicates() {
    assert_eq!(check(&[(0, Some(1)), (1, Some(2)), (2, None), (3, Some(3))]), (3, 0, 0));
    assert_eq!(check(&[(1, Some(2)), (0, Some(1)), (3, None), (2, None), (4, Some(3))]), (3, 0, 2));
    assert_eq!(check(&[(1, Some(1)), (0, Some(2))]), (2, 0, 1), "the events only");
    assert_eq!(check(&[(0, Some(2)), (1, Some(1))]), (2, 0, 1), "the messages only");
    assert_eq!(check(&[(0, Some(1)), (0, Some(1)), (1, None), (1, None), (2, Some(1))]), (1, 3, 0));
}

/// Four receivers of a channel, which do not poll yet, and a sender to it whose times count from then.
async fn four_receivers(target: &Arc<Target>, epoch: Instant) -> (Vec<Receiver>, Sender) {
    let text = serde_json::json!({
        "name": "x", "about": "x", "users": 4, "channels": [{"name": "c", "subscribers": 4}],
        "phases": [{"name": "p", "step": {"do": "idle", "polls": 4, "channel": "c", "hold_secs": 0}}]
    });
    let scenario = Scenario::parse(&text.to_string()).unwrap();
    let mut stage = Stage::prepare(target, &scenario, &None).await.unwrap();
    let channel = stage.channel("c").unwrap();
    let accounts = stage.accounts(&channel.members, 4).await.unwrap();
    let writer = Arc::new(Writer::new(epoch, [24, 80]));
    let mut senders = open_unchecked(target, &accounts[..1], &[channel.id], 2, &writer).await.unwrap();
    let followed = accounts.into_iter().map(|account| (account, vec![channel.id])).collect();
    (open_receivers(target, followed).await.unwrap(), senders.swap_remove(0))
}

/// A recorder whose last replies are awaited until soon, or for a minute.
fn receipts(replies_secs: f64) -> Arc<Recorder> {
    let window = Window::starting_now(0.0, 0.1);
    let replies_until = window.begins + Duration::from_secs_f64(replies_secs);
    Arc::new(Recorder::new("receipt", Window { replies_until, ..window }))
}

#[tokio::test]
async fn messages_are_not_lost_whose_polls_are_limited_until_the_end() {
    let target = fake::start(Faults { limit_polls: 1_000, ..Faults::default() });
    let epoch = Instant::now();
    let (mut receivers, mut sender) = four_receivers(&target, epoch).await;
    // However slow the machine is, every poll is refused.
    receivers.iter_mut().for_each(|receiver| receiver.refusal_wait = Duration::from_secs(600));
    let recorder = receipts(0.1);
    let polling = Receivers::start(receivers, &recorder, epoch);
    let sent = Sent::kept();
    sent.add(&sender.send_waiting().await.unwrap());
    while recorder.sample().failed < 4 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    polling.drain(4).await;
    let delivery = polling.finish(&sent.messages()).await;
    assert_eq!((delivery.lost_events, delivery.unfetched_events, delivery.deliveries), (0, 4, 0));
}

#[tokio::test]
async fn resting_receivers_ask_again_when_they_are_woken() {
    let target = fake::start(Faults::default());
    let epoch = Instant::now();
    let (receivers, mut sender) = four_receivers(&target, epoch).await;
    let polling = Receivers::start_resting(receivers, &receipts(60.0), epoch);
    let sent = Sent::kept();
    sent.add(&sender.send_waiting().await.unwrap());
    assert!(polling.receive(4).await);
    let mut api = Api::open(&target).await.unwrap();
    let mut polls =
        async || crate::counters::read_still(&mut api, &["polls_total".to_owned()]).await.unwrap();
    assert!((polls().await["polls_total"] - 4.0).abs() < 1e-9, "one of each");
    polling.wake();
    while polls().await["polls_total"] < 8.0 {}
    let delivery = polling.finish(&sent.messages()).await;
    assert_eq!((delivery.deliveries, delivery.lost_events, delivery.duplicate_events), (4, 0, 0));
}

#[tokio::test]
async fn queues_that_a_server_does_not_delete_have_one_common_deadline() {
    let target = fake::start(Faults { keep_queues: true, ..Faults::default() });
    let epoch = Instant::now();
    let (receivers, mut sender) = four_receivers(&target, epoch).await;
    let polling = Receivers::start(receivers, &receipts(60.0), epoch);
    let sent = Sent::kept();
    sent.add(&sender.send_waiting().await.unwrap());
    polling.drain(4).await;
    let begun = Instant::now();
    let (delivery, left) = polling.finish_within(&sent.messages(), Duration::from_millis(200)).await;
    assert!(begun.elapsed() < END_QUEUE_WAIT, "they do not wait longer, each for its own");
    assert_eq!((left, delivery.receivers, delivery.deliveries, delivery.lost_events), (4, 4, 4, 0));
}

#[tokio::test]
async fn queues_are_deleted_at_the_end() {
    let target = fake::start(Faults::default());
    let epoch = Instant::now();
    let (receivers, _) = four_receivers(&target, epoch).await;
    let polling = Receivers::start(receivers, &receipts(60.0), epoch);
    let (delivery, left) = polling.finish_within(&Messages::new(), END_QUEUES_WAIT).await;
    assert_eq!((left, delivery.receivers), (0, 4));
}
