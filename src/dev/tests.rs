//! The sample organization as test suites of clients expect it.

use super::*;
use crate::api::sample::Sample;
use model::{FieldKind, Message, MessageId, UserId};
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
    assert_eq!(names("shiva@zulip.com").len(), 9);
    assert!(!names("hamlet@zulip.com").contains(&"core team".to_owned()));
    assert!(names("hamlet@zulip.com").contains(&"stage crew".to_owned()));
    assert!(names("default-bot@zulip.com").is_empty());
    let team = directory.channel_by_name("core team").unwrap();
    assert!(team.invite_only && !team.history_public_to_subscribers);
    let crew = directory.channel_by_name("stage crew").unwrap();
    assert!(crew.invite_only && crew.history_public_to_subscribers && crew.folder.is_some());
    assert!(directory.channel_by_name("town square").unwrap().is_web_public);
    sample.stop().await;
}

#[actix_web::test]
async fn sample_messages_were_changed() {
    let sample = Sample::start().await;
    let messages = messages(&sample);
    let with = |is_so: fn(&Message) -> bool| messages.iter().filter(|message| is_so(message)).count();
    assert_eq!(with(|message| message.version > 0), 2);
    assert_eq!(with(|message| message.last_moved.is_some()), 4, "resolving does not count");
    assert_eq!(with(|message| message.place.topic() == "✔ missing handkerchief"), 15);
    assert_eq!(with(|message| !message.reactions.is_empty()), 3);
    assert_eq!(with(|message| message.rendered.contains("https://tickets.example.com/1204")), 1);
    let notices: Vec<&str> = messages
        .iter()
        .filter(|message| message.sender == UserId(1))
        .map(|message| message.content.as_str())
        .collect();
    assert_eq!(
        notices,
        [
            "@_**Desdemona|9** has marked this topic as resolved.",
            "This topic was moved here from #**Denmark>torches** by @_**Iago|11**.",
        ]
    );
    sample.stop().await;
}

#[actix_web::test]
async fn everybody_has_read_everything() {
    let sample = Sample::start().await;
    for person in PEOPLE {
        let user = sample.caller(person.email).user;
        let unread = sample.realm.select_unread(&user, actors::queries::ReadScope::Everything).unwrap();
        assert!(unread.messages.is_empty(), "{}", person.email);
    }
    sample.stop().await;
}

#[actix_web::test]
async fn sample_lists_have_every_kind() {
    let sample = Sample::start().await;
    let directory = sample.realm.directory();
    let fields = directory.profile_fields();
    let kinds: Vec<FieldKind> = fields.list.iter().map(|field| field.kind).collect();
    assert_eq!(kinds, FieldKind::ALL);
    let hamlet = directory.user_by_email("hamlet@zulip.com").unwrap();
    assert_eq!(hamlet.profile_data.len(), kinds.len());
    for field in &fields.list {
        let text = &hamlet.profile_data[&field.id].text;
        let value = match field.kind {
            FieldKind::Person => serde_json::from_str(text).unwrap(),
            _ => serde_json::Value::from(text.as_str()),
        };
        rules::profile_fields::check_value(&directory, hamlet, field, &value).unwrap();
    }
    assert_eq!(directory.folders().count(), 1);
    assert_eq!(directory.lists().linkifiers.items.len(), 1);
    assert!(directory.realm_emoji_by_name("green_tick").is_some());
    sample.stop().await;
}

#[actix_web::test]
async fn sample_files_are_stored_once() {
    let folder = tempfile::tempdir().unwrap();
    let settings = crate::config::Config::load(None, [], crate::config::Overrides::default()).unwrap().blobs;
    let blobs = crate::integrations::blobs::Blobs::open(&settings, folder.path(), false).unwrap();
    for _ in 0..2 {
        store_files(&blobs, model::RealmId(1), &SeedDocument::sample()).await.unwrap();
    }
    let stored = folder.path().join("blobs/avatars/1").join(files::EMOJI_FILE);
    assert_eq!(std::fs::read(stored).unwrap(), include_bytes!("green_tick.png"));
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
