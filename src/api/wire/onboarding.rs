//! An onboarding step as clients read it (docs/api/users.md#onboarding-steps).

use serde::Serialize;

/// An onboarding step.
#[derive(Serialize)]
pub struct OnboardingStepJson {
    #[serde(rename = "type")]
    kind: &'static str,
    name: &'static str,
}

/// The form of a step.
pub fn step(kind: &'static str, name: &'static str) -> OnboardingStepJson {
    OnboardingStepJson { kind, name }
}
