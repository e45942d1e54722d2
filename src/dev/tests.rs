//! The sample organization as test suites of clients expect it.

use super::*;
use crate::api::sample::Sample;
use model::{Message, MessageId, UserId};
use std::sync::Arc;

fn messages(sample: &Sample) -> Vec<Arc<Message>> {
    (1..).map_while(|id| sample.realm.message(MessageId(id)).unwrap()).collect()
}

#[actix_web::test]
async fn sample_messages_are_in_order_and_before_now() {
    let sample = Sample::start().await;
    let messages = messages(&sample);
    assert!(messages.len() > 250, "{}", messages.len());
    for message in &messages {
        assert_ne!(message.sender, UserId::default(), "{}", message.content);
    }
    assert!(messages.is_sorted_by_key(|message| message.sent));
    assert!(messages.iter().all(|message| message.sent < sample.realm.now()));
    sample.stop().await;
}

#[actix_web::test]
async fn sample_texts_are_rendered() {
    let sample = Sample::start().await;
    let messages = messages(&sample);
    let hamlet = UserId(10);
    let mentions = |user| messages.iter().filter(|message| message.own_flags(user).is_mention()).count();
    assert_eq!(mentions(hamlet), 2, "by name and through the group");
    assert_eq!(messages.iter().filter(|message| message.traits.channel_wildcard).count(), 1);
    assert_eq!(messages.iter().filter(|message| message.traits.is_me).count(), 1);
    // Everything in the texts that looks like a reference is a link or mention.
    for message in &messages {
        for unresolved in ["@**", "@*h", "#**", "@_**"] {
            assert!(!message.rendered.contains(unresolved), "{}", message.rendered);
        }
        for word in message.content.split_whitespace().filter(|word| word.len() > 3 && word.starts_with(':'))
        {
            assert!(message.rendered.contains("class=\"emoji"), "{word} in {}", message.rendered);
        }
    }
    sample.stop().await;
}

#[actix_web::test]
async fn team_channel_is_private_and_guests_read_only_the_cities() {
    let sample = Sample::start().await;
    let directory = sample.realm.directory();
    let names = |address: &str| -> Vec<String> {
        let user = directory.user_by_email(address).unwrap().id;
        let channels = directory.subscriptions_of_user(user);
        channels.map(|(id, _)| directory.channel(id).unwrap().name.clone()).collect()
    };
    assert_eq!(names("polonius@zulip.com"), ["Verona", "Denmark", "Rome", "Scotland", "Venice"]);
    assert_eq!(names("shiva@zulip.com").len(), 8);
    assert!(!names("hamlet@zulip.com").contains(&"core team".to_owned()));
    assert!(names("default-bot@zulip.com").is_empty());
    let team = directory.channel_by_name("core team").unwrap();
    assert!(team.invite_only && !team.history_public_to_subscribers);
    sample.stop().await;
}

#[test]
fn exposure_warning_for_other_addresses() {
    for local in ["127.0.0.1:9991", "127.8.8.8:1", "[::1]:9991", "[::ffff:127.0.0.1]:9991"] {
        assert_eq!(exposure_warning(local.parse().unwrap()), None, "{local}");
    }
    for open in ["0.0.0.0:9991", "[::]:9991", "192.168.1.5:9991"] {
        let warning = exposure_warning(open.parse().unwrap()).unwrap();
        assert!(warning.starts_with("WARNING") && warning.contains(open), "{warning}");
    }
}
