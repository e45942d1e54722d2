//! The Markdown context of an organization: a snapshot of its directory, limited to what the writer may see.

use crate::shared::RealmShared;
use crate::uploads::can_read_file;
use model::{Attachment, ChannelId, Directory, MessageId, TopicKey, User, UserId};
use rules::custom_emoji::emoji_url;
use rules::markdown::{
    ChannelRef, EmojiRef, GroupRef, Linkifier, MarkdownContext, UploadPreview, UploadedImage, UserRef,
};
use rules::permissions::channel::{History, history_of, sees_channel};
use rules::permissions::roles::shown_group_name;
use rules::permissions::users::sees_user;
use rules::settings::{realm_bool, realm_text, user_bool};
use std::sync::Arc;

/// An organization for the Markdown of one writer.
pub struct RealmMarkdown<'a> {
    realm: &'a RealmShared,
    directory: &'a Directory,
    writer: &'a User,
    url: &'a str,
    /// False for descriptions, which are text alone.
    is_message: bool,
    shows_previews: bool,
    renders_formulas: bool,
    linkifiers: Arc<[Linkifier]>,
    newest: Vec<(ChannelId, TopicKey, Option<MessageId>)>,
}

impl<'a> RealmMarkdown<'a> {
    /// For messages: pictures may be shown below the text.
    pub(crate) fn of_message(realm: &'a RealmShared, directory: &'a Directory, writer: &'a User) -> Self {
        let shows_previews = realm_bool(directory.realm(), "inline_image_preview");
        let linkifiers = realm.linkifiers.of(directory.lists());
        Self {
            realm,
            directory,
            writer,
            url: "",
            is_message: true,
            shows_previews,
            renders_formulas: true,
            linkifiers,
            newest: Vec::new(),
        }
    }

    /// For descriptions: text alone.
    pub(crate) fn of_description(realm: &'a RealmShared, directory: &'a Directory, writer: &'a User) -> Self {
        Self { is_message: false, shows_previews: false, ..Self::of_message(realm, directory, writer) }
    }

    /// Sets the organization's own URL, so that links to it become relative.
    pub fn with_url(self, url: &'a str) -> Self {
        Self { url, ..self }
    }

    /// For notices, which actors and the threads that serve requests write: rendering a formula would hold up everything else
    /// there, so those that were not rendered lately are shown as typed.
    pub(crate) fn of_notice(realm: &'a RealmShared, directory: &'a Directory, author: &'a User) -> Self {
        Self { renders_formulas: false, ..Self::of_message(realm, directory, author) }
    }

    /// Sets the newest message of a topic as it will be after the current decision.
    pub(crate) fn with_newest(mut self, channel: ChannelId, topic: TopicKey, id: Option<MessageId>) -> Self {
        self.newest.push((channel, topic, id));
        self
    }

    fn user_ref(&self, user: &User) -> Option<UserRef> {
        sees_user(self.directory, self.writer, user).then(|| UserRef {
            id: user.id.0.into(),
            full_name: user.full_name.clone(),
            is_active: user.is_active,
        })
    }
}

impl MarkdownContext for RealmMarkdown<'_> {
    /// Of several users with the name, the oldest active one.
    fn user_by_name(&self, name: &str) -> Option<UserRef> {
        let named = self.directory.users_by_name(name).filter_map(|user| self.user_ref(user));
        named.min_by_key(|user| (!user.is_active, user.id))
    }

    fn user_by_id(&self, id: u64) -> Option<UserRef> {
        let id = UserId(u32::try_from(id).ok()?);
        self.user_ref(self.directory.user(id)?)
    }

    fn group_by_name(&self, name: &str) -> Option<GroupRef> {
        let group = self.directory.group_by_name(name)?;
        let display_name = shown_group_name(group).to_owned();
        Some(GroupRef { id: group.id.0.into(), display_name, is_active: !group.is_deactivated })
    }

    fn channel_by_name(&self, name: &str) -> Option<ChannelRef> {
        let channel = self.directory.channel_by_name(name).filter(|channel| channel.name == name)?;
        let visible = sees_channel(self.directory, self.writer, channel);
        visible.then(|| ChannelRef { id: channel.id.0.into(), name: channel.name.clone() })
    }

    /// The newest one that the writer may read.
    fn newest_message_in_topic(&self, channel_id: u64, topic: &str) -> Option<u64> {
        let id = ChannelId(u32::try_from(channel_id).ok()?);
        let history = history_of(self.directory, self.writer, self.directory.channel(id)?)?;
        let key = TopicKey::new(topic);
        let decided = self.newest.iter().rev().find(|(channel, topic, _)| *channel == id && *topic == key);
        if let Some((_, _, newest)) = decided {
            return newest.map(|newest| newest.0.into());
        }
        let view = self.realm.view.read();
        let messages = view.messages.topic(id, &key)?;
        let newest = match history {
            History::Whole => messages.ids.max(),
            History::Delivered(_) => view.accessible_in_channel(self.writer.id, id, &messages.ids).max(),
        };
        newest.map(u64::from)
    }

    fn custom_emoji(&self, name: &str) -> Option<EmojiRef> {
        let emoji = self.directory.realm_emoji_by_name(name)?;
        Some(EmojiRef { source_url: emoji_url(self.directory.realm().id, emoji) })
    }

    fn realm_url(&self) -> &str {
        self.url
    }

    fn linkifiers(&self) -> &[Linkifier] {
        &self.linkifiers
    }

    fn translate_emoticons(&self) -> bool {
        user_bool(self.writer, "translate_emoticons")
    }

    fn default_code_language(&self) -> Option<&str> {
        Some(realm_text(self.directory.realm(), "default_code_block_language"))
            .filter(|language| !language.is_empty())
    }

    fn now_seconds(&self) -> Option<i64> {
        i64::try_from(self.realm.clock.now().0 / 1000).ok()
    }

    fn shows_previews(&self) -> bool {
        self.shows_previews
    }

    fn renders_formulas(&self) -> bool {
        self.renders_formulas
    }

    /// Only of files that the writer may read: others are not claimed by the message.
    fn upload_preview(&self, path_id: &str) -> Option<UploadPreview> {
        if !self.is_message {
            return None;
        }
        let file = self.directory.attachment_by_path(path_id)?;
        let is_readable =
            file.owner == self.writer.id || can_read_file(&self.realm.view.read(), self.writer, file);
        if is_readable { preview_of(file) } else { None }
    }
}

/// The preview of an uploaded file.
pub fn preview_of(file: &Attachment) -> Option<UploadPreview> {
    let Some(image) = file.image else { return UploadPreview::of_name(&file.path_id) };
    Some(UploadPreview::Image(UploadedImage {
        content_type: file.content_type.clone(),
        width: image.width,
        height: image.height,
        is_animated: image.is_animated,
    }))
}
