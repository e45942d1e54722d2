//! Every table of the one tree `state`: a new stored record is one more entry here. An entry has the table's byte in keys, the name of
//! a row, its key and value, how it is loaded, whether checkpoints store it as sets of messages and not as rows, and how it is
//! checked against other rows. Tables are loaded in this order. All of them can be rebuilt from the journal (`millstream check`
//! compares the two).

use super::chunk::{Chunk, ascend};
use super::key::{self, Block, Day, Number, Position};
pub use super::message_change_rows::{EditedRow, ReactionRow, reaction_key};
use super::record::{Record, Removable, Table, same};
use super::{FlagBlock, MessageIndexRow, MoveRecord};
use model::push::PushFact;
use model::{
    AttachmentId, ChannelId, DraftId, EventNumber, Flag, FolderId, GroupId, InvitationId, JobId, MessageId,
    QueueId, RecipientId, SavedSnippetId, ScheduledMessageId, Sequence, TopicKey, UserId, WebSessionKey,
};
use std::sync::Arc;

macro_rules! records {
    ($($(#[$doc:meta])* $table:ident = $id:literal {
        name: $name:literal,
        row: $key:ty => $value:ty,
        load: $load:expr,
        $(in_sets: $in_sets:literal,)?
        $(remove: $remove:expr,)?
        $(check: $check:expr,)?
    })*) => {
        $(
            $(#[$doc])*
            /// The declaration of a table; see [`Record`].
            #[derive(Debug)]
            pub struct $table;

            impl Record for $table {
                const ID: u8 = $id;
                const NAME: &'static str = $name;
                type Key = $key;
                type Value = $value;
                const LOAD: Option<fn(&mut super::View, $key, $value)> = $load;
                const IN_SETS: bool = records!(@in_sets $($in_sets)?);
                const CHECK: fn(&key::References, &$key, &$value) -> Result<(), String> =
                    records!(@check $($check)?);
            }

            $(impl Removable for $table {
                fn unload(view: &mut super::View, key: &$key) {
                    let remove: fn(&mut super::View, &$key) = $remove;
                    remove(view, key);
                }
            })?
        )*

        /// All tables, in loading order.
        pub const TABLES: &[Table] = &[$(Table::of::<$table>()),*];
    };
    (@in_sets $in_sets:literal) => { $in_sets };
    (@in_sets) => { false };
    (@check $check:expr) => { $check };
    (@check) => { |_, _, _| Ok(()) };
}

records! {
    /// The newest frame that the other rows reflect. Written with every batch.
    Progress = 1 {
        name: "progress of the trees",
        row: () => super::Progress,
        load: Some(|view, (), progress| {
            view.progress = progress;
            view.messages.last = progress.last_message;
        }),
    }
    /// The record of the organization.
    Realm = 2 {
        name: "organization",
        row: () => model::Realm,
        load: Some(|view, (), realm| view.directory.put_realm(realm)),
    }
    /// Users, deactivated ones included. Loaded before all records that count them.
    Users = 3 {
        name: "account",
        row: UserId => model::User,
        load: Some(|view, _, user| view.directory.put_user(user)),
        check: |_, id, user| same(*id, user.id),
    }
    /// System groups and deactivated ones included.
    UserGroups = 4 {
        name: "user group",
        row: GroupId => model::UserGroup,
        load: Some(|view, _, group| view.directory.put_group(group)),
        check: |_, id, group| same(*id, group.id),
    }
    /// Channels, archived ones included.
    Channels = 5 {
        name: "channel",
        row: ChannelId => model::Channel,
        load: Some(|view, _, channel| view.directory.put_channel(channel)),
        check: |_, id, channel| same(*id, channel.id),
    }
    /// Folders, archived ones included.
    ChannelFolders = 6 {
        name: "channel folder",
        row: FolderId => model::ChannelFolder,
        load: Some(|view, _, folder| view.directory.put_folder(folder)),
        check: |_, id, folder| same(*id, folder.id),
    }
    /// Subscriptions, ended ones included: they determine which messages the user received.
    Subscriptions = 7 {
        name: "subscription",
        row: (ChannelId, UserId) => model::Subscription,
        load: Some(|view, (channel, user), own| view.directory.put_subscription(channel, user, own)),
    }
    /// The participants of each direct conversation.
    DirectConversations = 8 {
        name: "direct conversation",
        row: RecipientId => model::DirectConversation,
        load: Some(|view, _, direct| view.directory.put_direct(direct)),
        check: |known, id, direct| {
            direct.users.iter().try_for_each(|user| known.user(*user))?;
            same(*id, direct.recipient)
        },
    }
    /// Users' policies for topics; no row for `Inherit`.
    UserTopics = 9 {
        name: "topic policy",
        row: (UserId, ChannelId, TopicKey) => model::UserTopic,
        load: Some(|view, (user, channel, _), topic| view.directory.put_topic(user, channel, topic)),
        check: |_, (_, _, key), topic| match TopicKey::new(&topic.name) == *key {
            true => Ok(()),
            false => Err(format!("holds the policy for {:?}", topic.name)),
        },
    }
    /// Invitations in all states.
    Invitations = 10 {
        name: "invitation",
        row: InvitationId => model::Invitation,
        load: Some(|view, _, invitation| view.directory.put_invitation(invitation)),
        remove: |view, id| view.directory.remove_invitation(*id),
        check: |known, id, invitation| {
            known.user(invitation.inviter)?;
            same(*id, invitation.id)
        },
    }
    /// Configuration and services of bots.
    BotConfigs = 11 {
        name: "bot configuration",
        row: UserId => model::BotConfig,
        load: Some(|view, bot, config| view.directory.put_bot_config(bot, config)),
    }
    /// The custom profile fields. Their values are in the accounts.
    ProfileFields = 12 {
        name: "custom profile fields",
        row: () => model::ProfileFields,
        load: Some(|view, (), fields| view.directory.put_profile_fields(fields)),
    }
    /// Lists that administrators maintain.
    RealmLists = 13 {
        name: "domains, linkifiers and playgrounds",
        row: () => model::RealmLists,
        load: Some(|view, (), lists| view.directory.put_lists(lists)),
    }
    /// Files of the organization's icon and logos.
    RealmPictures = 14 {
        name: "icon and logos",
        row: () => model::picture::RealmPictures,
        load: Some(|view, (), pictures| view.directory.put_realm_pictures(pictures)),
    }
    /// Custom emoji, deactivated ones included.
    RealmEmoji = 15 {
        name: "custom emoji",
        row: Number => model::picture::RealmEmoji,
        load: Some(|view, _, emoji| view.directory.put_realm_emoji(emoji)),
        check: |_, id, emoji| same(id.0, emoji.id),
    }
    /// The file of an uploaded profile picture.
    Avatars = 16 {
        name: "profile picture",
        row: UserId => String,
        load: Some(|view, user, file| view.directory.put_avatar_file(user, Some(&file))),
    }
    /// Alert words as typed; users without any have no row.
    AlertWords = 17 {
        name: "alert words",
        row: UserId => Vec<String>,
        load: Some(|view, user, words| view.directory.put_alert_words(user, words)),
        remove: |view, user| view.directory.put_alert_words(*user, Vec::new()),
    }
    /// Statuses; users without a status have no row.
    UserStatuses = 18 {
        name: "user status",
        row: UserId => model::UserStatus,
        load: Some(|view, user, status| view.directory.put_status(user, Some(status))),
        remove: |view, user| view.directory.put_status(*user, None),
    }
    /// The muting and the muted user → the time of muting.
    MutedUsers = 19 {
        name: "muted user",
        row: (UserId, UserId) => model::Timestamp,
        load: Some(|view, (user, muted), since| view.directory.put_muted(user, muted, Some(since))),
        remove: |view, (user, muted)| view.directory.put_muted(*user, *muted, None),
    }
    /// Views of the sidebar by URL fragment.
    NavigationViews = 20 {
        name: "navigation view",
        row: (UserId, String) => model::NavigationView,
        load: Some(|view, (user, fragment), own| view.directory.put_navigation_view(user, &fragment, Some(own))),
        remove: |view, (user, fragment)| view.directory.put_navigation_view(*user, fragment, None),
    }
    /// Push tokens of clients without end-to-end encryption, oldest first; users without any have no row.
    LegacyPushTokens = 21 {
        name: "legacy push tokens",
        row: UserId => Vec<model::push::PushToken>,
        load: Some(|view, user, tokens| view.directory.put_push(PushFact::TokensSet { user, tokens })),
    }
    /// Devices with end-to-end encrypted notifications, oldest first; users without any have no row.
    PushDevices = 22 {
        name: "push devices",
        row: UserId => Vec<model::push::PushDevice>,
        load: Some(|view, user, devices| view.directory.put_push(PushFact::DevicesSet { user, devices, changed: vec![] })),
    }
    /// Messages that the user's devices show a notification of; users without any have no row.
    PushShown = 23 {
        name: "shown notifications",
        row: UserId => Vec<MessageId>,
        load: Some(|view, user, messages| view.directory.put_push_shown(user, messages)),
    }
    /// A pending e-mail about missed messages.
    PendingMails = 24 {
        name: "pending missed-message e-mail",
        row: UserId => model::push::PendingMail,
        load: Some(|view, user, mail| view.directory.put_pending_mail(user, Some(mail))),
    }
    /// Due time and message → the many users who missed it.
    MissedByMany = 61 {
        name: "missed message of many",
        row: (model::Timestamp, MessageId) => model::UserRanges,
        load: Some(|view, (due, message), users| view.directory.put_missed_by_many(due, message, Some(users))),
    }
    /// The newest message whose notifications have been decided.
    NotificationCursor = 25 {
        name: "notification cursor",
        row: () => MessageId,
        load: Some(|view, (), message| view.directory.put_push(PushFact::NotificationCursorMoved(message))),
    }
    /// Event queues of clients.
    Queues = 26 {
        name: "event queue",
        row: QueueId => model::QueueRecord,
        load: Some(|view, id, queue| _ = view.queues.insert(id, Arc::new(queue))),
        remove: |view, id| _ = view.queues.remove(id),
        check: |known, id, queue| {
            known.user(queue.user)?;
            same(id, &queue.id)
        },
    }
    /// Pending jobs, and the newest of those that failed permanently.
    Jobs = 27 {
        name: "job",
        row: JobId => model::job::Job,
        load: Some(|view, _, job| view.jobs.put(job)),
        check: |_, id, job| same(*id, job.id),
    }
    /// The first event number of every 64th frame → the frame, for reading the events after a number.
    EventPositions = 28 {
        name: "event position",
        row: EventNumber => Sequence,
        load: None,
        in_sets: true,
    }
    /// Messages as they were sent, by the first message of each chunk.
    Messages = 29 {
        name: "chunk of messages",
        row: MessageId => Chunk<model::Message>,
        load: None,
        in_sets: true,
        check: |_, first, chunk| {
            ascend(*first, chunk)?;
            chunk.0.iter().try_for_each(|(id, message)| same(*id, message.id))
        },
    }
    /// The parts of messages that the in-memory index needs, small enough to load all of them.
    MessageIndex = 30 {
        name: "chunk of index entries",
        row: MessageId => Chunk<MessageIndexRow>,
        load: Some(|view, _, chunk| chunk.0.iter().for_each(|(id, row)| view.messages.add(*id, row))),
        in_sets: true,
        check: |known, first, chunk| {
            ascend(*first, chunk)?;
            chunk.0.iter().try_for_each(|(_, row)| {
                known.user(row.sender)?;
                row.place.channel().map_or(Ok(()), |channel| known.channel(channel))
            })
        },
    }
    /// The first message that was sent on a day.
    Days = 31 {
        name: "first message of a day",
        row: Day => MessageId,
        load: Some(|view, day, first| _ = view.messages.note_day(first, day.0)),
        in_sets: true,
    }
    /// The content of a message after each of its edits, by version number. The newest one replaces the content in
    /// `Messages`.
    MessageVersions = 32 {
        name: "message version",
        row: (MessageId, Number) => model::MessageVersion,
        load: None,
        in_sets: true,
        check: |known, (_, number), version| {
            known.user(version.by)?;
            same(number.0, version.number)
        },
    }
    /// The parts of a message's newest version that the in-memory index needs.
    EditedMessages = 33 {
        name: "index entry of an edited message",
        row: MessageId => EditedRow,
        load: Some(|view, id, row| {
            view.edited.insert(id.0);
            view.messages.change_traits(id, &row.traits);
        }),
        in_sets: true,
    }
    /// Reactions by message, user, and `type:code` of the emoji.
    Reactions = 34 {
        name: "reaction",
        row: (MessageId, UserId, String) => ReactionRow,
        load: Some(|view, (message, user, _), _| view.messages.add_reactor(message, user)),
        in_sets: true,
        check: |_, key, row| match reaction_key(key.0, &row.reaction) == *key {
            true => Ok(()),
            false => Err(format!("holds the reaction {} of user {}", row.reaction.emoji_code, row.reaction.user)),
        },
    }
    /// Submessages except the first one of each widget, which is in `Messages`.
    Submessages = 35 {
        name: "submessage",
        row: (MessageId, Number) => model::Submessage,
        load: Some(|view, (message, _), _| _ = view.with_submessage.insert(message.0)),
        in_sets: true,
        check: |known, (_, number), submessage| {
            known.user(submessage.sender)?;
            same(number.0, submessage.id)
        },
    }
    /// The deleted messages of a block: other tables may still refer to them.
    DeletedMessages = 36 {
        name: "deleted messages",
        row: Block => FlagBlock,
        load: Some(|view, block, deleted| deleted.restore(&mut view.deleted, block.0)),
        in_sets: true,
    }
    /// Moves in chronological order; they do not change the messages' own records.
    Moves = 37 {
        name: "move",
        row: (Sequence, Position) => MoveRecord,
        load: Some(|view, _, record| _ = view.restore_movement(&record)),
        in_sets: true,
        check: |known, _, record| {
            known.user(record.by)?;
            known.channel(record.movement.channel)?;
            record.movement.new_channel.as_ref().map_or(Ok(()), |arrival| known.channel(arrival.channel))
        },
    }
    /// A user's flag on the messages of a block. Loaded after the index: a block overrides flags that are stored with the
    /// messages.
    Flags = 38 {
        name: "flags",
        row: (UserId, Flag, Block) => FlagBlock,
        load: Some(|view, (user, flag, block), own| view.messages.users.restore(user, flag, block.0, &own)),
        in_sets: true,
    }
    /// Names of the onboarding steps that a user has seen; no row without any.
    OnboardingSteps = 39 {
        name: "onboarding steps",
        row: UserId => Vec<String>,
        load: Some(|view, user, steps| view.directory.put_onboarding_steps(user, steps)),
    }
    /// What accounts store, by key.
    BotStorage = 40 {
        name: "bot storage entry",
        row: (UserId, String) => String,
        load: Some(|view, (user, key), value| view.directory.put_bot_storage(user, &key, Some(&value))),
        remove: |view, (user, key)| view.directory.put_bot_storage(*user, key, None),
    }
    /// The groups of default channels.
    DefaultChannelGroups = 41 {
        name: "groups of default channels",
        row: () => model::Listed<model::DefaultChannelGroup>,
        load: Some(|view, (), groups| view.directory.put_default_groups(groups)),
    }
    /// The kind of text (`TextKind`) → its newest id: ids of deleted texts are not used again.
    LastTextIds = 42 {
        name: "newest id of a kind of text",
        row: Number => u32,
        load: Some(|view, kind, id| view.directory.put_last_text_id(kind.0, id)),
    }
    /// Texts that users insert into messages.
    SavedSnippets = 43 {
        name: "saved snippet",
        row: (UserId, SavedSnippetId) => model::SavedSnippet,
        load: Some(|view, (user, id), snippet| view.directory.put_saved_snippet(user, id, Some(snippet))),
        remove: |view, (user, id)| view.directory.put_saved_snippet(*user, *id, None),
    }
    /// Archived channels whose messages are not all marked as read yet.
    PendingReads = 62 {
        name: "archived channel to be marked as read",
        row: ChannelId => (),
        load: Some(|view, channel, ()| _ = view.pending_reads.insert(channel)),
        remove: |view, channel| _ = view.pending_reads.remove(channel),
    }
    /// Unsent messages of users.
    Drafts = 44 {
        name: "draft",
        row: (UserId, DraftId) => model::SavedDraft,
        load: Some(|view, (user, id), draft| view.directory.put_draft(user, id, Some(draft))),
        remove: |view, (user, id)| view.directory.put_draft(*user, *id, None),
    }
    /// Messages that are sent later, and reminders; failed ones included.
    ScheduledMessages = 45 {
        name: "scheduled message",
        row: (UserId, ScheduledMessageId) => model::ScheduledMessage,
        load: Some(|view, (user, id), own| view.directory.put_scheduled_message(user, id, Some(own))),
        remove: |view, (user, id)| view.directory.put_scheduled_message(*user, *id, None),
    }
    /// Files that users uploaded.
    Attachments = 46 {
        name: "uploaded file",
        row: AttachmentId => model::Attachment,
        load: Some(|view, _, file| view.directory.put_attachment(file)),
        remove: |view, id| view.directory.remove_attachment(*id),
        check: |known, id, file| {
            known.user(file.owner)?;
            same(*id, file.id)
        },
    }
    /// A file and a message that names it → when the message was sent.
    AttachmentClaims = 47 {
        name: "message with an uploaded file",
        row: (AttachmentId, MessageId) => model::Timestamp,
        load: Some(|view, (file, message), sent| view.claims.put(file, message, sent)),
        remove: |view, (file, message)| view.claims.remove(*file, *message),
    }
    /// The newest id of uploaded files: ids of deleted files are not used again.
    LastAttachmentId = 48 {
        name: "newest id of uploaded files",
        row: () => AttachmentId,
        load: Some(|view, (), id| view.directory.put_last_attachment_id(id)),
    }
    /// What incoming webhook bots are for, with their configuration.
    BotIntegrations = 49 {
        name: "integration of a bot",
        row: UserId => model::BotIntegration,
        load: Some(|view, bot, integration| view.directory.put_bot_integration(bot, integration)),
        check: |known, bot, _| known.user(*bot),
    }
    /// Exports that administrators requested.
    Exports = 53 {
        name: "exports",
        row: () => model::Listed<model::export::RealmExport>,
        load: Some(|view, (), exports| view.directory.put_exports(exports)),
        check: |known, (), exports| exports.items.iter().try_for_each(|export| known.user(export.by)),
    }
    /// Browsers that are logged in, by the hash of their secret.
    WebSessions = 57 {
        name: "web session",
        row: (UserId, WebSessionKey) => model::WebSession,
        load: Some(|view, (user, key), session| view.directory.put_web_session(user, key, Some(session))),
        remove: |view, (user, key)| view.directory.put_web_session(*user, *key, None),
    }
    /// The newest entries of the audit log, by frame.
    AuditEntries = 58 {
        name: "audit entry",
        row: Sequence => model::RecordedAuditEntry,
        load: Some(|view, sequence, entry| view.audit_log.put(sequence, entry)),
        remove: |view, sequence| view.audit_log.remove(*sequence),
    }
}

/// A description of a row for the report of a check: `subscription (channel 3, user 8)`.
pub fn describe(key: &[u8]) -> String {
    let Some(table) = table_with(key) else { return format!("row {key:02x?} of no known table") };
    match (table.describe)(key) {
        Some(fields) if fields.is_empty() => table.name.to_owned(),
        Some(fields) => format!("{} ({fields})", table.name),
        None => format!("{} with the key {key:02x?}", table.name),
    }
}

/// The table that a key belongs to.
pub fn table_with(key: &[u8]) -> Option<&'static Table> {
    let id = key::table_of(key)?;
    TABLES.iter().find(|table| table.id == id)
}

/// Whether a key is that of a chunk of messages.
pub fn is_chunk(key: &[u8]) -> bool {
    table_with(key).is_some_and(|table| table.is_chunk)
}

#[cfg(test)]
mod tests;
