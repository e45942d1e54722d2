//! Whatever people do with roles, bots, owners and keys: who has the key of a bot can do nothing with it that the
//! person could not do without.

use super::*;
use crate::fixture::{self, HAMLET, IAGO, POLONIUS, START};
use crate::realm::accounts::{DeactivateAccount, ReactivateAccount, RegenerateKey, UpdateAccount};
use crate::realm::groups::{ChangeGroupMembers, CreateGroup};
use crate::shared::RealmShared;
use model::{EventNumber, Frame, Timestamp};
use model::{RealmFact, SubscriptionFact};
use proptest::prelude::*;
use rules::accounts::AccountUpdate;
use rules::groups::{GroupRequest, MembersRequest};
use rules::permissions::group_setting::holds_realm;
use rules::settings::RealmPermission;
use std::collections::BTreeSet;

/// A member besides those of the fixture.
const CORDELIA: UserId = UserId(7);
const PEOPLE: [UserId; 4] = [IAGO, HAMLET, CORDELIA, POLONIUS];
const ROLES: [Role; 5] = [Role::Owner, Role::Administrator, Role::Moderator, Role::Member, Role::Guest];
/// Permissions that go by membership of a group here.
const PERMISSIONS: [RealmPermission; 4] = [
    RealmPermission::CreateGroups,
    RealmPermission::InviteUsers,
    RealmPermission::ManageAllGroups,
    RealmPermission::CreatePrivateChannel,
];

struct World {
    realm: Arc<RealmShared>,
    /// Who saw which key: person, bot, rotation.
    seen: BTreeSet<(UserId, UserId, u32)>,
    _folder: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let (realm, _, folder) = fixture::shared();
        let world = Self { realm, seen: BTreeSet::new(), _folder: folder };
        let cordelia = User::new(CORDELIA, "cordelia@test.example", "cordelia", Role::Member, START);
        world.apply(vec![Fact::User(UserFact::Created(Box::new(cordelia)))]);
        for (id, role) in [(IAGO, Role::Owner), (HAMLET, Role::Administrator), (CORDELIA, Role::Member)] {
            let directory = world.realm.directory();
            let user = User { role, ..User::clone(directory.user(id).unwrap()) };
            let mut facts = vec![Fact::User(UserFact::Changed(Box::new(user.clone())))];
            facts.extend(system_group_facts(&directory, &user, START));
            world.apply(facts);
        }
        world
    }

    fn apply(&self, facts: Vec<Fact>) {
        let mut view = self.realm.view.write();
        let (sequence, first) = (view.progress.sequence.next(), view.progress.last_event.next());
        let at: Timestamp = self.realm.clock.now();
        view.apply(sequence, &Frame { at, first_event: EventNumber(first.0), facts }).unwrap();
    }

    /// Decides a command, and makes it true if it is permitted.
    fn execute<C: SerializedCommand>(&self, command: C) -> Option<C::Outcome> {
        let (outcome, facts) = crate::realm::testing::decide(&self.realm, command).ok()?;
        self.apply(facts);
        Some(outcome)
    }

    fn bots(&self) -> Vec<UserId> {
        let directory = self.realm.directory();
        directory.users().filter(|user| user.owner().is_some()).map(|bot| bot.id).collect()
    }

    /// One command of a user; the numbers choose requester, command, target and parameters.
    fn step(&mut self, (who, what, about, how): (usize, u8, usize, usize)) {
        let (by, bots) = (PEOPLE[who % PEOPLE.len()], self.bots());
        let everyone: Vec<UserId> = PEOPLE.into_iter().chain(bots.iter().copied()).collect();
        let user = everyone[about % everyone.len()];
        let bot = bots.get(about % bots.len().max(1)).copied();
        match (what % 9, bot) {
            (0 | 1, _) => {
                let update =
                    AccountUpdate { role: Some(ROLES[how % ROLES.len()]), ..AccountUpdate::default() };
                let _ = self.execute(UpdateAccount { by, user, update });
            }
            (2, _) if bots.len() < 6 => self.make(by, bots.len()),
            (3, Some(bot)) => {
                let owner = Some(PEOPLE[how % PEOPLE.len()].0.into());
                let update = BotUpdate { owner, ..BotUpdate::default() };
                let _ = self.execute(UpdateBot { by, bot: bot.0.into(), update });
            }
            (4, Some(bot)) => {
                let role = Some(ROLES[how % ROLES.len()].code().into());
                let update = BotUpdate { role, ..BotUpdate::default() };
                let _ = self.execute(UpdateBot { by, bot: bot.0.into(), update });
            }
            (5, Some(bot)) => self.fetch_key(by, bot, how),
            (6, _) => {
                let _ = match how % 2 {
                    0 => self.execute(DeactivateAccount { by, user: Some(user), comment: None }),
                    _ => self.execute(ReactivateAccount { by, user }),
                };
            }
            (7, Some(bot)) => {
                let _ = self.execute(DeactivateBot { by, bot: bot.0.into() });
            }
            _ => self.change_group(by, user, how),
        }
    }

    fn make(&mut self, by: UserId, number: usize) {
        let new = NewBot {
            full_name: format!("bot number {number}"),
            short_name: format!("b{number}"),
            kind: 1,
            payload_url: String::new(),
            service_name: None,
            integration: IntegrationChange::default(),
            interface: 1,
            defaults: BotDefaults::default(),
            avatar: None,
        };
        if let Some(bot) = self.execute(CreateBot { by, new }) {
            self.seen.insert((by, bot.id, bot.api_key_rotation));
        }
    }

    fn fetch_key(&mut self, by: UserId, bot: UserId, how: usize) {
        let directory = self.realm.directory();
        let by_user = directory.user(by).unwrap().clone();
        let found = match how % 3 {
            0 => self.execute(RenewBotKey { by, bot: bot.0.into() }),
            1 => access_bot_key(&directory, &by_user, bot.0.into()).ok().cloned(),
            // With the key that a user has the bot takes another one.
            _ if self.acts_as(by, bot) => self.execute(RegenerateKey { user: bot }),
            _ => None,
        };
        if let Some(bot) = found {
            self.seen.insert((by, bot.id, bot.api_key_rotation));
        }
    }

    fn acts_as(&self, person: UserId, bot: UserId) -> bool {
        let directory = self.realm.directory();
        let bot = directory.user(bot).unwrap();
        bot.is_active && self.seen.contains(&(person, bot.id, bot.api_key_rotation))
    }

    fn change_group(&self, by: UserId, user: UserId, how: usize) {
        let group = self.realm.directory().group_by_name("deployers").unwrap().id;
        let (add, delete) = if how.is_multiple_of(2) { (vec![user], vec![]) } else { (vec![], vec![user]) };
        let ids = |users: Vec<UserId>| users.into_iter().map(|user| user.0.into()).collect();
        let request = MembersRequest { add: ids(add), delete: ids(delete), ..MembersRequest::default() };
        let _ = self.execute(ChangeGroupMembers { by, group: group.0.into(), request });
    }

    /// A group whose members may do more than members.
    fn open_to_deployers(&self) {
        let request = GroupRequest { name: "deployers".into(), ..GroupRequest::default() };
        let group = self.execute(CreateGroup { by: IAGO, request }).unwrap();
        let mut realm = model::Realm::clone(self.realm.directory().realm());
        for permission in PERMISSIONS {
            let value = model::SettingValue::Group(model::GroupSetting::Group(group));
            realm.settings.insert(permission.rule().name.to_owned(), value);
        }
        self.apply(vec![Fact::Realm(RealmFact::Changed(Box::new(realm)))]);
    }

    fn check(&self) -> Result<(), TestCaseError> {
        let directory = self.realm.directory();
        for bot in directory.users().filter(|user| user.owner().is_some()) {
            let owner = directory.user(bot.owner().unwrap()).unwrap();
            prop_assert!(bot.role >= owner.role, "{} is more than {}", bot.full_name, owner.full_name);
            prop_assert!(owner.is_active || !bot.is_active, "{} has no active owner", bot.full_name);
        }
        for (person, bot, _) in self.seen.iter().filter(|(person, bot, _)| self.acts_as(*person, *bot)) {
            let (person, bot) = (directory.user(*person).unwrap(), directory.user(*bot).unwrap());
            prop_assert_eq!(bot.owner(), Some(person.id), "{} acts as a foreign bot", &person.full_name);
            for permission in PERMISSIONS {
                let holds = |user: &User| holds_realm(&directory, permission, user.id);
                prop_assert!(!holds(bot) || holds(person), "{permission:?} for {}", person.full_name);
            }
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn bot_never_exceeds_rights_of_owner(
        steps in prop::collection::vec((0usize..4, any::<u8>(), 0usize..16, 0usize..16), 1..80),
    ) {
        let mut world = World::new();
        world.open_to_deployers();
        for step in steps {
            world.step(step);
            world.check()?;
        }
    }
}

#[test]
fn bot_takeover_leaves_private_channels() {
    let mut world = World::new();
    world.make(CORDELIA, 1);
    let bot = world.bots()[0];
    let start = model::Subscription::start("#76ce90".into(), model::MessageId(0));
    let subscribers = vec![(bot, start)];
    world.apply(vec![Fact::Subscription(SubscriptionFact::Added {
        channel: fixture::CORE,
        subscribers,
        by: IAGO,
    })]);
    let take = |by: UserId| {
        let update = BotUpdate { owner: Some(by.0.into()), ..BotUpdate::default() };
        world.execute(UpdateBot { by, bot: bot.0.into(), update })
    };
    assert_eq!(take(POLONIUS), None);
    assert_eq!(take(HAMLET), Some(bot));
    let directory = world.realm.directory();
    assert!(!directory.is_subscribed(fixture::CORE, bot) && !directory.is_subscribed(fixture::CORE, HAMLET));
    assert!(!world.acts_as(CORDELIA, bot), "the old key is valid no longer");
}
