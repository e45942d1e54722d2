//! Authentication: API keys and passwords. Neither is ever logged or shown.

use crate::error::DomainError;
use argon2::password_hash::{Output, ParamsString, PasswordHash, Salt, SaltString};
use argon2::{ARGON2ID_IDENT, Algorithm, Argon2, Block, Params, Version};
use base64::Engine;
use hmac::{Hmac, Mac};
use model::{Directory, RealmId, User, UserId, WebSessionKey};
use parking_lot::RwLock;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::Arc;
use subtle::ConstantTimeEq;

/// Characters of an API key.
pub const API_KEY_CHARS: usize = 32;

/// Bytes of the key of a link: 192 bits.
const LINK_KEY_BYTES: usize = 24;

const ALPHABET: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// Separates tokens of webhooks from API keys, which are derived from one number less.
const WEBHOOK_TOKENS: u32 = 1;

/// The owner of a key, and the rotation with which it was derived: keys of older rotations are invalid.
#[derive(Clone, Copy)]
struct KeyOwner {
    user: UserId,
    rotation: u32,
}

/// The hash by which keys are looked up.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyHash([u8; 32]);

impl KeyHash {
    /// The hash of a key.
    pub fn of(key: &str) -> Self {
        Self(Sha256::digest(key.as_bytes()).into())
    }
}

/// The API keys of one organization, by their hash, so that the time of a look-up reveals nothing about keys.
pub struct Credentials {
    secret: [u8; 32],
    keys: RwLock<Keys>,
}

/// One hash for each account: that of the valid key.
#[derive(Default)]
struct Keys {
    owners: HashMap<KeyHash, KeyOwner>,
    hashes: HashMap<UserId, KeyHash>,
}

impl Credentials {
    /// The keys of all accounts of a directory.
    pub fn new(secret: [u8; 32], directory: &Directory) -> Self {
        let credentials = Self { secret, keys: RwLock::default() };
        for user in directory.users() {
            credentials.add(directory.realm().id, user);
        }
        credentials
    }

    /// Makes a user's current key valid, and the previous one invalid.
    pub fn add(&self, realm: RealmId, user: &User) {
        let hash = KeyHash::of(&self.api_key(realm, user));
        let owner = KeyOwner { user: user.id, rotation: user.api_key_rotation };
        let mut keys = self.keys.write();
        if let Some(before) = keys.hashes.insert(user.id, hash).filter(|before| *before != hash) {
            keys.owners.remove(&before);
        }
        keys.owners.insert(hash, owner);
    }

    /// Whether a key belongs to an account of this organization.
    pub fn knows(&self, hash: &KeyHash) -> bool {
        self.keys.read().owners.contains_key(hash)
    }

    /// A user's API key: derived from the server's secret and a counter, so that it is not stored.
    pub fn api_key(&self, realm: RealmId, user: &User) -> String {
        self.derive(&[realm.0, user.id.0, user.api_key_rotation])
    }

    /// The token with which an outgoing webhook authenticates to its service. It never changes.
    pub fn webhook_token(&self, realm: RealmId, bot: UserId) -> String {
        self.derive(&[realm.0, bot.0, WEBHOOK_TOKENS, WEBHOOK_TOKENS])
    }

    /// 32 characters that cannot be guessed without the secret.
    fn derive(&self, of: &[u32]) -> String {
        let mut key = String::with_capacity(API_KEY_CHARS);
        let mut block = 0u32;
        while key.len() < API_KEY_CHARS {
            let mut mac =
                Hmac::<Sha256>::new_from_slice(&self.secret).expect("HMAC takes keys of any length");
            for part in of.iter().chain([&block]) {
                mac.update(&part.to_be_bytes());
            }
            for byte in mac.finalize().into_bytes() {
                // Bytes past the last full alphabet would make some characters more likely.
                if byte < 248 && key.len() < API_KEY_CHARS {
                    key.push(char::from(ALPHABET[usize::from(byte) % ALPHABET.len()]));
                }
            }
            block += 1;
        }
        key
    }

    /// A key for a link: derived from the secret, the organization, the purpose and `parts`, which identify the link.
    pub fn link_key(&self, realm: RealmId, purpose: &str, parts: &[&str]) -> String {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.secret).expect("HMAC takes keys of any length");
        // With its length before each part, no other parts are the same bytes; API keys are made of 16 bytes.
        mac.update(b"link to something outside");
        mac.update(&realm.0.to_be_bytes());
        for part in std::iter::once(&purpose).chain(parts) {
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part.as_bytes());
        }
        base64::engine::general_purpose::URL_SAFE_NO_PAD
            .encode(&mac.finalize().into_bytes()[..LINK_KEY_BYTES])
    }

    /// Whether a key is that of a link, in constant time.
    pub fn is_link_key(&self, key: &str, realm: RealmId, purpose: &str, parts: &[&str]) -> bool {
        self.link_key(realm, purpose, parts).as_bytes().ct_eq(key.as_bytes()).into()
    }

    /// The account that a key and an address belong to.
    ///
    /// # Errors
    /// `InvalidApiKey` when the key is unknown, or the address is not its owner's (one answer for
    /// both, so that addresses cannot be probed); `RealmDeactivated`, `UserDeactivated`.
    pub fn authenticate(
        &self,
        directory: &Directory,
        address: &str,
        key: &str,
    ) -> Result<Arc<User>, DomainError> {
        let user = self.holder(directory, key)?;
        let is_own_address = user.delivery_email.eq_ignore_ascii_case(address)
            || user.delivery_email.to_lowercase() == address.to_lowercase()
            || directory.made_up_email(user.id).eq_ignore_ascii_case(address);
        if !is_own_address { Err(DomainError::InvalidApiKey) } else { check_active(directory, user) }
    }

    /// The account that a key belongs to, for URLs that have the key alone.
    ///
    /// # Errors
    /// `InvalidApiKey`, `RealmDeactivated`, `UserDeactivated`.
    pub fn authenticate_key(&self, directory: &Directory, key: &str) -> Result<Arc<User>, DomainError> {
        check_active(directory, self.holder(directory, key)?)
    }

    fn holder<'d>(&self, directory: &'d Directory, key: &str) -> Result<&'d Arc<User>, DomainError> {
        let hash = KeyHash::of(key);
        let owner = self.keys.read().owners.get(&hash).copied().ok_or(DomainError::InvalidApiKey)?;
        let user = directory.user(owner.user).filter(|user| user.api_key_rotation == owner.rotation);
        user.ok_or(DomainError::InvalidApiKey)
    }
}

fn check_active(directory: &Directory, user: &Arc<User>) -> Result<Arc<User>, DomainError> {
    if !directory.realm().is_active {
        return Err(DomainError::RealmDeactivated);
    }
    if !user.is_active {
        return Err(DomainError::UserDeactivated);
    }
    Ok(user.clone())
}

/// Computes password hashes one after the other, in the same 19 MB of memory: allocators release little of such blocks when
/// they are allocated again and again on several threads.
#[derive(Default)]
pub struct PasswordHasher {
    memory: Vec<Block>,
}

impl PasswordHasher {
    /// The stored form of a password: argon2id in PHC form, with the parameters of RFC 9106's second choice.
    /// Takes about 13 ms; never on an async thread.
    ///
    /// # Errors
    /// `Storage` when the system has no randomness.
    pub fn hash(&mut self, password: &str) -> Result<String, DomainError> {
        self.hash_with(password, &Params::default())
    }

    fn hash_with(&mut self, password: &str, params: &Params) -> Result<String, DomainError> {
        let mut salt = [0u8; 16];
        getrandom::fill(&mut salt).map_err(storage_error)?;
        let mut output = [0u8; Params::DEFAULT_OUTPUT_LEN];
        self.compute(params, password, &salt, &mut output).map_err(storage_error)?;
        let salt = SaltString::encode_b64(&salt).map_err(storage_error)?;
        let hash = PasswordHash {
            algorithm: ARGON2ID_IDENT,
            version: Some(Version::V0x13.into()),
            params: ParamsString::try_from(params).map_err(storage_error)?,
            salt: Some(salt.as_salt()),
            hash: Some(Output::new(&output).map_err(storage_error)?),
        };
        Ok(hash.to_string())
    }

    /// Whether a password matches the stored hash. Takes the same time without a hash, so that it does not reveal which
    /// accounts exist. Never on an async thread.
    pub fn check(&mut self, stored: Option<&str>, password: &str) -> bool {
        let matches = self.matches(stored.unwrap_or(UNKNOWN_PASSWORD), password);
        matches.unwrap_or(false) && stored.is_some()
    }

    /// None for a hash of another kind.
    fn matches(&mut self, stored: &str, password: &str) -> Option<bool> {
        let stored = PasswordHash::new(stored).ok().filter(|stored| stored.algorithm == ARGON2ID_IDENT)?;
        let params = Params::try_from(&stored).ok()?;
        let (salt, expected) = (stored.salt?, stored.hash?);
        let mut buffer = [0u8; Salt::MAX_LENGTH];
        let salt = salt.decode_b64(&mut buffer).ok()?;
        let mut output = vec![0u8; expected.len()];
        self.compute(&params, password, salt, &mut output).ok()?;
        Some(output.ct_eq(expected.as_bytes()).into())
    }

    fn compute(
        &mut self,
        params: &Params,
        password: &str,
        salt: &[u8],
        output: &mut [u8],
    ) -> Result<(), argon2::Error> {
        self.memory.resize(params.block_count(), Block::default());
        let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params.clone());
        argon2.hash_password_into_with_memory(password.as_bytes(), salt, output, &mut self.memory)
    }
}

/// The hash of an unknown password.
const UNKNOWN_PASSWORD: &str =
    "$argon2id$v=19$m=19456,t=2,p=1$bm9ib2R5IGhhcyB0aGlz$eYQsGn5xXW6yCbsyfd5yXyVQbBqhRQ5S9q1Ffl2g0WI";

fn storage_error(error: impl std::fmt::Display) -> DomainError {
    DomainError::Storage(error.to_string())
}

/// The stored form of one password; see [`PasswordHasher::hash`].
///
/// # Errors
/// `Storage` when the system has no randomness.
pub fn hash_password(password: &str) -> Result<String, DomainError> {
    PasswordHasher::default().hash(password)
}

/// The stored form of a password that is no secret, for development servers: it takes microseconds.
///
/// # Errors
/// `Storage` when the system has no randomness.
pub fn hash_test_password(password: &str) -> Result<String, DomainError> {
    let params = Params::new(Params::MIN_M_COST, 1, 1, None).map_err(storage_error)?;
    PasswordHasher::default().hash_with(password, &params)
}

/// Whether one password is the one that was stored; see [`PasswordHasher::check`].
pub fn check_password(stored: Option<&str>, password: &str) -> bool {
    PasswordHasher::default().check(stored, password)
}

/// A name that cannot be guessed: 128 random bits.
///
/// # Errors
/// `Storage` when the system has no randomness.
pub fn random_name() -> Result<String, DomainError> {
    let mut bytes = [0u8; 16];
    getrandom::fill(&mut bytes).map_err(storage_error)?;
    Ok(base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(bytes))
}

/// A secret that cannot be guessed, such as that of a web session: 256 random bits.
///
/// # Errors
/// `Storage` when the system has no randomness.
pub fn random_secret() -> Result<String, DomainError> {
    let mut bytes = [0u8; 32];
    getrandom::fill(&mut bytes).map_err(storage_error)?;
    Ok(base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(bytes))
}

/// The hash by which the web session of a secret is stored.
pub fn web_session_key(secret: &str) -> WebSessionKey {
    WebSessionKey(Sha256::digest(secret.as_bytes()).into())
}

/// The CSRF token of the web session of a secret: derived from it, so that it belongs to this session only.
pub fn csrf_token(secret: &str) -> String {
    let hash = Sha256::new().chain_update(b"CSRF token of ").chain_update(secret.as_bytes()).finalize();
    base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rotated_api_key_is_invalid() {
        let directory =
            Directory::new(model::Realm::new(RealmId(1), "", "Test", "test.example", model::Timestamp(0)));
        let credentials = Credentials::new([7; 32], &directory);
        let mut user =
            User::new(UserId(5), "hamlet@test.example", "hamlet", model::Role::Member, model::Timestamp(0));
        let mut before = None;
        for rotation in 0..100 {
            user.api_key_rotation = rotation;
            // Every change of an account adds its key again.
            credentials.add(RealmId(1), &user);
            credentials.add(RealmId(1), &user);
            let hash = KeyHash::of(&credentials.api_key(RealmId(1), &user));
            assert!(credentials.knows(&hash));
            assert!(!before.replace(hash).is_some_and(|before| credentials.knows(&before)));
        }
        let keys = credentials.keys.read();
        assert_eq!((keys.owners.len(), keys.hashes.len()), (1, 1));
    }

    #[test]
    fn password_hasher_is_reusable() {
        let mut hasher = PasswordHasher::default();
        let stored = hasher.hash("correct horse").unwrap();
        assert!(stored.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{stored}");
        assert_ne!(stored, hasher.hash("correct horse").unwrap(), "the salt is random");
        for (password, matches) in [("correct horse", true), ("Correct horse", false), ("", false)] {
            assert_eq!(hasher.check(Some(&stored), password), matches, "{password}");
        }
        // Another implementation's hash, made once.
        let other = "$argon2id$v=19$m=19456,t=2,p=1$O7rLuJoDo761JpUiMAIw1Q$G7qvd3CI57/fMUjxVZJbps2/uc5jktDeeJ1Auvfo4FA";
        assert!(hasher.check(Some(other), "hamlet@zulip.com"));
        assert!(!hasher.check(Some("not a hash"), "x") && !hasher.check(None, "x"));
    }

    #[test]
    fn unknown_account_takes_same_time_as_known() {
        // The computation is really done: what is compared against is a hash of the same kind.
        assert_eq!(PasswordHasher::default().matches(UNKNOWN_PASSWORD, "x"), Some(false));
    }
}
