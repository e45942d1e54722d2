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
        ("/users", 100_001, "users"),
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
    broken["organizations"] = 0.into();
    assert!(Scenario::parse(&broken.to_string()).unwrap_err().contains("organizations must be more than 0"));
    let mut broken = value.clone();
    *broken.pointer_mut("/phases/0/step/channel").unwrap() = "elsewhere".into();
    assert!(Scenario::parse(&broken.to_string()).unwrap_err().contains("elsewhere"));
}

#[test]
fn mistakes_are_named_by_their_path() {
    let (_, good) = INCLUDED[0];
    let value: serde_json::Value = serde_json::from_str(good).unwrap();
    for (pointer, bad, path) in [
        (
            "/phases/0/step/clients",
            serde_json::json!("many"),
            "phases[0].step: clients: invalid type: string \"many\", expected a whole number from 0 to",
        ),
        ("/phases/0/step/do", serde_json::json!("shout"), "phases[0].step: `do` is `shout`"),
        (
            "/phases/0/secs",
            serde_json::json!("ten"),
            "phases[0].secs: invalid type: string \"ten\", expected a number",
        ),
        ("/channels/0/subscribers", serde_json::json!(-1), "channels[0].subscribers"),
        ("/expect/ratio_to_baseline_min", serde_json::json!([]), "expect.ratio_to_baseline_min"),
    ] {
        let mut broken = value.clone();
        *broken.pointer_mut(pointer).unwrap() = bad;
        let reason = Scenario::parse(&broken.to_string()).unwrap_err();
        assert!(reason.contains(path), "{pointer}: {reason}");
    }
}

/// A scenario of two users with these channels and phases, each phase with the same step.
fn parse_with(channels: &serde_json::Value, phases: &[serde_json::Value]) -> Result<(), String> {
    let step = serde_json::json!({"do": "get", "clients": 1, "path": "/users/me"});
    let mut phases = phases.to_vec();
    phases.iter_mut().for_each(|phase| {
        phase["secs"] = 1.into();
        phase["step"] = step.clone();
    });
    let text =
        serde_json::json!({"name": "x", "about": "x", "users": 2, "channels": channels, "phases": phases});
    Scenario::parse(&text.to_string()).map(|_| ())
}

#[test]
fn names_of_phases_and_channels_are_unique() {
    let none = serde_json::json!([]);
    let phases = |names: [&str; 2]| names.map(|name| serde_json::json!({ "name": name }));
    assert_eq!(parse_with(&none, &phases(["a", "b"])), Ok(()));
    let error = parse_with(&none, &phases(["a", "a"])).unwrap_err();
    assert_eq!(error, "phases[1].name: two phases are named a");
    let channels = |first: serde_json::Value, second: serde_json::Value| {
        parse_with(&serde_json::json!([first, second]), &phases(["a", "b"]))
    };
    let one = |name: &str| serde_json::json!({"name": name, "subscribers": 1});
    let many = |name: &str| serde_json::json!({"name": name, "subscribers": 1, "count": 2});
    assert_eq!(channels(one("c"), many("d")), Ok(()));
    for (first, second, name) in [
        (one("c"), one("c"), "c"),
        (one("c"), many("c"), "c"),
        (many("c"), one("c"), "c"),
        (many("c"), one("c 1"), "c 1"),
        (one("c 0"), many("c"), "c 0"),
        (many("c 0"), many("c"), "c 0"),
    ] {
        let wanted = format!("channels[1].name: two channels are named {name}");
        assert_eq!(channels(first, second).unwrap_err(), wanted);
    }
}

#[test]
fn impossible_numbers_are_named_by_their_place() {
    let phase = |expect: serde_json::Value| [serde_json::json!({"name": "p", "expect": expect})];
    let channels = serde_json::json!([
        {"name": "one", "subscribers": 2}, {"name": "two", "subscribers": 9}
    ]);
    let error = parse_with(&channels, &phase(serde_json::json!({}))).unwrap_err();
    assert_eq!(error, "channels[1]: two: subscribers is 9, and `users` is 2");
    let none = serde_json::json!([]);
    let error = parse_with(&none, &phase(serde_json::json!({"p95_ms_max": -1}))).unwrap_err();
    assert_eq!(error, "phase p: expect.p95_ms_max is -1, and a limit is 0 or more");
    assert_eq!(parse_with(&none, &phase(serde_json::json!({"p95_ms_max": 0}))), Ok(()));
    let mut text: serde_json::Value = serde_json::from_str(INCLUDED[0].1).unwrap();
    text["expect"]["rss_mb_max"] = (-0.5).into();
    let error = Scenario::parse(&text.to_string()).unwrap_err();
    assert_eq!(error, "expect.rss_mb_max is -0.5, and a limit is 0 or more");
}

#[test]
fn missing_field_has_no_path_of_its_own() {
    assert!(Scenario::parse(r#"{"name": "x"}"#).unwrap_err().starts_with("missing field `about`"));
    let text = serde_json::json!({
        "name": "x", "about": "x", "users": 1,
        "phases": [{"name": "p", "secs": 1, "step": {"do": "get", "clients": 1}}]
    });
    let error = Scenario::parse(&text.to_string()).unwrap_err();
    assert!(error.starts_with("phases[0].step: missing field `path`"), "{error}");
}

#[test]
fn unknown_scenario_lists_the_included_ones() {
    let error = Scenario::load("sned").unwrap_err().to_string();
    assert!(
        error.contains("sned") && error.contains("send_wide") && error.contains("login_storm"),
        "{error}"
    );
}

#[test]
fn channels_of_a_plan_are_named_alone_or_together() {
    let with = |step: serde_json::Value| {
        let text = serde_json::json!({
            "name": "x", "about": "x", "users": 4, "channels": [{"name": "many", "count": 3, "subscribers": 2}],
            "phases": [{"name": "p", "secs": 1, "step": step}]
        });
        Scenario::parse(&text.to_string()).map(|_| ())
    };
    let send = |channel: &str| serde_json::json!({"do": "send", "clients": 1, "channel": channel, "chars": [24, 30], "topics": 1});
    let idle =
        |channel: &str| serde_json::json!({"do": "idle", "polls": 1, "channel": channel, "hold_secs": 1});
    assert_eq!(with(send("many")), Ok(()));
    assert_eq!(with(send("many 2")), Ok(()));
    assert_eq!(with(idle("many 0")), Ok(()));
    assert!(with(idle("many")).unwrap_err().contains("name one of them, such as many 0"));
    assert!(
        with(send("many 3"))
            .unwrap_err()
            .ends_with("no channel many 3 in this scenario, which has many 0 to many 2")
    );
}

#[test]
fn stages_fit_their_phase() {
    let with = |stages: serde_json::Value, secs: u32| {
        let text = serde_json::json!({
            "name": "x", "about": "x", "users": 4,
            "phases": [{"name": "p", "secs": secs, "stages": stages,
                "step": {"do": "get", "clients": 8, "path": "/users/me"}}]
        });
        Scenario::parse(&text.to_string()).map(|scenario| scenario.phases[0].measured_secs())
    };
    let stages = serde_json::json!([{"secs": 2, "clients": 8}, {"secs": 3, "clients": 8}]);
    assert_eq!(with(stages.clone(), 0), Ok(5.0));
    assert!(with(stages, 1).unwrap_err().contains("stages"));
    assert!(with(serde_json::json!([{"secs": 2, "clients": 9}]), 0).unwrap_err().contains("8 `clients`"));
}

#[test]
fn scenario_that_sends_nothing_is_refused() {
    let with = |count: u32, phase: serde_json::Value| {
        let text = serde_json::json!({
            "name": "x", "about": "x", "users": 2, "channels": [{"name": "k", "count": count, "subscribers": 1}],
            "phases": [phase]
        });
        Scenario::parse(&text.to_string()).map(|_| ())
    };
    let phase = |messages: u32, stages: serde_json::Value| {
        let secs = u32::from(stages == serde_json::json!([]));
        serde_json::json!({"name": "p", "secs": secs, "stages": stages, "step":
            {"do": "send", "clients": 1, "channel": "k", "chars": [24, 30], "topics": 1, "messages": messages}})
    };
    let none = || serde_json::json!([]);
    assert_eq!(with(1, phase(1, none())), Ok(()));
    assert_eq!(with(0, phase(1, none())).unwrap_err(), "channels[0]: k: count must be more than 0");
    assert_eq!(with(1, phase(0, none())).unwrap_err(), "phase p: messages must be more than 0");
    for unloaded in
        [serde_json::json!([{"secs": 1, "rate_per_sec": 0}]), serde_json::json!([{"secs": 1, "clients": 0}])]
    {
        let error = with(1, phase(1, unloaded)).unwrap_err();
        assert_eq!(
            error,
            "phase p: stages: one of them must last, and have clients or a rate of more than 0"
        );
    }
}

#[test]
fn stages_and_a_rate_exclude_each_other() {
    let text = serde_json::json!({
        "name": "x", "about": "x", "users": 4,
        "phases": [{"name": "p", "stages": [{"secs": 2, "clients": 8}],
            "step": {"do": "get", "clients": 8, "path": "/users/me", "rate_per_sec": 5}}]
    });
    let error = Scenario::parse(&text.to_string()).unwrap_err();
    assert_eq!(error, "phase p: stages: they set the load, so rate_per_sec must be absent");
}

#[test]
fn paths_can_be_requested() {
    let steps = |path: &str| {
        let get = serde_json::json!({"do": "get", "per_min": 1, "path": path});
        [
            serde_json::json!({"do": "get", "clients": 1, "path": path}),
            serde_json::json!({"do": "mixed", "each": [get]}),
        ]
    };
    let with = |step: &serde_json::Value| {
        let text = serde_json::json!({
            "name": "x", "about": "x", "users": 2, "channels": [{"name": "c", "subscribers": 2}],
            "phases": [{"name": "p", "secs": 1, "step": step}]
        });
        Scenario::parse(&text.to_string()).map(|_| ())
    };
    for step in steps("/users/me?a=%20") {
        assert_eq!(with(&step), Ok(()));
    }
    for step in steps("users/me") {
        assert_eq!(with(&step).unwrap_err(), "phase p: path is \"users/me\", and must begin with /");
    }
    for bad in ["/a b", "/a\r\nX: y", "/ä"] {
        for step in steps(bad) {
            let error = with(&step).unwrap_err();
            assert!(error.contains("must be percent-encoded") && !error.contains('\n'), "{error}");
        }
    }
}

#[test]
fn topics_move_to_another_channel() {
    let mut value: serde_json::Value =
        serde_json::from_str(include_str!("../../scenarios/move.json")).unwrap();
    let place = value.pointer_mut("/phases/1/step/background").unwrap();
    place["to"] = place["channel"].clone();
    let error = Scenario::parse(&value.to_string()).unwrap_err();
    assert!(error.contains("name another channel"), "{error}");
}

#[test]
fn mistakes_in_stages_and_users_name_their_own_field() {
    let parse = |users: u32, stages: serde_json::Value| {
        let phase = serde_json::json!({"name": "a", "stages": stages, "step": {
            "do": "get", "clients": 2, "path": "/users/me"
        }});
        let text = serde_json::json!({"name": "x", "about": "x", "users": users, "phases": [phase]});
        Scenario::parse(&text.to_string()).map(|_| ()).unwrap_err()
    };
    let good = serde_json::json!({"secs": 1, "clients": 1});
    let error = parse(0, serde_json::json!([good]));
    assert_eq!(error, "phase a: users must be more than 0: get needs the scenario's `users`");
    for (stage, wanted) in [
        (serde_json::json!({"secs": -1, "clients": 1}), "stages[1].secs is -1, and goes from 0 to 3,600"),
        (
            serde_json::json!({"secs": 1, "clients": 3}),
            "stages[1].clients: at most the 2 `clients` of the step",
        ),
    ] {
        assert_eq!(parse(2, serde_json::json!([good, stage])), format!("phase a: {wanted}"));
    }
    let error = parse(2, serde_json::json!([{"secs": -1, "clients": 1}]));
    assert_eq!(error, "phase a: stages[0].secs is -1, and goes from 0 to 3,600");
}

#[test]
fn phases_with_emails_last_long_enough_for_one() {
    let mut value: serde_json::Value =
        serde_json::from_str(INCLUDED.iter().find(|(name, _)| *name == "missed_mail").unwrap().1).unwrap();
    let mut parse = |secs: f64| {
        value["phases"][1]["secs"] = secs.into();
        Scenario::parse(&value.to_string()).map(|_| ())
    };
    let error = parse(140.0).unwrap_err();
    assert!(error.starts_with("phase with e-mails: secs is 140, and must be more than 140"), "{error}");
    assert_eq!(parse(141.0), Ok(()));
}

#[test]
fn files_of_editors_are_read() {
    let (_, good) = INCLUDED[0];
    assert!(Scenario::parse(&format!("\u{feff}{good}")).is_ok());
    assert_eq!(Scenario::parse("[]").unwrap_err(), "a scenario is a JSON object");
}

#[test]
fn connections_are_those_of_the_largest_phase() {
    let connections = |name: &str| Scenario::load(name).unwrap().connections();
    assert_eq!(connections("send"), 64);
    assert_eq!(connections("fanout"), 104, "4 senders and 100 receivers");
    assert_eq!(connections("idle"), 10_000);
    let mut scenario = Scenario::load("send").unwrap();
    scenario.fill =
        Some(FillPlan { channel: String::new(), messages: 1, chars: [24, 24], topics: 1, senders: 900 });
    assert_eq!(scenario.connections(), 900);
}

#[test]
fn fewer_users_are_said_in_the_description() {
    let mut scenario = Scenario::load("registers").unwrap();
    scenario.limit_users(7);
    assert_eq!((scenario.users, scenario.channels[0].subscribers), (7, 7));
    assert!(scenario.about.ends_with("With 7 users instead of 9000."), "{}", scenario.about);
    scenario.check().unwrap();
}
