//! `POST /invites`.

use super::{DAILY_LIMIT, failed, invite, kinds, link_in, listed, mail_to, start};
use crate::support::{Params, TestServer};
use serde_json::{Value, json};

#[tokio::test]
async fn send_invites_one_link_per_address() {
    let t = start().await;
    let [iago, hamlet, othello] = t.users(["iago", "hamlet", "othello"]);
    let mut queues = Vec::new();
    for person in [&iago, &hamlet, &othello] {
        queues.push(person.register().events(&["invites_changed"]).await);
    }
    let addresses =
        "Ada Lovelace <ada@x.example>, bob@x.example\n\"Cee, C.\" <cee@x.example>\r\nADA@x.example,";
    let done = invite(&hamlet, addresses, &[("invite_expires_in_minutes", &60)]).ok().await;
    assert_eq!(done, json!({"result": "success", "msg": ""}));
    for (queue, received) in queues.iter_mut().zip([1, 1, 0]) {
        assert_eq!(kinds(queue).await, vec!["invites_changed"; received], "administrators and the inviter");
    }
    let mut links = Vec::new();
    for address in ["ada@x.example", "bob@x.example", "cee@x.example"] {
        let mail = mail_to(&t, address, 1).await;
        assert_eq!(mail["subject"], "King Hamlet has invited you to join Zulip Dev");
        let text = mail["text"].as_str().unwrap();
        assert!(text.contains("King Hamlet (hamlet@zulip.com) has invited you to join Zulip Dev"), "{text}");
        assert!(text.contains("The link expires in 60 minutes."), "{text}");
        links.push(link_in(&mail));
    }
    links.sort();
    links.dedup();
    assert_eq!(links.len(), 3);
    // A second invitation of the same address is a separate record.
    invite(&iago, "ada@x.example", &[]).ok().await;
    let ids: Vec<Value> = listed(&iago).await.iter().map(|one| one["id"].clone()).collect();
    assert_eq!(json!(ids), json!([1, 2, 3, 4]));
    mail_to(&t, "ada@x.example", 2).await;
}

#[tokio::test]
async fn send_invites_parameter_errors() {
    let t = start().await;
    let [desdemona, iago, shiva, hamlet, polonius, bot] =
        t.users(["desdemona", "iago", "shiva", "hamlet", "polonius", "default-bot"]);
    let missing = |name: &str| json!({"msg": format!("Missing '{name}' argument"), "code": "REQUEST_VARIABLE_MISSING", "var_name": name});
    iago.post("/invites", &[("invitee_emails", &"a@x.example")]).refused(400, missing("stream_ids")).await;
    iago.post("/invites", &[("stream_ids", &"[]")]).refused(400, missing("invitee_emails")).await;
    let minutes =
        |value: &'static str| invite(&iago, "a@x.example", &[("invite_expires_in_minutes", &value)]);
    minutes("abc").bad("invite_expires_in_minutes is not valid JSON").await;
    minutes("\"5\"").bad("invite_expires_in_minutes is not an integer").await;
    minutes("0").bad("invite_expires_in_minutes is too small").await;
    minutes("-5").bad("invite_expires_in_minutes is too small").await;
    invite(&polonius, "a@x.example", &[]).bad("Not allowed for guest users").await;
    invite(&bot, "a@x.example", &[]).bad("This endpoint does not accept bot requests.").await;

    let role = |who, role: &'static str| invite(who, "a@x.example", &[("invite_as", &role)]);
    role(&desdemona, "500").bad("Invalid invite_as").await;
    let owner = json!({"msg": "Must be an organization owner", "code": "UNAUTHORIZED_PRINCIPAL"});
    role(&iago, "100").refused(400, owner).await;
    for code in ["200", "300"] {
        role(&shiva, code).bad("Must be an organization administrator").await;
        role(&hamlet, code).bad("Must be an organization administrator").await;
    }
    for empty in ["", " , \n ,"] {
        invite(&hamlet, empty, &[]).bad("You must specify at least one email address.").await;
    }
    let text = |who, text: &str| invite(who, "a@x.example", &[("welcome_message_custom_text", &text)]);
    text(&shiva, "Hi").bad("Must be an organization administrator").await;
    text(&shiva, "").bad("Must be an organization administrator").await;
    let long = "welcome_message_custom_text is too long (limit: 8000 characters)";
    text(&iago, &"é".repeat(8001)).bad(long).await;
    assert_eq!(listed(&desdemona).await, [] as [Value; 0], "no invitation was created");
    // Other inviters have no such message, whatever parameter a client sends.
    text(&shiva, "null").ok().await;
}

#[tokio::test]
async fn send_invites_channels_and_groups_need_permission() {
    let t = start().await;
    let [desdemona, iago, hamlet, othello] = t.users(["desdemona", "iago", "hamlet", "othello"]);
    let secret = iago.create_channel("secret").private().await;
    let open = iago.create_channel("open").await;
    let channels = |who, ids: Value| invite(who, "a@x.example", &[("stream_ids", &ids)]);
    for id in [secret.id, 99_999] {
        channels(&hamlet, json!([open.id, id]))
            .bad(&format!("Invalid channel ID {id}. No invites were sent."))
            .await;
    }
    let role_nobody = t.realm().directory().group_by_name("role:nobody").expect("a group").id.0;
    let setting = json!({"new": role_nobody});
    desdemona.patch("/realm", &[("can_add_subscribers_group", &setting)]).ok().await;
    let refusal = "You do not have permission to subscribe other users to channels.";
    channels(&hamlet, json!([open.id])).bad(refusal).await;
    desdemona.post("/default_streams", &[("stream_id", &open.id)]).ok().await;
    channels(&hamlet, json!([open.id])).ok().await;

    let group = crate::api::groups::create_with(&othello, "crew", &[], json!({})).await;
    let groups = |who, ids: Value| invite(who, "b@x.example", &[("group_ids", &ids)]);
    groups(&hamlet, json!([group])).bad("Insufficient permission").await;
    groups(&hamlet, json!([99_999])).bad("Invalid user group").await;
    groups(&othello, json!([1])).bad("Invalid user group").await;
    groups(&othello, json!([group])).ok().await;
}

#[tokio::test]
async fn send_invites_permission() {
    let t = start().await;
    let [desdemona, hamlet] = t.users(["desdemona", "hamlet"]);
    let owners = json!({"new": t.realm().directory().group_by_name("role:owners").expect("a group").id.0});
    desdemona.patch("/realm", &[("can_invite_users_group", &owners)]).ok().await;
    invite(&hamlet, "", &[("invite_as", &7)]).bad("Insufficient permission").await;
    invite(&desdemona, "a@x.example", &[]).ok().await;
}

#[tokio::test]
async fn send_invites_invalid_or_existing_addresses() {
    let t = start().await;
    let [desdemona, iago] = t.users(["desdemona", "iago"]);
    let invalid = "Some emails did not validate, so we didn't send any invitations.";
    invite(&iago, "notanemail", &[])
        .refused(400, failed(invalid, json!([["notanemail", "Invalid address.", false]]), false, false))
        .await;
    let both = json!([
        ["x@mailinator.com", "Please use your real email address.", false],
        ["hamlet@zulip.com", "Already has an account.", false]
    ]);
    invite(&iago, "hamlet@zulip.com,x@mailinator.com,fine@x.example", &[])
        .refused(400, failed(invalid, both, false, false))
        .await;
    let all = json!([
        ["HAMLET@zulip.com", "Already has an account.", false],
        ["welcome-bot@zulip.com", "Reserved for system bots.", false]
    ]);
    let anyone = "We weren't able to invite anyone.";
    let known = "HAMLET@zulip.com\nwelcome-bot@zulip.com";
    invite(&iago, known, &[]).refused(400, failed(anyone, all, false, false)).await;
    assert_eq!(listed(&iago).await, [] as [Value; 0], "no invitation was created");

    let othello = t.user("othello");
    iago.delete(&format!("/users/{}", othello.id), &[]).ok().await;
    let some = "Some of those addresses are already using Zulip, so we didn't send them an invitation. \
                We did send invitations to everyone else!";
    let skipped = json!([
        ["hamlet@zulip.com", "Already has an account.", false],
        ["othello@zulip.com", "Account has been deactivated.", true]
    ]);
    invite(&iago, "hamlet@zulip.com, new@x.example, othello@zulip.com", &[])
        .refused(400, failed(some, skipped, true, false))
        .await;
    assert_eq!(listed(&iago).await[0]["email"], "new@x.example");
    mail_to(&t, "new@x.example", 1).await;

    let domain: Params<'_> = &[("domain", &"acme.example"), ("allow_subdomains", &false)];
    desdemona.post("/realm/domains", domain).ok().await;
    desdemona.patch("/realm", &[("emails_restricted_to_domains", &true)]).ok().await;
    let outside = json!([
        ["a@x.example", "Outside your domain.", false],
        ["a+b@acme.example", "Email addresses containing + are not allowed.", false]
    ]);
    invite(&iago, "a@x.example,a+b@acme.example,a@acme.example", &[])
        .refused(400, failed(invalid, outside, false, false))
        .await;
}

#[tokio::test]
async fn send_invites_new_user_waiting_period() {
    let t = start().await;
    let desdemona = t.user("desdemona");
    crate::support::people::add(t.realm(), "newcomer", "New Comer", model::Role::Member, None).await;
    let newcomer = t.user("newcomer");
    let msg = "Your account is too new to send invites for this organization. Ask an organization admin, or a more \
               experienced user.";
    invite(&newcomer, "wrong", &[]).refused(400, failed(msg, json!([]), false, false)).await;
    desdemona.patch("/realm", &[("invite_required", &true)]).ok().await;
    invite(&newcomer, "a@x.example", &[]).ok().await;
}

#[tokio::test]
async fn send_invites_daily_limit() {
    let t = TestServer::builder().development().set("invitations.daily_max", 2).start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    invite(&hamlet, "a@x.example,b@x.example", &[]).ok().await;
    invite(&iago, "wrong", &[]).refused(400, failed(DAILY_LIMIT, json!([]), false, true)).await;
}

#[tokio::test]
async fn send_invites_daily_limit_of_member() {
    let t = TestServer::builder().development().set("invitations.member_daily_max", 2).start().await;
    let [iago, hamlet, othello] = t.users(["iago", "hamlet", "othello"]);
    let refused = || failed(DAILY_LIMIT, json!([]), false, true);
    invite(&hamlet, "a@x.example,b@x.example,c@x.example", &[]).refused(400, refused()).await;
    invite(&hamlet, "a@x.example,b@x.example", &[]).ok().await;
    hamlet.delete("/invites/1", &[]).ok().await;
    invite(&hamlet, "c@x.example", &[]).refused(400, refused()).await;
    invite(&othello, "c@x.example", &[]).ok().await;
    invite(&iago, "d@x.example,e@x.example,f@x.example", &[]).ok().await;
}

#[tokio::test]
async fn send_invites_without_mail_server() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let msg = "This server cannot send email; use a reusable invitation link";
    invite(&iago, "a@x.example", &[]).bad(msg).await;
    assert_eq!(listed(&iago).await, [] as [Value; 0]);
}
