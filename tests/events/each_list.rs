//! Events of domains, linkifiers and playgrounds: all users get them, linkifiers only in a format they support.

use super::each_type::kinds;
use super::verify;
use crate::support::{Params, TestServer};
use serde_json::json;

const ALL: [&str; 3] = ["desdemona", "hamlet", "polonius"];

#[tokio::test]
async fn realm_domain_events() {
    let t = TestServer::start().await;
    let desdemona = t.user("desdemona");
    let seen = verify(&t, &ALL, async {
        desdemona.post("/realm/domains", &[("domain", &"acme.com"), ("allow_subdomains", &true)]).ok().await;
        desdemona.patch("/realm/domains/acme.com", &[("allow_subdomains", &false)]).ok().await;
        // No change, no event.
        desdemona.patch("/realm/domains/acme.com", &[]).ok().await;
        desdemona.patch("/realm", &[("emails_restricted_to_domains", &true)]).ok().await;
        desdemona.delete("/realm/domains/acme.com", &[]).ok().await;
    })
    .await;
    for name in ALL {
        let expected = [
            "realm_domains add",
            "realm_domains change",
            "realm update_dict",
            "realm update_dict",
            "realm_domains remove",
        ];
        assert_eq!(kinds(&seen, name), expected, "{name}");
    }
    let said = &seen["hamlet"];
    assert_eq!(said[0]["realm_domain"], json!({"domain": "acme.com", "allow_subdomains": true}));
    assert_eq!(said[1]["realm_domain"], json!({"domain": "acme.com", "allow_subdomains": false}));
    assert_eq!(said[3]["data"], json!({"emails_restricted_to_domains": false}));
    assert_eq!(said[4]["domain"], "acme.com");
}

#[tokio::test]
async fn linkifier_and_playground_events() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let seen = verify(&t, &ALL, async {
        let one: Params<'_> = &[("pattern", &"a(?P<id>.)"), ("url_template", &"https://a.example/{id}")];
        let two: Params<'_> = &[("pattern", &"b(?P<id>.)"), ("url_template", &"https://b.example/{id}")];
        iago.post("/realm/filters", one).ok().await;
        iago.post("/realm/filters", two).ok().await;
        iago.patch("/realm/linkifiers", &[("ordered_linkifier_ids", &"[2,1]")]).ok().await;
        iago.patch("/realm/linkifiers", &[("ordered_linkifier_ids", &"[2,1]")]).ok().await;
        iago.patch("/realm/filters/1", one).ok().await;
        iago.delete("/realm/filters/2", &[]).ok().await;
        let playground: Params<'_> = &[
            ("name", &"Py"),
            ("pygments_language", &"Python"),
            ("url_template", &"https://p.example/{code}"),
        ];
        iago.post("/realm/playgrounds", playground).ok().await;
        iago.delete("/realm/playgrounds/1", &[]).ok().await;
    })
    .await;
    for name in ALL {
        let mut expected = vec!["realm_linkifiers"; 4];
        expected.extend(["realm_playgrounds"; 2]);
        assert_eq!(kinds(&seen, name), expected, "{name}");
    }
    let ids = |position: usize| {
        let all = seen["hamlet"][position]["realm_linkifiers"].as_array().expect("a list");
        all.iter().map(|one| one["id"].as_u64().expect("an id")).collect::<Vec<_>>()
    };
    assert_eq!([ids(0), ids(1), ids(2), ids(3)], [vec![1], vec![1, 2], vec![2, 1], vec![1]]);
    let one = json!({"id": 1, "name": "Py", "pygments_language": "Python", "url_template": "https://p.example/{code}"});
    assert_eq!(seen["hamlet"][4]["realm_playgrounds"], json!([one]));
    assert_eq!(seen["hamlet"][5]["realm_playgrounds"], json!([]));
}

#[tokio::test]
async fn export_events() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let seen = verify(&t, &["desdemona", "hamlet", "iago"], async {
        let id = iago.post("/export/realm", &[]).ok().await["id"].clone();
        while iago.get("/export/realm", &[]).ok().await["exports"][0]["pending"] == true {
            tokio::task::yield_now().await;
        }
        iago.delete(&format!("/export/realm/{id}"), &[]).ok().await;
    })
    .await;
    assert_eq!(kinds(&seen, "desdemona"), ["realm_export", "realm_export", "realm_export"]);
    assert_eq!(kinds(&seen, "iago"), ["realm_export", "realm_export", "message", "realm_export"]);
    assert_eq!(kinds(&seen, "hamlet"), [] as [&str; 0]);
}
