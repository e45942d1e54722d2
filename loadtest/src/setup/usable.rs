//! Finds the accounts of a users file that can be used: the ready file of a development server has bots that may not use the
//! API, and guests, who may not subscribe themselves.

use std::sync::Arc;

use super::jobs::{self, Done, Job};
use super::users_file::Given;
use crate::client::Account;
use crate::error::LoadError;
use crate::http::Target;

/// Accounts named in a warning.
const NAMED_MAX: usize = 5;

/// Accounts that can be used, each with its id.
#[derive(Debug, Default)]
pub struct Usable {
    pub given: Vec<Given>,
    pub accounts: Vec<Arc<Account>>,
    /// The others, with the reason why each cannot be used.
    pub skipped: Vec<String>,
}

/// The first `wanted` accounts that can be used, or all of them if there are fewer.
pub async fn find(target: &Arc<Target>, given: &[Given], wanted: usize) -> Result<Usable, LoadError> {
    let mut found = Usable::default();
    let mut asked = 0;
    while found.given.len() < wanted && asked < given.len() {
        let part = &given[asked..given.len().min(asked + wanted - found.given.len())];
        asked += part.len();
        let identify = |(number, given): (usize, &Given)| Job::Identify { number, given: given.clone() };
        let jobs = part.iter().enumerate().map(identify).collect();
        let mut done = jobs::run(target, jobs, None, "users").await?;
        done.sort_by_key(|(number, _)| *number);
        for (number, done) in done {
            match done {
                Done::Account(account) => {
                    found.given.push(part[number].clone());
                    found.accounts.push(Arc::new(account));
                }
                Done::Unusable(reason) => found.skipped.push(format!("{} ({reason})", part[number].email)),
                Done::User(_) | Done::Subscribed => {}
            }
        }
    }
    Ok(found)
}

impl Usable {
    /// What to say of the accounts that cannot be used; none if all can.
    pub fn warning(&self) -> Option<String> {
        if self.skipped.is_empty() {
            return None;
        }
        let more = self.skipped.len().saturating_sub(NAMED_MAX);
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        let named = &self.skipped[..self.skipped.len().min(NAMED_MAX)];
        Some(format!("accounts of the users file are skipped: {}{more}", named.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::{self, Faults};

    fn given(email: &str, id: u64) -> Given {
        Given { email: email.to_owned(), api_key: format!("{id:032}"), password: None }
    }

    #[tokio::test]
    async fn bots_without_the_api_and_guests_are_skipped_by_name() {
        let target = fake::start(Faults { production: true, ..Faults::default() });
        let all = [
            given("webhook-bot@x", 0),
            given("a@x", 1),
            given("guest@x", 2),
            given("b@x", 3),
            given("c@x", 4),
        ];
        let found = find(&target, &all, 2).await.unwrap();
        let emails: Vec<&str> = found.given.iter().map(|given| given.email.as_str()).collect();
        assert_eq!(emails, ["a@x", "b@x"]);
        assert_eq!(found.accounts.iter().map(|account| account.user_id).collect::<Vec<_>>(), [1, 3]);
        let warning = found.warning().unwrap();
        assert!(warning.contains("webhook-bot@x (This API is not available to incoming"), "{warning}");
        assert!(warning.contains("guest@x (a guest"), "{warning}");
        assert_eq!(find(&target, &all, 9).await.unwrap().given.len(), 3);
        assert_eq!(find(&target, &all[3..], 2).await.unwrap().warning(), None);
    }

    #[tokio::test]
    async fn refused_key_is_an_error_that_names_its_account() {
        let target = fake::start(Faults { production: true, ..Faults::default() });
        let error = find(&target, &[given("a@x", 1), given("wrong-key@x", 2)], 2).await.unwrap_err();
        assert!(error.to_string().starts_with("GET /api/v1/users/me as wrong-key@x: "), "{error}");
    }
}
