//! Topics: the list of them, and what people want to see of each.

mod automatic;
mod empty;
mod list;
mod muted;
mod policy;

use crate::support::Person;
use serde_json::{Value, json};

/// Somebody's policies, `[channel, topic, policy]` each.
async fn policies(who: &Person) -> Vec<Value> {
    let state = who.register().modern().await.state;
    let all = state["user_topics"].as_array().expect("topics");
    all.iter().map(|own| json!([own["stream_id"], own["topic_name"], own["visibility_policy"]])).collect()
}
