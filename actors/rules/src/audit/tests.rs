//! Actions of decided facts, and their descriptions.

use super::*;
use crate::fixture::*;
use model::fact::DeletedFrom;
use model::invitation::{Invitation, InvitationFact, InvitationState};
use model::{
    AuditEntry, Directory, Fact, InvitationId, LinkifierRecord, Listed, MessageFact, MessageId,
    MessageRanges, PersonalFact, RealmFact, RecipientId, RequestOrigin, Role, SettingValue, Timestamp, User,
    UserFact, UserId, WebSessionFact, WebSessionKey,
};

/// What owners read about facts; the administrator decided them, and wrote only message 1.
fn read(facts: &[Fact]) -> Vec<String> {
    read_by(Some(ADMINISTRATOR), facts)
}

fn read_by(by: Option<UserId>, facts: &[Fact]) -> Vec<String> {
    let before = directory();
    let wrote_all = |_: UserId, messages: &MessageRanges| messages.iter().all(|id| id == MessageId(1));
    let decided = Decided { before: &before, by, wrote_all: &wrote_all };
    actions(&decided, facts).iter().map(|action| describe(&before, action)).collect()
}

fn changed(id: UserId, change: impl FnOnce(&mut User)) -> Fact {
    let mut user = User::clone(directory().user(id).unwrap());
    change(&mut user);
    Fact::User(UserFact::Changed(Box::new(user)))
}

fn deleted(ids: &[u32]) -> Fact {
    let messages = MessageRanges::from_sorted(ids.iter().map(|id| MessageId(*id)));
    let from = DeletedFrom::Direct(RecipientId(9));
    Fact::Message(MessageFact::Deleted { from, messages, by: Some(ADMINISTRATOR) })
}

#[test]
fn accounts() {
    let name = |id| super::values::user_name(&directory(), id);
    let member = name(MEMBER);
    assert_eq!(
        read(&[changed(MEMBER, |user| user.role = Role::Guest)]),
        [format!("changed the account {member}: role from “member” to “guest”")]
    );
    let secret = changed(MEMBER, |user| {
        user.password_hash = Some("$argon2id$secret".to_owned());
        user.api_key_rotation += 1;
    });
    let expected = [
        format!("set a new password of the account {member}"),
        format!("replaced the API key of the account {member}"),
    ];
    assert_eq!(read(&[secret]), expected);
    let personal = changed(MEMBER, |user| {
        user.settings.insert("enter_sends".to_owned(), SettingValue::Bool(true));
        user.timezone = "Asia/Tokyo".to_owned();
    });
    assert_eq!(read(&[personal]), Vec::<String>::new());
    let renamed = changed(MEMBER, |user| user.full_name = "New".to_owned());
    assert_eq!(read_by(Some(MEMBER), std::slice::from_ref(&renamed)), Vec::<String>::new());
    assert_eq!(read(&[renamed]), [format!("changed the account {member}: name from “member” to “New”")]);
    let off = UserFact::ActiveSet { user: BOT, is_active: false, last: MessageId(3), events: 1 };
    assert_eq!(read(&[Fact::User(off)]), [format!("deactivated the bot {}", name(BOT))]);
}

#[test]
fn sessions_of_others() {
    let ended = |user| {
        let fact = WebSessionFact::Ended(vec![WebSessionKey([7; 32]), WebSessionKey([8; 32])]);
        Fact::Personal(PersonalFact::WebSession { user, fact })
    };
    assert_eq!(read(&[ended(ADMINISTRATOR)]), Vec::<String>::new());
    assert!(read(&[ended(MEMBER)])[0].starts_with("ended 2 web sessions of the account member"));
}

#[test]
fn messages_of_others() {
    assert_eq!(read(&[deleted(&[1])]), Vec::<String>::new());
    assert_eq!(read(&[deleted(&[1, 2])]), ["deleted 2 messages of others in a direct conversation"]);
    let swept = Fact::Message(MessageFact::Deleted {
        from: DeletedFrom::Direct(RecipientId(9)),
        messages: MessageRanges::from_sorted([MessageId(2)]),
        by: None,
    });
    assert_eq!(read(&[swept]), Vec::<String>::new());
}

#[test]
fn settings_and_lists_of_the_organization() {
    let mut realm = model::Realm::clone(directory().realm());
    realm.name = "Tea".to_owned();
    realm.settings.insert("waiting_period_threshold".to_owned(), SettingValue::Int(3));
    realm.settings.insert("user_default/enter_sends".to_owned(), SettingValue::Bool(true));
    assert_eq!(
        read(&[Fact::Realm(RealmFact::Changed(Box::new(realm)))]),
        ["changed the organization: name from “Test” to “Tea”; waiting period threshold from “0” to “3”; \
          default for new users: enter sends from “off” to “on”"]
    );
    let linkifier = LinkifierRecord { id: 1, pattern: "#(?P<id>[0-9]+)".into(), url_template: "x".into() };
    let linkifiers = Listed { items: vec![linkifier], last_id: 1 };
    assert_eq!(
        read(&[Fact::Realm(RealmFact::LinkifiersChanged(Box::new(linkifiers)))]),
        ["created the linkifier #(?P<id>[0-9]+)"]
    );
}

#[test]
fn values_are_words() {
    let mut realm = model::Realm::clone(directory().realm());
    realm.settings.insert("message_retention_days".to_owned(), SettingValue::Int(30));
    realm.settings.insert("can_add_custom_emoji_group".to_owned(), SettingValue::Group(group("role:owners")));
    realm.settings.insert("moderation_request_channel_id".to_owned(), SettingValue::Int(7));
    let said = read(&[Fact::Realm(RealmFact::Changed(Box::new(realm)))]);
    for expected in [
        "message retention days from “unlimited” to “30 days”",
        "can add custom emoji group from “members” to “owners”",
        "moderation request channel id from “none” to “channel 7”",
    ] {
        assert!(said[0].contains(expected), "{expected} is missing in {said:?}");
    }
    let domain = RealmFact::DomainSet {
        domain: model::RealmDomain { id: 1, name: "acme.example".into(), allows_subdomains: false },
        op: model::DomainOp::Added,
    };
    assert_eq!(read(&[Fact::Realm(domain)]), ["accepted the e-mail domain acme.example"]);
}

#[test]
fn erased_values_are_named() {
    let created = model::ActionKind::Created;
    let mut action = super::decided::action(created, model::Subject::User(MEMBER));
    let change = |name: &str, after: &str| model::PropertyChange {
        name: name.to_owned(),
        before: String::new(),
        after: after.to_owned(),
    };
    action.changes = vec![change("name", "New"), change("role", "guest")];
    let mut entry = AuditEntry {
        by: None,
        origin: RequestOrigin::CommandLine,
        address: None,
        client: String::new(),
        actions: vec![action],
    };
    assert!(entry.erase_user(MEMBER));
    let said = describe(&directory(), &entry.actions[0]);
    assert!(said.ends_with(": name (erased); role guest"), "{said}");
}

#[test]
fn pictures_that_do_not_change_are_no_acts() {
    let set = |file: Option<&str>| {
        let file = file.map(str::to_owned);
        Fact::Picture(Box::new(model::picture::PictureFact::AvatarSet { user: MEMBER, file, version: 2 }))
    };
    assert_eq!(read_by(None, &[set(None)]), Vec::<String>::new());
    assert!(read_by(None, &[set(Some("a.png"))])[0].ends_with(": profile picture a new picture"));
}

#[test]
fn links_in_mails_are_used_by_their_people() {
    let name = super::values::user_name(&directory(), MEMBER);
    let said = |change: &dyn Fn(&mut User)| {
        let before = directory();
        let fact = changed(MEMBER, change);
        let decided = Decided { before: &before, by: None, wrote_all: &|_, _| true };
        let actions = actions(&decided, &[fact]);
        let (address, client) = (None, String::new());
        who(&before, &AuditEntry { by: None, origin: RequestOrigin::Browser, address, client, actions })
    };
    let by_link = format!("{name}, by a link in an e-mail");
    assert_eq!(said(&|user| user.password_hash = Some("$argon2id$new".to_owned())), by_link);
    assert_eq!(said(&|user| user.delivery_email = "new@b.example".to_owned()), by_link);
    assert_eq!(said(&|user| user.role = Role::Guest), "A client without an account");
}

#[test]
fn invitations_name_their_addresses() {
    let first = Invitation {
        id: InvitationId(1),
        address: Some("a@b.example".into()),
        inviter: ADMINISTRATOR,
        role: Role::Moderator,
        channels: Vec::new(),
        groups: Vec::new(),
        includes_default_channels: true,
        notifies_inviter: true,
        welcome_text: None,
        sent: Timestamp(0),
        expires: None,
        state: InvitationState::Pending,
        has_expired: false,
    };
    let made = InvitationFact::Created { first: first.clone(), others: vec!["c@d.example".into()] };
    assert_eq!(
        read(&[Fact::Invitation(Box::new(made))]),
        ["made 2 invitations: to a@b.example, c@d.example; role moderator"]
    );
    let link = Invitation { address: None, ..first };
    let made = InvitationFact::Created { first: link.clone(), others: Vec::new() };
    assert_eq!(
        read(&[Fact::Invitation(Box::new(made))]),
        ["made a reusable invitation link: role moderator"]
    );
    let mut before = directory();
    before.put_invitation(link);
    let decided = Decided { before: &before, by: Some(ADMINISTRATOR), wrote_all: &|_, _| true };
    let revoked = Fact::Invitation(Box::new(InvitationFact::Revoked(vec![InvitationId(1)])));
    let said = describe(&before, &actions(&decided, &[revoked])[0]);
    assert_eq!(said, "revoked a reusable invitation link");
}

#[test]
fn long_texts_and_many_users_are_cut() {
    let long = changed(MEMBER, |user| user.full_name = "é".repeat(500));
    let before = directory();
    let decided = Decided { before: &before, by: Some(OWNER), wrote_all: &|_, _| true };
    let found = actions(&decided, &[long]);
    assert_eq!(found[0].changes[0].after.chars().count(), 201);
    let many = model::fact::GroupFact::Created(Box::new(model::UserGroup::new(
        model::GroupId(99),
        "g",
        "",
        model::group::GroupPermissions::all(model::GroupSetting::only(OTHER_MEMBER)),
    )));
    assert_eq!(actions(&decided, &[Fact::Group(many)])[0].changes[0].after, "g");
    assert_eq!(
        super::values::joined((0..12).map(|number| number.to_string())),
        "0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more"
    );
}

#[test]
fn requesters_without_an_account() {
    let entry = |origin, client: &str| AuditEntry {
        by: None,
        origin,
        address: None,
        client: client.to_owned(),
        actions: Vec::new(),
    };
    let directory: Directory = directory();
    let operator = entry(RequestOrigin::CommandLine, "");
    assert_eq!(
        (who(&directory, &operator), client_of(&operator)),
        ("The operator".into(), "command line".into())
    );
    let joined = entry(RequestOrigin::Browser, "");
    assert_eq!(
        (who(&directory, &joined), client_of(&joined)),
        ("A client without an account".into(), "browser".into())
    );
    assert_eq!(client_of(&entry(RequestOrigin::Api, "ZulipPython")), "ZulipPython");
}
