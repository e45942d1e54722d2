//! What can be read without an account (docs/api/conventions.md#anonymous-access).

use crate::settings::realm_bool;
use model::{Channel, Directory, Role, Timestamp, User, UserId};

/// Whether the organization shows anything to spectators: it allows them, and has a channel that they may read.
pub fn has_public_access(dir: &Directory) -> bool {
    realm_bool(dir.realm(), "enable_spectator_access") && dir.channels().any(|channel| is_web_public(channel))
}

/// Whether spectators may read a channel. Archived channels can only be read with an account.
pub fn is_shown_to_spectators(dir: &Directory, channel: &Channel) -> bool {
    realm_bool(dir.realm(), "enable_spectator_access") && is_web_public(channel)
}

fn is_web_public(channel: &Channel) -> bool {
    channel.is_web_public && !channel.is_archived && !channel.invite_only
}

/// The account that a spectator seems to have, for clients that cannot do without one. It is in no directory.
pub fn spectator() -> User {
    User::new(UserId(0), "username@example.com", "Anonymous User", Role::Guest, Timestamp(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use model::SettingValue;

    #[test]
    fn spectators_read_web_public_channels_only() {
        let mut dir = fixture::directory();
        type Change = fn(&mut Channel);
        let kinds: [(&str, Change, bool); 5] = [
            ("web-public", |channel| channel.is_web_public = true, true),
            ("public", |_| (), false),
            ("private", |channel| channel.invite_only = true, false),
            ("archived", |channel| (channel.is_web_public, channel.is_archived) = (true, true), false),
            ("contradictory", |channel| (channel.is_web_public, channel.invite_only) = (true, true), false),
        ];
        for (name, change, is_shown) in kinds {
            for allows in [true, false] {
                fixture::set_realm(&mut dir, "enable_spectator_access", SettingValue::Bool(allows));
                let mut channel = fixture::channel(1, name);
                change(&mut channel);
                dir.put_channel(channel.clone());
                assert_eq!(is_shown_to_spectators(&dir, &channel), is_shown && allows, "{name}, {allows}");
                assert_eq!(has_public_access(&dir), is_shown && allows, "{name}, {allows}");
            }
        }
    }
}
