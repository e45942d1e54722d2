//! `/channel_folders`: create, update, reorder and list folders of channels.

use crate::support::shape::fields;
use crate::support::{Params, TestServer, TestUser, as_params, keys};
use reqwest::Method;
use serde_json::{Value, json};

async fn create(person: &TestUser, name: &str) -> u64 {
    let body = person.post("/channel_folders/create", &[("name", &name), ("description", &"")]).ok().await;
    body["channel_folder_id"].as_u64().expect("an id")
}

async fn list(person: &TestUser, include_archived: bool) -> Vec<Value> {
    let body = person.get("/channel_folders", &[("include_archived", &include_archived)]).ok().await;
    body["channel_folders"].as_array().expect("folders").clone()
}

fn names(folders: &[Value]) -> Vec<&str> {
    folders.iter().map(|folder| folder["name"].as_str().expect("a name")).collect()
}

#[tokio::test]
async fn channel_folder_lifecycle() {
    let t = TestServer::start().await;
    let [iago, hamlet, polonius] = t.users(["iago", "hamlet", "polonius"]);
    let params: Params<'_> = &[("name", &" Italy "), ("description", &"The *best*")];
    let body = iago.post("/channel_folders/create", params).ok().await;
    assert_eq!(fields(&body), ["channel_folder_id"]);
    let id = body["channel_folder_id"].clone();
    for who in [&hamlet, &polonius] {
        let folders = list(who, false).await;
        let folder = &folders[0];
        assert_eq!(
            keys(folder),
            [
                "creator_id",
                "date_created",
                "description",
                "id",
                "is_archived",
                "name",
                "order",
                "rendered_description"
            ]
        );
        assert_eq!(
            (&folder["id"], &folder["name"], &folder["creator_id"]),
            (&id, &json!("Italy"), &json!(iago.id))
        );
        assert_eq!(folder["rendered_description"], "<p>The <em>best</em></p>");
    }
    let path = format!("/channel_folders/{id}");
    let patch = |params: Vec<(&'static str, &'static str)>| {
        let params = as_params(&params);
        iago.call(Method::PATCH, &path, &params)
    };
    patch(vec![("name", "Italia"), ("description", "**b**")]).ok().await;
    // Changing only the case of its own name is no conflict.
    patch(vec![("name", "ITALIA")]).ok().await;
    let folder = list(&hamlet, false).await.remove(0);
    assert_eq!((&folder["name"], &folder["description"]), (&json!("ITALIA"), &json!("**b**")));
    let channel = iago.create_channel("Verona").set("folder_id", id.clone()).await;
    let stream = hamlet.get(&format!("/streams/{}", channel.id), &[]).ok().await["stream"].clone();
    assert_eq!(stream["folder_id"], id);
    let in_use = "You need to remove all the channels from this folder to archive it.";
    patch(vec![("is_archived", "true")]).bad(in_use).await;
    let out = iago.call(Method::PATCH, &format!("/streams/{}", channel.id), &[("folder_id", &"null")]);
    out.ok().await;
    patch(vec![("is_archived", "true")]).ok().await;
    assert_eq!(list(&hamlet, false).await, Vec::<Value>::new());
    assert_eq!(list(&hamlet, true).await[0]["is_archived"], json!(true));
    // A channel can be put into an archived folder.
    let into = iago.call(Method::PATCH, &format!("/streams/{}", channel.id), &[("folder_id", &id)]);
    into.ok().await;
    patch(vec![("is_archived", "false")]).ok().await;
    assert_eq!(names(&list(&hamlet, false).await), ["ITALIA"]);
}

#[tokio::test]
async fn channel_folder_reorder() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let (a, b, c) = (create(&iago, "a").await, create(&iago, "b").await, create(&iago, "c").await);
    assert_eq!(names(&list(&hamlet, false).await), ["a", "b", "c"]);
    iago.call(Method::PATCH, &format!("/channel_folders/{b}"), &[("is_archived", &true)]).ok().await;
    let reorder = |order: Value| iago.call(Method::PATCH, "/channel_folders", &[("order", &order)]);
    reorder(json!([c, b, a])).ok().await;
    assert_eq!(names(&list(&hamlet, false).await), ["c", "a"]);
    assert_eq!(names(&list(&hamlet, true).await), ["c", "b", "a"]);
    create(&iago, "d").await;
    assert_eq!(names(&list(&hamlet, true).await), ["c", "b", "a", "d"]);
    for wrong in [json!([]), json!([a, b]), json!([a, a, b, c]), json!([a, b, c, 99])] {
        reorder(wrong).bad("Invalid order mapping.").await;
    }
    assert_eq!(names(&list(&hamlet, true).await), ["c", "b", "a", "d"]);
}

#[tokio::test]
async fn channel_folder_errors() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let id = create(&iago, "Italy").await;
    create(&iago, "France").await;
    let path = format!("/channel_folders/{id}");
    let (long, long_text) = ("x".repeat(61), "x".repeat(1025));
    for (name, msg) in [
        (" ", "Channel folder name can't be empty."),
        ("a\u{7}", "Invalid character in channel folder name, at position 2."),
        ("FRANCE", "Channel folder name already in use"),
        (&long, "name is too long (limit: 60 characters)"),
    ] {
        iago.post("/channel_folders/create", &[("name", &name), ("description", &"")]).bad(msg).await;
        iago.call(Method::PATCH, &path, &[("name", &name)]).bad(msg).await;
    }
    let too_long = "description is too long (limit: 1024 characters)";
    iago.post("/channel_folders/create", &[("name", &"x"), ("description", &long_text)]).bad(too_long).await;
    iago.call(Method::PATCH, &path, &[("description", &long_text)]).bad(too_long).await;
    let unknown = iago.call(Method::PATCH, "/channel_folders/99", &[("name", &"x")]);
    unknown.bad("Invalid channel folder ID").await;
    let administrators = json!({
        "msg": "Must be an organization administrator", "code": "UNAUTHORIZED_PRINCIPAL"
    });
    let calls = [
        hamlet.post("/channel_folders/create", &[("name", &"x"), ("description", &"")]),
        hamlet.call(Method::PATCH, &path, &[("name", &"x")]),
        hamlet.call(Method::PATCH, "/channel_folders", &[("order", &"[]")]),
    ];
    for call in calls {
        call.refused(400, administrators.clone()).await;
    }
    let nowhere: Params<'_> = &[("name", &"new"), ("subscribers", &"[]"), ("folder_id", &99)];
    iago.post("/channels/create", nowhere).bad("Invalid channel folder ID").await;
    assert_eq!(names(&list(&hamlet, true).await), ["Italy", "France"]);
}
