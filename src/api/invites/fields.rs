//! What the two kinds of invitations have in common in their requests.

use crate::config::Config;
use crate::http::{ApiError, Fields};
use rules::invitations::InvitationRequest;

/// `invite_as` where nothing is said: a member.
const ROLE_DEFAULT: i64 = 400;

/// How long an invitation is to be good.
enum Validity {
    /// As long as the server says.
    Default,
    Forever,
    Minutes(u64),
}

/// The parameters of both kinds; which channels, each reads for itself.
pub struct InvitationFields {
    validity: Validity,
    role: i64,
    groups: Vec<i64>,
    includes_default_channels: bool,
    welcome_text: Option<String>,
}

impl InvitationFields {
    /// Reads them.
    ///
    /// # Errors
    /// What is of the wrong type; a time that is over at once.
    pub fn read(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self {
            validity: validity(fields)?,
            role: fields.int_or("invite_as", ROLE_DEFAULT)?,
            groups: fields.optional_ints("group_ids")?.unwrap_or_default(),
            includes_default_channels: fields.bool_or("include_realm_default_subscriptions", false)?,
            // A plain string. Nobody welcomes people with this word; clients mean that there is no text.
            welcome_text: fields.optional("welcome_message_custom_text").filter(|text| text != "null"),
        })
    }

    /// What is asked for, with what the configuration says for the rest.
    pub fn into_request(
        self,
        config: &Config,
        channels: Vec<i64>,
        notifies_inviter: bool,
    ) -> InvitationRequest {
        InvitationRequest {
            role: self.role,
            channels,
            groups: self.groups,
            includes_default_channels: self.includes_default_channels,
            notifies_inviter,
            welcome_text: self.welcome_text,
            valid_minutes: match self.validity {
                Validity::Default => Some(config.invitations.valid_minutes.get()),
                Validity::Forever => None,
                Validity::Minutes(minutes) => Some(minutes),
            },
        }
    }
}

fn validity(fields: &Fields) -> Result<Validity, ApiError> {
    const NAME: &str = "invite_expires_in_minutes";
    if fields.optional_str(NAME) == Some("null") {
        return Ok(Validity::Forever);
    }
    match fields.optional_int::<u64>(NAME)? {
        None => Ok(Validity::Default),
        Some(0) => Err(ApiError::bad_request(format!("{NAME} is too small"))),
        Some(minutes) => Ok(Validity::Minutes(minutes)),
    }
}
