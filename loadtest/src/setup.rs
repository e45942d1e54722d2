//! Prepares a development server for a scenario: accounts, channels and subscribers, over HTTP only. All have fixed
//! names and are reused if they exist, so that a second run on the same data starts at once.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use indicatif::ProgressBar;
use tokio::task::JoinSet;

use crate::client::{Account, Api};
use crate::error::LoadError;
use crate::http::{Target, encode_form};
use crate::report::progress::counting_bar;
use crate::scenario::{ChannelPlan, Scenario};

/// The owner of the sample organization, who creates users and channels.
const OWNER: &str = "desdemona@zulip.com";
/// Concurrent connections during the preparation.
const WORKERS: usize = 16;
/// User ids per subscribe request.
const PRINCIPALS_MAX: usize = 500;

/// The prepared server.
#[derive(Debug)]
pub struct Stage {
    pub target: Arc<Target>,
    /// Ids of the load users, by number.
    user_ids: Vec<u64>,
    /// Accounts with a fetched key, by number.
    accounts: HashMap<usize, Arc<Account>>,
    channels: BTreeMap<String, Channel>,
}

/// A channel of the scenario on the server.
#[derive(Debug, Clone)]
pub struct Channel {
    pub name: String,
    pub id: u64,
    /// Numbers of the subscribed load users.
    pub members: Vec<usize>,
}

/// The email address of a load user.
pub fn email(number: usize) -> String {
    format!("load{number:05}@zulip.com")
}

impl Stage {
    /// Creates the scenario's users and channels where they are missing.
    pub async fn prepare(target: &Arc<Target>, scenario: &Scenario) -> Result<Self, LoadError> {
        let mut stage = Self {
            target: target.clone(),
            user_ids: Vec::new(),
            accounts: HashMap::new(),
            channels: BTreeMap::new(),
        };
        if scenario.users == 0 {
            return Ok(stage);
        }
        let mut api = Api::open(target).await?;
        let owner = Arc::new(api.login(OWNER).await?);
        stage.ensure_users(&mut api, &owner, scenario.users as usize).await?;
        let mut next_user = 0;
        for plan in &scenario.channels {
            for name in channel_names(plan) {
                let members = take_in_turn(&mut next_user, plan.subscribers, scenario.users);
                let channel = stage.ensure_channel(&mut api, &owner, name, members).await?;
                stage.channels.insert(channel.name.clone(), channel);
            }
            // Channels of different plans start with the same users, so that few keys are fetched.
            next_user = 0;
        }
        Ok(stage)
    }

    /// A channel of the scenario.
    pub fn channel(&self, name: &str) -> Result<Channel, LoadError> {
        self.channels
            .get(name)
            .cloned()
            .ok_or_else(|| LoadError::Usage(format!("no channel {name} in this scenario")))
    }

    /// All channels of the scenario.
    pub fn channels(&self) -> impl Iterator<Item = &Channel> {
        self.channels.values()
    }

    /// `count` accounts of the users `numbers`, repeated in turn if there are fewer; fetches missing keys.
    pub async fn accounts(
        &mut self,
        numbers: &[usize],
        count: usize,
    ) -> Result<Vec<Arc<Account>>, LoadError> {
        let wanted = &numbers[..count.min(numbers.len())];
        let missing: Vec<Job> = wanted
            .iter()
            .filter(|number| !self.accounts.contains_key(number))
            .map(|number| Job::FetchKey { number: *number })
            .collect();
        for (number, done) in run_jobs(&self.target, missing, None, "keys").await? {
            if let Done::Account(account) = done {
                self.accounts.insert(number, Arc::new(account));
            }
        }
        wanted
            .iter()
            .cycle()
            .take(count)
            .map(|number| {
                let found = self.accounts.get(number).cloned();
                found.ok_or_else(|| LoadError::Server(format!("no key for {}", email(*number))))
            })
            .collect()
    }

    /// The account of an administrator with all permissions.
    pub async fn owner(&self) -> Result<Account, LoadError> {
        Api::open(&self.target).await?.login(OWNER).await
    }

    /// The id of a load user.
    pub fn user_id(&self, number: usize) -> u64 {
        self.user_ids[number]
    }

    /// The numbers of all load users.
    pub fn everyone(&self) -> Vec<usize> {
        (0..self.user_ids.len()).collect()
    }

    async fn ensure_users(
        &mut self,
        api: &mut Api,
        owner: &Arc<Account>,
        count: usize,
    ) -> Result<(), LoadError> {
        let listed = api.get_ok("/api/v1/users", Some(owner)).await?;
        let mut known: HashMap<String, u64> = HashMap::new();
        for user in listed["members"].as_array().into_iter().flatten() {
            // The visible email address may be a hidden one; the delivery address is the real one.
            let address = user["delivery_email"].as_str().or_else(|| user["email"].as_str());
            if let (Some(address), Some(id)) = (address, user["user_id"].as_u64()) {
                known.insert(address.to_owned(), id);
            }
        }
        let missing: Vec<Job> = (0..count)
            .filter(|number| !known.contains_key(&email(*number)))
            .map(|number| Job::CreateUser { number })
            .collect();
        for (number, done) in run_jobs(&self.target, missing, Some(owner), "users").await? {
            if let Done::User(id) = done {
                known.insert(email(number), id);
            }
        }
        self.user_ids = (0..count)
            .map(|number| {
                let id = known.get(&email(number)).copied();
                id.ok_or_else(|| LoadError::Server(format!("{} was not created", email(number))))
            })
            .collect::<Result<_, _>>()?;
        Ok(())
    }

    async fn ensure_channel(
        &self,
        api: &mut Api,
        owner: &Account,
        name: String,
        members: Vec<usize>,
    ) -> Result<Channel, LoadError> {
        let subscriptions = serde_json::json!([{ "name": name }]).to_string();
        for part in members.chunks(PRINCIPALS_MAX) {
            let ids: Vec<u64> = part.iter().map(|number| self.user_ids[*number]).collect();
            let principals = serde_json::json!(ids).to_string();
            let fields = [
                ("subscriptions", subscriptions.as_str()),
                ("principals", principals.as_str()),
                ("send_new_subscription_messages", "false"),
            ];
            api.post_ok("/api/v1/users/me/subscriptions", Some(owner), &fields).await?;
        }
        let path = format!("/api/v1/get_stream_id?{}", encode_form(&[("stream", &name)]));
        let found = api.get_ok(&path, Some(owner)).await?;
        let Some(id) = found["stream_id"].as_u64() else {
            return Err(LoadError::Server(format!("GET {path}: the reply has no stream_id")));
        };
        Ok(Channel { name, id, members })
    }
}

fn channel_names(plan: &ChannelPlan) -> Vec<String> {
    match plan.count {
        None => vec![plan.name.clone()],
        Some(count) => (0..count).map(|number| format!("{} {number}", plan.name)).collect(),
    }
}

/// The next `count` user numbers, starting over after the last user.
fn take_in_turn(next: &mut u32, count: u32, users: u32) -> Vec<usize> {
    let taken = (0..count).map(|step| ((*next + step) % users) as usize).collect();
    *next = (*next + count) % users;
    taken
}

#[derive(Debug, Clone, Copy)]
enum Job {
    CreateUser { number: usize },
    FetchKey { number: usize },
}

#[derive(Debug)]
enum Done {
    User(u64),
    Account(Account),
}

/// Runs jobs on a few concurrent connections; the first failure ends all.
async fn run_jobs(
    target: &Arc<Target>,
    jobs: Vec<Job>,
    owner: Option<&Arc<Account>>,
    what: &str,
) -> Result<Vec<(usize, Done)>, LoadError> {
    let bar = counting_bar(jobs.len() as u64, what);
    let jobs = Arc::new(jobs);
    let next = Arc::new(AtomicUsize::new(0));
    let mut workers = JoinSet::new();
    for _ in 0..WORKERS.min(jobs.len()) {
        let (target, jobs, next) = (target.clone(), jobs.clone(), next.clone());
        let (owner, bar) = (owner.cloned(), bar.clone());
        workers.spawn(async move { work(&target, &jobs, &next, owner.as_deref(), &bar).await });
    }
    let mut done = Vec::with_capacity(jobs.len());
    while let Some(joined) = workers.join_next().await {
        let part = joined.map_err(|error| LoadError::Server(format!("a set-up task ended: {error}")))?;
        done.extend(part?);
    }
    bar.finish_and_clear();
    Ok(done)
}

async fn work(
    target: &Arc<Target>,
    jobs: &[Job],
    next: &AtomicUsize,
    owner: Option<&Account>,
    bar: &ProgressBar,
) -> Result<Vec<(usize, Done)>, LoadError> {
    let mut api = Api::open(target).await?;
    let mut done = Vec::new();
    while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
        match *job {
            Job::CreateUser { number } => done.push((number, create_user(&mut api, owner, number).await?)),
            Job::FetchKey { number } => done.push((number, Done::Account(api.login(&email(number)).await?))),
        }
        bar.inc(1);
    }
    Ok(done)
}

/// The password of every load user.
pub const PASSWORD: &str = "load test account";

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_taken_in_turn() {
        let mut next = 0;
        assert_eq!(take_in_turn(&mut next, 3, 5), [0, 1, 2]);
        assert_eq!(take_in_turn(&mut next, 3, 5), [3, 4, 0]);
        assert_eq!(next, 1);
    }

    #[test]
    fn several_channels_are_numbered() {
        let plan = ChannelPlan { name: "a".to_owned(), count: Some(2), subscribers: 1 };
        assert_eq!(channel_names(&plan), ["a 0", "a 1"]);
        assert_eq!(channel_names(&ChannelPlan { count: None, ..plan }), ["a"]);
    }
}
