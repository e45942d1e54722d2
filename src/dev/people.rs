//! The people and bots of the sample organization.

use actors::SeedUser;
use model::{BotKind, Role, SettingValue, UserId};
use rules::accounts::{CAN_CHANGE_USER_EMAILS, CAN_CREATE_USERS};

pub const EMAIL_DOMAIN: &str = "zulip.com";

/// A person. The password is the e-mail address.
#[derive(Clone, Copy, Debug)]
pub struct Person {
    pub email: &'static str,
    pub full_name: &'static str,
    pub role: Role,
    /// IANA identifier, or empty.
    pub timezone: &'static str,
    /// argon2id hash of the e-mail address. Computed beforehand, because ten of them take 130 ms.
    pub password_hash: &'static str,
}

/// The id of the first of [`PEOPLE`]. With it all users have the ids that documentation and test data of clients use:
/// King Hamlet is user 10.
pub const FIRST_ID: UserId = UserId(6);

/// All people, in the order of their ids.
#[rustfmt::skip]
pub const PEOPLE: [Person; 10] = [
    Person { email: "AARON@zulip.com", full_name: "aaron", role: Role::Member, timezone: "America/Los_Angeles",
        password_hash: "$argon2id$v=19$m=19456,t=2,p=1$Xf/BT/4eJQX+1ffeDJKguQ$hLUQOe2wb56EARyxT12ovY1Vfe3yHIMzfbDM9cG8YSw" },
    Person { email: "ZOE@zulip.com", full_name: "Zoe", role: Role::Member, timezone: "America/New_York",
        password_hash: "$argon2id$v=19$m=19456,t=2,p=1$wrRIt3F1tkFFPoAvruDcrg$i0klpUU3+J/J6F9z4CiJQVOX/rThUUu/ZsRrQOaEKd0" },
    Person { email: "cordelia@zulip.com", full_name: "Cordelia, Lear's daughter", role: Role::Member, timezone: "Etc/UTC",
        password_hash: "$argon2id$v=19$m=19456,t=2,p=1$XkfqQsCebYAgJu7h7CpUag$nFbfoKc1Nvj/j7zQFusJod2h3tzviYzuvYNnq0khCww" },
    Person { email: "desdemona@zulip.com", full_name: "Desdemona", role: Role::Owner, timezone: "America/St_Johns",
        password_hash: "$argon2id$v=19$m=19456,t=2,p=1$ZFWCWmDy6TTQYHjfNNtIGg$/IQPcsFjTq2s+Jp/Y3F+jjXw3qyC2evXmLgJXnNbgaw" },
    Person { email: "hamlet@zulip.com", full_name: "King Hamlet", role: Role::Member, timezone: "",
        password_hash: "$argon2id$v=19$m=19456,t=2,p=1$O7rLuJoDo761JpUiMAIw1Q$G7qvd3CI57/fMUjxVZJbps2/uc5jktDeeJ1Auvfo4FA" },
    Person { email: "iago@zulip.com", full_name: "Iago", role: Role::Administrator, timezone: "America/New_York",
        password_hash: "$argon2id$v=19$m=19456,t=2,p=1$IT0lYt1iLj2RbFOfplNdTA$dSEojVGk9Y+xKAU6CyedxavKf0MUDJKueBeFqR+p1Sc" },
    Person { email: "othello@zulip.com", full_name: "Othello, the Moor of Venice", role: Role::Member, timezone: "America/Los_Angeles",
        password_hash: "$argon2id$v=19$m=19456,t=2,p=1$cxtZ4OFIl9nOqErqI8vGPQ$G+GjwFkJNzUou8RNKDdW7Mmm1DTx9Ufkt/i/NyJjJ6Q" },
    Person { email: "polonius@zulip.com", full_name: "Polonius", role: Role::Guest, timezone: "Asia/Shanghai",
        password_hash: "$argon2id$v=19$m=19456,t=2,p=1$Bn9ZuuoxEpFEH0KhfXAv6Q$X6342Bq6YumcY+bXI3ry/fO4aQGHrgu9fVYf7kqo0Go" },
    Person { email: "prospero@zulip.com", full_name: "Prospero from The Tempest", role: Role::Member, timezone: "",
        password_hash: "$argon2id$v=19$m=19456,t=2,p=1$YSqbcF6CX5IL0//GhhobUQ$1z2tIqQN8usGa2lBQ5Uz/oF2j2OaAy69+MUdvOELLdY" },
    Person { email: "shiva@zulip.com", full_name: "Shiva", role: Role::Moderator, timezone: "Asia/Kolkata",
        password_hash: "$argon2id$v=19$m=19456,t=2,p=1$xN6dCJnsQjiE+UfG0JyvHA$MfQ38i/WbK/tE42l7VjHCi7A8r36vr+3IswkQk8RodY" },
];

/// The bots (e-mail address, name, kind, owner); their ids follow those of the people.
#[rustfmt::skip]
const BOTS: [(&str, &str, BotKind, &str); 3] = [
    ("default-bot@zulip.com", "Zulip Default Bot", BotKind::Generic, "AARON@zulip.com"),
    ("webhook-bot@zulip.com", "Zulip Webhook Bot", BotKind::IncomingWebhook, "ZOE@zulip.com"),
    ("outgoing-webhook@zulip.com", "Outgoing Webhook", BotKind::OutgoingWebhook, "AARON@zulip.com"),
];

/// The members of the group `hamletcharacters`, by e-mail address.
pub const HAMLET_CHARACTERS: [&str; 3] = ["AARON@zulip.com", "hamlet@zulip.com", "cordelia@zulip.com"];

/// Creates the groups and channels, and may create accounts with `POST /users`; being an administrator is not enough
/// for that.
pub const CREATOR: &str = "desdemona@zulip.com";

/// All users of the seed.
pub fn users() -> Vec<SeedUser<'static>> {
    let people = PEOPLE.iter().map(|person| SeedUser {
        email: person.email,
        full_name: person.full_name,
        role: person.role,
        timezone: person.timezone,
        password_hash: Some(person.password_hash),
        settings: match person.email {
            CREATOR => vec![
                (CAN_CREATE_USERS, SettingValue::Bool(true)),
                (CAN_CHANGE_USER_EMAILS, SettingValue::Bool(true)),
            ],
            _ => Vec::new(),
        },
        bot: None,
    });
    let bots = BOTS.into_iter().map(|(email, full_name, kind, owner)| SeedUser {
        email,
        full_name,
        role: Role::Member,
        timezone: "",
        password_hash: None,
        settings: Vec::new(),
        bot: Some((kind, owner)),
    });
    people.chain(bots).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_email_addresses() {
        for person in PEOPLE {
            assert!(
                actors::login::check_password(Some(person.password_hash), person.email),
                "{}",
                person.email
            );
            assert!(!actors::login::check_password(Some(person.password_hash), "hamlet"), "{}", person.email);
        }
    }
}
