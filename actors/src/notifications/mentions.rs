//! How a rendered message mentions a user, found in its HTML: it is not stored otherwise.

use model::{Directory, GroupId, UserId};

/// How a user is mentioned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mention {
    /// By the user's name.
    Name,
    /// Through a group of the user.
    Group(GroupId),
}

/// How a message mentions a user, not silently; a mention by name takes precedence.
pub fn mention_of(directory: &Directory, html: &str, user: UserId) -> Option<Mention> {
    if html.contains(&format!("<span class=\"user-mention\" data-user-id=\"{user}\">")) {
        return Some(Mention::Name);
    }
    let start = "<span class=\"user-group-mention\" data-user-group-id=\"";
    html.match_indices(start).find_map(|(at, _)| {
        let id: u32 = html[at + start.len()..].split('"').next()?.parse().ok()?;
        let group = GroupId(id);
        directory.members_of(group).contains(&user).then_some(Mention::Group(group))
    })
}
