//! The sample organization as test suites of clients expect it.

use super::*;
use model::group::SYSTEM_GROUPS;
use model::{Realm, RealmId};

fn directory() -> Directory {
    let realm = Realm::new(RealmId(1), "", "Zulip Dev", "zulip.com", Timestamp(1_800_000_000_000));
    let mut directory = Directory::new(realm);
    for (index, (name, description)) in SYSTEM_GROUPS.iter().enumerate() {
        let id = GroupId(index as u32 + 1);
        let permissions = default_group_permissions(&directory, None);
        directory.put_group(UserGroup {
            is_system: true,
            subgroups: if index >= 2 { [GroupId(index as u32)].into() } else { Default::default() },
            ..UserGroup::new(id, *name, *description, permissions)
        });
    }
    directory
}

fn messages(frames: &[Vec<Fact>]) -> Vec<&Message> {
    let facts = frames.iter().flatten();
    facts
        .filter_map(|fact| match fact {
            Fact::MessageSent { message, .. } => Some(&**message),
            _ => None,
        })
        .collect()
}

#[test]
fn ids_and_times_are_in_order() {
    let frames = frames(&directory());
    let messages = messages(&frames);
    assert!(messages.len() > 250, "{}", messages.len());
    for (index, message) in messages.iter().enumerate() {
        assert_eq!(message.id, MessageId(index as u32 + 1));
        assert_ne!(message.sender, UserId::default(), "{}", message.content);
    }
    assert!(messages.is_sorted_by_key(|message| message.sent));
    assert!(messages.iter().all(|message| message.sent < Timestamp(1_800_000_000_000)));
}

#[test]
fn texts_mean_what_they_should() {
    let frames = frames(&directory());
    let messages = messages(&frames);
    let hamlet = UserId(10);
    let mentions = |user| messages.iter().filter(|message| message.own_flags(user).is_mention()).count();
    assert_eq!(mentions(hamlet), 2, "by name and through the group");
    assert_eq!(messages.iter().filter(|message| message.traits.channel_wildcard).count(), 1);
    assert_eq!(messages.iter().filter(|message| message.traits.is_me).count(), 1);
    // Everything in the texts that looks like a reference leads somewhere.
    for message in &messages {
        for unresolved in ["@**", "@*h", "#**", "@_**"] {
            assert!(!message.rendered.contains(unresolved), "{}", message.rendered);
        }
        for word in message.content.split_whitespace().filter(|word| word.len() > 3 && word.starts_with(':'))
        {
            assert!(message.rendered.contains("class=\"emoji"), "{word} in {}", message.rendered);
        }
    }
}

#[test]
fn the_team_channel_is_closed_and_guests_read_only_the_cities() {
    let mut sample = Sample {
        now: Timestamp(1_800_000_000_000),
        directory: directory(),
        newest: HashMap::new(),
        received: BTreeMap::new(),
    };
    sample.people();
    sample.groups();
    sample.channels();
    let names = |address: &str| -> Vec<String> {
        let user = sample.user(address);
        let channels = sample.directory.subscriptions_of_user(user);
        channels.map(|(id, _)| sample.directory.channel(id).unwrap().name.clone()).collect()
    };
    assert_eq!(names("polonius@zulip.com"), ["Verona", "Denmark", "Rome", "Scotland", "Venice"]);
    assert_eq!(names("shiva@zulip.com").len(), 8);
    assert!(!names("hamlet@zulip.com").contains(&"core team".to_owned()));
    assert!(names("default-bot@zulip.com").is_empty());
    let team = sample.directory.channel_by_name("core team").unwrap();
    assert!(team.invite_only && !team.history_public_to_subscribers);
}
