//! `/join/{key}/`: the page, and everything that comes of its form.

use super::{PASSWORD, create_link, fill_in, invite, kinds, link_in, listed, mail_to, open, start};
use crate::support::{Params, Person, TestServer};
use serde_json::{Value, json};

/// Logs in as a client would, by address and password.
async fn log_in(t: &TestServer, address: &str) -> Person {
    let params: Params<'_> = &[("username", &address), ("password", &PASSWORD)];
    let body = t.stranger().post("/fetch_api_key", params).ok().await;
    let id = body["user_id"].as_u64().expect("an id") as u32;
    let key = body["api_key"].as_str().expect("a key").to_owned();
    Person { id, key, email: address.to_owned(), ..t.stranger() }
}

fn form(name: &str) -> [(&str, &str); 2] {
    [("full_name", name), ("password", PASSWORD)]
}

/// What a bot wrote to somebody, oldest first.
async fn from_bot(who: &Person, bot: &str) -> Vec<String> {
    let messages = who.messages(json!([])).await.into_iter();
    let own = messages.filter(|message| message["type"] == "private" && message["sender_full_name"] == bot);
    own.map(|message| message["content"].as_str().expect("a text").to_owned()).collect()
}

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "one story, from the invitation to the welcome")]
async fn joining_gives_what_the_invitation_says() {
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
    // The address in the form is not asked: the invitation has one.
    let mut filled = form("  Ada Lovelace ").to_vec();
    filled.push(("email", "mallory@x.example"));
    let (status, page) = fill_in(&t, &link, &filled).await;
    assert!(status == 200 && page.contains("Welcome, Ada Lovelace!"), "{status} {page}");
    assert!(page.contains("Ada@x.example") && page.contains(&*t.url), "{page}");
    // Both of the events of invitations: one used, another taken back.
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
    let told = from_bot(&iago, "Notification Bot").await;
    let expected = format!("<p>{mention} accepted your invitation to join Zulip!</p>");
    assert_eq!(told.last(), Some(&expected));
    let notice = iago.messages(json!([["channel", "news"], ["topic", "signups"]])).await;
    let content = notice.last().expect("a notice")["content"].clone();
    assert_eq!(content, format!("<p>{mention} joined this organization.</p>"));

    let (status, page) = open(&t, &link).await;
    assert!(status == 410 && page.contains("This invitation has already been used"), "{page}");
    let (status, page) = fill_in(&t, &link, &form("Ada Again")).await;
    assert!(status == 410 && page.contains("This invitation has already been used"), "{page}");
    let (status, page) = open(&t, &other).await;
    assert!(status == 410 && page.contains("This invitation has been revoked"), "{page}");
    iago.delete("/invites/1", &[]).bad("Invitation already used or deactivated.").await;
}

#[tokio::test]
async fn many_join_by_one_link_and_say_who_they_are() {
    let t = TestServer::start().await;
    let [desdemona, iago] = t.users(["desdemona", "iago"]);
    desdemona.patch("/realm", &[("welcome_message_custom_text", &"Read **the** rules.")]).ok().await;
    let link = create_link(&iago, &[("invite_as", &600)]).await;
    let join = |email: &'static str, name: &'static str, password: &'static str| {
        let (t, link) = (&t, link.clone());
        async move { fill_in(t, &link, &[("email", email), ("full_name", name), ("password", password)]).await }
    };
    for (email, name, password, problem) in [
        ("no address", "Ada", PASSWORD, "Enter a valid email address."),
        ("hamlet@zulip.com", "Ada", PASSWORD, "There is an account with this address already."),
        ("ghost@zulip.com", "Ada", PASSWORD, "has been deactivated"),
        ("a@mailinator.com", "Ada", PASSWORD, "Please use your real email address."),
        ("ada@x.example", "A", PASSWORD, "Name too short!"),
        ("ada@x.example", "Ada **", PASSWORD, "Invalid characters in name!"),
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
    // What was typed stands in the form again, as text.
    let (_, page) = join("<b>\"@x.example", "<script>alert(1)</script>", PASSWORD).await;
    assert!(!page.contains("<script>") && !page.contains("<b>\""), "{page}");

    let mut queue = iago.register().events(&["invites_changed"]).await;
    for (email, name) in [(" ada@x.example ", "Ada"), ("bob@x.example", "Bob")] {
        assert_eq!(join(email, name, PASSWORD).await.0, 200, "{name}");
    }
    assert_eq!(kinds(&mut queue).await, ["invites_changed", "invites_changed"]);
    let (status, page) = join("ADA@x.example", "Another Ada", PASSWORD).await;
    assert!(status == 400 && page.contains("There is an account with this address already."), "{page}");
    let ada = log_in(&t, "ada@x.example").await;
    assert_eq!(ada.get("/users/me", &[]).ok().await["role"], 600);
    assert_eq!(from_bot(&ada, "Welcome Bot").await[1], "<p>Read <strong>the</strong> rules.</p>");
    assert_eq!(from_bot(&iago, "Notification Bot").await.len(), 2);
    assert_eq!(listed(&iago).await.len(), 1, "the link is still good");
}

#[tokio::test]
async fn the_inviter_may_not_want_to_know_and_nobody_needs_to_be_greeted() {
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
async fn two_at_once_get_one_account() {
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
async fn an_organization_takes_addresses_of_its_domains() {
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
    assert!(status == 400 && page.contains("only addresses at domains of its own"), "{page}");
    assert_eq!(join("a+da@acme.example").await.0, 400);
    assert_eq!(join("ada@acme.example").await.0, 200);
}

#[tokio::test]
async fn links_that_lead_nowhere() {
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
            assert!(status == 404 && page.contains("This link does not lead anywhere"), "{key}: {page}");
        }
    }
    // Another organization's key is none here.
    let acme = crate::support::people::create_second(t.server(), "acme").await;
    let elsewhere = acme.invitation_key(model::InvitationId(1));
    assert_eq!(open(&t, &format!("{}/join/{elsewhere}/", t.url)).await.0, 404);
}

#[tokio::test]
async fn pages_keep_to_themselves_and_links_outlive_a_restart() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let link = create_link(&iago, &[("invite_expires_in_minutes", &"null")]).await;
    let answer = t.stranger().http.get(&link).send().await.unwrap();
    let header = |name: &str| answer.headers().get(name).unwrap().to_str().unwrap().to_owned();
    assert_eq!(header("Content-Type"), "text/html; charset=utf-8");
    assert_eq!(
        (header("Cache-Control"), header("Referrer-Policy")),
        ("no-store".into(), "no-referrer".into())
    );
    assert!(header("Content-Security-Policy").starts_with("default-src 'none'"));
    assert_eq!(header("X-Frame-Options"), "DENY");
    assert!(answer.headers().get("Set-Cookie").is_none());
    let page = answer.text().await.unwrap();
    assert!(!page.contains("<script") && !page.contains("http://") && !page.contains("https://"), "{page}");

    let before = listed(&iago).await;
    let path = link.split_once("/join/").unwrap().1.to_owned();
    let folder = t.stop().await;
    let t = TestServer::plan().on(folder).start().await;
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
async fn a_deactivated_organization_takes_nobody_in() {
    let t = TestServer::start().await;
    let [desdemona, iago] = t.users(["desdemona", "iago"]);
    let link = create_link(&iago, &[]).await;
    desdemona.post("/realm/deactivate", &[]).ok().await;
    let (status, page) = open(&t, &link).await;
    assert!(status == 410 && page.contains("This organization has been deactivated"), "{page}");
}
