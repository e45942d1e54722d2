//! Channels: list, create.

use super::answer::{Answer, Table};
use super::find::account;
use crate::cli::error::CliError;
use crate::http::params::check_not_blank;
use actors::{RealmHandle, commands};
use model::Role;
use rules::names::parse_description;
use rules::new_channels::ChannelOptions;
use rules::text::strip;
use serde_json::json;

/// All channels of an organization, archived ones too.
pub(super) fn list(realm: &RealmHandle) -> Answer {
    let mut table = Table::new(&["id", "name", "kind", "subscribers", "state", "description"]);
    let directory = realm.directory();
    for channel in directory.channels() {
        let kind = match (channel.invite_only, channel.is_web_public) {
            (true, _) => "private",
            (false, true) => "web-public",
            (false, false) => "public",
        };
        let state = if channel.is_archived { "archived" } else { "open" };
        let subscribers = directory.subscriber_ids(channel.id).count();
        table.push(vec![
            json!(channel.id.0),
            json!(channel.name),
            json!(kind),
            json!(subscribers),
            json!(state),
            json!(channel.description),
        ]);
    }
    Answer::list(table)
}

/// Creates a channel in the name of a person, who is subscribed to it.
pub(super) async fn create(
    realm: &RealmHandle,
    (name, description): (String, String),
    is_private: bool,
    creator: Option<&str>,
) -> Result<Answer, CliError> {
    let name = strip(&name).to_owned();
    check_not_blank("name", &name)?;
    let description = parse_description(&description).map_err(crate::http::ApiError::from)?;
    let creator = match creator {
        Some(email) => account(realm, email)?,
        None => {
            let directory = realm.directory();
            let owner = directory
                .users()
                .find(|user| user.is_active && user.role == Role::Owner && !user.is_bot())
                .cloned();
            owner.ok_or_else(|| {
                CliError::Refused("there is no active owner; name another account with --creator".to_owned())
            })?
        }
    };
    let options = ChannelOptions { invite_only: is_private, ..ChannelOptions::default() };
    let (by, subscribers) = (creator.id, vec![creator.id]);
    let command = commands::CreateChannel { by, name: name.clone(), description, subscribers, options };
    let id = realm.create_channel(command).await?;
    let line = format!("Channel created: {name}, id {id}; {} is subscribed.", creator.delivery_email);
    Ok(Answer::of(line, json!({"id": id.0, "name": name, "creator": creator.delivery_email})))
}
