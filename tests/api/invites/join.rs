//! `/join/{key}/`: the page, its form, and the account that it creates.

use super::{PASSWORD, create_link, fill_in, invite, kinds, link_in, listed, mail_to, open, start};
use crate::support::{Params, TestServer, TestUser};
use serde_json::{Value, json};

/// Logs in with email address and password.
async fn log_in(t: &TestServer, address: &str) -> TestUser {
    let params: Params<'_> = &[("username", &address), ("password", &PASSWORD)];
    let body = t.anonymous().post("/fetch_api_key", params).ok().await;
    let id = body["user_id"].as_u64().expect("an id") as u32;
    let key = body["api_key"].as_str().expect("a key").to_owned();
    TestUser { id, key, email: address.to_owned(), ..t.anonymous() }
}

fn form(name: &str) -> [(&str, &str); 2] {
    [("full_name", name), ("password", PASSWORD)]
}

/// The direct messages that a bot sent to a user, oldest first.
async fn from_bot(who: &TestUser, bot: &str) -> Vec<String> {
    let messages = who.messages(json!([])).await.into_iter();
    let own = messages.filter(|message| message["type"] == "private" && message["sender_full_name"] == bot);
    own.map(|message| message["content"].as_str().expect("a text").to_owned()).collect()
}

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "one story, from the invitation to the welcome")]
async fn join_applies_invitation_role_channels_and_groups() {
    let t = start().await;
    let [desdemona, iago, hamlet] = t.users(["desdemona", "iago", "hamlet"]);
    let [crew, extra] = [iago.create_channel("crew").private().await, iago.create_channel("extra").await];
    iago.delete(&format!("/streams/{}", extra.id), &[]).ok().await;
    let sailors = crate::api::groups::create_with(&iago, "sailors", &[], json!({})).await;
    let news = iago.create_channel("news").await;
    desdemona.patch("/realm", &[("signup_announcements_stream_id", &news.id)]).ok().await;
    desdemona.patch("/realm", &[("welcome_message_custom_text", &"Read **the** rules.")]).ok().await;
    let (channels, groups) = (json!([crew.id]), json!([sailors]));
    let params: Params<'_> = &[
        ("invite_as", &300),
        ("stream_ids", &channels),
        ("group_ids", &groups),
        ("include_realm_default_subscriptions", &true),
        ("welcome_message_custom_text", &"Ahoy, *captain*!"),
    ];
    invite(&iago, "Ada@x.example", params).ok().await;
    invite(&hamlet, "ada@X.example", &[]).ok().await;
    let other = link_in(&mail_to(&t, "ada@X.example", 1).await);
    let link = link_in(&mail_to(&t, "Ada@x.example", 1).await);
    let (status, page) = open(&t, &link).await;
    assert_eq!(status, 200);
    for text in ["Join Zulip Dev", "Iago invites you", "value=\"Ada@x.example\" readonly", "new-password"] {
        assert!(page.contains(text), "{text} is missing: {page}");
    }

    let mut queues = Vec::new();
    for person in [&iago, &hamlet] {
        queues.push(person.register().events(&["invites_changed", "realm_user"]).await);
    }
    // The address in the form is ignored: the invitation determines it.
    let mut filled = form("  Ada Lovelace ").to_vec();
    filled.push(("email", "mallory@x.example"));
    let (status, page) = fill_in(&t, &link, &filled).await;
    assert!(status == 200 && page.contains("Welcome, Ada Lovelace!"), "{status} {page}");
    assert!(page.contains("Ada@x.example") && page.contains(&*t.url), "{page}");
    // One invitation event for the used invitation, one for the revoked one.
    for queue in &mut queues {
        let mut kinds = kinds(queue).await;
        kinds.dedup();
        assert_eq!(kinds, ["realm_user", "invites_changed"]);
    }
    assert_eq!(listed(&desdemona).await, [] as [Value; 0]);

    let ada = log_in(&t, "ada@x.example").await;
    let own = ada.get("/users/me", &[]).ok().await;
    assert_eq!((&own["full_name"], &own["role"]), (&json!("Ada Lovelace"), &json!(300)));
    let state = ada.register().await.state;
    let mut names: Vec<&str> =
        state["subscriptions"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    names.sort_unstable();
    let directory = t.realm().directory();
    let defaults =
        directory.realm().default_channels.iter().map(|id| directory.channel(*id).unwrap().name.clone());
    let mut expected: Vec<String> = defaults.chain(["crew".to_owned()]).collect();
    expected.sort_unstable();
    assert_eq!(names, expected);
    let group = directory.group(model::GroupId(sailors)).unwrap();
    assert!(group.members.contains(&model::UserId(ada.id)));

    let welcome = from_bot(&ada, "Welcome Bot").await;
    assert_eq!(welcome.len(), 2);
    assert!(welcome[0].contains("<strong>Zulip Dev</strong>"), "{welcome:?}");
    assert_eq!(welcome[1], "<p>Ahoy, <em>captain</em>!</p>");
    let mention =
        format!("<span class=\"user-mention silent\" data-user-id=\"{}\">Ada Lovelace</span>", ada.id);
    let received = from_bot(&iago, "Notification Bot").await;
    let expected = format!("<p>{mention} accepted your invitation to join Zulip!</p>");
    assert_eq!(received.last(), Some(&expected));
    let notice = iago.messages(json!([["channel", "news"], ["topic", "signups"]])).await;
    let content = notice.last().expect("a notice")["content"].clone();
    assert_eq!(content, format!("<p>{mention} joined this organization.</p>"));

    let (status, page) = open(&t, &link).await;
    assert!(status == 410 && page.contains("This invitation has already been used"), "{page}");
    assert!(page.contains("<a href=\"/login/\">Log in</a>"), "{page}");
    let (status, page) = fill_in(&t, &link, &form("Ada Again")).await;
    assert!(status == 410 && page.contains("This invitation has already been used"), "{page}");
    let (status, page) = open(&t, &other).await;
    assert!(status == 410 && page.contains("This invitation has been revoked"), "{page}");
    iago.delete("/invites/1", &[]).bad("Invitation already used or deactivated.").await;
}

#[tokio::test]
async fn join_by_multiuse_link() {
    let t = TestServer::start().await;
    let [desdemona, iago] = t.users(["desdemona", "iago"]);
    desdemona.patch("/realm", &[("welcome_message_custom_text", &"Read **the** rules.")]).ok().await;
    let link = create_link(&iago, &[("invite_as", &600)]).await;
    let join = |email: &'static str, name: &'static str, password: &'static str| {
        let (t, link) = (&t, link.clone());
        async move { fill_in(t, &link, &[("email", email), ("full_name", name), ("password", password)]).await }
    };
    // This server sends no mail.
    let (_, page) = open(&t, &link).await;
    assert!(page.contains("You log in with this address.") && !page.contains("we send"), "{page}");
    for (email, name, password, problem) in [
        ("no address", "Ada", PASSWORD, "Enter a valid email address."),
        (
            "hamlet@zulip.com",
            "Ada",
            PASSWORD,
            "Log in with it; if you forgot the password, the page to log in says",
        ),
        ("ghost@zulip.com", "Ada", PASSWORD, "has been deactivated"),
        ("a@mailinator.com", "Ada", PASSWORD, "Please use your real email address."),
        ("ada@x.example", "A", PASSWORD, "A name has 2 to 100 characters."),
        ("ada@x.example", "Ada **", PASSWORD, "A name cannot have these characters"),
        ("ada@x.example", "Ada", "abc", "A password has at least 6 characters."),
        ("ada@x.example", "Ada", "qwerty", "This password is too easy to guess."),
        ("ada@x.example", "Ada", "ada@x.example", "This password is too easy to guess."),
    ] {
        let (status, page) = join(email, name, password).await;
        assert!(status == 400 && page.contains(problem), "{problem}: {status} {page}");
        assert!(page.contains("aria-invalid=\"true\"") && !page.contains(PASSWORD), "{page}");
    }
    let (status, page) = fill_in(&t, &link, &[]).await;
    assert!(status == 400 && page.contains("Enter a valid email address."), "{page}");
    // The form is shown again with the entered values, escaped.
    let (_, page) = join("<b>\"@x.example", "<script>alert(1)</script>", PASSWORD).await;
    assert!(!page.contains("<script>") && !page.contains("<b>\""), "{page}");

    let mut queue = iago.register().events(&["invites_changed"]).await;
    for (email, name) in [(" ada@x.example ", "Ada"), ("bob@x.example", "Bob")] {
        assert_eq!(join(email, name, PASSWORD).await.0, 200, "{name}");
    }
    assert_eq!(kinds(&mut queue).await, ["invites_changed", "invites_changed"]);
    let (status, page) = join("ADA@x.example", "Another Ada", PASSWORD).await;
    assert!(status == 400 && page.contains("An account with this address exists already."), "{page}");
    let ada = log_in(&t, "ada@x.example").await;
    assert_eq!(ada.get("/users/me", &[]).ok().await["role"], 600);
    assert_eq!(from_bot(&ada, "Welcome Bot").await[1], "<p>Read <strong>the</strong> rules.</p>");
    assert_eq!(from_bot(&iago, "Notification Bot").await.len(), 2);
    assert_eq!(listed(&iago).await.len(), 1, "the link is still good");
}

#[tokio::test]
async fn join_notices_can_be_disabled() {
    let t = start().await;
    let iago = t.user("iago");
    iago.patch("/realm", &[("welcome_message_custom_text", &"Read the rules.")]).ok().await;
    let params: Params<'_> = &[("notify_referrer_on_join", &false), ("welcome_message_custom_text", &"")];
    invite(&iago, "ada@x.example", params).ok().await;
    let before = from_bot(&iago, "Notification Bot").await;
    let link = link_in(&mail_to(&t, "ada@x.example", 1).await);
    assert_eq!(fill_in(&t, &link, &form("Ada")).await.0, 200);
    assert_eq!(from_bot(&iago, "Notification Bot").await, before);
    let ada = log_in(&t, "ada@x.example").await;
    assert_eq!(from_bot(&ada, "Welcome Bot").await.len(), 1, "without words of the organization's own");
}

#[tokio::test]
async fn join_twice_concurrently_creates_one_account() {
    let t = start().await;
    let iago = t.user("iago");
    invite(&iago, "ada@x.example", &[]).ok().await;
    let link = link_in(&mail_to(&t, "ada@x.example", 1).await);
    let (ada, eve) = (form("Ada"), form("Eve"));
    let (one, two) = futures_util::join!(fill_in(&t, &link, &ada), fill_in(&t, &link, &eve));
    let mut statuses = [one.0, two.0];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 410], "{} {}", one.1, two.1);
}

#[tokio::test]
async fn join_restricted_to_realm_domains() {
    let t = TestServer::start().await;
    let [desdemona, iago] = t.users(["desdemona", "iago"]);
    let link = create_link(&iago, &[]).await;
    let domain: Params<'_> = &[("domain", &"acme.example"), ("allow_subdomains", &false)];
    desdemona.post("/realm/domains", domain).ok().await;
    desdemona.patch("/realm", &[("emails_restricted_to_domains", &true)]).ok().await;
    let join = |email: &'static str| {
        let (t, link) = (&t, link.clone());
        async move { fill_in(t, &link, &[("email", email), ("full_name", "Ada"), ("password", PASSWORD)]).await }
    };
    let (status, page) = join("ada@x.example").await;
    assert!(status == 400 && page.contains("only email addresses of its own domains"), "{page}");
    assert_eq!(join("a+da@acme.example").await.0, 400);
    assert_eq!(join("ada@acme.example").await.0, 200);
}

#[tokio::test]
async fn join_invalid_links() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let link = create_link(&iago, &[]).await;
    let key = link.trim_end_matches('/').rsplit('/').next().unwrap();
    let (id, secret) = key.split_once('-').expect("an id and a secret");
    let swapped: String = secret.chars().rev().collect();
    for key in [
        "x".to_owned(),
        format!("{id}-"),
        format!("{id}-{swapped}"),
        format!("2-{secret}"),
        format!("0{id}-{secret}"),
        format!("+{id}-{secret}"),
        secret.to_owned(),
        format!("{key}/more"),
    ] {
        for (status, page) in [
            open(&t, &format!("{}/join/{key}/", t.url)).await,
            fill_in(&t, &format!("{}/join/{key}/", t.url), &form("Ada")).await,
        ] {
            assert!(status == 404 && page.contains("This link is not valid"), "{key}: {page}");
        }
    }
    // The key of another organization is unknown here.
    let acme = crate::support::people::create_second(t.server(), "acme").await;
    let elsewhere = acme.invitation_key(model::InvitationId(1));
    assert_eq!(open(&t, &format!("{}/join/{elsewhere}/", t.url)).await.0, 404);
}

#[tokio::test]
async fn join_page_headers_and_link_after_restart() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let link = create_link(&iago, &[("invite_expires_in_minutes", &"null")]).await;
    let answer = t.anonymous().http.get(&link).send().await.unwrap();
    let header = |name: &str| answer.headers().get(name).unwrap().to_str().unwrap().to_owned();
    assert_eq!(header("Content-Type"), "text/html; charset=utf-8");
    assert_eq!(
        (header("Cache-Control"), header("Referrer-Policy")),
        ("no-store".into(), "same-origin".into())
    );
    assert!(header("Content-Security-Policy").starts_with("default-src 'none'"));
    assert_eq!(header("X-Frame-Options"), "DENY");
    assert!(answer.headers().get("Set-Cookie").is_none());
    let page = answer.text().await.unwrap();
    assert!(!page.contains("<script") && !page.contains("http://") && !page.contains("https://"), "{page}");

    let before = listed(&iago).await;
    let path = link.split_once("/join/").unwrap().1.to_owned();
    let folder = t.stop().await;
    let t = TestServer::builder().on(folder).start().await;
    let mut after = listed(&t.user("iago")).await;
    assert_eq!(after[0]["link_url"], format!("{}/join/{path}", t.url));
    after[0]["link_url"] = before[0]["link_url"].clone();
    assert_eq!(after, before);
    let link = format!("{}/join/{path}", t.url);
    let filled = [("email", "ada@x.example"), ("full_name", "Ada"), ("password", PASSWORD)];
    assert_eq!(fill_in(&t, &link, &filled).await.0, 200);
    log_in(&t, "ada@x.example").await;
}

#[tokio::test]
async fn join_deactivated_realm_is_refused() {
    let t = TestServer::start().await;
    let [desdemona, iago] = t.users(["desdemona", "iago"]);
    let link = create_link(&iago, &[]).await;
    desdemona.post("/realm/deactivate", &[]).ok().await;
    let (status, page) = open(&t, &link).await;
    assert!(status == 410 && page.contains("This organization has been deactivated"), "{page}");
}

#[tokio::test]
async fn chosen_default_groups_are_subscribed() {
    let t = start().await;
    let iago = t.user("iago");
    for name in ["harbor", "mill"] {
        iago.create_channel(name).await;
    }
    for (group, channel) in [("north", "harbor"), ("south", "mill")] {
        let names = json!([channel]);
        let new: Params<'_> =
            &[("group_name", &group), ("description", &"Far away"), ("stream_names", &names)];
        iago.post("/default_stream_groups/create", new).ok().await;
    }
    let link = create_link(&iago, &[]).await;
    let (_, page) = open(&t, &link).await;
    assert!(page.contains("name=\"default_stream_group_2\"> south: Far away"), "{page}");
    let chosen = [("full_name", "Ada"), ("password", PASSWORD), ("default_stream_group_2", "on")];
    let fields = [&[("email", "ada@x.example")][..], &chosen].concat();
    let (status, page) = fill_in(&t, &link, &fields).await;
    assert_eq!(status, 200, "{page}");
    let ada = log_in(&t, "ada@x.example").await;
    let own = ada.get("/users/me/subscriptions", &[]).ok().await;
    let names: Vec<&str> =
        own["subscriptions"].as_array().unwrap().iter().filter_map(|one| one["name"].as_str()).collect();
    assert!(names.contains(&"mill") && !names.contains(&"harbor"), "{names:?}");
    // Guests are not asked.
    let link = create_link(&iago, &[("invite_as", &600)]).await;
    let (_, page) = open(&t, &link).await;
    assert!(!page.contains("default_stream_group"), "{page}");
}
