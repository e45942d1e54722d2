//! `POST /users/me/onboarding_steps`: the requester has seen a hint (docs/api/users.md#onboarding-steps).

use crate::http::{ApiError, Caller, Fields, FromFields, HandlerResult, Params, reply_ok};
use actors::commands;

/// The parameter `onboarding_step`.
pub struct SeenStep(String);

impl FromFields for SeenStep {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self(fields.required("onboarding_step")?))
    }
}

/// Marks the step as seen.
pub async fn mark_seen(caller: Caller, Params(SeenStep(step)): Params<SeenStep>) -> HandlerResult {
    caller.realm.execute(commands::MarkOnboardingStep { user: caller.user.id, step }).await?;
    reply_ok()
}
