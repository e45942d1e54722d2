//! How a rendered message mentions a user, read from its HTML: nothing else records it once the message is sent.

use model::{Directory, GroupId, UserId};

/// How a user is mentioned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mention {
    /// The message names the user.
    Name,
    /// Through a group.
    Group(GroupId),
}

/// By what a message mentions a user aloud; the name counts more than a group.
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
