//! What a seed makes must be such that its creator, or the owner of a bot, could make it through the API.

use super::content::{BotName, Channel, SeedDocument};
use super::document_path::At;
use super::mistake::{Checked, Mistake, each, refuse};
use actors::{seed_directory, seed_holders};
use model::{Directory, User};
use rules::RuleError;
use rules::bots::check_may_create;
use rules::permissions::create::{check_may_create_channel, resolve_privacy};
use rules::permissions::group_setting::check_holds_realm;
use rules::permissions::roles::check_not_guest;
use rules::settings::RealmPermission;

/// Checks a seed in which all names exist; the first mistake is the error.
pub(super) fn check_creation(seed: &SeedDocument) -> Checked {
    let document = At::Document;
    let content = seed.seed();
    let directory = seed_directory(&seed.new_realm(""), &content);
    let settings = document.key("settings");
    for permission in &content.permissions {
        let name = permission.permission.rule().name;
        seed_holders(&directory, permission)
            .map_err(|error| Mistake::new(&settings.key(name), error.to_string()))?;
    }
    let Some(creator) = directory.user_by_email(&seed.creator) else { return Ok(()) };
    if let (false, Err(error)) = (seed.groups.is_empty(), check_may_create_groups(&directory, creator)) {
        refuse(&document.key("creator"), format!("{} may not create groups: {error}", seed.creator))?;
    }
    each(&document.key("bots"), &seed.bots, |at, bot| {
        let Some(owner) = directory.user_by_email(&bot.owner) else { return Ok(()) };
        match may_create_bots(&directory, owner, bot.kind) {
            Ok(()) => Ok(()),
            Err(error) => refuse(&at.key("owner"), format!("{} may not create this bot: {error}", bot.owner)),
        }
    })?;
    each(&document.key("channels"), &seed.channels, |at, channel| {
        check_channel(at, channel, &directory, (&seed.creator, creator))
    })
}

fn check_may_create_groups(directory: &Directory, creator: &User) -> Result<(), RuleError> {
    check_not_guest(creator)?;
    check_holds_realm(directory, RealmPermission::CreateGroups, creator.id)
}

/// All bots of the seed are in the directory, so that their number says nothing here.
fn may_create_bots(directory: &Directory, owner: &User, kind: BotName) -> Result<(), RuleError> {
    match check_may_create(directory, owner, kind.into()) {
        Err(error @ RuleError::InsufficientPermission) => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// The mistake is at the entry without which the channel could be created.
fn check_channel(
    at: &At<'_>,
    channel: &Channel,
    directory: &Directory,
    (email, creator): (&str, &User),
) -> Checked {
    for (key, is_web_public, is_default) in [
        ("name", false, false),
        ("default", false, channel.default),
        ("web_public", channel.web_public, channel.default),
    ] {
        let privacy = resolve_privacy(channel.private, is_web_public, Some(channel.shared_history));
        let may =
            privacy.and_then(|privacy| check_may_create_channel(directory, creator, privacy, is_default));
        if let Err(error) = may {
            refuse(&at.key(key), format!("{email} may not create this channel: {error}"))?;
        }
    }
    Ok(())
}
