//! `/realm/playgrounds`.

use crate::support::{Params, TestServer, TestUser};
use serde_json::{Value, json};

const PATH: &str = "/realm/playgrounds";
const URL: &str = "https://py.example/?code={code}";

async fn listed(who: &TestUser) -> Value {
    who.register().await.state["realm_playgrounds"].clone()
}

#[tokio::test]
async fn playground_lifecycle() {
    let t = TestServer::start().await;
    let [iago, polonius] = t.users(["iago", "polonius"]);
    let add = |name: &'static str, language: &'static str| {
        let iago = iago.clone();
        async move {
            let params: Params<'_> =
                &[("name", &name), ("pygments_language", &language), ("url_template", &URL)];
            iago.post(PATH, params).ok().await["id"].clone()
        }
    };
    assert_eq!((add(" Py ", " Python ").await, add("Py", "C++").await), (json!(1), json!(2)));
    let expected = json!([
        {"id": 1, "name": "Py", "pygments_language": "Python", "url_template": URL},
        {"id": 2, "name": "Py", "pygments_language": "C++", "url_template": URL},
    ]);
    assert_eq!(listed(&polonius).await, expected);
    iago.delete(&format!("{PATH}/1"), &[]).ok().await;
    iago.delete(&format!("{PATH}/1"), &[]).bad("Invalid playground").await;
    assert_eq!(add("Py", "Python").await, json!(3), "ids are never given out again");
    let t = TestServer::builder().on(t.stop().await).start().await;
    let now = listed(&t.user("polonius")).await;
    assert_eq!((&now[0]["id"], &now[1]["id"]), (&json!(2), &json!(3)));
}

#[tokio::test]
async fn playground_errors() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let long = "x".repeat(41);
    let cases: [(&str, &str, &str, &str, &str); 7] = [
        (" ", "Python", URL, "name", "This field cannot be blank."),
        ("Py", "", URL, "pygments_language", "This field cannot be blank."),
        ("Py", "Py(thon", URL, "pygments_language", "Invalid characters in pygments language"),
        ("Py", &long, URL, "pygments_language", "Ensure this value has at most 40 characters (it has 41)."),
        ("Py", "Python", "https://x.example/{code", "url_template", "Invalid URL template."),
        (
            "Py",
            "Python",
            "https://x.example/",
            "__all__",
            "Missing the required variable \"code\" in the URL template",
        ),
        (
            "Py",
            "Python",
            "https://x.example/{code}{other}",
            "__all__",
            "\"code\" should be the only variable present in the URL template",
        ),
    ];
    for (name, language, url, field, msg) in cases {
        let body = json!({"msg": msg, "code": "BAD_REQUEST", "errors": {field: [msg]}});
        let params: Params<'_> = &[("name", &name), ("pygments_language", &language), ("url_template", &url)];
        iago.post(PATH, params).refused(400, body).await;
    }
    assert_eq!(listed(&iago).await, json!([]));
}
