//! The users of the sample organization, created without its channels and messages.

use actors::commands::CreateUser;
use actors::{NewRealm, NewUser, RealmHandle, Server};
use model::{
    Bot, BotKind, Directory, Fact, GroupFact, RealmFact, Role, SettingValue, User, UserFact, UserId,
};

/// Domain of the addresses of bots and of hidden addresses.
pub const DOMAIN: &str = "zulipdev.com";

/// Local part of the email address, full name and role of each user.
pub const PEOPLE: [(&str, &str, Role); 10] = [
    ("desdemona", "Desdemona", Role::Owner),
    ("iago", "Iago", Role::Administrator),
    ("shiva", "Shiva", Role::Moderator),
    ("AARON", "aaron", Role::Member),
    ("ZOE", "Zoe", Role::Member),
    ("cordelia", "Cordelia, Lear's daughter", Role::Member),
    ("hamlet", "King Hamlet", Role::Member),
    ("othello", "Othello, the Moor of Venice", Role::Member),
    ("prospero", "Prospero from The Tempest", Role::Member),
    ("polonius", "Polonius", Role::Guest),
];

fn organization(subdomain: &str, name: &str) -> NewRealm {
    let [subdomain, name, email_domain] = [subdomain, name, DOMAIN].map(str::to_owned);
    NewRealm { subdomain, name, email_domain }
}

/// Creates an organization at the root domain with all of [`PEOPLE`], two bots of AARON's, and `ghost`, whose account
/// is deactivated. With a waiting period (in days) there is also `veteran`, the only full member.
pub async fn create(server: &Server, waiting_days: i64) -> RealmHandle {
    let first = move |directory: &Directory| {
        let mut facts = vec![Fact::User(UserFact::Created(Box::new(deactivated(4))))];
        if waiting_days > 0 {
            facts.extend(veteran(directory, waiting_days));
        }
        vec![facts]
    };
    let realm = server.create_realm(organization("", "Zulip Dev"), first).await.expect("the organization");
    let mut owner = None;
    for (name, full_name, role) in PEOPLE {
        let id = add(&realm, name, full_name, role, None).await;
        owner = owner.or((name == "AARON").then_some(id));
    }
    for (name, full_name, kind) in [
        ("default-bot", "Zulip Default Bot", BotKind::Generic),
        ("webhook-bot", "Zulip Webhook Bot", BotKind::IncomingWebhook),
    ] {
        let bot = Bot { kind, owner, is_system: false };
        add(&realm, name, full_name, Role::Member, Some(bot)).await;
    }
    realm
}

/// Creates a user with the address `name@zulip.com`.
pub async fn add(realm: &RealmHandle, name: &str, full_name: &str, role: Role, bot: Option<Bot>) -> UserId {
    let user = NewUser {
        email: format!("{name}@zulip.com"),
        full_name: full_name.to_owned(),
        role,
        bot,
        password_hash: None,
        timezone: String::new(),
        channels: Vec::new(),
    };
    realm.execute(CreateUser { user, sends_messages: false }).await.expect("an account").id
}

/// Creates another organization with one user, the owner olga.
pub async fn create_second(server: &Server, subdomain: &str) -> RealmHandle {
    let new = organization(subdomain, "Another one");
    let realm = server.create_realm(new, |_| Vec::new()).await.expect("the organization");
    add(&realm, "olga", "Olga", Role::Owner, None).await;
    realm
}

/// Creates a deactivated organization with one user, olga, whose account is active.
pub async fn create_closed(server: &Server, subdomain: &str) -> RealmHandle {
    let close = |directory: &Directory| {
        let mut closed = (**directory.realm()).clone();
        closed.is_active = false;
        let olga = User { is_active: true, delivery_email: "olga@zulip.com".to_owned(), ..deactivated(4) };
        vec![vec![
            Fact::User(UserFact::Created(Box::new(olga))),
            Fact::Realm(RealmFact::Changed(Box::new(closed))),
        ]]
    };
    server.create_realm(organization(subdomain, "Closed"), close).await.expect("the organization")
}

/// Sets the waiting period, and creates a member who joined long before it.
fn veteran(directory: &Directory, waiting_days: i64) -> Vec<Fact> {
    let mut realm = (**directory.realm()).clone();
    realm.settings.insert("waiting_period_threshold".to_owned(), SettingValue::Int(waiting_days));
    let id = UserId(5);
    let user = User {
        id,
        is_active: true,
        delivery_email: "veteran@zulip.com".to_owned(),
        full_name: "Veteran".to_owned(),
        ..deactivated(5)
    };
    let mut facts =
        vec![Fact::Realm(RealmFact::Changed(Box::new(realm))), Fact::User(UserFact::Created(Box::new(user)))];
    for name in ["role:members", "role:fullmembers"] {
        let group = directory.group_by_name(name).expect("a system group").id;
        facts.push(Fact::Group(GroupFact::MembersChanged { group, added: vec![id], removed: Vec::new() }));
    }
    facts
}

fn deactivated(id: u32) -> User {
    User {
        is_active: false,
        ..User::new(
            UserId(id),
            "ghost@zulip.com",
            "Ghost of Hamlet's father",
            Role::Member,
            model::Timestamp(1_700_000_000_000),
        )
    }
}
