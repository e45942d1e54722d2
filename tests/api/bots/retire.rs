//! `DELETE /bots/{id}`, and the bots of a deactivated owner.

use super::{make, shown};
use crate::support::TestServer;
use serde_json::json;

#[tokio::test]
async fn deactivated_bot_cannot_authenticate() {
    let t = TestServer::start().await;
    let [iago, hamlet, othello] = t.users(["iago", "hamlet", "othello"]);
    let (bot, _) = make(&hamlet, "rec", &[]).await;
    let path = format!("/bots/{}", bot.id);
    othello.delete(&path, &[]).bad("Insufficient permission").await;
    iago.delete(&format!("/bots/{}", hamlet.id), &[]).bad("No such bot").await;
    hamlet.delete(&path, &[]).ok().await;
    hamlet.delete(&path, &[]).ok().await;
    let gone = json!({"msg": "Account is deactivated", "code": "USER_DEACTIVATED"});
    bot.get("/users/me", &[]).refused(401, gone).await;
    assert_eq!(hamlet.get("/bots", &[]).ok().await["bots"], json!([]));
    assert_eq!(shown(&hamlet, &bot).await.unwrap()["is_active"], false);
    // Its full name can be used again, its email address cannot.
    make(&hamlet, "other", &[]).await;
    let taken: crate::support::Params<'_> = &[("full_name", &"rec the bot"), ("short_name", &"rec")];
    hamlet.post("/bots", taken).bad("Username already in use").await;
}

#[tokio::test]
async fn deactivating_owner_deactivates_bots() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let (bot, _) = make(&hamlet, "rec", &[]).await;
    iago.delete(&format!("/users/{}", hamlet.id), &[]).ok().await;
    assert_eq!(shown(&iago, &bot).await.unwrap()["is_active"], false);
    let gone = json!({"msg": "Account is deactivated", "code": "USER_DEACTIVATED"});
    bot.get("/users/me", &[]).refused(401, gone).await;
}
