//! Permissions of single accounts that the operator grants (docs/operating.md#permissions-of-single-accounts).

use super::serialized::{DecisionContext, SerializedCommand};
use crate::error::DomainError;
use model::{Fact, SettingValue, User, UserFact, UserId};
use rules::RuleError;
use rules::error::AccountError;

/// Grant an account a permission, or revoke it. Only for the operator: no check of a requester.
pub struct SetAccountPermission {
    /// The account to change.
    pub user: UserId,
    /// The permission, such as `rules::accounts::CAN_CREATE_USERS`.
    pub permission: &'static str,
    /// Grant it, or revoke it.
    pub is_granted: bool,
}

impl SerializedCommand for SetAccountPermission {
    /// Whether that was a change.
    type Outcome = bool;

    fn decide(self, context: &mut DecisionContext<'_>) -> Result<(bool, Vec<Fact>), DomainError> {
        let user = context.directory.user(self.user).filter(|user| !user.is_system_bot());
        let user = user.ok_or(AccountError::NoSuchUser).map_err(RuleError::from)?;
        if user.bool_setting(self.permission, false) == self.is_granted {
            return Ok((false, Vec::new()));
        }
        let mut after = User::clone(user);
        if self.is_granted {
            after.settings.insert(self.permission.to_owned(), SettingValue::Bool(true));
        } else {
            after.settings.remove(self.permission);
        }
        Ok((true, vec![Fact::User(UserFact::Changed(Box::new(after)))]))
    }
}
