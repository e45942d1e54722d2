//! Onboarding steps that users have seen (docs/api/users.md#onboarding-steps).

use super::serialized::{DecisionContext, SerializedCommand};
use crate::error::DomainError;
use model::{Fact, PersonalFact, UserId};
use rules::onboarding::mark_step_seen;

/// Mark an onboarding step as seen.
pub struct MarkOnboardingStep {
    /// The user that the record belongs to.
    pub user: UserId,
    /// The name of the step, as sent.
    pub step: String,
}

impl SerializedCommand for MarkOnboardingStep {
    type Outcome = ();

    fn decide(self, context: &mut DecisionContext<'_>) -> Result<((), Vec<Fact>), DomainError> {
        let seen = mark_step_seen(context.directory.onboarding_steps(self.user), &self.step)?;
        let fact = seen.map(|steps| PersonalFact::OnboardingStepSeen { user: self.user, steps });
        Ok(((), fact.map(Fact::Personal).into_iter().collect()))
    }
}
