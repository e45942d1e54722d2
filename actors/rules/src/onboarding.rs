//! Onboarding steps: hints that clients show once to each user (docs/api/users.md#onboarding-steps).

use crate::error::{PersonalError, RuleError};

/// An onboarding step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OnboardingStep {
    /// `one_time_notice` or `one_time_action`.
    pub kind: &'static str,
    /// The name that clients know.
    pub name: &'static str,
}

const fn notice(name: &'static str) -> OnboardingStep {
    OnboardingStep { kind: "one_time_notice", name }
}

/// All steps, in the order in which clients receive them. `navigation_tour_video` is not among them, because this server
/// offers no video.
const ONBOARDING_STEPS: [OnboardingStep; 9] = [
    notice("visibility_policy_banner"),
    notice("intro_inbox_view_modal"),
    notice("intro_recent_view_modal"),
    notice("first_stream_created_banner"),
    notice("jump_to_conversation_banner"),
    notice("non_interleaved_view_messages_fading"),
    notice("interleaved_view_messages_fading"),
    notice("intro_resolve_topic"),
    OnboardingStep { kind: "one_time_action", name: "narrow_to_dm_with_welcome_bot_new_user" },
];

/// The steps that a user has not seen yet.
pub fn remaining_steps(seen: &[String]) -> impl Iterator<Item = &'static OnboardingStep> {
    ONBOARDING_STEPS.iter().filter(|step| !seen.iter().any(|name| name == step.name))
}

/// The seen steps with one more; none if it was seen before.
///
/// # Errors
/// `OnboardingStepUnknown`.
pub fn mark_step_seen(seen: &[String], name: &str) -> Result<Option<Vec<String>>, RuleError> {
    let known = ONBOARDING_STEPS.iter().find(|step| step.name == name);
    let step = known.ok_or_else(|| PersonalError::OnboardingStepUnknown { name: name.to_owned() })?;
    if seen.iter().any(|name| name == step.name) {
        return Ok(None);
    }
    Ok(Some(seen.iter().cloned().chain([step.name.to_owned()]).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_step_is_seen_once() {
        let seen = mark_step_seen(&[], "intro_resolve_topic").unwrap().unwrap();
        assert_eq!(mark_step_seen(&seen, "intro_resolve_topic"), Ok(None));
        let left: Vec<&str> = remaining_steps(&seen).map(|step| step.name).collect();
        assert_eq!(left.len(), ONBOARDING_STEPS.len() - 1);
        assert!(!left.contains(&"intro_resolve_topic"));
        let unknown = PersonalError::OnboardingStepUnknown { name: "nothing".into() };
        assert_eq!(mark_step_seen(&seen, "nothing"), Err(unknown.into()));
    }
}
