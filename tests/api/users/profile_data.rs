//! `/users/me/profile_data`.

use crate::support::{Params, TestServer, TestUser, as_params};
use serde_json::{Value, json};

const PATH: &str = "/users/me/profile_data";

async fn field(t: &TestServer, kind: u64, more: Value) -> u64 {
    let iago = t.user("iago");
    let name = format!("field {kind}");
    let mut params = vec![("name".to_owned(), name), ("field_type".to_owned(), kind.to_string())];
    params.extend(
        more.as_object().expect("parameters").iter().map(|(name, value)| (name.clone(), value.to_string())),
    );
    let params = as_params(&params);
    iago.post("/realm/profile_fields", &params).ok().await["id"].as_u64().expect("an id")
}

async fn data_of(viewer: &TestUser, of: &TestUser) -> Value {
    let params: Params<'_> = &[("include_custom_profile_fields", &true)];
    viewer.get(&format!("/users/{}", of.id), params).ok().await["user"]["profile_data"].clone()
}

async fn set(who: &TestUser, id: u64, value: Value) {
    who.patch(PATH, &[("data", &json!([{"id": id, "value": value}]))]).ok().await;
}

#[tokio::test]
async fn profile_data_of_every_type() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let choices = json!({"field_data": {"0": {"text": "Vim", "order": "1"}}});
    let account =
        json!({"field_data": {"subtype": "custom", "url_pattern": "https://example.com/%(username)s"}});
    let mut ids = Vec::new();
    for kind in 1..=8 {
        let more = match kind {
            3 => choices.clone(),
            7 => account.clone(),
            _ => json!({}),
        };
        ids.push(field(&t, kind, more).await);
    }
    let people = json!([iago.id, hamlet.id]);
    let values = [
        json!("short **text**"),
        json!("long\n\ntext"),
        json!("0"),
        json!("1990-02-28"),
        json!("https://example.com/me"),
        people.clone(),
        json!("hamlet"),
        json!("he/him"),
    ];
    let data: Vec<Value> =
        ids.iter().zip(&values).map(|(id, value)| json!({"id": id, "value": value})).collect();
    hamlet.patch(PATH, &[("data", &json!(data))]).ok().await;
    let shown = data_of(&iago, &hamlet).await;
    let key = |position: usize| ids[position].to_string();
    assert_eq!(
        shown[key(0)],
        json!({"value": "short **text**", "rendered_value": "<p>short <strong>text</strong></p>"})
    );
    assert_eq!(shown[key(1)]["rendered_value"], "<p>long</p>\n<p>text</p>");
    for position in [2, 3, 4, 6, 7] {
        assert_eq!(shown[key(position)], json!({"value": values[position]}), "{position}");
    }
    let picked: Value = serde_json::from_str(shown[key(5)]["value"].as_str().unwrap()).unwrap();
    assert_eq!(picked, people);
    // All endpoints that return users have the same data.
    let listed = iago.get("/users", &[("include_custom_profile_fields", &true)]).ok().await;
    let in_list = |list: &Value| {
        let found = list.as_array().unwrap().iter().find(|user| user["user_id"] == hamlet.id);
        found.unwrap()["profile_data"].clone()
    };
    assert_eq!(in_list(&listed["members"]), shown);
    assert_eq!(in_list(&iago.register().await.state["realm_users"]), shown);
    assert_eq!(hamlet.get("/users/me", &[]).ok().await["profile_data"], shown);
    let brief = iago.get(&format!("/users/{}", hamlet.id), &[]).ok().await;
    assert_eq!(brief["user"].get("profile_data"), None);
    let t = TestServer::builder().on(t.stop().await).start().await;
    assert_eq!(data_of(&t.user("iago"), &t.user("hamlet")).await, shown);
}

#[tokio::test]
async fn profile_data_remove() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let (a, b) = (field(&t, 5, json!({})).await, field(&t, 8, json!({})).await);
    set(&hamlet, a, json!("https://example.com")).await;
    set(&hamlet, b, json!("they")).await;
    hamlet.delete(PATH, &[("data", &json!([a]))]).ok().await;
    assert_eq!(data_of(&hamlet, &hamlet).await, json!({b.to_string(): {"value": "they"}}));
    // Repeating it changes nothing.
    hamlet.delete(PATH, &[("data", &json!([a]))]).ok().await;
    set(&hamlet, b, json!("")).await;
    assert_eq!(data_of(&hamlet, &hamlet).await, json!({}));
    // Deleting the field deletes its values.
    set(&hamlet, b, json!("they")).await;
    t.user("iago").delete(&format!("/realm/profile_fields/{b}"), &[]).ok().await;
    assert_eq!(data_of(&hamlet, &hamlet).await, json!({}));
}

#[tokio::test]
async fn profile_data_errors() {
    let t = TestServer::start().await;
    let [hamlet, iago] = t.users(["hamlet", "iago"]);
    let ghost = t.user("ghost").id;
    let bot = t.user("default-bot").id;
    let choices = json!({"field_data": {"0": {"text": "Vim", "order": "1"}}});
    let mut ids = Vec::new();
    for kind in [1, 2, 3, 4, 5, 6] {
        ids.push(field(&t, kind, if kind == 3 { choices.clone() } else { json!({}) }).await);
    }
    for (position, value, msg) in [
        (0, json!(5), "field 1 is not a string".to_owned()),
        (0, json!("x".repeat(51)), "field 1 is too long (limit: 50 characters)".to_owned()),
        (1, json!("x".repeat(501)), "field 2 is too long (limit: 500 characters)".to_owned()),
        (2, json!("7"), "'7' is not a valid choice for 'field 3'.".to_owned()),
        (3, json!("1909-3-5"), "field 4 is not a date".to_owned()),
        (4, json!("not a url"), "field 5 is not a URL".to_owned()),
        (5, json!("not a list"), "User IDs is not a list".to_owned()),
        (5, json!([99_999]), "Invalid user ID: 99999".to_owned()),
        (5, json!([ghost]), format!("User with ID {ghost} is deactivated")),
        (5, json!([bot]), format!("User with ID {bot} is a bot")),
    ] {
        let data = json!([{"id": ids[0], "value": "fine"}, {"id": ids[position], "value": value}]);
        hamlet.patch(PATH, &[("data", &data)]).bad(&msg).await;
    }
    assert_eq!(data_of(&hamlet, &hamlet).await, json!({}), "all or nothing");
    let unknown = json!([{"id": 99_999, "value": "x"}]);
    hamlet.patch(PATH, &[("data", &unknown)]).bad("Field id 99999 not found.").await;
    hamlet.delete(PATH, &[("data", &json!([99_999]))]).bad("Field id 99999 not found.").await;
    for (data, msg) in [
        ("x", "data is not valid JSON"),
        ("{}", "data is not a list"),
        ("[1]", "data[0] is not a dict"),
        (r#"[{"value":"x"}]"#, "data[0][\"id\"] field is missing"),
        (r#"[{"id":1}]"#, "data[0][\"value\"] field is missing"),
        (r#"[{"id":"1","value":"x"}]"#, "data[0][\"id\"] is not an integer"),
    ] {
        hamlet.patch(PATH, &[("data", &data)]).bad(msg).await;
    }
    let missing = json!({
        "msg": "Missing 'data' argument", "code": "REQUEST_VARIABLE_MISSING", "var_name": "data",
    });
    hamlet.patch(PATH, &[]).refused(400, missing.clone()).await;
    hamlet.delete(PATH, &[]).refused(400, missing).await;
    // Some fields can be set by administrators only.
    let fixed = field(&t, 8, json!({"editable_by_user": false})).await;
    let refused = "You are not allowed to change this field. Contact an administrator to update it.";
    let data = json!([{"id": fixed, "value": "x"}]);
    hamlet.patch(PATH, &[("data", &data)]).bad(refused).await;
    hamlet.delete(PATH, &[("data", &json!([fixed]))]).bad(refused).await;
    iago.patch(PATH, &[("data", &data)]).ok().await;
}
