//! Who may call what, where: hosts, keys, webhooks, and the same again after a restart.

use super::*;
use actors::{NewRealm, NewUser, commands};
use model::Role;

#[actix_web::test]
async fn host_header_selects_organization() {
    let (server, client) = start(&[]).await;
    let url = |path: &str| format!("{}/api/v1{path}", server.url());
    let get = |path: &str, host: &str| client.get(url(path)).header("Host", host);
    // Unknown names are names of the organization at the root, but unknown subdomains are not.
    for host in ["localhost:9991", "127.0.0.1", "chat.test:80"] {
        assert_eq!(read(get("/whose", host)).await.1["subdomain"], "", "{host}");
    }
    let unknown = json!({"result": "error", "msg": "Invalid subdomain", "code": "NONEXISTENT_SUBDOMAIN"});
    assert_eq!(read(get("/whose", "acme.localhost")).await, (404, unknown.clone()));

    let actors = server.app().server.clone();
    let new = NewRealm { subdomain: "acme".into(), name: "Acme".into(), email_domain: "acme.example".into() };
    let acme = actors.create_realm(new, |_| Vec::new()).await.unwrap();
    let olga = NewUser {
        email: "olga@acme.example".into(),
        full_name: "Olga".into(),
        role: Role::Owner,
        bot: None,
        password_hash: None,
        timezone: String::new(),
        channels: Vec::new(),
    };
    let olga = acme.execute(commands::CreateUser { user: olga, sends_messages: false }).await.unwrap();
    let olga = ("olga@acme.example", acme.api_key(&olga));
    assert_eq!(read(get("/whose", "acme.localhost")).await.1["subdomain"], "acme");
    // They stay so with another organization, whose subdomain below an unknown name names neither.
    for host in ["chat.test", "192.168.1.5:9991", "0.0.0.0", "other.test"] {
        assert_eq!(read(get("/whose", host)).await.1["subdomain"], "", "{host}");
    }
    for host in ["other.localhost", "acme.test", "acme.chat.test:80"] {
        assert_eq!(read(get("/whose", host)).await, (404, unknown.clone()), "{host}");
    }

    let at =
        |host: &str, address: &str, key: &str| read(get("/users/me", host).basic_auth(address, Some(key)));
    assert_eq!(at("acme.localhost", olga.0, &olga.1).await.0, 200);
    assert_eq!(at("acme.localhost", "OLGA@acme.example", &olga.1).await.0, 200);
    for host in ["localhost", "chat.test", "other.localhost"] {
        let (status, body) = at(host, olga.0, &olga.1).await;
        assert_eq!(
            (status, &body["msg"], &body["code"]),
            (400, &json!("Account is not associated with this subdomain"), &json!("BAD_REQUEST")),
            "{host}"
        );
        // The right key of the wrong person is no key, wherever.
        let (status, body) = at(host, "hamlet@zulip.com", &olga.1).await;
        assert_eq!((status, &body["code"]), (401, &json!("UNAUTHORIZED")), "{host}");
    }
    server.stop().await.unwrap();
}

#[actix_web::test]
async fn incoming_webhook_bots_only_send() {
    let (server, client) = start(&[]).await;
    let url = |path: &str| format!("{}/api/v1{path}", server.url());
    let webhook = |request: RequestBuilder| {
        request.basic_auth("webhook-bot@zulip.com", Some(key("webhook-bot@zulip.com")))
    };
    let refused = "This API is not available to incoming webhook bots.";
    for path in ["/users/me", "/messages/1", "/events"] {
        let (status, body) = read(webhook(client.get(url(path)))).await;
        assert_eq!((status, &body["msg"]), (400, &json!(refused)), "{path}");
    }
    assert_eq!(read(webhook(client.patch(url("/messages")))).await.1["msg"], refused);
    assert_eq!(read(webhook(client.post(url("/messages"))).form(&[("content", "hi")])).await.0, 200);
    server.stop().await.unwrap();
}

#[actix_web::test]
async fn data_survives_restart() {
    let (server, client) = start(&[]).await;
    let (config, key) = (server.app().config.clone(), key("iago@zulip.com"));
    // Nothing of the first server may be left, or its trees stay open.
    let (_data, _) = STARTED.take().unwrap();
    server.stop().await.unwrap();
    let server = serve(setup(config)).await.unwrap();
    let request = client.get(format!("{}/api/v1/users/me", server.url()));
    assert_eq!(read(request.basic_auth("iago@zulip.com", Some(key))).await.0, 200);
    assert_eq!(server.app().server.realms().len(), 1, "the sample organization is made once");
    server.stop().await.unwrap();
}
