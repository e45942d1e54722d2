//! The addresses of channels and of replies. Nothing is stored: an address has the ids that it is for, and a key derived from
//! the server's secret and the API keys of the users in it. New API keys therefore end old addresses.

use actors::{RealmHandle, Server};
use model::{ChannelId, MessageId, RealmId, User, UserId};
use std::sync::Arc;

/// Longest part of an address before the `@`, in bytes (RFC 5321).
const LOCAL_BYTES_MAX: usize = 64;
/// Contexts for deriving keys.
const CHANNEL_PURPOSE: &str = "channel address";
const REPLY_PURPOSE: &str = "reply address";
/// Begins the tokens of replies.
const REPLY_MARK: &str = "mm";
/// The part of a channel's address for names that are not ASCII.
const PLAIN_NAME: &str = "channel";

/// The configured pattern of addresses, such as `%s@chat.example.com`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddressPattern {
    before: String,
    after: String,
}

/// What the words in an address ask for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    pub shows_sender: bool,
    pub includes_footer: bool,
    pub includes_quotes: bool,
    pub prefers_html: bool,
}

/// What an address is for. Whether its users may still post is checked with each e-mail.
#[derive(Clone)]
pub enum Recipient {
    /// A channel; who made the address, and as whom e-mails are posted.
    Channel {
        realm: RealmHandle,
        channel: ChannelId,
        creator: Arc<User>,
        sender: Arc<User>,
        options: Options,
    },
    /// The conversation of a message that a user was mailed about.
    Reply { realm: RealmHandle, user: Arc<User>, message: MessageId },
}

impl AddressPattern {
    /// Parses the option; `None` when mail in is not configured.
    pub fn new(pattern: &str) -> Option<Self> {
        let (before, after) = pattern.split_once("%s")?;
        Some(Self { before: before.to_lowercase(), after: after.to_lowercase() })
    }

    /// The host name of the addresses.
    pub fn domain(&self) -> &str {
        self.after.rsplit_once('@').map_or(self.after.as_str(), |(_, domain)| domain)
    }

    /// The address for sending to a channel as `sender` (a user, or the e-mail gateway bot), made by `creator`.
    pub fn of_channel(
        &self,
        realm: &RealmHandle,
        (channel, name): (ChannelId, &str),
        creator: &User,
        sender: &User,
    ) -> String {
        let key = realm.address_key(CHANNEL_PURPOSE, &channel_parts(channel, creator, sender));
        let token = format!("{}-{channel}-{}-{}-{key}", realm.id().0, creator.id, sender.id);
        let rest = format!(".{token}.show-sender");
        let local_after = self.after.split('@').next().unwrap_or_default();
        let room = LOCAL_BYTES_MAX.saturating_sub(rest.len() + self.before.len() + local_after.len());
        let name = slug(name, room);
        format!("{}{name}{rest}{}", self.before, self.after)
    }

    /// The address for replying to an e-mail about a message, as the user who was mailed.
    pub fn of_reply(&self, realm: &RealmHandle, user: &User, message: MessageId) -> String {
        let key = realm.address_key(REPLY_PURPOSE, &reply_parts(user, message));
        format!("{}{REPLY_MARK}{}-{}-{message}-{key}{}", self.before, realm.id().0, user.id, self.after)
    }

    /// The recipient of an address; `None` for every address that is not, or no longer, one of this server.
    pub fn recipient(&self, server: &Server, address: &str) -> Option<Recipient> {
        let address = address.to_lowercase();
        let words = address.strip_prefix(&self.before)?.strip_suffix(&self.after)?;
        let mut options = Options::default();
        let mut rest = words.split(['.', '+']).filter(|word| !options.read(word));
        // The name of the channel and the token, or the token alone.
        let (first, second) = (rest.next()?, rest.next());
        let token = second.unwrap_or(first);
        match token.strip_prefix(REPLY_MARK) {
            Some(reply) => reply_recipient(server, reply),
            None => {
                // The words after the token are options, too.
                rest.for_each(drop);
                channel_recipient(server, token, options)
            }
        }
    }
}

impl Recipient {
    /// The organization of the address.
    pub fn realm(&self) -> &RealmHandle {
        match self {
            Self::Channel { realm, .. } | Self::Reply { realm, .. } => realm,
        }
    }

    /// As whom e-mails are posted.
    pub fn sender(&self) -> &Arc<User> {
        match self {
            Self::Channel { sender, .. } => sender,
            Self::Reply { user, .. } => user,
        }
    }

    /// What the words of the address ask for.
    pub fn options(&self) -> Options {
        match self {
            Self::Channel { options, .. } => *options,
            Self::Reply { .. } => Options::default(),
        }
    }

    /// Identifies who posts where: the sender, with the channel or with the message that is answered.
    pub fn conversation(&self) -> (RealmId, UserId, u32, u32) {
        match self {
            Self::Channel { realm, channel, sender, .. } => (realm.id(), sender.id, channel.0, 0),
            Self::Reply { realm, user, message } => (realm.id(), user.id, 0, message.0),
        }
    }

    /// The key of its rate limit: the same for all addresses of a channel by one user.
    pub fn key(&self) -> (RealmId, UserId, u32) {
        match self {
            Self::Channel { realm, channel, creator, .. } => (realm.id(), creator.id, channel.0),
            // No channel has the number 0.
            Self::Reply { realm, user, .. } => (realm.id(), user.id, 0),
        }
    }
}

impl Options {
    /// Reads a word of an address; false if it is no option.
    fn read(&mut self, word: &str) -> bool {
        match word {
            "show-sender" => self.shows_sender = true,
            "include-footer" => self.includes_footer = true,
            "include-quotes" => self.includes_quotes = true,
            "prefer-html" => self.prefers_html = true,
            "prefer-text" => self.prefers_html = false,
            _ => return false,
        }
        true
    }
}

fn channel_recipient(server: &Server, token: &str, options: Options) -> Option<Recipient> {
    let mut words = token.split('-');
    let mut id = || words.next()?.parse::<u32>().ok();
    let (realm, channel, creator, sender) = (id()?, ChannelId(id()?), UserId(id()?), UserId(id()?));
    let key = words.next().filter(|_| words.next().is_none())?;
    let realm = server.realm(RealmId(realm))?;
    let directory = realm.directory();
    let creator = directory.user(creator)?.clone();
    let sender = directory.user(sender)?.clone();
    let parts = channel_parts(channel, &creator, &sender);
    let is_ours = realm.is_address_key(key, CHANNEL_PURPOSE, &parts) && directory.realm().is_active;
    is_ours.then_some(Recipient::Channel { realm, channel, creator, sender, options })
}

fn reply_recipient(server: &Server, token: &str) -> Option<Recipient> {
    let mut words = token.split('-');
    let mut id = || words.next()?.parse::<u32>().ok();
    let (realm, user, message) = (id()?, UserId(id()?), MessageId(id()?));
    let key = words.next().filter(|_| words.next().is_none())?;
    let realm = server.realm(RealmId(realm))?;
    let directory = realm.directory();
    let user = directory.user(user)?.clone();
    let is_ours = realm.is_address_key(key, REPLY_PURPOSE, &reply_parts(&user, message))
        && directory.realm().is_active
        && user.is_active;
    is_ours.then_some(Recipient::Reply { realm, user, message })
}

fn channel_parts(channel: ChannelId, creator: &User, sender: &User) -> [String; 5] {
    [
        channel.to_string(),
        creator.id.to_string(),
        creator.api_key_rotation.to_string(),
        sender.id.to_string(),
        sender.api_key_rotation.to_string(),
    ]
}

fn reply_parts(user: &User, message: MessageId) -> [String; 3] {
    [user.id.to_string(), user.api_key_rotation.to_string(), message.to_string()]
}

/// A channel's name as part of an address: words of ASCII letters and digits. A name that would be mangled is left out.
fn slug(name: &str, bytes_max: usize) -> String {
    let is_plain = name.chars().all(|point| point.is_ascii() || !point.is_alphanumeric());
    let words = name.split(|point: char| !point.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let mut slug = words.map(str::to_ascii_lowercase).collect::<Vec<_>>().join("-");
    slug.truncate(bytes_max);
    slug.truncate(slug.trim_end_matches('-').len());
    if is_plain && !slug.is_empty() { slug } else { PLAIN_NAME.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_words() {
        let cases = [
            ("Verona", "verona"),
            ("Design & *art*", "design-art"),
            ("Füße", "channel"),
            ("???", "channel"),
            ("a very long name of a channel", "a-very-long-name-of"),
        ];
        for (name, word) in cases {
            assert_eq!(slug(name, 20), word);
        }
    }

    #[test]
    fn options_are_read_from_words() {
        let mut options = Options::default();
        assert!(options.read("show-sender") && options.read("prefer-html") && !options.read("verona"));
        assert_eq!(options, Options { shows_sender: true, prefers_html: true, ..Options::default() });
    }

    #[test]
    fn patterns_have_a_place_and_a_domain() {
        let pattern = AddressPattern::new("in+%s@Chat.example.com").unwrap();
        assert_eq!(pattern.domain(), "chat.example.com");
        assert_eq!(AddressPattern::new(""), None);
    }
}
