//! `/realm/profile_fields`.

use crate::support::{Params, TestServer, TestUser};
use serde_json::{Value, json};

const PATH: &str = "/realm/profile_fields";

async fn listed(who: &TestUser) -> Vec<Value> {
    who.get(PATH, &[]).ok().await["custom_fields"].as_array().expect("fields").clone()
}

/// Creates a field; returns its id.
pub async fn create(who: &TestUser, params: Params<'_>) -> u64 {
    who.post(PATH, params).ok().await["id"].as_u64().expect("an id")
}

#[tokio::test]
async fn profile_field_types() {
    let t = TestServer::start().await;
    let [iago, polonius] = t.users(["iago", "polonius"]);
    assert_eq!(listed(&polonius).await, [] as [Value; 0]);
    let choices = json!({"0": {"text": "Vim", "order": "1"}, "1": {"text": "Emacs", "order": "2"}});
    let account = json!({"subtype": "custom", "url_pattern": "https://example.com/%(username)s"});
    for kind in 1..=8 {
        let name = format!("field {kind}");
        let data = match kind {
            3 => choices.clone(),
            7 => account.clone(),
            _ => json!({}),
        };
        let params: Params<'_> = &[("name", &name), ("field_type", &kind), ("field_data", &data)];
        assert_eq!(create(&iago, params).await, kind);
    }
    let fields = listed(&polonius).await;
    let first = json!({
        "id": 1, "name": "field 1", "type": 1, "hint": "", "field_data": "", "order": 1,
        "required": false, "editable_by_user": true,
    });
    assert_eq!(fields[0], first);
    let data =
        |index: usize| serde_json::from_str::<Value>(fields[index]["field_data"].as_str().unwrap()).unwrap();
    assert_eq!((data(2), data(6)), (choices, account));
    assert_eq!(iago.register().await.state["custom_profile_fields"], json!(fields));
    // External accounts of known services have a predefined name.
    let github = json!({"subtype": "github"});
    let id = create(&iago, &[("field_type", &7), ("field_data", &github), ("name", &"ignored")]).await;
    let fields = listed(&iago).await;
    assert_eq!((&fields[8]["id"], &fields[8]["name"]), (&json!(id), &json!("GitHub username")));
}

#[tokio::test]
async fn profile_field_lifecycle() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let all: Params<'_> = &[
        ("name", &" Pronouns "),
        ("hint", &" which? "),
        ("field_type", &8),
        ("display_in_profile_summary", &true),
        ("required", &true),
        ("editable_by_user", &false),
    ];
    let id = create(&iago, all).await;
    let expected = json!({
        "id": id, "name": "Pronouns", "type": 8, "hint": "which?", "field_data": "", "order": 1,
        "required": true, "editable_by_user": false, "display_in_profile_summary": true,
    });
    assert_eq!(listed(&iago).await, [expected]);
    let path = format!("{PATH}/{id}");
    let changes: Params<'_> =
        &[("name", &"Words"), ("display_in_profile_summary", &false), ("required", &false)];
    iago.patch(&path, changes).ok().await;
    let expected = json!({
        "id": id, "name": "Words", "type": 8, "hint": "which?", "field_data": "", "order": 1,
        "required": false, "editable_by_user": false,
    });
    assert_eq!(listed(&iago).await, [expected]);
    let second = create(&iago, &[("name", &"Second"), ("field_type", &1)]).await;
    iago.patch(PATH, &[("order", &json!([second, id]))]).ok().await;
    let order =
        |fields: Vec<Value>| fields.iter().map(|field| field["id"].as_u64().unwrap()).collect::<Vec<_>>();
    assert_eq!(order(listed(&iago).await), [second, id]);
    iago.delete(&format!("{PATH}/{second}"), &[]).ok().await;
    assert_eq!(order(listed(&iago).await), [id]);
    // A new field does not bring back the values of a deleted one.
    let third = create(&iago, &[("name", &"Third"), ("field_type", &1)]).await;
    assert!(third > second, "{third} is new");
    let before = listed(&iago).await;
    let t = TestServer::builder().on(t.stop().await).start().await;
    assert_eq!(listed(&t.user("iago")).await, before);
}

#[tokio::test]
async fn profile_field_errors() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let (name, hint) = ("x".repeat(41), "x".repeat(81));
    create(&iago, &[("name", &"Taken"), ("field_type", &1)]).await;
    let cases: [(Params<'_>, &str); 11] = [
        (&[("field_type", &1)], "Label cannot be blank."),
        (&[("field_type", &1), ("name", &" ")], "Label cannot be blank."),
        (&[("field_type", &1), ("name", &name)], "name is too long (limit: 40 characters)"),
        (&[("field_type", &1), ("name", &"n"), ("hint", &hint)], "hint is too long (limit: 80 characters)"),
        (&[("field_type", &0), ("name", &"n")], "Invalid field type."),
        (&[("field_type", &9), ("name", &"n")], "Invalid field type."),
        (&[("field_type", &1), ("name", &"Taken")], "A field with that label already exists."),
        (
            &[("field_type", &2), ("name", &"n"), ("display_in_profile_summary", &true)],
            "Field type not supported for display in profile summary.",
        ),
        (
            &[("field_type", &6), ("name", &"n"), ("display_in_profile_summary", &true)],
            "Field type not supported for display in profile summary.",
        ),
        (&[("field_type", &"\"1\""), ("name", &"n")], "field_type is not an integer"),
        (&[("field_type", &1), ("name", &"n"), ("required", &"1")], "required is not a boolean"),
    ];
    for (params, msg) in cases {
        iago.post(PATH, params).bad(msg).await;
    }
    let missing = json!({
        "msg": "Missing 'field_type' argument", "code": "REQUEST_VARIABLE_MISSING", "var_name": "field_type",
    });
    iago.post(PATH, &[("name", &"n")]).refused(400, missing).await;
    assert_eq!(listed(&iago).await.len(), 1);
}

#[tokio::test]
async fn profile_field_invalid_choices_and_accounts() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let none = "Field must have at least one choice.";
    let unknown = "Invalid external account type";
    iago.post(PATH, &[("name", &"n"), ("field_type", &3)]).bad(none).await;
    iago.post(PATH, &[("name", &"n"), ("field_type", &7)]).bad(unknown).await;
    for (kind, data, msg) in [
        (3, "{}", none),
        (3, r#"{"0":{"order":"1"}}"#, "text key is missing from field_data"),
        (3, r#"{"0":{"text":"a"}}"#, "order key is missing from field_data"),
        (3, r#"{"0":{"text":"","order":"1"}}"#, r#"field_data["text"] cannot be blank"#),
        (3, r#"{"0":{"text":1,"order":"1"}}"#, r#"field_data["text"] is not a string"#),
        (3, r#"{"0":"a"}"#, "field_data is not a dict"),
        (3, r#"{" ":{"text":"a","order":"1"}}"#, "'value' cannot be blank."),
        (
            3,
            r#"{"0":{"text":"a","order":"1"},"1":{"text":"a","order":"2"}}"#,
            "Field must not have duplicate choices.",
        ),
        (3, "[]", "field_data is not a dict"),
        (3, "invalid", "field_data is not valid JSON"),
        (7, "{}", unknown),
        (7, r#"{"subtype":"other"}"#, unknown),
        (
            7,
            r#"{"subtype":"custom","url_pattern":"https://example.com/"}"#,
            "URL pattern must contain '%(username)s'.",
        ),
    ] {
        let params: Params<'_> = &[("name", &"n"), ("field_type", &kind), ("field_data", &data)];
        iago.post(PATH, params).bad(msg).await;
    }
    assert_eq!(listed(&iago).await, [] as [Value; 0]);
}

#[tokio::test]
async fn profile_field_at_most_two_in_summary() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let mut ids = Vec::new();
    for name in ["one", "two"] {
        let params: Params<'_> =
            &[("name", &name), ("field_type", &1), ("display_in_profile_summary", &true)];
        ids.push(create(&iago, params).await);
    }
    let full = "Only 2 custom profile fields can be displayed in the profile summary.";
    // Checked before all other parameters.
    iago.post(PATH, &[("field_type", &99), ("display_in_profile_summary", &true)]).bad(full).await;
    let third = create(&iago, &[("name", &"three"), ("field_type", &1)]).await;
    let shown: Params<'_> = &[("display_in_profile_summary", &true)];
    iago.patch(&format!("{PATH}/{third}"), shown).bad(full).await;
    iago.patch(&format!("{PATH}/{}", ids[0]), shown).ok().await;
    iago.patch(&format!("{PATH}/{}", ids[0]), &[("display_in_profile_summary", &false)]).ok().await;
    iago.patch(&format!("{PATH}/{third}"), shown).ok().await;
}

#[tokio::test]
async fn profile_field_update_errors() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let a = create(&iago, &[("name", &"a"), ("field_type", &1)]).await;
    let b = create(&iago, &[("name", &"b"), ("field_type", &1)]).await;
    let known = json!({"subtype": "twitter"});
    let twitter = create(&iago, &[("field_type", &7), ("field_data", &known)]).await;
    let path = |id: u64| format!("{PATH}/{id}");
    iago.patch(&path(99_999), &[("name", &"x")]).bad("Field id 99999 not found.").await;
    iago.delete(&path(99_999), &[]).bad("Field id 99999 not found.").await;
    iago.patch(&path(b), &[("name", &"a")]).bad("A field with that label already exists.").await;
    iago.patch(&path(b), &[("name", &"")]).bad("Label cannot be blank.").await;
    let fixed = "Default custom field cannot be updated.";
    iago.patch(&path(twitter), &[("name", &"Mine")]).bad(fixed).await;
    iago.patch(&path(twitter), &[("required", &true)]).ok().await;
    for order in [json!([a, b]), json!([a, b, twitter, twitter]), json!([a, b, 99]), json!([])] {
        iago.patch(PATH, &[("order", &order)]).bad("Invalid order mapping.").await;
    }
    let refused = json!({"msg": "Must be an organization administrator", "code": "UNAUTHORIZED_PRINCIPAL"});
    hamlet.post(PATH, &[("name", &"x"), ("field_type", &1)]).refused(400, refused.clone()).await;
    hamlet.patch(PATH, &[("order", &json!([a, b, twitter]))]).refused(400, refused.clone()).await;
    hamlet.patch(&path(a), &[("name", &"x")]).refused(400, refused.clone()).await;
    hamlet.delete(&path(a), &[]).refused(400, refused).await;
}
