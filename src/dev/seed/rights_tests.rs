//! Who may do what in the organization of a seed: permissions as settings, and what its creator and owners of bots make.

use super::tests::{GWEN, OLGA, START};
use super::*;
use rules::settings::RealmPermission;

fn mistake(more: &str) -> String {
    let read = SeedDocument::read(&format!("{START}{OLGA}{GWEN}{more}"));
    read.err().map(|error| error.to_string()).unwrap_or_default()
}

const PERMISSIONS: &str = "[settings]\n\
    can_create_groups = \"role:moderators\"\n\
    can_create_bots_group = { users = [\"gwen@acme.example\"] }\n\
    can_invite_users_group = { users = [\"gwen@acme.example\"], groups = [\"role:owners\", \"designers\"] }\n\
    can_resolve_topics_group = {}\n\
    [[groups]]\n\
    name = \"designers\"\n";

#[test]
fn permissions_are_groups_or_people_and_groups() {
    let seed = SeedDocument::read(&format!("{START}{OLGA}{GWEN}{PERMISSIONS}")).unwrap();
    for printed in [seed.to_toml(), seed.to_json()] {
        assert_eq!(SeedDocument::read(&printed).unwrap().settings, seed.settings, "{printed}");
    }
    let printed = seed.to_toml();
    assert!(printed.contains("can_create_groups = \"role:moderators\"\n"), "{printed}");
    assert!(
        printed.contains("[settings.can_create_bots_group]\nusers = [\"gwen@acme.example\"]\n"),
        "{printed}"
    );
    let directory = actors::seed_directory(&seed.new_realm(""), &seed.seed());
    let id = |email: &str| directory.user_by_email(email).unwrap().id;
    let holds = |permission, email: &str| {
        rules::permissions::group_setting::holds_realm(&directory, permission, id(email))
    };
    let (olga, gwen) = ("olga@acme.example", "gwen@acme.example");
    for (permission, expected) in [
        (RealmPermission::CreateGroups, (true, false)),
        (RealmPermission::CreateBots, (false, true)),
        (RealmPermission::InviteUsers, (true, true)),
        (RealmPermission::ResolveTopics, (false, false)),
    ] {
        assert_eq!((holds(permission, olga), holds(permission, gwen)), expected, "{permission:?}");
    }
}

/// Settings of the organization, whose first line is 12, and the mistake in them.
const WRONG_SETTINGS: [(&str, &str); 13] = [
    (
        "can_create_groups = \"role:captains\"",
        "line 12, column 21: there is no group role:captains in `groups`, and those of the system are role:nobody, role:owners,",
    ),
    (
        "can_create_groups = { users = [\"olga@acme.example\", \"x@acme.example\"] }",
        "line 12, column 53: there is no account x@acme.example in `users` or `bots`",
    ),
    (
        "can_create_groups = { groups = [\"designers\"] }",
        "line 12, column 33: there is no group designers in `groups`",
    ),
    ("can_create_groups = { user = [] }", "line 12, column 23: unknown field `user`; did you mean `users`?"),
    (
        "can_create_groups = 11",
        "line 12, column 1: can_create_groups must be the name of a group, or have `users` and `groups`",
    ),
    (
        "can_create_groups = \"role:nobody\"",
        "line 12, column 21: 'can_create_groups' setting cannot be set to 'role:nobody' group.",
    ),
    (
        "can_access_all_users_group = { users = [\"olga@acme.example\"] }",
        "line 12, column 30: 'can_access_all_users_group' must be a system user group.",
    ),
    (
        "can_create_grups = \"role:owners\"",
        "line 12, column 1: there is no setting can_create_grups; see `millstream settings`; did you mean `can_create_groups`?",
    ),
    ("invite_required = { users = [] }", "line 12, column 1: invite_required must be true or false"),
    (
        "can_create_users = true",
        "line 12, column 1: can_create_users is a setting of a user: it belongs in the `settings` of one of `users`",
    ),
    (
        "enter_sends = true",
        "line 12, column 1: enter_sends is a setting of a user: it belongs in the `settings` of one of `users`",
    ),
    (
        "message_content_edit_limit_seconds = \"endless\"",
        "line 12, column 1: message_content_edit_limit_seconds must be 1 to 3153600000 seconds, or unlimited",
    ),
    ("invite_required = \"yes\"", "line 12, column 1: invite_required must be true or false"),
];

#[test]
fn wrong_settings_of_the_organization_are_explained() {
    for (setting, expected) in WRONG_SETTINGS {
        let mistake = mistake(&format!("[settings]\n{setting}\n"));
        assert!(mistake.starts_with(expected), "{mistake}\n{expected}");
    }
}

#[test]
fn wrong_settings_of_a_user_are_explained() {
    for (setting, expected) in [
        ("can_create_users = \"yes\"", "can_create_users must be true or false"),
        (
            "can_create_groups = \"role:owners\"",
            "can_create_groups is a setting of the organization: it belongs in its `settings`",
        ),
        (
            "invite_required = true",
            "invite_required is a setting of the organization: it belongs in its `settings`",
        ),
        (
            "can_create_user = true",
            "there is no setting can_create_user; see `millstream settings`; did you mean `can_create_users`?",
        ),
        ("enter_sends = 1", "enter_sends must be true or false"),
    ] {
        assert_eq!(
            mistake(&format!("[users.settings]\n{setting}\n")),
            format!("line 12, column 1: {expected}")
        );
    }
    assert_eq!(mistake("[users.settings]\ncan_create_users = true\nenter_sends = true\n"), "");
}

#[test]
fn words_of_the_api_are_values_of_settings() {
    let settings = "[settings]\nmessage_content_edit_limit_seconds = \"unlimited\"\n\
                    message_retention_days = \"unlimited\"\njitsi_server_url = \"default\"\n";
    let seed = SeedDocument::read(&format!("{START}{OLGA}{settings}")).unwrap();
    let content = seed.seed();
    let value = |name: &str| &content.settings.iter().find(|(known, _)| *known == name).unwrap().1;
    assert_eq!(value("message_content_edit_limit_seconds"), &model::SettingValue::Null);
    assert_eq!(value("message_retention_days"), &model::SettingValue::Int(-1));
    assert_eq!(value("jitsi_server_url"), &model::SettingValue::Null);
}

/// What is added to an organization with the owner Olga and the member Gwen, whose lines are 1 to 10, and the mistake in it.
const NAMES_IN_USE: [&str; 3] = [
    "[[bots]]\nemail = \"b@acme.example\"\nfull_name = \"Olga\"\nowner = \"gwen@acme.example\"\n",
    "[[bots]]\nemail = \"b@acme.example\"\nfull_name = \"Welcome Bot\"\nowner = \"gwen@acme.example\"\n",
    "[[bots]]\nemail = \"a@acme.example\"\nfull_name = \"Robo\"\nowner = \"gwen@acme.example\"\n\
     [[bots]]\nemail = \"b@acme.example\"\nfull_name = \"Robo\"\nowner = \"gwen@acme.example\"\n",
];

#[test]
fn names_of_bots_are_in_use_once() {
    for more in NAMES_IN_USE {
        let line = 10 + more.lines().count() - 1;
        assert_eq!(mistake(more), format!("line {line}, column 13: Name is already in use!"));
    }
    let other = "[[users]]\nemail = \"g@acme.example\"\nfull_name = \"Gwen\"\n\
                 [[bots]]\nemail = \"b@acme.example\"\nfull_name = \"gwen\"\nowner = \"gwen@acme.example\"\n";
    assert_eq!(mistake(other), "");
}

/// What is added, the creator, and the mistake.
const NOT_CREATED: [(&str, &str, &str); 8] = [
    (
        "[[channels]]\nname = \"c\"\n",
        "gus@acme.example",
        "line 16, column 8: gus@acme.example may not create this channel: Not allowed for guest users",
    ),
    (
        "[[groups]]\nname = \"g\"\n",
        "gus@acme.example",
        "line 3, column 11: gus@acme.example may not create groups: Not allowed for guest users",
    ),
    (
        "[[channels]]\nname = \"c\"\ndefault = true\n",
        "gwen@acme.example",
        "line 17, column 11: gwen@acme.example may not create this channel: Insufficient permission",
    ),
    (
        "[[channels]]\nname = \"c\"\nweb_public = true\n",
        "olga@acme.example",
        "line 17, column 14: olga@acme.example may not create this channel: Web-public channels are not enabled.",
    ),
    (
        "[[channels]]\nname = \"c\"\nweb_public = true\n[settings]\nenable_spectator_access = true\n",
        "gwen@acme.example",
        "line 17, column 14: gwen@acme.example may not create this channel: Insufficient permission",
    ),
    (
        "[[channels]]\nname = \"c\"\n[settings]\ncan_create_public_channel_group = \"role:moderators\"\n",
        "gwen@acme.example",
        "line 16, column 8: gwen@acme.example may not create this channel: Insufficient permission",
    ),
    (
        "[[bots]]\nemail = \"b@acme.example\"\nfull_name = \"Robo\"\nowner = \"gus@acme.example\"\n",
        "olga@acme.example",
        "line 18, column 9: gus@acme.example may not create this bot: Insufficient permission",
    ),
    (
        "[[channels]]\nname = \"c\"\nprivate = true\n[settings]\n\
         can_create_private_channel_group = { users = [\"gwen@acme.example\"] }\n",
        "olga@acme.example",
        "line 16, column 8: olga@acme.example may not create this channel: Insufficient permission",
    ),
];

#[test]
fn what_its_creator_may_not_create_is_a_mistake() {
    let gus = "[[users]]\nemail = \"gus@acme.example\"\nfull_name = \"Gus\"\nrole = \"guest\"\n";
    for (more, creator, expected) in NOT_CREATED {
        let start = START.replace("creator = \"olga@acme.example\"", &format!("creator = \"{creator}\""));
        let read = SeedDocument::read(&format!("{start}{OLGA}{GWEN}{gus}{more}"));
        let mistake = read.err().map(|error| error.to_string()).unwrap_or_default();
        assert!(mistake.starts_with(expected), "{mistake}\n{expected}");
    }
    let allowed = "[[channels]]\nname = \"c\"\nprivate = true\n[[channels]]\nname = \"w\"\nweb_public = true\ndefault = true\n\
                   [settings]\nenable_spectator_access = true\n\
                   can_create_private_channel_group = { groups = [\"role:owners\"] }\n";
    assert_eq!(mistake(allowed), "");
}
