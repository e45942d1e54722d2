//! Included scenarios are valid, and invalid ones are refused with the reason.

use super::*;

#[test]
fn every_shipped_scenario_parses_and_has_the_name_of_its_file() {
    for (name, text) in INCLUDED {
        let scenario = Scenario::parse(text).unwrap_or_else(|reason| panic!("{name}: {reason}"));
        assert_eq!(scenario.name, *name);
    }
    let files = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios")).unwrap().count();
    assert_eq!(files, INCLUDED.len(), "every file in scenarios/ is shipped");
}

#[test]
fn unknown_fields_are_refused_at_every_depth() {
    let (_, good) = INCLUDED[0];
    let mut value: serde_json::Value = serde_json::from_str(good).unwrap();
    assert!(Scenario::parse(&value.to_string()).is_ok());
    for pointer in ["", "/channels/0", "/phases/0", "/phases/0/step", "/expect"] {
        let place = value.pointer_mut(pointer).unwrap().as_object_mut().unwrap();
        place.insert("clientz".to_owned(), 1.into());
        let reason = Scenario::parse(&value.to_string()).unwrap_err();
        assert!(reason.contains("clientz"), "{pointer}: {reason}");
        value.pointer_mut(pointer).unwrap().as_object_mut().unwrap().remove("clientz");
    }
}

#[test]
fn bounds_are_checked() {
    let (_, good) = INCLUDED[0];
    let value: serde_json::Value = serde_json::from_str(good).unwrap();
    for (pointer, bad, word) in [
        ("/users", 20_001, "users"),
        ("/channels/0/subscribers", 1_000, "subscribers"),
        ("/phases/0/step/clients", 0, "clients"),
        ("/phases/0/step/chars/0", 9_999, "chars"),
        ("/phases/0/secs", 0, "secs"),
    ] {
        let mut broken = value.clone();
        *broken.pointer_mut(pointer).unwrap() = bad.into();
        let reason = Scenario::parse(&broken.to_string()).unwrap_err();
        assert!(reason.contains(word), "{pointer}: {reason}");
    }
    let mut broken = value.clone();
    *broken.pointer_mut("/phases/0/step/channel").unwrap() = "elsewhere".into();
    assert!(Scenario::parse(&broken.to_string()).unwrap_err().contains("elsewhere"));
}
