//! Reads an organization back from its rows.

use super::chunk::{OpenChunk, entries};
use super::index::{MessageIndexRow, UserMessages};
use super::moves::MoveRecord;
use super::{FlagBlock, Progress, View};
use crate::codec::decode;
use crate::error::StoreError;
use crate::tables::{self, Key, Table};
use model::job::Job;
use model::push::PushFact;
use model::{
    Channel, ChannelFolder, ChannelId, DirectConversation, Flag, MessageId, NavigationView, ProfileFields,
    QueueRecord, Realm, RealmId, RealmLists, Subscription, Timestamp, User, UserGroup, UserId, UserStatus,
    UserTopic,
};
use serde::de::DeserializeOwned;
use std::sync::Arc;

/// The organization that the rows of `tree` describe; none when there are no rows of it, or when those
/// that everything else hangs on are missing.
///
/// # Errors
/// [`StoreError::Decode`] for a row that cannot be read, [`StoreError::Trees`] when the tree fails.
pub fn load(tree: &sled::Tree, realm: RealmId) -> Result<Option<View>, StoreError> {
    let Some(record) = get::<Realm>(tree, &Key::table(realm, Table::Realm), "organization")? else {
        return Ok(None);
    };
    let Some(progress) = get::<Progress>(tree, &Key::table(realm, Table::Progress), "progress")? else {
        return Ok(None);
    };
    let mut view = View::empty(record);
    view.progress = progress;
    load_directory(tree, realm, &mut view)?;
    load_messages(tree, realm, &mut view)?;
    Ok(Some(view))
}

fn load_directory(tree: &sled::Tree, realm: RealmId, view: &mut View) -> Result<(), StoreError> {
    scan::<User>(tree, realm, Table::Users, "user", |_, user| {
        view.directory.put_user(user);
        Some(())
    })?;
    scan::<UserGroup>(tree, realm, Table::Groups, "user group", |_, group| {
        view.directory.put_group(group);
        Some(())
    })?;
    scan::<Channel>(tree, realm, Table::Channels, "channel", |_, channel| {
        view.directory.put_channel(channel);
        Some(())
    })?;
    scan::<Subscription>(tree, realm, Table::Subscriptions, "subscription", |key, subscription| {
        let channel = ChannelId(tables::number_at(key, 0)?);
        view.directory.put_subscription(channel, UserId(tables::number_at(key, 4)?), subscription);
        Some(())
    })?;
    scan::<DirectConversation>(tree, realm, Table::Directs, "direct conversation", |_, direct| {
        view.directory.put_direct(direct);
        Some(())
    })?;
    scan::<UserTopic>(tree, realm, Table::UserTopics, "topic policy", |key, topic| {
        let user = UserId(tables::number_at(key, 0)?);
        view.directory.put_topic(user, ChannelId(tables::number_at(key, 4)?), topic);
        Some(())
    })?;
    scan::<ChannelFolder>(tree, realm, Table::Folders, "channel folder", |_, folder| {
        view.directory.put_folder(folder);
        Some(())
    })?;
    scan::<Vec<String>>(tree, realm, Table::AlertWords, "alert words", |key, words| {
        view.directory.put_alert_words(UserId(tables::number_at(key, 0)?), words);
        Some(())
    })?;
    load_personal(tree, realm, view)?;
    scan::<Job>(tree, realm, Table::Jobs, "job", |_, job| {
        view.jobs.put(job);
        Some(())
    })?;
    load_push(tree, realm, view)?;
    load_pictures(tree, realm, view)?;
    scan::<QueueRecord>(tree, realm, Table::Queues, "event queue", |_, queue| {
        view.queues.insert(queue.id.clone(), Arc::new(queue));
        Some(())
    })
}

fn load_personal(tree: &sled::Tree, realm: RealmId, view: &mut View) -> Result<(), StoreError> {
    scan::<UserStatus>(tree, realm, Table::UserStatuses, "status", |key, status| {
        view.directory.put_status(UserId(tables::number_at(key, 0)?), Some(status));
        Some(())
    })?;
    scan::<Timestamp>(tree, realm, Table::MutedUsers, "muted user", |key, since| {
        let user = UserId(tables::number_at(key, 0)?);
        view.directory.put_muted(user, UserId(tables::number_at(key, 4)?), Some(since));
        Some(())
    })?;
    scan::<NavigationView>(tree, realm, Table::NavigationViews, "navigation view", |key, navigation| {
        let fragment = std::str::from_utf8(key.get(9..)?).ok()?;
        view.directory.put_navigation_view(UserId(tables::number_at(key, 0)?), fragment, Some(navigation));
        Some(())
    })?;
    scan::<RealmLists>(tree, realm, Table::RealmLists, "domains, linkifiers and playgrounds", |_, lists| {
        view.directory.put_lists(lists);
        Some(())
    })?;
    scan::<model::Invitation>(tree, realm, Table::Invitations, "invitation", |_, invitation| {
        view.directory.put_invitation(invitation);
        Some(())
    })?;
    scan::<model::BotConfig>(tree, realm, Table::BotConfigs, "settings of a bot", |key, config| {
        view.directory.put_bot_config(UserId(tables::number_at(key, 0)?), config);
        Some(())
    })?;
    scan::<ProfileFields>(tree, realm, Table::ProfileFields, "profile fields", |_, fields| {
        view.directory.put_profile_fields(fields);
        Some(())
    })
}

fn load_pictures(tree: &sled::Tree, realm: RealmId, view: &mut View) -> Result<(), StoreError> {
    scan::<String>(tree, realm, Table::Avatars, "picture of a user", |key, file| {
        view.directory.put_avatar_file(UserId(tables::number_at(key, 0)?), Some(&file));
        Some(())
    })?;
    scan(tree, realm, Table::RealmPictures, "icon and logos", |_, pictures| {
        view.directory.put_realm_pictures(pictures);
        Some(())
    })?;
    scan(tree, realm, Table::RealmEmoji, "emoji", |_, emoji| {
        view.directory.put_realm_emoji(emoji);
        Some(())
    })
}

fn load_push(tree: &sled::Tree, realm: RealmId, view: &mut View) -> Result<(), StoreError> {
    scan(tree, realm, Table::PushTokens, "phones of the older way", |key, tokens| {
        let user = UserId(tables::number_at(key, 0)?);
        view.directory.put_push(PushFact::TokensSet { user, tokens });
        Some(())
    })?;
    scan(tree, realm, Table::PushDevices, "phones", |key, devices| {
        let user = UserId(tables::number_at(key, 0)?);
        view.directory.put_push(PushFact::DevicesSet { user, devices, changed: Vec::new() });
        Some(())
    })?;
    scan(tree, realm, Table::PushShown, "messages on phones", |key, messages| {
        let user = UserId(tables::number_at(key, 0)?);
        view.directory.put_push_shown(user, messages);
        Some(())
    })?;
    if let Some(upto) = get(tree, &Key::table(realm, Table::NoticedUpTo), "last decided notification")? {
        view.directory.put_push(PushFact::NoticedUpTo(upto));
    }
    Ok(())
}

fn load_messages(tree: &sled::Tree, realm: RealmId, view: &mut View) -> Result<(), StoreError> {
    view.messages.last = view.progress.last_message;
    for row in tree.scan_prefix(Key::table(realm, Table::MessageIndex).as_bytes()) {
        for entry in entries(&row?.1) {
            let (id, record) = entry?;
            view.messages.add(id, &decode::<MessageIndexRow>(record, "message index row")?);
        }
    }
    view.chunks.bodies = newest_chunk(tree, realm, Table::Messages)?;
    view.chunks.index_rows = newest_chunk(tree, realm, Table::MessageIndex)?;
    scan::<MessageId>(tree, realm, Table::Days, "day", |key, first| {
        view.messages.note_day(first, tables::number_at(key, 0)?);
        Some(())
    })?;
    load_changes(tree, realm, view)?;
    load_flags(tree, realm, view)
}

/// What was done to messages after they were sent, as far as it is not a flag.
fn load_changes(tree: &sled::Tree, realm: RealmId, view: &mut View) -> Result<(), StoreError> {
    scan::<MessageIndexRow>(tree, realm, Table::ChangedIndex, "changed index row", |key, row| {
        let id = MessageId(tables::number_at(key, 0)?);
        view.changed.insert(id.0);
        view.messages.change_traits(id, &row);
        Some(())
    })?;
    scan::<FlagBlock>(tree, realm, Table::Deleted, "block of deleted messages", |key, block| {
        block.restore(&mut view.deleted, tables::number_at(key, 0)?);
        Some(())
    })?;
    // In the order in which they happened. Messages that are gone by now are in no topic, and move no more.
    scan::<MoveRecord>(tree, realm, Table::Moves, "move", |_, record| {
        view.restore_movement(&record);
        Some(())
    })
}

/// After the index: a block overrides what follows from the messages themselves.
fn load_flags(tree: &sled::Tree, realm: RealmId, view: &mut View) -> Result<(), StoreError> {
    scan::<FlagBlock>(tree, realm, Table::Flags, "flag block", |key, block| {
        let user = UserId(tables::number_at(key, 0)?);
        let flag = Flag::ALL.into_iter().find(|flag| Some(&(*flag as u8)) == key.get(9))?;
        let set = view.messages.users.entry(user).or_default().set_mut(flag)?;
        block.restore(set, tables::number_at(key, 5)?);
        Some(())
    })?;
    // Blocks were not written again when messages were deleted. This forgets users who have no flags, too.
    view.messages.remove_from_users(&view.deleted);
    view.messages.users.values_mut().for_each(UserMessages::optimize);
    Ok(())
}

/// The chunk that the next message is added to.
fn newest_chunk(tree: &sled::Tree, realm: RealmId, table: Table) -> Result<OpenChunk, StoreError> {
    let Some(row) = tree.scan_prefix(Key::table(realm, table).as_bytes()).next_back() else {
        return Ok(OpenChunk::default());
    };
    let (key, value) = row?;
    let wrong_form =
        || StoreError::Decode { what: "chunk of messages", why: "its key has the wrong form".into() };
    OpenChunk::restore(MessageId(tables::number_at(&key, 0).ok_or_else(wrong_form)?), &value)
}

fn get<T: DeserializeOwned>(
    tree: &sled::Tree,
    key: &Key,
    what: &'static str,
) -> Result<Option<T>, StoreError> {
    match tree.get(key.as_bytes())? {
        Some(bytes) => Ok(Some(decode(&bytes, what)?)),
        None => Ok(None),
    }
}

/// Calls `each` with every row of a table. `each` answers none for a key that has not the table's form.
fn scan<T: DeserializeOwned>(
    tree: &sled::Tree,
    realm: RealmId,
    table: Table,
    what: &'static str,
    mut each: impl FnMut(&[u8], T) -> Option<()>,
) -> Result<(), StoreError> {
    for entry in tree.scan_prefix(Key::table(realm, table).as_bytes()) {
        let (key, value) = entry?;
        if each(&key, decode(&value, what)?).is_none() {
            return Err(StoreError::Decode { what, why: "its key has the wrong form".into() });
        }
    }
    Ok(())
}
