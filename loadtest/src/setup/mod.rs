//! Prepares a server for a scenario: accounts, channels and subscribers, over HTTP only. On a development server all have
//! fixed names and are reused if they exist, so that a second run on the same data starts at once. On any other one the
//! accounts come from a users file, and each subscribes itself.

mod csv;
mod jobs;
pub mod usable;
pub mod users_file;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use jobs::{Done, Job};
pub use jobs::{PASSWORD, email};
use users_file::Given;

use crate::client::{Account, Api};
use crate::driver::acknowledged::Ids;
use crate::error::LoadError;
use crate::http::{Target, encode_form};
use crate::output::note;
use crate::scenario::{ChannelPlan, Scenario};

/// The owner of the sample organization, who creates users and channels.
const OWNER: &str = "desdemona@zulip.com";
/// User ids per subscribe request.
const PRINCIPALS_MAX: usize = 500;
/// Channels per subscribe request of an account for itself.
const SUBSCRIPTIONS_MAX: usize = 50;

/// The accounts of a load test: those of a file, or, on a development server, its own.
pub type People = Option<Arc<Vec<Given>>>;

/// The prepared server.
#[derive(Debug)]
pub struct Stage {
    pub target: Arc<Target>,
    given: People,
    /// Ids of the load users, by number.
    user_ids: Vec<u64>,
    /// Accounts with a known key, by number.
    accounts: HashMap<usize, Arc<Account>>,
    channels: BTreeMap<String, Channel>,
    /// Names of the channels of each plan, by the plan's name.
    groups: BTreeMap<String, Vec<String>>,
    /// The ids of all messages that were acknowledged in the scenario.
    pub acknowledged: Arc<Ids>,
}

/// A channel of the scenario on the server.
#[derive(Debug, Clone)]
pub struct Channel {
    pub id: u64,
    /// Numbers of the subscribed load users.
    pub members: Vec<usize>,
}

impl Stage {
    /// Creates the scenario's users and channels where they are missing.
    pub async fn prepare(
        target: &Arc<Target>,
        scenario: &Scenario,
        people: &People,
    ) -> Result<Self, LoadError> {
        let mut stage = Self {
            target: target.clone(),
            given: people.clone(),
            user_ids: Vec::new(),
            accounts: HashMap::new(),
            channels: BTreeMap::new(),
            groups: scenario.channels.iter().map(|plan| (plan.name.clone(), plan.names())).collect(),
            acknowledged: Arc::new(Ids::of_one_among(scenario.organizations.unwrap_or(1))),
        };
        if scenario.users == 0 {
            return Ok(stage);
        }
        let planned = plan_channels(&scenario.channels, scenario.users);
        match people {
            None => stage.prepare_development(scenario, planned).await?,
            Some(given) => stage.prepare_given(given, scenario, planned).await?,
        }
        Ok(stage)
    }

    async fn prepare_development(
        &mut self,
        scenario: &Scenario,
        planned: Vec<(String, Vec<usize>)>,
    ) -> Result<(), LoadError> {
        let mut api = Api::open(&self.target).await?;
        let owner = Arc::new(api.login(OWNER).await.map_err(without_login)?);
        self.ensure_users(&mut api, &owner, scenario.users as usize).await?;
        for (name, members) in planned {
            self.subscribe(&mut api, &owner, &name, &members).await?;
            let id = find_channel(&mut api, &owner, &name).await?;
            self.channels.insert(name, Channel { id, members });
        }
        Ok(())
    }

    async fn prepare_given(
        &mut self,
        given: &[Given],
        scenario: &Scenario,
        planned: Vec<(String, Vec<usize>)>,
    ) -> Result<(), LoadError> {
        let count = scenario.users as usize;
        let name = &scenario.name;
        let few = |there: usize, rest: &str| {
            let reason = format!("{name} needs {count} users, and the users file has {there}{rest}");
            Err(LoadError::Usage(reason))
        };
        if given.len() < count {
            return few(given.len(), "");
        }
        let found = usable::find(&self.target, given, count).await?;
        if let Some(warning) = found.warning() {
            note(format!("warning: {warning}"));
        }
        if found.given.len() < count {
            return few(found.given.len(), " that can be used");
        }
        self.user_ids = found.accounts.iter().map(|account| account.user_id).collect();
        self.accounts = found.accounts.into_iter().enumerate().collect();
        self.given = Some(Arc::new(found.given));
        // The first members create the channels, which then exist for all others.
        let (firsts, others) = split_first_members(&planned);
        jobs::run(&self.target, self.own_subscriptions(firsts), None, "channels").await?;
        jobs::run(&self.target, self.own_subscriptions(others), None, "subscriptions").await?;
        let mut api = Api::open(&self.target).await?;
        for (name, members) in planned {
            let Some(reader) = members.first().and_then(|number| self.accounts.get(number)) else { continue };
            let id = find_channel(&mut api, reader, &name).await?;
            self.channels.insert(name, Channel { id, members });
        }
        Ok(())
    }

    /// One job for each account and some of its channels.
    fn own_subscriptions(&self, names: Subscriptions<'_>) -> Vec<Job> {
        let mut jobs = Vec::new();
        for (number, names) in names {
            for part in names.chunks(SUBSCRIPTIONS_MAX) {
                let channels: Vec<_> = part.iter().map(|name| serde_json::json!({ "name": name })).collect();
                let subscriptions = serde_json::json!(channels).to_string();
                jobs.push(Job::Subscribe { number, account: self.accounts[&number].clone(), subscriptions });
            }
        }
        jobs
    }

    /// A channel of the scenario.
    pub fn channel(&self, name: &str) -> Result<Channel, LoadError> {
        self.channels
            .get(name)
            .cloned()
            .ok_or_else(|| LoadError::Usage(format!("no channel {name} in this scenario")))
    }

    /// The channels of a name: the one, or all of a plan with `count`.
    pub fn channels_named(&self, name: &str) -> Result<Vec<Channel>, LoadError> {
        match self.groups.get(name) {
            Some(names) => names.iter().map(|name| self.channel(name)).collect(),
            None => Ok(vec![self.channel(name)?]),
        }
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
        for (number, done) in jobs::run(&self.target, missing, None, "keys").await? {
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

    /// The account of an administrator with all permissions: the first one of a users file.
    pub async fn owner(&self) -> Result<Account, LoadError> {
        match (&self.given, self.accounts.get(&0)) {
            (Some(_), Some(first)) => Ok(first.as_ref().clone()),
            _ => Api::open(&self.target).await?.login(OWNER).await,
        }
    }

    /// Email address and password of a load user, to log in with.
    pub fn password(&self, number: usize) -> Result<(String, String), LoadError> {
        let Some(given) = &self.given else { return Ok((email(number), PASSWORD.to_owned())) };
        let Given { email, password, .. } = &given[number];
        let missing =
            || LoadError::Usage(format!("the users file has no password of {email}, to log in with"));
        Ok((email.clone(), password.clone().ok_or_else(missing)?))
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
        for (number, done) in jobs::run(&self.target, missing, Some(owner), "users").await? {
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

    async fn subscribe(
        &self,
        api: &mut Api,
        owner: &Account,
        name: &str,
        members: &[usize],
    ) -> Result<(), LoadError> {
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
        Ok(())
    }
}

async fn find_channel(api: &mut Api, reader: &Account, name: &str) -> Result<u64, LoadError> {
    let path = format!("/api/v1/get_stream_id?{}", encode_form(&[("stream", name)]));
    let found = api.get_ok(&path, Some(reader)).await?;
    let missing = || LoadError::Server(format!("GET {path}: the reply has no stream_id"));
    found["stream_id"].as_u64().ok_or_else(missing)
}

/// Explains what to do when a server has no logins without a password.
fn without_login(error: LoadError) -> LoadError {
    match error {
        LoadError::Refused { status: 404 | 405, .. } => LoadError::Usage(format!(
            "{error}; this is not a development server: give accounts with --users FILE"
        )),
        error => error,
    }
}

/// All channels by name, with their members. Channels of different plans start with the same users, so that few keys are
/// fetched.
fn plan_channels(plans: &[ChannelPlan], users: u32) -> Vec<(String, Vec<usize>)> {
    let mut planned = Vec::new();
    for plan in plans {
        let mut next_user = 0;
        for name in plan.names() {
            planned.push((name, take_in_turn(&mut next_user, plan.subscribers, users)));
        }
    }
    planned
}

/// Names of channels by the number of a member.
type Subscriptions<'a> = BTreeMap<usize, Vec<&'a str>>;

/// The subscriptions of the first member of each channel, and those of all others.
fn split_first_members(planned: &[(String, Vec<usize>)]) -> (Subscriptions<'_>, Subscriptions<'_>) {
    let (mut firsts, mut others) = (Subscriptions::new(), Subscriptions::new());
    for (name, members) in planned {
        for (place, member) in members.iter().enumerate() {
            let part = if place == 0 { &mut firsts } else { &mut others };
            part.entry(*member).or_default().push(name);
        }
    }
    (firsts, others)
}

/// The next `count` user numbers, starting over after the last user.
fn take_in_turn(next: &mut u32, count: u32, users: u32) -> Vec<usize> {
    let taken = (0..count).map(|step| ((*next + step) % users) as usize).collect();
    *next = (*next + count) % users;
    taken
}

/// The members of channels, each once, in their order.
pub fn members_of(channels: &[Channel]) -> Vec<usize> {
    let mut seen = HashSet::new();
    let all = channels.iter().flat_map(|channel| &channel.members).copied();
    all.filter(|member| seen.insert(*member)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_members_create_channels() {
        let planned = vec![("a".to_owned(), vec![0, 1]), ("b".to_owned(), vec![1, 0])];
        let (firsts, others) = split_first_members(&planned);
        assert_eq!(firsts, BTreeMap::from([(0, vec!["a"]), (1, vec!["b"])]));
        assert_eq!(others, BTreeMap::from([(0, vec!["b"]), (1, vec!["a"])]));
    }

    #[test]
    fn members_are_taken_in_turn() {
        let mut next = 0;
        assert_eq!(take_in_turn(&mut next, 3, 5), [0, 1, 2]);
        assert_eq!(take_in_turn(&mut next, 3, 5), [3, 4, 0]);
        assert_eq!(next, 1);
    }
}
