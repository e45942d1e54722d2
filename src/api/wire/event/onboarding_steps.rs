//! `onboarding_steps`: all onboarding steps that the user has not seen yet.

use crate::api::wire::onboarding::{OnboardingStepJson, step};
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct OnboardingSteps {
    onboarding_steps: Vec<OnboardingStepJson>,
}

pub(super) fn all(steps: &[(&'static str, &'static str)]) -> OnboardingSteps {
    OnboardingSteps { onboarding_steps: steps.iter().map(|(kind, name)| step(kind, name)).collect() }
}
