//! The request to the server for each action of the model.

use super::check::Pair;
use super::state::{Privacy, Who};
use super::steps::{Action, Mode};
use crate::support::ApiResponse;
use serde_json::{Value, json};

type Pairs<'p> = Vec<(&'p str, Value)>;

impl Pair {
    /// Sends the request of an action; none for actions without a request.
    #[expect(clippy::too_many_lines, reason = "one arm for each action, and nothing else")]
    pub(super) async fn ask(&self, action: &Action) -> Option<ApiResponse> {
        let name = |channel: usize| json!(format!("channel {channel}"));
        let id = |channel: usize| self.channel_ids[channel];
        let (who, method, path, pairs): (Who, &str, String, Pairs) = match action.clone() {
            Action::Send { who, channel, topic, content, is_read, .. } => {
                let place: Pairs =
                    vec![("type", json!("channel")), ("to", json!(id(channel))), ("topic", json!(topic))];
                let rest: Pairs = vec![("content", json!(content)), ("read_by_sender", json!(is_read))];
                (who, "POST", "/messages".to_owned(), [place, rest].concat())
            }
            Action::Direct { who, to, content, is_read } => {
                let to: Vec<u32> = to.iter().map(|one| self.people[*one].id).collect();
                let pairs = vec![
                    ("type", json!("direct")),
                    ("to", json!(to)),
                    ("content", json!(content)),
                    ("read_by_sender", json!(is_read)),
                ];
                (who, "POST", "/messages".to_owned(), pairs)
            }
            Action::Edit { who, id, content } => {
                (who, "PATCH", format!("/messages/{id}"), vec![("content", json!(content))])
            }
            Action::Move { who, id: message, topic, channel, mode, notify } => {
                let mode = match mode {
                    Mode::One => "change_one",
                    Mode::Later => "change_later",
                    Mode::All => "change_all",
                };
                let mut pairs = vec![
                    ("propagate_mode", json!(mode)),
                    ("send_notification_to_old_thread", json!(notify.0)),
                    ("send_notification_to_new_thread", json!(notify.1)),
                ];
                pairs.extend(topic.map(|topic| ("topic", json!(topic))));
                pairs.extend(channel.map(|channel| ("stream_id", json!(id(channel)))));
                (who, "PATCH", format!("/messages/{message}"), pairs)
            }
            Action::Delete { who, id } => (who, "DELETE", format!("/messages/{id}"), vec![]),
            Action::DeleteTopic { who, channel, topic } => (
                who,
                "POST",
                format!("/streams/{}/delete_topic", id(channel)),
                vec![("topic_name", json!(topic))],
            ),
            Action::Policy { who, channel, topic, policy } => {
                let pairs = vec![
                    ("stream_id", json!(id(channel))),
                    ("topic", json!(topic)),
                    ("visibility_policy", json!(policy)),
                ];
                (who, "POST", "/user_topics".to_owned(), pairs)
            }
            Action::Mute { who, channel, is_muted } => {
                let data = json!([{"stream_id": id(channel), "property": "is_muted", "value": is_muted}]);
                (
                    who,
                    "POST",
                    "/users/me/subscriptions/properties".to_owned(),
                    vec![("subscription_data", data)],
                )
            }
            Action::Subscribe { who, channel, whom } => {
                let mut pairs = vec![
                    ("subscriptions", json!([{"name": name(channel)}])),
                    ("send_new_subscription_messages", json!(false)),
                ];
                if who != whom {
                    pairs.push(("principals", json!([self.people[whom].id])));
                }
                (who, "POST", "/users/me/subscriptions".to_owned(), pairs)
            }
            Action::Unsubscribe { who, channel, whom } => {
                let mut pairs = vec![("subscriptions", json!([name(channel)]))];
                if who != whom {
                    pairs.push(("principals", json!([self.people[whom].id])));
                }
                (who, "DELETE", "/users/me/subscriptions".to_owned(), pairs)
            }
            Action::Privacy { who, channel, privacy } => {
                let pairs = vec![
                    ("is_private", json!(privacy != Privacy::Public)),
                    ("history_public_to_subscribers", json!(privacy != Privacy::Protected)),
                ];
                (who, "PATCH", format!("/streams/{}", id(channel)), pairs)
            }
            Action::Flag { who, ids, is_star, adds } => {
                let op = if adds { "add" } else { "remove" };
                let flag = if is_star { "starred" } else { "read" };
                (
                    who,
                    "POST",
                    "/messages/flags".to_owned(),
                    vec![("op", json!(op)), ("flag", json!(flag)), ("messages", json!(ids))],
                )
            }
            Action::Wait { .. } | Action::Poll | Action::Restart => return None,
        };
        // Strings are sent literally, all other values as JSON.
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let pairs: Vec<(&str, String)> = pairs.iter().map(|(name, value)| (*name, text(value))).collect();
        let params = crate::support::as_params(&pairs);
        Some(self.people[who].call(method.parse().expect("a method"), &path, &params).await)
    }
}
