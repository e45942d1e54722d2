//! Encrypts notifications so that only the device can read them: libsodium's secretbox.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use crypto_secretbox::aead::{Aead, KeyInit};
use crypto_secretbox::{Key, Nonce, XSalsa20Poly1305};
use model::redacted::Redacted;

const NONCE_BYTES: usize = 24;

/// Base64 of a nonce followed by the ciphertext. None if the system has no random bytes.
pub fn seal(key: &Redacted<[u8; 32]>, text: &[u8]) -> Option<String> {
    let mut nonce = [0; NONCE_BYTES];
    getrandom::fill(&mut nonce).ok()?;
    seal_with(key, nonce, text)
}

fn seal_with(key: &Redacted<[u8; 32]>, nonce: [u8; NONCE_BYTES], text: &[u8]) -> Option<String> {
    let cipher = XSalsa20Poly1305::new(&Key::from(key.0));
    let sealed = cipher.encrypt(&Nonce::from(nonce), text).ok()?;
    Some(STANDARD.encode([nonce.as_slice(), &sealed].concat()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The published example of NaCl's secretbox, as other implementations encrypt it.
    #[test]
    fn secretbox_test_vector() {
        let hex = |text: &str| -> Vec<u8> {
            (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
        };
        let key = hex("1b27556473e985d462cd51197a9a46c76009549eac6474f206c4ee0844f68389");
        let nonce = hex("69696ee955b62b73cd62bda875fc73d68219e0036b7a0b37");
        let text = hex(concat!(
            "be075fc53c81f2d5cf141316ebeb0c7b5228c52a4c62cbd44b66849b64244ffc",
            "e5ecbaaf33bd751a1ac728d45e6c61296cdc3c01233561f41db66cce314adb31",
            "0e3be8250c46f06dceea3a7fa1348057e2f6556ad6b1318a024a838f21af1fde",
            "048977eb48f59ffd4924ca1c60902e52f0a089bc76897040e082f93776384864",
            "5e0705",
        ));
        let sealed = hex(concat!(
            "f3ffc7703f9400e52a7dfb4b3d3305d98e993b9f48681273c29650ba32fc76ce",
            "48332ea7164d96a4476fb8c531a1186ac0dfc17c98dce87b4da7f011ec48c972",
            "71d2c20f9b928fe2270d6fb863d51738b48eeee314a7cc8ab932164548e526ae",
            "90224368517acfeabd6bb3732bc0e9da99832b61ca01b6de56244a9e88d5f9b3",
            "7973f622a43d14a6599b1f654cb45a74e355a5",
        ));
        let key = Redacted(key.try_into().unwrap());
        let made = seal_with(&key, nonce.clone().try_into().unwrap(), &text).unwrap();
        assert_eq!(STANDARD.decode(made).unwrap(), [nonce, sealed].concat());
    }

    #[test]
    fn ciphertext_differs_for_equal_texts() {
        let key = Redacted([7; 32]);
        assert_ne!(seal(&key, b"text"), seal(&key, b"text"));
    }
}
