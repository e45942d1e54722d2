//! The list of topics, and topic visibility policies.

mod automatic;
mod empty;
mod list;
mod muted;
mod policy;

use crate::support::TestUser;
use serde_json::{Value, json};

/// A user's policies, as `[channel, topic, policy]`.
async fn policies(who: &TestUser) -> Vec<Value> {
    let state = who.register().modern().await.state;
    let all = state["user_topics"].as_array().expect("topics");
    all.iter().map(|own| json!([own["stream_id"], own["topic_name"], own["visibility_policy"]])).collect()
}
