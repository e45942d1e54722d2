//! Mentions of users, groups and whole conversations.

use super::UserRef;
use super::html::escaped_text;
use super::inline::{Inline, may_begin, parse_id, replace_matches};

/// Characters that a mention may follow, besides white space.
const BEFORE: [char; 7] = ['\'', '"', '(', '{', '[', '/', '<'];

/// The mentions of a message that notify. Silent mentions appear in the HTML only.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mentions {
    /// Ids of users, each once, in the order of their first mention.
    pub users: Vec<u64>,
    /// Ids of user groups, each once, in the order of their first mention.
    pub groups: Vec<u64>,
    /// `@**all**`, `@**everyone**`, `@**channel**` or `@**stream**`.
    pub channel_wildcard: bool,
    pub topic_wildcard: bool,
}

/// A mention as typed: `@`, `_` if silent, and a name between stars.
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
                let class = "user-mention channel-wildcard-mention";
                Some(mention_html(class, r#" data-user-id="*""#, typed.name, is_silent))
            }
            "topic" => {
                inline.mentions.topic_wildcard |= !is_silent;
                Some(mention_html("topic-mention", "", "topic", is_silent))
            }
            _ => {
                let user = find_user(inline, typed.name)?;
                let is_silent = is_silent || !user.is_active;
                if !is_silent && !inline.mentions.users.contains(&user.id) {
                    inline.mentions.users.push(user.id);
                }
                let data = format!(r#" data-user-id="{}""#, user.id);
                Some(mention_html("user-mention", &data, &user.full_name, is_silent))
            }
        }
    })
}

/// `@*group*`, by name.
pub(super) fn groups(inline: &mut Inline<'_>, text: &str, _next: usize) -> Option<String> {
    replace(inline, text, "*", |inline, typed| {
        let group = inline.context.group_by_name(typed.name)?;
        let is_silent = typed.is_silent || inline.in_quote || !group.is_active;
        if !is_silent && !inline.mentions.groups.contains(&group.id) {
            inline.mentions.groups.push(group.id);
        }
        let data = format!(r#" data-user-group-id="{}""#, group.id);
        Some(mention_html("user-group-mention", &data, &group.display_name, is_silent))
    })
}

fn replace(
    inline: &mut Inline<'_>,
    text: &str,
    stars: &str,
    mut render: impl FnMut(&mut Inline<'_>, &Typed<'_>) -> Option<String>,
) -> Option<String> {
    replace_matches(inline, text, "@", |inline, start| {
        let typed = may_begin(text, start, &BEFORE).then(|| read(text, start, stars))??;
        Some((typed.end, render(inline, &typed)?))
    })
}

/// The user with a name, with a name and id that match, or with an id alone.
fn find_user(inline: &Inline<'_>, typed: &str) -> Option<UserRef> {
    let with_id = typed.rsplit_once('|').and_then(|(name, id)| Some((name, parse_id(id)?)));
    let Some((name, id)) = with_id else { return inline.context.user_by_name(typed) };
    let user = inline.context.user_by_id(id)?;
    let is_same = name.is_empty() || name.to_lowercase() == user.full_name.to_lowercase();
    is_same.then_some(user)
}

/// The HTML of a mention; a silent one has no `@`.
fn mention_html(class: &str, data: &str, name: &str, is_silent: bool) -> String {
    let (silent, at) = if is_silent { (" silent", "") } else { ("", "@") };
    format!(r#"<span class="{class}{silent}"{data}>{at}{}</span>"#, escaped_text(name))
}
