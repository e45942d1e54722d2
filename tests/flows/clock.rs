//! Changes of the server's wall clock while messages are sent.

use crate::support::TestServer;
use actors::ManualClock;

#[tokio::test]
async fn message_timestamps_are_monotonic_after_clock_change() {
    let clock = ManualClock::new(model::Timestamp(1_790_000_000_000));
    let t = TestServer::builder().clock(&clock).start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let mut times = Vec::new();
    for shift in [0, -20, -20, 5] {
        clock.shift_wall_secs(shift);
        let id = iago.send_direct(&[&hamlet], "x").await;
        let message = hamlet.get(&format!("/messages/{id}"), &[]).ok().await;
        times.push(message["message"]["timestamp"].as_u64().expect("a time"));
    }
    assert_eq!(times, [1_790_000_000; 4]);
    // A jump of an hour is not corrected: new messages have the new time, and the newest message stays the newest.
    clock.shift_wall_secs(-3600);
    let id = iago.send_direct(&[&hamlet], "y").await;
    let message = hamlet.get(&format!("/messages/{id}"), &[]).ok().await;
    assert_eq!(message["message"]["timestamp"], 1_790_000_000 - 35 - 3600);
    // The age of a message from the future does not underflow when its edit limit is checked.
    iago.edit(id, &[("content", &"z")]).ok().await;
    clock.shift_wall_secs(-3600);
    iago.edit(id, &[("content", &"zz")]).ok().await;
}
