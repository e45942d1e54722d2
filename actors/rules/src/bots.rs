//! Bots: who may create and change them, and which values they may have (docs/api/bots.md).

mod integration;
mod rank;

pub use integration::{CONFIG_LENGTH_MAX, IntegrationChange, REALM_CONFIG_BYTES_MAX};
pub use rank::{
    bots_leaving_with, bots_left_behind, bots_left_in, capped_role, channels_to_leave, check_rank,
    check_takeover, demoted_bots, with_new_owner,
};

use crate::error::{BotError, RuleError};
use crate::names::{check_length, parse_full_name};
use crate::permissions::channel::{Archived, ChannelRef, access_channel_content};
use crate::permissions::group_setting::holds_realm;
use crate::permissions::roles::{check_administrator, check_owner};
use crate::settings::RealmPermission;
use model::{BotKind, ChannelId, Directory, Role, User, UserId, WebhookInterface};
use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use url::{Host, Url};

/// Longest part of an address before the `@`, in bytes (RFC 5321).
const LOCAL_BYTES_MAX: usize = 64;
/// Longest URL of a service, in bytes.
const URL_BYTES_MAX: usize = 2048;
/// Longest name of a service, in code points.
const SERVICE_NAME_LENGTH_MAX: usize = 100;
/// Bots per owner, deactivated ones included: accounts are never deleted.
const BOTS_OF_OWNER_MAX: usize = 500;
/// The setting of accounts that may create others (see POST /users).
const CAN_CREATE_USERS: &str = "can_create_users";

/// Finds a bot to manage: for its owner, and administrators whose role is not below the bot's. Bots that may create
/// accounts are managed only by owners of the organization. `Missing` (also for people and system bots),
/// `InsufficientPermission`, `OwnerRequired`, and the errors of `check_rank`.
pub fn access_bot<'d>(directory: &'d Directory, by: &User, bot: i64) -> Result<&'d Arc<User>, RuleError> {
    let found = u32::try_from(bot).ok().and_then(|id| directory.user(UserId(id)));
    let found = found.filter(|user| user.is_bot() && !user.is_system_bot()).ok_or(BotError::Missing)?;
    if found.owner() != Some(by.id) && !by.is_administrator() {
        return Err(RuleError::InsufficientPermission);
    }
    check_rank(by, found.role)?;
    if found.bool_setting(CAN_CREATE_USERS, false) {
        check_owner(by)?;
    }
    Ok(found)
}

/// Finds a bot whose API key is read or regenerated: only by its owner, since the key gives access to everything that
/// the bot can read. The errors of [`access_bot`], `KeyOfOwner`.
pub fn access_bot_key<'d>(dir: &'d Directory, by: &User, bot: i64) -> Result<&'d Arc<User>, RuleError> {
    let found = access_bot(dir, by, bot)?;
    if found.owner() == Some(by.id) { Ok(found) } else { Err(BotError::KeyOfOwner.into()) }
}

/// Parses the API code of a kind that can be created: `InvalidKind`, `EmbeddedOff`.
pub fn parse_kind(code: i64) -> Result<BotKind, BotError> {
    match code {
        1 => Ok(BotKind::Generic),
        2 => Ok(BotKind::IncomingWebhook),
        3 => Ok(BotKind::OutgoingWebhook),
        4 => Err(BotError::EmbeddedOff),
        _ => Err(BotError::InvalidKind),
    }
}

/// Whether a user may create a bot of a kind: `InsufficientPermission`, `TooMany`.
pub fn check_may_create(directory: &Directory, by: &User, kind: BotKind) -> Result<(), RuleError> {
    let holds = |permission| holds_realm(directory, permission, by.id);
    let may_write_only = kind == BotKind::IncomingWebhook && holds(RealmPermission::CreateWriteOnlyBots);
    if !may_write_only && !holds(RealmPermission::CreateBots) {
        return Err(RuleError::InsufficientPermission);
    }
    if directory.bots_of(by.id).count() >= BOTS_OF_OWNER_MAX {
        return Err(BotError::TooMany { limit: BOTS_OF_OWNER_MAX }.into());
    }
    Ok(())
}

/// The address of a bot from its short name as sent: `BadShortName`.
pub fn bot_address(directory: &Directory, short_name: &str) -> Result<String, BotError> {
    let local = format!("{}-bot", crate::text::strip(short_name));
    let is_word = |word: &str| !word.is_empty() && word.bytes().all(is_word_byte);
    let is_good = local.len() <= LOCAL_BYTES_MAX && local != "-bot" && local.split('.').all(is_word);
    match is_good {
        true => Ok(format!("{local}@{}", directory.realm().email_domain)),
        false => Err(BotError::BadShortName),
    }
}

fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+/=?^_`{}|~-".contains(&byte)
}

/// Whether an address is free for a bot (none: a new one): `AddressTaken`.
pub fn check_address_free(directory: &Directory, address: &str, bot: Option<UserId>) -> Result<(), BotError> {
    let holder = directory.user_by_email(address).map(|user| user.id);
    if holder.is_none() || holder == bot { Ok(()) } else { Err(BotError::AddressTaken) }
}

/// A bot's name as sent → the name to store, which no other active account may have. The errors of `parse_full_name`,
/// `NameTaken`.
pub fn check_bot_name<'n>(
    directory: &Directory,
    raw: &'n str,
    bot: Option<UserId>,
) -> Result<&'n str, RuleError> {
    let name = parse_full_name(raw)?;
    let is_same = |user: &&Arc<User>| user.is_active && user.full_name == name && Some(user.id) != bot;
    match directory.users_by_name(name).find(is_same) {
        Some(_) => Err(BotError::NameTaken.into()),
        None => Ok(name),
    }
}

/// Parses the API code of an interface: `InvalidInterface`.
pub fn parse_interface(code: i64) -> Result<WebhookInterface, BotError> {
    WebhookInterface::from_code(code).ok_or(BotError::InvalidInterface)
}

/// The name of an outgoing webhook's service as sent → the name to store; may be empty. `TooLong`.
pub fn parse_service_name(raw: &str) -> Result<&str, RuleError> {
    check_length("service_name", crate::text::strip(raw), SERVICE_NAME_LENGTH_MAX)
}

/// Parses the URL of a service: http or https with a valid host. `InvalidUrl`.
pub fn parse_service_url(raw: &str, field: &'static str) -> Result<String, BotError> {
    let refused = || BotError::InvalidUrl { field };
    let raw = crate::text::strip(raw);
    if raw.len() > URL_BYTES_MAX || raw.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err(refused());
    }
    let url = Url::parse(raw).map_err(|_| refused())?;
    let is_web = matches!(url.scheme(), "http" | "https");
    match url.host() {
        // The parser completes `127.1` to an address, which is hardly intended.
        Some(Host::Ipv4(_)) if is_web && host_as_typed(raw).parse::<Ipv4Addr>().is_err() => Err(refused()),
        Some(Host::Ipv6(_)) if is_web && host_as_typed(raw).parse::<Ipv6Addr>().is_err() => Err(refused()),
        Some(Host::Domain(name)) if name.split('.').any(str::is_empty) => Err(refused()),
        Some(_) if is_web => Ok(raw.to_owned()),
        _ => Err(refused()),
    }
}

/// The host of a URL, without user, port and path.
fn host_as_typed(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    match host.strip_prefix('[').and_then(|host| host.split_once(']')) {
        Some((inside, _)) => inside,
        None => host.split(':').next().unwrap_or_default(),
    }
}

/// A bot's default channel by name; an empty name is none. `InvalidChannelName`, also if the requester cannot read it.
pub fn default_channel(directory: &Directory, by: &User, name: &str) -> Result<Option<ChannelId>, RuleError> {
    if name.is_empty() {
        return Ok(None);
    }
    let found = access_channel_content(directory, by, ChannelRef::Name(name), Archived::Refused)?;
    Ok(Some(found.channel().id))
}

/// Whether a user may change the role of a bot: administrators, or owners if the old or new role is owner. The role must
/// not be above that of the bot's owner. `InvalidRole`, `AdministratorRequired`, `OwnerRequired`, `RoleAboveOwner`.
pub fn check_bot_role(by: &User, bot: &User, owner: &User, code: i64) -> Result<Role, RuleError> {
    let role = Role::from_code(code).ok_or(BotError::InvalidRole)?;
    if role != bot.role {
        check_administrator(by)?;
        if [role, bot.role].contains(&Role::Owner) {
            check_owner(by)?;
        }
    }
    if role < owner.role { Err(BotError::RoleAboveOwner.into()) } else { Ok(role) }
}

/// Finds the new owner of a bot: `OwnerMissing`, `OwnerDeactivated`, `OwnerIsBot`.
pub fn check_new_owner(directory: &Directory, owner: i64) -> Result<&Arc<User>, BotError> {
    let found = u32::try_from(owner).ok().and_then(|id| directory.user(UserId(id)));
    let found = found.filter(|user| !user.is_system_bot()).ok_or(BotError::OwnerMissing)?;
    match (found.is_active, found.is_bot()) {
        (false, _) => Err(BotError::OwnerDeactivated),
        (_, true) => Err(BotError::OwnerIsBot),
        _ => Ok(found),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{self, ADMINISTRATOR, BOT, FORMER, GUEST, MEMBER, OTHER_MEMBER, OWNER, SYSTEM_BOT};
    use model::SettingValue;

    fn user(directory: &Directory, id: UserId) -> Arc<User> {
        directory.user(id).unwrap().clone()
    }

    #[test]
    fn owners_and_administrators_manage_a_bot() {
        let mut dir = fixture::directory();
        let access = |dir: &Directory, by, bot: UserId| {
            access_bot(dir, &user(dir, by), bot.0.into()).map(|bot| bot.id)
        };
        for (by, expected) in [
            (MEMBER, Ok(BOT)),
            (ADMINISTRATOR, Ok(BOT)),
            (OTHER_MEMBER, Err(RuleError::InsufficientPermission)),
            (BOT, Err(RuleError::InsufficientPermission)),
        ] {
            assert_eq!(access(&dir, by, BOT), expected, "{by}");
        }
        for missing in [SYSTEM_BOT, MEMBER, UserId(99)] {
            assert_eq!(access(&dir, OWNER, missing), Err(BotError::Missing.into()), "{missing}");
        }
        let mut bot = User::clone(dir.user(BOT).unwrap());
        bot.settings.insert(CAN_CREATE_USERS.into(), SettingValue::Bool(true));
        dir.put_user(bot);
        assert_eq!(access(&dir, ADMINISTRATOR, BOT), Err(RuleError::OwnerRequired));
        assert_eq!(access(&dir, OWNER, BOT), Ok(BOT));
    }

    #[test]
    fn short_names_become_addresses() {
        let dir = fixture::directory();
        assert_eq!(bot_address(&dir, " rec ").unwrap(), "rec-bot@chat.example.org");
        for bad in ["", "  ", "a b", "bö", "a@b", ".a", "a..b", &"a".repeat(61)] {
            assert_eq!(bot_address(&dir, bad), Err(BotError::BadShortName), "{bad}");
        }
    }

    #[test]
    fn service_urls_are_validated() {
        for good in ["http://127.0.0.1:5002", "https://example.com/a?b=c", "http://[::1]:8/x", "http://bots"]
        {
            assert_eq!(parse_service_url(good, "payload_url").as_deref(), Ok(good));
        }
        for bad in [
            "",
            "bots",
            "ftp://a.b",
            "http://",
            "http://127.0.0.:5002",
            "http://127.1/",
            "http://a..b",
            "javascript:alert(1)",
            "http://a b.example",
        ] {
            let refused = parse_service_url(bad, "payload_url").unwrap_err();
            assert_eq!(refused.to_string(), "Invalid payload_url: Value error, Not a URL", "{bad}");
        }
    }

    #[test]
    fn names_of_bots_are_unique() {
        let dir = fixture::directory();
        assert_eq!(check_bot_name(&dir, " New ", None), Ok("New"));
        // The name of another user, of the bot itself, and of a deactivated user.
        assert_eq!(check_bot_name(&dir, "member", None), Err(BotError::NameTaken.into()));
        assert_eq!(check_bot_name(&dir, "helper-bot", Some(BOT)), Ok("helper-bot"));
        assert_eq!(check_bot_name(&dir, "former", None), Ok("former"));
        assert_eq!(check_bot_name(&dir, "x", None), Err(RuleError::NameTooShort));
    }

    #[test]
    fn roles_and_owners() {
        let dir = fixture::directory();
        let (member, administrator, owner) =
            (user(&dir, MEMBER), user(&dir, ADMINISTRATOR), user(&dir, OWNER));
        let bot = user(&dir, BOT);
        for (by, of, code, expected) in [
            (&member, &member, 400, Ok(Role::Member)),
            (&member, &member, 200, Err(RuleError::AdministratorRequired)),
            (&administrator, &owner, 200, Ok(Role::Administrator)),
            (&administrator, &member, 600, Ok(Role::Guest)),
            (&administrator, &member, 200, Err(BotError::RoleAboveOwner.into())),
            (&administrator, &owner, 100, Err(RuleError::OwnerRequired)),
            (&owner, &owner, 100, Ok(Role::Owner)),
            (&owner, &administrator, 100, Err(BotError::RoleAboveOwner.into())),
            (&owner, &owner, 7, Err(BotError::InvalidRole.into())),
        ] {
            assert_eq!(check_bot_role(by, &bot, of, code), expected, "{} {} {code}", by.id, of.id);
        }
        for (new, expected) in [
            (OTHER_MEMBER, Ok(OTHER_MEMBER)),
            (GUEST, Ok(GUEST)),
            (FORMER, Err(BotError::OwnerDeactivated)),
            (BOT, Err(BotError::OwnerIsBot)),
            (SYSTEM_BOT, Err(BotError::OwnerMissing)),
            (UserId(99), Err(BotError::OwnerMissing)),
        ] {
            assert_eq!(check_new_owner(&dir, new.0.into()).map(|owner| owner.id), expected, "{new}");
        }
    }
}
