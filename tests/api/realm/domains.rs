//! `/realm/domains`, and the restriction of email addresses to them.

use crate::support::{Params, TestServer, TestUser};
use serde_json::{Value, json};

const PATH: &str = "/realm/domains";

async fn listed(who: &TestUser) -> Value {
    who.get(PATH, &[]).ok().await["domains"].clone()
}

#[tokio::test]
async fn realm_domain_lifecycle() {
    let t = TestServer::start().await;
    let [desdemona, polonius] = t.users(["desdemona", "polonius"]);
    assert_eq!(listed(&polonius).await, json!([]));
    let added = desdemona.post(PATH, &[("domain", &" Acme.COM "), ("allow_subdomains", &true)]).ok().await;
    assert_eq!(added["new_domain"], json!([1, "acme.com"]));
    let added = desdemona.post(PATH, &[("domain", &"zulip.com")]).ok().await;
    assert_eq!(added["new_domain"], json!([2, "zulip.com"]));
    let both = json!([
        {"domain": "acme.com", "allow_subdomains": true},
        {"domain": "zulip.com", "allow_subdomains": false},
    ]);
    assert_eq!(listed(&polonius).await, both);
    assert_eq!(desdemona.register().await.state["realm_domains"], both);
    let path = format!("{PATH}/zulip.com");
    desdemona.patch(&path, &[("allow_subdomains", &true)]).ok().await;
    assert_eq!(listed(&polonius).await[1]["allow_subdomains"], true);
    // `allow_subdomains` defaults to false.
    desdemona.patch(&path, &[]).ok().await;
    assert_eq!(listed(&polonius).await, both);
    let t = TestServer::builder().on(t.stop().await).start().await;
    let desdemona = t.user("desdemona");
    assert_eq!(listed(&desdemona).await, both);
    // Without any domain, all addresses are allowed again.
    desdemona.patch("/realm", &[("emails_restricted_to_domains", &true)]).ok().await;
    desdemona.delete(&path, &[]).ok().await;
    let restricted = async || desdemona.register().await.state["realm_emails_restricted_to_domains"].clone();
    assert_eq!(restricted().await, true);
    desdemona.delete(&format!("{PATH}/acme.com"), &[]).ok().await;
    assert_eq!((listed(&desdemona).await, restricted().await), (json!([]), json!(false)));
    let added = desdemona.post(PATH, &[("domain", &"acme.com")]).ok().await;
    assert_eq!(added["new_domain"], json!([3, "acme.com"]), "ids are never given out again");
}

#[tokio::test]
async fn realm_domain_errors() {
    let t = TestServer::start().await;
    let [desdemona, iago] = t.users(["desdemona", "iago"]);
    desdemona.post(PATH, &[("domain", &"acme.com")]).ok().await;
    let long = format!("{}.com", "a".repeat(255));
    let cases: [(&str, &str); 9] = [
        ("", "Invalid domain: Domain can't be empty."),
        ("acme", "Invalid domain: Domain must have at least one dot (.)"),
        (&long, "Invalid domain: Domain is too long"),
        (".acme.com", "Invalid domain: Domain cannot start or end with a dot (.)"),
        ("acme..com", "Invalid domain: Consecutive '.' are not allowed."),
        ("-acme.com", "Invalid domain: Subdomains cannot start or end with a '-'."),
        ("acme.com-", "Invalid domain: Subdomains cannot start or end with a '-'."),
        ("ac_me.com", "Invalid domain: Domain can only have letters, numbers, '.' and '-'s."),
        ("ACME.com", "The domain acme.com is already a part of your organization."),
    ];
    for (domain, msg) in cases {
        desdemona.post(PATH, &[("domain", &domain)]).bad(msg).await;
    }
    let missing = "No entry found for domain nowhere.example.";
    desdemona.patch(&format!("{PATH}/nowhere.example"), &[]).bad(missing).await;
    desdemona.delete(&format!("{PATH}/nowhere.example"), &[]).bad(missing).await;
    let owner = json!({"msg": "Must be an organization owner", "code": "UNAUTHORIZED_PRINCIPAL"});
    iago.post(PATH, &[("domain", &"zulip.com")]).refused(400, owner).await;
    assert_eq!(listed(&iago).await, json!([{"domain": "acme.com", "allow_subdomains": false}]));
}

#[tokio::test]
async fn realm_domains_restrict_email_addresses() {
    // Only a development server has a user who may create users.
    let t = TestServer::builder().development().start().await;
    let desdemona = t.user("desdemona");
    let create = |email: String| {
        let desdemona = desdemona.clone();
        async move {
            let params: Params<'_> =
                &[("email", &email), ("password", &"correct horse"), ("full_name", &"New")];
            desdemona.post("/users", params).await
        }
    };
    let refused = async |email: &str, msg: &str| {
        create(email.to_owned()).await.refused(400, json!({"msg": msg, "code": "BAD_REQUEST"}));
    };
    refused("a@mailinator.com", "Disposable email addresses are not allowed in this organization").await;
    create("a+b@gmail.com".to_owned()).await.ok();
    desdemona.post(PATH, &[("domain", &"acme.com"), ("allow_subdomains", &true)]).ok().await;
    desdemona.patch("/realm", &[("emails_restricted_to_domains", &true)]).ok().await;
    refused("a@gmail.com", "Email 'a@gmail.com' not allowed in this organization").await;
    refused("a@badacme.com", "Email 'a@badacme.com' not allowed in this organization").await;
    refused("a+b@acme.com", "Email addresses containing + are not allowed.").await;
    create("a@acme.com".to_owned()).await.ok();
    create("a@sub.acme.com".to_owned()).await.ok();
}
