//! `POST /zcommand`: commands that users type, such as `/dark` (docs/api/account.md#commands).

use crate::http::{ApiError, Caller, Fields, FromFields, HandlerResult, Params, reply_ok, reply_with_msg};
use actors::{OwnChanges, commands};
use model::SettingValue;
use rules::settings::{user_setting, user_value};

/// The parameter `command`.
pub struct Command(String);

impl FromFields for Command {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self(fields.required("command")?))
    }
}

/// A command that sets one of the requester's settings.
struct Switch {
    /// The names of the command; the first one is shown.
    names: &'static [&'static str],
    setting: &'static str,
    value: SettingValue,
    /// The command that answers name for the way back.
    opposite: &'static str,
    /// `theme` or `mode`, after the name in answers.
    noun: &'static str,
}

const SWITCHES: [Switch; 5] = [
    theme(&["dark", "night"], 2, "light"),
    theme(&["light", "day"], 3, "dark"),
    theme(&["automatic"], 1, "light"),
    width(&["fluid-width"], true, "fixed-width"),
    width(&["fixed-width"], false, "fluid-width"),
];

const fn theme(names: &'static [&'static str], scheme: i64, opposite: &'static str) -> Switch {
    Switch { names, setting: "color_scheme", value: SettingValue::Int(scheme), opposite, noun: "theme" }
}

const fn width(names: &'static [&'static str], is_fluid: bool, opposite: &'static str) -> Switch {
    let value = SettingValue::Bool(is_fluid);
    Switch { names, setting: "fluid_layout_width", value, opposite, noun: "mode" }
}

/// Executes a command; `msg` describes the result.
pub async fn execute(caller: Caller, Params(Command(text)): Params<Command>) -> HandlerResult {
    let Some(name) = text.strip_prefix('/') else {
        return Err(ApiError::bad_request("There should be a leading slash in the zcommand."));
    };
    if name == "ping" {
        return reply_ok();
    }
    let unknown = || ApiError::bad_request(format!("No such command: {name}"));
    let switch = SWITCHES.into_iter().find(|switch| switch.names.contains(&name)).ok_or_else(unknown)?;
    let Switch { names, setting, value, opposite, noun } = switch;
    let (shown, setting) = (names[0], user_setting(setting).ok_or_else(unknown)?);
    if user_value(&caller.user, setting) == value {
        return reply_with_msg(&format!("You are still in {} {noun}.", shown.replace('-', " ")));
    }
    let changes = OwnChanges { settings: vec![(setting, value)], ..OwnChanges::default() };
    caller.realm.execute(commands::UpdateOwnUser { user: caller.user.id, changes }).await?;
    reply_with_msg(&format!("Changed to {shown} {noun}! To revert {shown} {noun}, type `/{opposite}`."))
}
