//! Groups of default channels.

use crate::support::{Params, TestServer};
use serde_json::{Value, json};

#[tokio::test]
async fn groups_are_created_changed_and_deleted() {
    let t = TestServer::start().await;
    let [iago, hamlet, polonius] = t.users(["iago", "hamlet", "polonius"]);
    let (denmark, rome) = (iago.create_channel("Denmark").await, iago.create_channel("Rome").await);
    let types = ["default_stream_groups"];
    let (mut queue, mut guest) =
        (hamlet.register().events(&types).await, polonius.register().events(&types).await);
    let new: Params<'_> =
        &[("group_name", &"travel"), ("description", &"for all"), ("stream_names", &json!(["Rome"]))];
    iago.post("/default_stream_groups/create", new).ok().await;
    let path = "/default_stream_groups/1";
    let streams = format!("{path}/streams");
    let group = |name: &str, description: &str, streams: Value| json!([{"name": name, "id": 1, "description": description, "streams": streams}]);
    assert_eq!(queue.next().await["default_stream_groups"], group("travel", "for all", json!([rome.id])));
    let add: Params<'_> = &[("op", &"add"), ("stream_names", &json!(["Denmark"]))];
    iago.patch(&streams, add).ok().await;
    let both = json!([denmark.id, rome.id]);
    assert_eq!(queue.next().await["default_stream_groups"], group("travel", "for all", both));
    let present = "Channel 'Denmark' is already present in default channel group 'travel'";
    iago.patch(&streams, add).bad(present).await;
    iago.patch(&streams, &[("op", &"remove"), ("stream_names", &json!(["Rome"]))]).ok().await;
    assert_eq!(queue.next().await["default_stream_groups"][0]["streams"], json!([denmark.id]));
    iago.patch(path, &[("new_group_name", &"trips"), ("new_description", &"d2")]).ok().await;
    let expected = group("trips", "d2", json!([denmark.id]));
    assert_eq!(queue.next().await["default_stream_groups"], expected);
    assert_eq!(hamlet.register().await.state["realm_default_stream_groups"], expected);
    assert_eq!(polonius.register().await.state["realm_default_stream_groups"], json!([]));

    let op = "Invalid value for \"op\". Specify one of \"add\" or \"remove\".";
    iago.patch(&streams, &[("op", &"x"), ("stream_names", &json!(["Rome"]))]).bad(op).await;
    iago.patch(path, &[]).bad("You must pass \"new_description\" or \"new_group_name\".").await;
    let t = TestServer::builder().on(t.stop().await).start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    assert_eq!(hamlet.register().await.state["realm_default_stream_groups"], expected);
    iago.delete(path, &[]).ok().await;
    iago.delete(path, &[]).bad("Default channel group with id '1' does not exist.").await;
    queue.person = hamlet;
    assert_eq!(queue.next().await["default_stream_groups"], json!([]));
    guest.person = t.user("polonius");
    assert_eq!(guest.now().await, [] as [Value; 0]);
}

#[tokio::test]
async fn groups_have_only_public_channels_in_use() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let (denmark, rome) = (iago.create_channel("Denmark").await, iago.create_channel("Rome").await);
    iago.create_channel("secret").private().await;
    let names = json!(["Denmark", "Rome"]);
    let new: Params<'_> = &[("group_name", &"travel"), ("description", &""), ("stream_names", &names)];
    iago.post("/default_stream_groups/create", new).ok().await;
    iago.post("/default_stream_groups/create", new)
        .bad("Default channel group 'travel' already exists")
        .await;
    let add = |name: &'static str| {
        let names = json!([name]);
        iago.patch("/default_stream_groups/1/streams", &[("op", &"add"), ("stream_names", &names)])
    };
    add("secret").bad("Private channels cannot be made default.").await;
    add("nowhere").bad("Invalid channel name 'nowhere'").await;
    let mut queue = iago.register().events(&["default_stream_groups"]).await;
    iago.delete(&format!("/streams/{}", denmark.id), &[]).ok().await;
    assert_eq!(queue.next().await["default_stream_groups"][0]["streams"], json!([rome.id]));
    iago.patch(&format!("/streams/{}", rome.id), &[("is_private", &true)]).ok().await;
    assert_eq!(queue.next().await["default_stream_groups"][0]["streams"], json!([]));
}
