//! Mentions of users, groups and whole conversations.

use super::html::push_text;
use super::inline::{Inline, Rewrite, may_begin, parse_id};
use super::{GroupRef, UserRef};

/// Besides white space, what a mention may follow.
const BEFORE: [char; 7] = ['\'', '"', '(', '{', '[', '/', '<'];

/// Who a message mentions aloud. Silent mentions appear in the HTML only.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mentions {
    /// Ids of users, each once, in the order of their first mention.
    pub users: Vec<u64>,
    /// Ids of user groups, each once, in the order of their first mention.
    pub groups: Vec<u64>,
    /// `@**all**`, `@**everyone**`, `@**channel**` or `@**stream**`.
    pub channel_wildcard: bool,
    /// `@**topic**`.
    pub topic_wildcard: bool,
}

/// A mention as it stands in the text: `@`, `_` if silent, and a name between stars.
struct Typed<'t> {
    is_silent: bool,
    name: &'t str,
    end: usize,
}

/// Reads the mention at `start`, which is an `@`; `stars` surround the name.
fn read<'t>(text: &'t str, start: usize, stars: &str) -> Option<Typed<'t>> {
    let after = &text[start + 1..];
    let (is_silent, after) = match after.strip_prefix('_') {
        Some(after) => (true, after),
        None => (false, after),
    };
    let body = after.strip_prefix(stars)?;
    let length = body.find('*')?;
    body[length..].strip_prefix(stars).filter(|_| length > 0)?;
    let end = text.len() - body.len() + length + stars.len();
    Some(Typed { is_silent, name: &body[..length], end })
}

/// `@**name**`, `@**name|id**`, `@**|id**`, and the wildcards.
pub(super) fn users(inline: &mut Inline<'_>, text: &str, _next: usize) -> Option<String> {
    replace(inline, text, "**", |inline, typed| {
        let is_silent = typed.is_silent || inline.in_quote;
        match typed.name {
            "all" | "everyone" | "channel" | "stream" => {
                inline.mentions.channel_wildcard |= !is_silent;
                Some(channel_wildcard_html(typed.name, is_silent))
            }
            "topic" => {
                inline.mentions.topic_wildcard |= !is_silent;
                Some(topic_wildcard_html(is_silent))
            }
            _ => {
                let user = find_user(inline, typed.name)?;
                let is_silent = is_silent || !user.is_active;
                if !is_silent && !inline.mentions.users.contains(&user.id) {
                    inline.mentions.users.push(user.id);
                }
                Some(user_html(&user, is_silent))
            }
        }
    })
}

/// `@*group*`.
pub(super) fn groups(inline: &mut Inline<'_>, text: &str, _next: usize) -> Option<String> {
    replace(inline, text, "*", |inline, typed| {
        let group = inline.context.group_by_name(typed.name)?;
        let is_silent = typed.is_silent || inline.in_quote || !group.is_active;
        if !is_silent && !inline.mentions.groups.contains(&group.id) {
            inline.mentions.groups.push(group.id);
        }
        Some(group_html(&group, is_silent))
    })
}

fn replace(
    inline: &mut Inline<'_>,
    text: &str,
    stars: &str,
    mut render: impl FnMut(&mut Inline<'_>, &Typed<'_>) -> Option<String>,
) -> Option<String> {
    let mut rewrite = Rewrite::of(text);
    let mut from = 0;
    while let Some(offset) = text[from..].find('@') {
        let start = from + offset;
        from = start + 1;
        if !may_begin(text, start, &BEFORE) {
            continue;
        }
        let Some(typed) = read(text, start, stars) else { continue };
        if let Some(html) = render(inline, &typed) {
            rewrite.put(start, typed.end, html, &mut inline.stash);
            from = typed.end;
        }
    }
    rewrite.finish()
}

/// Resolves a name, which an id may follow. Both must then belong to the same user.
fn find_user(inline: &Inline<'_>, typed: &str) -> Option<UserRef> {
    let with_id = typed.rsplit_once('|').and_then(|(name, id)| Some((name, parse_id(id)?)));
    let Some((name, id)) = with_id else { return inline.context.user_by_name(typed) };
    let user = inline.context.user_by_id(id)?;
    let is_same = name.is_empty() || name.to_lowercase() == user.full_name.to_lowercase();
    is_same.then_some(user)
}

fn user_html(user: &UserRef, is_silent: bool) -> String {
    let (class, at) = if is_silent { ("user-mention silent", "") } else { ("user-mention", "@") };
    let mut html = format!(r#"<span class="{class}" data-user-id="{}">{at}"#, user.id);
    push_text(&mut html, &user.full_name);
    html.push_str("</span>");
    html
}

fn group_html(group: &GroupRef, is_silent: bool) -> String {
    let (class, at) = if is_silent { ("user-group-mention silent", "") } else { ("user-group-mention", "@") };
    let mut html = format!(r#"<span class="{class}" data-user-group-id="{}">{at}"#, group.id);
    push_text(&mut html, &group.display_name);
    html.push_str("</span>");
    html
}

fn channel_wildcard_html(word: &str, is_silent: bool) -> String {
    let (silent, at) = if is_silent { (" silent", "") } else { ("", "@") };
    format!(
        r#"<span class="user-mention channel-wildcard-mention{silent}" data-user-id="*">{at}{word}</span>"#
    )
}

fn topic_wildcard_html(is_silent: bool) -> String {
    let (silent, at) = if is_silent { (" silent", "") } else { ("", "@") };
    format!(r#"<span class="topic-mention{silent}">{at}topic</span>"#)
}
