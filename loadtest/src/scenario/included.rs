//! The scenarios that are part of the program.

/// Name and JSON text of each.
pub const INCLUDED: &[(&str, &str)] = &[
    ("send", include_str!("../../scenarios/send.json")),
    ("send_one", include_str!("../../scenarios/send_one.json")),
    ("send_wide", include_str!("../../scenarios/send_wide.json")),
    ("fetch_newest", include_str!("../../scenarios/fetch_newest.json")),
    ("fetch_anywhere", include_str!("../../scenarios/fetch_anywhere.json")),
    ("users_me", include_str!("../../scenarios/users_me.json")),
    ("search", include_str!("../../scenarios/search.json")),
    ("fanout", include_str!("../../scenarios/fanout.json")),
    ("fanout_batched", include_str!("../../scenarios/fanout_batched.json")),
    ("idle", include_str!("../../scenarios/idle.json")),
    ("mixed", include_str!("../../scenarios/mixed.json")),
    ("move", include_str!("../../scenarios/move.json")),
    ("delete_topic", include_str!("../../scenarios/delete_topic.json")),
    ("missed_mail", include_str!("../../scenarios/missed_mail.json")),
    ("login_storm", include_str!("../../scenarios/login_storm.json")),
    ("unread", include_str!("../../scenarios/unread.json")),
    ("registers", include_str!("../../scenarios/registers.json")),
    ("start", include_str!("../../scenarios/start.json")),
    ("ramp", include_str!("../../scenarios/ramp.json")),
    ("soak", include_str!("../../scenarios/soak.json")),
    ("read_mostly", include_str!("../../scenarios/read_mostly.json")),
    ("register_storm", include_str!("../../scenarios/register_storm.json")),
    ("slow_readers", include_str!("../../scenarios/slow_readers.json")),
    ("hot_channel", include_str!("../../scenarios/hot_channel.json")),
    ("organizations", include_str!("../../scenarios/organizations.json")),
    ("send_channels", include_str!("../../scenarios/send_channels.json")),
    ("send_half", include_str!("../../scenarios/send_half.json")),
    ("send_history", include_str!("../../scenarios/send_history.json")),
    ("send_history_most", include_str!("../../scenarios/send_history_most.json")),
    ("send_subscribers", include_str!("../../scenarios/send_subscribers.json")),
    ("send_subscribers_most", include_str!("../../scenarios/send_subscribers_most.json")),
    ("send_beside_logins", include_str!("../../scenarios/send_beside_logins.json")),
    ("edit_storm", include_str!("../../scenarios/edit_storm.json")),
    ("guard", include_str!("../../scenarios/guard.json")),
];

/// The names of all included scenarios, for messages.
pub fn names() -> String {
    INCLUDED.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
}
