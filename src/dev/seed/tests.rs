//! Seed files: the printed sample is the sample, and mistakes have their position.

use super::*;

#[test]
fn printed_sample_is_read_back() {
    let sample = SeedDocument::sample();
    let printed = sample.to_toml();
    assert_eq!(SeedDocument::read(&printed).unwrap(), sample);
    let json = serde_json::to_string_pretty(&sample).unwrap();
    assert_eq!(SeedDocument::read(&json).unwrap(), sample);
    let empty = SeedDocument::empty();
    assert_eq!(SeedDocument::read(&empty.to_toml()).unwrap(), empty);
}

pub(super) const START: &str =
    "name = \"Acme\"\nemail_domain = \"acme.example\"\ncreator = \"olga@acme.example\"\n";
pub(super) const OLGA: &str =
    "[[users]]\nemail = \"olga@acme.example\"\nfull_name = \"Olga\"\nrole = \"owner\"\n";

#[test]
fn password_is_the_address_or_as_given() {
    let text = format!(
        "{START}{OLGA}[[users]]\nemail = \"p@acme.example\"\nfull_name = \"Pia\"\npassword = \"pw\"\n"
    );
    let seed = SeedDocument::read(&text).unwrap();
    let accepts = |user: usize, password| {
        actors::login::check_password(Some(&seed.users[user].password_hash), password)
    };
    assert!(accepts(0, "olga@acme.example") && accepts(1, "pw") && !accepts(1, "p@acme.example"));
}

#[test]
fn seeds_without_an_end_and_empty_ones_are_named() {
    let refused = |text: &str| SeedDocument::read(text).unwrap_err().to_string();
    for text in ["", " \n"] {
        assert_eq!(refused(text), "it is empty; `millstream dev --print-seed` writes one to begin with");
    }
    for text in ["{", "{\"name\": ", "{\"name\": \"x", "{\"users\": ["] {
        assert!(refused(text).ends_with("the file ends here, before the seed is complete"), "{text}");
    }
    let long = refused(&format!("{{\"{}\": 1}}", "na\\n".repeat(10_000)));
    assert!(long.starts_with("line 1, column ") && long.len() < 400 && !long.contains('\n'), "{long}");
}

#[test]
fn mistakes_have_line_and_column() {
    let with = |more: &str| SeedDocument::read(&format!("{START}{OLGA}{more}")).unwrap_err().to_string();
    let cases = [
        ("[[channels]]\nname = 5\n", "line 9, column 8: expected a text, not the number 5"),
        ("[[channels]]\nnamed = \"x\"\n", "line 9, column 1: unknown field `named`"),
        (
            "[[groups]]\nname = \"g\"\nmembers = [\"x@acme.example\"]\n",
            "line 10, column 12: there is no account x@",
        ),
        (
            "[[topics]]\nchannel = \"none\"\nname = \"t\"\nmessages = []\n",
            "line 9, column 11: there is no channel none",
        ),
        ("[settings]\nno_such = true\n", "line 9, column 1: there is no setting no_such"),
        ("[settings]\ninvite_required = \"x\"\n", "line 9, column 1: invite_required must be true or false"),
        (
            "[[users]]\nemail = \"pia@acme.example\"\nfull_name = \"Pia\"\ntimezone = \"Mars/Phobos\"\n",
            "line 11, column 12: `Mars/Phobos` is not a time zone",
        ),
        (
            "[[users]]\nemail = \"olga@acme.example\"\nfull_name = \"Olga\"\n",
            "line 9, column 9: two accounts have the address olga@acme.example",
        ),
        (
            "[[users]]\nemail = \"Olga@ACME.example\"\nfull_name = \"Olga\"\n",
            "line 9, column 9: two accounts have the address Olga@ACME.example",
        ),
        (
            "[[channels]]\nname = \"plans\"\n[[channels]]\nname = \"Plans\"\n",
            "line 11, column 8: two channels have the name Plans",
        ),
        (
            "[[channels]]\nname = \"c\"\nsubscribers = \"all\"\n",
            "line 10, column 15: expected \"everyone\", \"members\", \"moderators\" or a list of addresses",
        ),
        (
            "[[channels]]\nname = \"c\"\n[[topics]]\nchannel = \"c\"\nname = \"t\"\nmessages = [\"hi\"]\n",
            "line 13, column 13: this message has no sender: add `writers` to its topic, or write { from = …, text = … }",
        ),
    ];
    for (more, expected) in cases {
        let error = with(more);
        assert!(error.starts_with(expected), "{error}\n{expected}");
    }
    let error = SeedDocument::read("{\n  \"name\": 5}").unwrap_err().to_string();
    assert_eq!(error, "line 2, column 11: expected a text, not the number 5");
}

/// Wrong entries of a file, and what is said of them in TOML and in JSON.
const WRONG_TYPES: [(&str, &str); 13] = [
    ("first_user_id = -1", "expected a whole number from 0 to 4294967295, not the number -1"),
    ("first_user_id = 5000000000", "expected a whole number from 0 to 4294967295, not the number 5000000000"),
    ("first_user_id = 1.5", "expected a whole number from 0 to 4294967295, not the number 1.5"),
    ("description = [1]", "expected a text, not a list"),
    ("description = true", "expected a text, not true"),
    ("settings = 5", "expected TABLE, not the number 5"),
    ("groups = 5", "expected a list, not the number 5"),
    ("groups = [5]", "expected TABLE, not the number 5"),
    ("channels = [{ name = \"a\", private = \"yes\" }]", "expected true or false, not the text \"yes\""),
    ("channels = [{ name = \"a\", colour = 1 }]", "unknown field `colour`, expected one of `name`, "),
    (
        "seen = [{ email = \"olga@acme.example\", secs_ago = -1 }]",
        "expected a whole number from 0 on, not the number -1",
    ),
    (
        "bots = [{ email = \"b@acme.example\", full_name = \"B\", owner = \"o\", kind = \"x\" }]",
        "unknown value `x`, expected one of `generic`, ",
    ),
    (
        "topics = [{ channel = \"c\", name = \"t\", messages = [], changes = [{ edited = { message = -1, text = \"x\" } }] }]",
        "expected a whole number from 0 on, not the number -1",
    ),
];

#[test]
fn mistakes_do_not_name_types_of_the_program() {
    for (wrong, expected) in WRONG_TYPES {
        let text = format!("{wrong}\n{START}{OLGA}");
        let error = SeedDocument::read(&text).unwrap_err().to_string();
        let why = error.split_once(": ").unwrap().1;
        assert!(why.starts_with(&expected.replace("TABLE", "a table")), "{wrong}: {error}");
        let document: toml::Table = toml::from_str(&text).unwrap();
        let error = SeedDocument::read(&serde_json::to_string(&document).unwrap()).unwrap_err().to_string();
        let why = error.split_once(": ").unwrap().1;
        assert!(why.starts_with(&expected.replace("TABLE", "an object")), "{wrong}: {error}");
    }
}

#[test]
fn seed_has_at_most_ten_thousand_people() {
    let mut seed = SeedDocument::read(&format!("{START}{OLGA}")).unwrap();
    let olga = seed.users[0].clone();
    seed.users.extend((1..10_000).map(|number| {
        let email = format!("person{number}@acme.example");
        content::User { email, full_name: format!("Person {number}"), ..olga.clone() }
    }));
    assert!(check::check(&seed).is_ok());
    seed.users.push(content::User { email: "pia@acme.example".to_owned(), ..olga });
    assert_eq!(check::check(&seed).unwrap_err().why, "there are 10001 users, more than 10000");
}

#[test]
fn first_id_leaves_room_for_others() {
    let mut seed = SeedDocument::read(&format!("{START}{OLGA}")).unwrap();
    for (first, is_taken) in
        [(3, false), (4, true), (1_000_000_000, true), (1_000_000_001, false), (u32::MAX, false)]
    {
        seed.first_user_id = first;
        assert_eq!(check::check(&seed).is_ok(), is_taken, "{first}");
    }
}

const MORE: &str = r#"[[users]]
email = "pia@acme.example"
full_name = "Olga P"
[[channels]]
name = "c"
[[topics]]
channel = "c"
name = "zzzz: +1 x@acme.example -"
writers = ["pia@acme.example", "olga@acme.example"]
messages = ["zzzz", "+1", "x@acme.example", { from = "pia@acme.example", text = "-" }]
changes = [
  { reacted = { message = 0, by = "olga@acme.example", emoji = "+1" } },
  { reacted = { message = 3, by = "olga@acme.example", emoji = "+1" } },
]
"#;

/// Right, wrong, and the mistake.
const CASES: [(&str, &str, &str); 11] = [
    (OLGA, "", "line 4, column 3: none of these users is an owner"),
    ("role = \"owner\"", "role = \"guest\"", "line 4, column 3: none of these users is an owner"),
    ("\"Olga P\"", "\"\"", "line 10, column 13: the name of pia@acme.example cannot be used: "),
    ("email = \"pia@acme.example\"", "email = \"-\"", "line 9, column 9: `-` is not an e-mail address"),
    (
        "full_name = \"Olga\"",
        "full_name = \"Olga\"\npassword = \"\"",
        "line 7, column 12: a password must not be empty",
    ),
    (
        ", emoji = \"+1\" } },\n]",
        ", emoji = \"zzzz\" } },\n]",
        "line 20, column 64: there is no emoji with the name `zzzz`",
    ),
    (", text = \"-\"", ", text = \"\"", "line 17, column 81: the text of a message must not be empty"),
    (
        "writers = [\"pia@acme.example\"",
        "writers = [\"x@acme.example\"",
        "line 16, column 12: there is no account x@acme.example",
    ),
    (
        "message = 3",
        "message = 4",
        "line 20, column 27: there is no message 4: they are numbered from 0 to 3",
    ),
    (
        "{ from = \"pia@acme.example\"",
        "{ from = \"x@acme.example\"",
        "line 17, column 54: there is no account x@acme.example",
    ),
    (
        "message = 3, by = \"olga@",
        "message = 3, by = \"x@",
        "line 20, column 35: there is no person x@acme.example",
    ),
];

fn expect_mistake(wrong: &str, expected: &str) {
    let error = SeedDocument::read(wrong).unwrap_err().to_string();
    assert!(error.starts_with(expected), "{error}\n{expected}");
    // The same in JSON, which has each entry on a line of its own.
    let document: content::SeedDocument = toml::from_str(wrong).unwrap();
    let json = document.to_json();
    let error = SeedDocument::read(&json).unwrap_err().to_string();
    let line: usize = error.split([' ', ',']).nth(1).unwrap().parse().unwrap();
    let line = json.lines().nth(line - 1).unwrap();
    let why = expected.split_once(": ").unwrap().1;
    assert!(error.contains(why), "{error}");
    let named = why.split([' ', '`']).find(|word| word.contains('@') || ["zzzz", "4", "-"].contains(word));
    assert!(named.is_none_or(|name| line.contains(name)) || line.contains("full_name"), "{error}: {line}");
}

/// The text of each mistake is in the file before, where it is right.
#[test]
fn domain_of_addresses_is_a_domain() {
    let text = format!("{START}{OLGA}")
        .replace("email_domain = \"acme.example\"", "email_domain = \"not a domain!\"");
    let mistake = SeedDocument::read(&text).unwrap_err().to_string();
    assert!(mistake.starts_with("line 2, column 16: email_domain must be a domain such as"), "{mistake}");
}

#[test]
fn mistakes_are_found_where_they_are_and_not_where_the_text_is_first() {
    let right = format!("{START}{OLGA}{MORE}");
    assert!(SeedDocument::read(&right).is_ok(), "{:?}", SeedDocument::read(&right).err());
    for (good, bad, expected) in CASES {
        assert!(right.contains(good), "{good}");
        let creator = if bad.is_empty() { "pia@acme.example" } else { "olga@acme.example" };
        let wrong = right
            .replacen(good, bad, 1)
            .replace("creator = \"olga@acme.example\"", &format!("creator = \"{creator}\""));
        expect_mistake(&wrong, expected);
    }
}

#[test]
fn messages_of_conversations_cannot_be_moved() {
    let more = "[[conversations]]\npeople = [\"olga@acme.example\"]\nmessages = [\"Hi\"]\n\
                changes = [{ moved = { by = \"olga@acme.example\", topic = \"t\" } }]\n";
    let error = SeedDocument::read(&format!("{START}{OLGA}{more}")).unwrap_err().to_string();
    assert!(error.starts_with("line 11, column 12: messages of a conversation have no topic"), "{error}");
}

/// What is added to an organization with Olga, whose lines are 1 to 7, and the mistake in it.
const REFUSED_BY_ENDPOINTS: [(&str, &str); 20] = [
    (
        "[[linkifiers]]\npattern = \"(\"\nurl_template = \"x\"\n",
        "line 9, column 11: Bad regular expression: missing ): (",
    ),
    (
        "[[linkifiers]]\npattern = \"a(?P<x>b)\"\nurl_template = \"https://e/{y}\"\n",
        "line 10, column 16: Group 'y' in URL template is not present in linkifier pattern.",
    ),
    (
        "[[linkifiers]]\npattern = \"a(?P<x>b)\"\nurl_template = \"https://e/\"\n",
        "line 9, column 11: Group 'x' in linkifier pattern is not present in URL template.",
    ),
    (
        "[[linkifiers]]\npattern = \"a(?P<x>b)\"\nurl_template = \" \"\n",
        "line 10, column 16: This field cannot be blank.",
    ),
    (
        "[[linkifiers]]\npattern = \"a(?P<x>b)\"\nurl_template = \"https://e/{x\"\n",
        "line 10, column 16: Invalid URL template.",
    ),
    (
        "[[profile_fields]]\nname = \"f\"\nkind = \"choice\"\ndata = \"x\"\n",
        "line 11, column 8: data must be the text of a JSON object",
    ),
    (
        "[[profile_fields]]\nname = \"f\"\nkind = \"choice\"\ndata = '{\"0\":{\"text\":\"x\",\"order\":\"1\"}}'\n\
         [profile_fields.values]\n\"olga@acme.example\" = \"9\"\n",
        "line 13, column 23: '9' is not a valid choice for 'f'.",
    ),
    (
        "[[profile_fields]]\nname = \"Day\"\nkind = \"date\"\n\
         [profile_fields.values]\n\"olga@acme.example\" = \"yesterday\"\n",
        "line 12, column 23: Day is not a date",
    ),
    (
        "[[profile_fields]]\nname = \"Mentor\"\nkind = \"person\"\n\
         [profile_fields.values]\n\"olga@acme.example\" = \"x@acme.example\"\n",
        "line 12, column 23: there is no person x@acme.example",
    ),
    (
        "[[profile_fields]]\nname = \"Hub\"\nkind = \"external_account\"\ndata = '{\"subtype\":\"github\"}'\n",
        "line 9, column 8: `Hub` must be written as `GitHub username`",
    ),
    (
        "[[profile_fields]]\nname = \"Life\"\nkind = \"long_text\"\nin_summary = true\n",
        "line 11, column 14: Field type not supported for display in profile summary.",
    ),
    (
        "[[emoji]]\nname = \"Bad Name\"\nauthor = \"olga@acme.example\"\nfile = \"emoji/images/a.png\"\nbase64 = \"\"\n",
        "line 9, column 8: Emoji names must contain only lowercase English letters",
    ),
    (
        "[[emoji]]\nname = \"a\"\nauthor = \"olga@acme.example\"\nfile = \"emoji/images/a.png\"\nbase64 = \"aGVsbG8=\"\n",
        "line 12, column 10: this is not a picture in PNG, JPEG, GIF or WebP",
    ),
    ("[[groups]]\nname = \"role:owners\"\n", "line 9, column 8: User group name cannot start with 'role:'."),
    (
        "[[groups]]\nname = \"g\"\n[[groups]]\nname = \"G\"\n",
        "line 11, column 8: User group 'G' already exists.",
    ),
    (
        "[[folders]]\nname = \"f\"\n[[folders]]\nname = \"F\"\n",
        "line 11, column 8: Channel folder name already in use",
    ),
    (
        "[[channels]]\nname = \"tab\\tx\"\n",
        "line 9, column 8: Invalid character in channel name, at position 4.",
    ),
    (
        "[[channels]]\nname = \"c\"\nprivate = true\nweb_public = true\n",
        "line 11, column 14: a private channel cannot be web-public",
    ),
    (
        "[[channels]]\nname = \"c\"\n[[topics]]\nchannel = \"c\"\nname = \" t\"\nmessages = []\n",
        "line 12, column 8: ` t` must be written as `t`",
    ),
    (
        "[[conversations]]\npeople = [\"olga@acme.example\", \"olga@acme.example\"]\nmessages = [\"Hi\"]\n",
        "line 9, column 32: olga@acme.example is in `people` twice",
    ),
];

#[test]
fn what_the_endpoints_refuse_is_a_mistake_in_a_seed() {
    for (more, expected) in REFUSED_BY_ENDPOINTS {
        let read = SeedDocument::read(&format!("{START}{OLGA}{more}"));
        let mistake = read.err().map(|error| error.to_string()).unwrap_or_default();
        assert!(mistake.starts_with(expected), "{more}: {mistake}");
    }
}

#[test]
fn texts_of_the_organization_have_the_limits_of_the_api() {
    let read = |name: usize, description: usize| {
        let (name, description) = ("a".repeat(name), "b".repeat(description));
        let start = START.replace("Acme", &name);
        let read = SeedDocument::read(&format!("{start}description = \"{description}\"\n{OLGA}"));
        read.err().map(|error| error.to_string())
    };
    assert_eq!(read(40, 1000), None);
    let name = "line 1, column 8: name is too long (limit: 40 characters)";
    assert_eq!(read(41, 1000).as_deref(), Some(name));
    let description = "line 4, column 15: description is too long (limit: 1000 characters)";
    assert_eq!(read(40, 1001).as_deref(), Some(description));
}

#[test]
fn name_of_the_organization_is_the_one_that_the_api_would_store() {
    for (name, why) in [
        ("Acme ", "`Acme ` must be written as `Acme`"),
        (" Acme", "` Acme` must be written as `Acme`"),
        ("Ac\\tme", "Invalid characters in name!"),
        ("  ", "the name of the organization must not be empty"),
    ] {
        let read = SeedDocument::read(&format!("{}{OLGA}", START.replace("Acme", name)));
        let mistake = read.err().map(|error| error.to_string()).unwrap_or_default();
        assert_eq!(mistake, format!("line 1, column 8: {why}"));
    }
}

#[test]
fn two_people_have_the_same_name_unless_the_organization_requires_unique_names() {
    let text = format!("{START}{OLGA}[[users]]\nemail = \"o@acme.example\"\nfull_name = \"olga\"\n");
    assert!(SeedDocument::read(&text).is_ok());
    let unique = format!("{text}[settings]\nrequire_unique_names = true\n");
    let mistake = SeedDocument::read(&unique).unwrap_err().to_string();
    assert_eq!(mistake, "line 10, column 13: Unique names required in this organization.");
}

pub(super) const GWEN: &str = "[[users]]\nemail = \"gwen@acme.example\"\nfull_name = \"Gwen\"\n";

/// What is added to an organization with Olga and the member Gwen, whose lines are 1 to 10, and the mistake in it.
const REFUSED_BECAUSE_OF_THE_STATE: [(&str, &str); 13] = [
    (
        "[[topics]]\nchannel = \"c\"\nname = \"t\"\nwriters = [\"olga@acme.example\"]\nmessages = [\"a\", \"b\"]\nchanges = [\n\
         { reacted = { message = 0, by = \"olga@acme.example\", emoji = \"+1\" } },\n\
         { reacted = { message = 1, by = \"olga@acme.example\", emoji = \"+1\" } },\n\
         { reacted = { message = 0, by = \"gwen@acme.example\", emoji = \"+1\" } },\n\
         { reacted = { message = 0, by = \"olga@acme.example\", emoji = \"+1\" } },\n]\n[[channels]]\nname = \"c\"\n",
        "line 20, column 13: Reaction already exists.",
    ),
    (
        "[[users]]\nemail = \"Notification-bot@acme.example\"\nfull_name = \"Nora\"\n",
        "line 12, column 9: Notification-bot@acme.example is the address of one of the server's own bots",
    ),
    (
        "[[bots]]\nemail = \"welcome-bot@acme.example\"\nfull_name = \"Wanda\"\nowner = \"olga@acme.example\"\n",
        "line 12, column 9: welcome-bot@acme.example is the address of one of the server's own bots",
    ),
    ("[settings]\nnew_stream_announcements_stream_id = 1\n", "line 12, column 38: Invalid channel ID"),
    (
        "[settings]\nmoderation_request_channel_id = 1\n[[channels]]\nname = \"c\"\n",
        "line 12, column 33: Moderation request channel must be private.",
    ),
    (
        "[[emoji]]\nname = \"smile\"\nauthor = \"gwen@acme.example\"\nfile = \"emoji/images/a.png\"\nbase64 = \"PNG\"\n",
        "line 12, column 8: Only administrators can override default emoji.",
    ),
    (
        "[[channels]]\nname = \"s\"\nprivate = true\n[[topics]]\nchannel = \"s\"\nname = \"t\"\n\
         writers = [\"olga@acme.example\"]\nmessages = [\"a\"]\n",
        "line 17, column 12: olga@acme.example is not subscribed to s, and so cannot write or react there",
    ),
    (
        "[[channels]]\nname = \"s\"\nprivate = true\nsubscribers = \"moderators\"\n[[topics]]\nchannel = \"s\"\nname = \"t\"\n\
         messages = [{ from = \"gwen@acme.example\", text = \"a\" }]\n",
        "line 18, column 22: gwen@acme.example is not subscribed to s,",
    ),
    (
        "[[channels]]\nname = \"s\"\nprivate = true\nsubscribers = [\"olga@acme.example\"]\n[[topics]]\nchannel = \"s\"\n\
         name = \"t\"\nwriters = [\"olga@acme.example\"]\nmessages = [\"a\"]\n\
         changes = [{ starred = { message = 0, by = \"gwen@acme.example\" } }]\n",
        "line 20, column 44: gwen@acme.example is not subscribed to s,",
    ),
    (
        "[[channels]]\nname = \"c\"\n[[users]]\nemail = \"g@acme.example\"\nfull_name = \"Gus\"\nrole = \"guest\"\n\
         [[topics]]\nchannel = \"c\"\nname = \"t\"\nwriters = [\"g@acme.example\"]\nmessages = [\"a\"]\n",
        "line 20, column 12: g@acme.example is not subscribed to c,",
    ),
    (
        "[[channels]]\nname = \"c\"\n[[topics]]\nchannel = \"c\"\nname = \"\"\nmessages = []\n\
         [settings]\ntopics_policy = \"disable_empty_topic\"\n",
        "line 15, column 8: Sending messages to the general chat is not allowed in this channel.",
    ),
    (
        "[[conversations]]\npeople = [\"olga@acme.example\"]\nmessages = [\"a\"]\n\
         changes = [{ reacted = { message = 0, by = \"gwen@acme.example\", emoji = \"+1\" } }]\n",
        "line 14, column 44: gwen@acme.example is not in the conversation's `people`",
    ),
    (
        "[[bots]]\nemail = \"b@acme.example\"\nfull_name = \"Bot\"\nowner = \"gwen@acme.example\"\n\
         [[channels]]\nname = \"s\"\nprivate = true\n[[topics]]\nchannel = \"s\"\nname = \"t\"\n\
         writers = [\"b@acme.example\"]\nmessages = [\"a\"]\n",
        "line 21, column 12: b@acme.example is not subscribed to s,",
    ),
];

#[test]
fn what_the_endpoints_refuse_in_a_state_is_a_mistake_in_a_seed() {
    let picture =
        base64::Engine::encode(&base64::engine::general_purpose::STANDARD, crate::dev::files::GREEN_TICK);
    for (more, expected) in REFUSED_BECAUSE_OF_THE_STATE {
        let more = more.replace("PNG", &picture);
        let read = SeedDocument::read(&format!("{START}{OLGA}{GWEN}{more}"));
        let mistake = read.err().map(|error| error.to_string()).unwrap_or_default();
        assert!(mistake.starts_with(expected), "{more}: {mistake}");
    }
    let unknown_step = format!("onboarding_seen = [\"intro_resolve_topic\", \"nope\"]\n{START}{OLGA}");
    let mistake = SeedDocument::read(&unknown_step).unwrap_err().to_string();
    assert_eq!(mistake, "line 1, column 43: Unknown onboarding_step: nope");
}

#[test]
fn what_the_endpoints_accept_in_a_state_is_accepted() {
    let accepted = "[settings]\nnew_stream_announcements_stream_id = 1\nsignup_announcements_stream_id = -1\n\
        [[bots]]\nemail = \"b@acme.example\"\nfull_name = \"Bot\"\nowner = \"gwen@acme.example\"\n\
        [[channels]]\nname = \"s\"\nprivate = true\nsubscribers = [\"gwen@acme.example\"]\n\
        [[topics]]\nchannel = \"s\"\nname = \"t\"\nwriters = [\"b@acme.example\", \"gwen@acme.example\"]\nmessages = [\"a\"]\n\
        [[topics]]\nchannel = \"s\"\nname = \"\"\nmessages = []\n";
    let read = SeedDocument::read(&format!("{START}{OLGA}{GWEN}{accepted}"));
    assert!(read.is_ok(), "{:?}", read.err());
}
