//! Rendering the Markdown of imported texts anew, so that all HTML is this server's own. People, groups and channels may have
//! got other names since: what the exported HTML says a name meant is used first.

use super::organization::Builder;
use model::{AttachmentId, ChannelId, Directory, GroupId, MessageId, TopicKey, User, UserId};
use rules::custom_emoji::emoji_url;
use rules::linkifiers::compile_linkifiers;
use rules::markdown::{
    ChannelRef, EmojiRef, GroupRef, Linkifier, MarkdownContext, UploadPreview, UserRef, render,
};
use rules::permissions::channel::sees_channel;
use rules::permissions::roles::shown_group_name;
use rules::settings::{realm_bool, realm_text, user_bool};
use std::collections::HashMap;

/// What names meant when a message was rendered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    users: Vec<(String, u32)>,
    groups: Vec<(String, u32)>,
    channels: Vec<(String, u32)>,
}

impl Names {
    /// The names in exported HTML.
    pub fn of(html: &str) -> Self {
        if !html.contains("data-") {
            return Self::default();
        }
        Self {
            users: marked(html, " data-user-id=\"", '@'),
            groups: marked(html, " data-user-group-id=\"", '@'),
            channels: marked(html, " data-stream-id=\"", '#'),
        }
    }
}

/// Texts of elements with an id in an attribute, up to a ` > ` that separates channel and topic.
fn marked(html: &str, attribute: &str, sign: char) -> Vec<(String, u32)> {
    let mut found = Vec::new();
    for part in html.split(attribute).skip(1) {
        let Some((id, rest)) = part.split_once('"') else { continue };
        let text = rest.split_once('>').map_or("", |(_, text)| text);
        let text = text.split('<').next().unwrap_or_default();
        let text = text.split(" &gt; ").next().unwrap_or_default();
        let text = text.strip_prefix(sign).unwrap_or(text);
        if let Ok(id) = id.parse() {
            found.push((unescape(text), id));
        }
    }
    found
}

fn unescape(text: &str) -> String {
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&#39;", "'")
        .replace("&amp;", "&")
}

/// The newest message of each topic so far, which links to the topic contain.
pub type Newest = HashMap<(ChannelId, TopicKey), MessageId>;

/// The context of one message.
pub struct ImportMarkdown<'a> {
    pub directory: &'a Directory,
    /// None for descriptions.
    pub writer: Option<&'a User>,
    pub linkifiers: &'a [Linkifier],
    pub names: Names,
    pub newest: Option<&'a Newest>,
    /// Files that belong to the message.
    pub claims: &'a [AttachmentId],
    /// The organization's former URL; links to it become relative.
    pub url: &'a str,
    pub now_seconds: i64,
}

impl<'a> ImportMarkdown<'a> {
    /// A context without anything of a message.
    pub fn new(directory: &'a Directory, writer: Option<&'a User>, linkifiers: &'a [Linkifier]) -> Self {
        Self {
            directory,
            writer,
            linkifiers,
            names: Names::default(),
            newest: None,
            claims: &[],
            url: "",
            now_seconds: 0,
        }
    }
}

fn named<'n>(names: &'n [(String, u32)], name: &str) -> Option<&'n (String, u32)> {
    names.iter().find(|(known, _)| known.eq_ignore_ascii_case(name))
}

fn user_ref(user: &User, full_name: &str) -> UserRef {
    UserRef { id: user.id.0.into(), full_name: full_name.to_owned(), is_active: user.is_active }
}

impl MarkdownContext for ImportMarkdown<'_> {
    fn user_by_name(&self, name: &str) -> Option<UserRef> {
        if let Some((known, id)) = named(&self.names.users, name)
            && let Some(user) = self.directory.user(UserId(*id))
        {
            return Some(user_ref(user, known));
        }
        let all = self.directory.users_by_name(name);
        let user = all.min_by_key(|user| (!user.is_active, user.id))?;
        Some(user_ref(user, &user.full_name))
    }

    fn user_by_id(&self, id: u64) -> Option<UserRef> {
        let user = self.directory.user(UserId(u32::try_from(id).ok()?))?;
        let known = self.names.users.iter().find(|(_, known)| u64::from(*known) == id);
        Some(user_ref(user, known.map_or(&user.full_name, |(name, _)| name)))
    }

    fn group_by_name(&self, name: &str) -> Option<GroupRef> {
        let known = named(&self.names.groups, name);
        let former = known.and_then(|(_, id)| self.directory.group(GroupId(*id)));
        let group = former.or_else(|| self.directory.group_by_name(name))?;
        let display_name = match known {
            Some((name, _)) => name.clone(),
            None => shown_group_name(group).to_owned(),
        };
        Some(GroupRef { id: group.id.0.into(), display_name, is_active: !group.is_deactivated })
    }

    fn channel_by_name(&self, name: &str) -> Option<ChannelRef> {
        let former = self.names.channels.iter().find(|(known, _)| known == name);
        if let Some((known, id)) = former
            && self.directory.channel(ChannelId(*id)).is_some()
        {
            return Some(ChannelRef { id: u64::from(*id), name: known.clone() });
        }
        let channel = self.directory.channel_by_name(name).filter(|channel| channel.name == name)?;
        let is_seen = match self.writer {
            Some(writer) => sees_channel(self.directory, writer, channel),
            None => !channel.invite_only,
        };
        is_seen.then(|| ChannelRef { id: channel.id.0.into(), name: channel.name.clone() })
    }

    fn newest_message_in_topic(&self, channel_id: u64, topic: &str) -> Option<u64> {
        let id = ChannelId(u32::try_from(channel_id).ok()?);
        let channel = self.directory.channel(id)?;
        // The writer could read it, or the newest message is not revealed.
        let is_read = self
            .writer
            .is_some_and(|writer| !channel.invite_only || self.directory.is_subscribed(id, writer.id));
        let newest = self.newest?.get(&(id, TopicKey::new(topic)))?;
        is_read.then_some(newest.0.into())
    }

    fn custom_emoji(&self, name: &str) -> Option<EmojiRef> {
        let emoji = self.directory.realm_emoji_by_name(name)?;
        Some(EmojiRef { source_url: emoji_url(self.directory.realm().id, emoji) })
    }

    fn linkifiers(&self) -> &[Linkifier] {
        self.linkifiers
    }

    fn realm_url(&self) -> &str {
        self.url
    }

    fn translate_emoticons(&self) -> bool {
        self.writer.is_some_and(|writer| user_bool(writer, "translate_emoticons"))
    }

    fn default_code_language(&self) -> Option<&str> {
        Some(realm_text(self.directory.realm(), "default_code_block_language"))
            .filter(|language| !language.is_empty())
    }

    fn now_seconds(&self) -> Option<i64> {
        (self.now_seconds > 0).then_some(self.now_seconds)
    }

    fn shows_previews(&self) -> bool {
        self.writer.is_some() && realm_bool(self.directory.realm(), "inline_image_preview")
    }

    fn upload_preview(&self, path_id: &str) -> Option<UploadPreview> {
        let file = self.directory.attachment_by_path(path_id)?;
        let writer = self.writer?;
        if file.owner != writer.id && !self.claims.contains(&file.id) {
            return None;
        }
        actors::preview_of(file)
    }
}

impl Builder<'_> {
    /// The HTML of a description or of a value of a profile field.
    pub fn render_description(&self, text: &str) -> String {
        let context = ImportMarkdown::new(&self.directory, None, &[]);
        render(text, &context).map(|rendered| rendered.html).unwrap_or_default()
    }

    /// The HTML of a message that was not sent.
    pub fn render_message(&self, text: &str, writer: UserId) -> String {
        let linkifiers = compile_linkifiers(&self.directory.lists().linkifiers);
        let writer = self.directory.user(writer).map(|user| &**user);
        let context = ImportMarkdown::new(&self.directory, writer, &linkifiers);
        render(text, &context).map(|rendered| rendered.html).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_from_exported_html() {
        let html = "<p><span class=\"user-mention\" data-user-id=\"10\">@King &amp; Hamlet</span> \
                    <span class=\"user-mention silent\" data-user-id=\"11\">Otello</span> \
                    <span class=\"user-mention\" data-user-id=\"*\">@all</span> \
                    <span class=\"user-group-mention\" data-user-group-id=\"7\">@staff</span> \
                    <a class=\"stream\" data-stream-id=\"5\" href=\"/#narrow\">#old name</a> \
                    <a class=\"stream-topic\" data-stream-id=\"6\" href=\"/#narrow\">#ops &gt; a &lt;b&gt;</a></p>";
        let names = Names::of(html);
        assert_eq!(names.users, [("King & Hamlet".to_owned(), 10), ("Otello".to_owned(), 11)]);
        assert_eq!(names.groups, [("staff".to_owned(), 7)]);
        assert_eq!(names.channels, [("old name".to_owned(), 5), ("ops".to_owned(), 6)]);
        assert_eq!(Names::of("<p>plain</p>"), Names::default());
    }
}
