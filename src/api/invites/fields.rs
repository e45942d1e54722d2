//! Parameters that both kinds of invitations share.

use crate::config::Config;
use crate::http::{ApiError, Fields};
use rules::invitations::InvitationRequest;

/// The default of `invite_as`: a member.
const ROLE_DEFAULT: i64 = 400;

/// How long an invitation is valid.
enum Validity {
    /// As configured for the server.
    Default,
    Forever,
    Minutes(u64),
}

/// The shared parameters; each kind reads the channels itself.
pub struct InvitationFields {
    validity: Validity,
    role: i64,
    groups: Vec<i64>,
    includes_default_channels: bool,
    welcome_text: Option<String>,
}

impl InvitationFields {
    /// Reads the parameters.
    ///
    /// # Errors
    /// Values of the wrong type; a validity of zero.
    pub fn read(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self {
            validity: validity(fields)?,
            role: fields.int_or("invite_as", ROLE_DEFAULT)?,
            groups: fields.optional_ints("group_ids")?.unwrap_or_default(),
            includes_default_channels: fields.bool_or("include_realm_default_subscriptions", false)?,
            // A plain string; clients send the word `null` for no text.
            welcome_text: fields.optional("welcome_message_custom_text").filter(|text| text != "null"),
        })
    }

    /// The request, with configured defaults.
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
