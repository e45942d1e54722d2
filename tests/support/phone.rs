//! A mobile device that registers for encrypted push notifications, and can decrypt them.

use super::http_stub::{HttpStub, StubReply, StubRequest};
use super::{Params, Queue, TestUser};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use crypto_secretbox::aead::{Aead, KeyInit};
use crypto_secretbox::{Key, Nonce, XSalsa20Poly1305};
use serde_json::{Value, json};

/// A mobile device of a user.
#[derive(Clone, Copy, Debug)]
pub struct Phone {
    /// The `push_account_id` that the device chose.
    pub account: i64,
    pub kind: &'static str,
    /// The device id at the push service.
    pub service_id: i64,
    key: [u8; 32],
}

impl Phone {
    pub fn new(account: i64, kind: &'static str) -> Self {
        let seed = u8::try_from(account % 200).expect("it is less");
        Self { account, kind, service_id: account + 1000, key: [seed; 32] }
    }

    /// The encryption key in the format of `push_key`.
    pub fn push_key(&self) -> String {
        STANDARD.encode([&[0x31], self.key.as_slice()].concat())
    }

    /// Sends the registration request, without waiting for the push service.
    pub async fn request_registration(&self, owner: &TestUser) {
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

    /// Registers, and waits until the push service has confirmed it.
    pub async fn register(&self, owner: &TestUser, service: &mut HttpStub) {
        service.take_received();
        service.reply_next(StubReply::json(&json!({ "result": "success", "device_id": self.service_id })));
        let mut queue = owner.register().events(&["push_device"]).await;
        self.request_registration(owner).await;
        let registration = service.next_request().await;
        assert_eq!(registration.path, "/api/v1/remotes/push/e2ee/register");
        assert_eq!(registration.field("push_account_id"), self.account.to_string());
        assert_eq!(self.next_status(&mut queue).await, "pending");
        assert_eq!(self.next_status(&mut queue).await, "active");
    }

    /// The status in the next event, which must be about this device.
    pub async fn next_status(&self, queue: &mut Queue) -> String {
        let event = queue.next().await;
        assert_eq!(event["push_account_id"], self.account.to_string(), "{event}");
        event["status"].as_str().expect("a status").to_owned()
    }

    /// The decrypted payload for this device in a request to the push service.
    pub fn decrypt(&self, request: &StubRequest) -> Value {
        assert_eq!(request.path, "/api/v1/remotes/push/e2ee/notify", "{request:?}");
        let body = request.json();
        let requests = body["push_requests"].as_array().expect("a list");
        let mine = requests.iter().find(|push| push["device_id"] == self.service_id);
        let mine = mine.unwrap_or_else(|| panic!("nothing for {self:?}: {body}"));
        assert_eq!(mine["payload"]["push_account_id"], self.account);
        let encrypted = mine["payload"]["encrypted_data"].as_str().expect("text");
        let encrypted = STANDARD.decode(encrypted).expect("Base64");
        let (nonce, encrypted) = encrypted.split_at(24);
        let nonce: [u8; 24] = nonce.try_into().expect("24 bytes");
        let cipher = XSalsa20Poly1305::new(&Key::from(self.key));
        let text =
            cipher.decrypt(&Nonce::from(nonce), encrypted).expect("it is encrypted with the device's key");
        serde_json::from_slice(&text).expect("JSON")
    }
}

/// The URL for `push.service_url`.
pub fn service_url(service: &HttpStub) -> String {
    format!("http://{}", service.address)
}
