//! Calls of the preparation, one for each user, on a few concurrent connections.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::task::JoinSet;

use crate::client::{Account, Api, check_success};
use crate::error::LoadError;
use crate::http::{Target, basic_authorization};
use crate::report::progress::CountingLine;
use crate::text::one_line;

use super::users_file::Given;

/// Concurrent connections during the preparation.
const WORKERS: usize = 16;
const OWN_PROFILE: &str = "/api/v1/users/me";
/// What servers answer to bots that may only send messages.
const NOT_FOR_BOTS: &str = "not available to incoming webhook bots";
/// Characters of such an answer in a warning.
const REFUSAL_CHARS_MAX: usize = 100;
/// The password of every load user that this program creates.
pub const PASSWORD: &str = "load test account";

/// The email address of a load user.
pub fn email(number: usize) -> String {
    format!("load{number:05}@zulip.com")
}

/// A call of the preparation, about the load user of a number.
#[derive(Debug)]
pub enum Job {
    CreateUser {
        number: usize,
    },
    FetchKey {
        number: usize,
    },
    /// Looks up the id of a given account.
    Identify {
        number: usize,
        given: Given,
    },
    /// Subscribes an account to channels, as JSON; creates missing ones.
    Subscribe {
        number: usize,
        account: Arc<Account>,
        subscriptions: String,
    },
}

/// The result of a job.
#[derive(Debug)]
pub enum Done {
    User(u64),
    Account(Account),
    /// A given account that cannot be used, with the reason.
    Unusable(String),
    Subscribed,
}

/// Runs jobs on a few concurrent connections; the first failure ends all.
pub async fn run(
    target: &Arc<Target>,
    jobs: Vec<Job>,
    owner: Option<&Arc<Account>>,
    what: &str,
) -> Result<Vec<(usize, Done)>, LoadError> {
    let line = CountingLine::new(jobs.len() as u64, what);
    let jobs = Arc::new(jobs);
    let next = Arc::new(AtomicUsize::new(0));
    let mut workers = JoinSet::new();
    for _ in 0..WORKERS.min(jobs.len()) {
        let (target, jobs, next) = (target.clone(), jobs.clone(), next.clone());
        let (owner, line) = (owner.cloned(), line.clone());
        workers.spawn(async move { work(&target, &jobs, &next, owner.as_deref(), &line).await });
    }
    let mut done = Vec::with_capacity(jobs.len());
    while let Some(joined) = workers.join_next().await {
        let part = joined.map_err(|error| LoadError::Server(format!("a set-up task ended: {error}")))?;
        done.extend(part?);
    }
    line.finish();
    Ok(done)
}

async fn work(
    target: &Arc<Target>,
    jobs: &[Job],
    next: &AtomicUsize,
    owner: Option<&Account>,
    line: &CountingLine,
) -> Result<Vec<(usize, Done)>, LoadError> {
    let mut api = Api::open(target).await?;
    let mut done = Vec::new();
    while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
        let part = match job {
            Job::CreateUser { number } => (*number, create_user(&mut api, owner, *number).await?),
            Job::FetchKey { number } => (*number, Done::Account(api.login(&email(*number)).await?)),
            Job::Identify { number, given } => (*number, identify(&mut api, given).await?),
            Job::Subscribe { number, account, subscriptions } => {
                let fields = [("subscriptions", subscriptions.as_str())];
                api.post_ok("/api/v1/users/me/subscriptions", Some(account), &fields).await?;
                (*number, Done::Subscribed)
            }
        };
        done.push(part);
        line.add_one();
    }
    Ok(done)
}

async fn create_user(api: &mut Api, owner: Option<&Account>, number: usize) -> Result<Done, LoadError> {
    let (address, name) = (email(number), format!("Load {number:05}"));
    let fields = [("email", address.as_str()), ("password", PASSWORD), ("full_name", name.as_str())];
    let reply = api.post_ok("/api/v1/users", owner, &fields).await?;
    match reply["user_id"].as_u64() {
        Some(id) => Ok(Done::User(id)),
        // Servers before feature level 30 do not return the id; logging in does.
        None => Ok(Done::User(api.login(&address).await?.user_id)),
    }
}

async fn identify(api: &mut Api, given: &Given) -> Result<Done, LoadError> {
    let authorization = basic_authorization(&given.email, &given.api_key);
    let mut account = Account { user_id: 0, email: given.email.clone(), authorization };
    let (status, profile) = api.call("GET", OWN_PROFILE, Some(&account)).await?;
    let refusal = profile["msg"].as_str().unwrap_or_default();
    if status != 200 && refusal.contains(NOT_FOR_BOTS) {
        return Ok(Done::Unusable(one_line(refusal.trim_end_matches('.'), REFUSAL_CHARS_MAX)));
    }
    let profile = check_success(&format!("GET {OWN_PROFILE} as {}", given.email), status, profile)?;
    if profile["is_guest"] == true {
        return Ok(Done::Unusable("a guest, who may not subscribe to channels".to_owned()));
    }
    let missing = || LoadError::Server(format!("GET {OWN_PROFILE} as {} has no user_id", given.email));
    account.user_id = profile["user_id"].as_u64().ok_or_else(missing)?;
    Ok(Done::Account(account))
}
