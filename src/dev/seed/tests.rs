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

const START: &str = "name = \"Acme\"\nemail_domain = \"acme.example\"\ncreator = \"olga@acme.example\"\n";
const OLGA: &str = "[[users]]\nemail = \"olga@acme.example\"\nfull_name = \"Olga\"\nrole = \"owner\"\n";

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
fn mistakes_have_line_and_column() {
    let with = |more: &str| SeedDocument::read(&format!("{START}{OLGA}{more}")).unwrap_err().to_string();
    let cases = [
        ("[[channels]]\nname = 5\n", "line 9, column 8: invalid type: integer `5`, expected a string"),
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
        ("[settings]\ninvite_required = \"x\"\n", "line 9, column 1: invite_required must be"),
        (
            "[[users]]\nemail = \"olga@acme.example\"\nfull_name = \"Olga\"\n",
            ": olga@acme.example is used twice",
        ),
        (
            "[[users]]\nemail = \"Olga@ACME.example\"\nfull_name = \"Olga\"\n",
            "line 9, column 9: Olga@ACME.example is used twice",
        ),
        (
            "[[channels]]\nname = \"plans\"\n[[channels]]\nname = \"Plans\"\n",
            "line 11, column 8: the channel Plans is there twice",
        ),
        (
            "[[channels]]\nname = \"c\"\nsubscribers = \"all\"\n",
            "expected \"everyone\", \"members\", \"moderators\" or a list of addresses",
        ),
        (
            "[[channels]]\nname = \"c\"\n[[topics]]\nchannel = \"c\"\nname = \"t\"\nmessages = [\"hi\"]\n",
            "line 13, column 13: this message has no sender: add `writers` to its topic, or write { from = …, text = … }",
        ),
    ];
    for (more, expected) in cases {
        let error = with(more);
        assert!(error.contains(expected), "{error}\n{expected}");
    }
    let error = SeedDocument::read("{\n  \"name\": 5}").unwrap_err().to_string();
    assert!(error.starts_with("line 2, column 11: invalid type"), "{error}");
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
