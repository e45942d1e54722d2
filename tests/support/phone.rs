//! A phone with the app, and a push service that knows it.

use super::service::{Asked, Reaction, Service};
use super::{Params, Person, Queue};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use crypto_secretbox::aead::{Aead, KeyInit};
use crypto_secretbox::{Key, Nonce, XSalsa20Poly1305};
use serde_json::{Value, json};

/// A phone of somebody's.
#[derive(Clone, Copy, Debug)]
pub struct Phone {
    /// The number that it gave to the account.
    pub account: i64,
    pub kind: &'static str,
    /// By which the push service knows it.
    pub service_id: i64,
    key: [u8; 32],
}

impl Phone {
    pub fn new(account: i64, kind: &'static str) -> Self {
        let seed = u8::try_from(account % 200).expect("it is less");
        Self { account, kind, service_id: account + 1000, key: [seed; 32] }
    }

    /// Its key as it tells the server.
    pub fn push_key(&self) -> String {
        STANDARD.encode([&[0x31], self.key.as_slice()].concat())
    }

    /// Asks the server to take it in; the service has not answered then.
    pub async fn ask(&self, owner: &Person) {
        let (account, key) = (self.account.to_string(), self.push_key());
        let params: Params<'_> = &[
            ("token_kind", &self.kind),
            ("push_account_id", &account),
            ("push_key", &key),
            ("bouncer_public_key", &"bouncer-public-key"),
            ("encrypted_push_registration", &"sealed-registration"),
        ];
        owner.post("/mobile_push/register", params).ok().await;
    }

    /// Registers, and waits until the service has taken it in.
    pub async fn register(&self, owner: &Person, service: &mut Service) {
        service.already();
        service.then(Reaction::json(&json!({ "result": "success", "device_id": self.service_id })));
        let mut queue = owner.register().events(&["push_device"]).await;
        self.ask(owner).await;
        let registration = service.asked().await;
        assert_eq!(registration.path, "/api/v1/remotes/push/e2ee/register");
        assert_eq!(registration.field("push_account_id"), self.account.to_string());
        assert_eq!(self.status(&mut queue).await, "pending");
        assert_eq!(self.status(&mut queue).await, "active");
    }

    /// The next event about it.
    pub async fn status(&self, queue: &mut Queue) -> String {
        let event = queue.next().await;
        assert_eq!(event["push_account_id"], self.account.to_string(), "{event}");
        event["status"].as_str().expect("a word").to_owned()
    }

    /// What a request to the service says to this phone; nobody else could read it.
    pub fn reads(&self, asked: &Asked) -> Value {
        assert_eq!(asked.path, "/api/v1/remotes/push/e2ee/notify", "{asked:?}");
        let body = asked.json();
        let requests = body["push_requests"].as_array().expect("a list");
        let mine = requests.iter().find(|request| request["device_id"] == self.service_id);
        let mine = mine.unwrap_or_else(|| panic!("nothing for {self:?}: {body}"));
        assert_eq!(mine["payload"]["push_account_id"], self.account);
        let sealed = mine["payload"]["encrypted_data"].as_str().expect("text");
        let sealed = STANDARD.decode(sealed).expect("Base64");
        let (nonce, sealed) = sealed.split_at(24);
        let nonce: [u8; 24] = nonce.try_into().expect("24 bytes");
        let cipher = XSalsa20Poly1305::new(&Key::from(self.key));
        let text = cipher.decrypt(&Nonce::from(nonce), sealed).expect("it is sealed with the phone's key");
        serde_json::from_slice(&text).expect("JSON")
    }
}

/// Where a server finds a service.
pub fn service_url(service: &Service) -> String {
    format!("http://{}", service.address)
}
