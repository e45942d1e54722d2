//! What the edge asks about deliveries, and the keys of links that go out with them.

use super::RealmHandle;
use model::job::TaskKind;

impl RealmHandle {
    /// How many deliveries are under way now: everything else that is owed waits as a row.
    pub fn under_way(&self) -> usize {
        self.shared.outbox.under_way()
    }

    /// Whether tasks of a kind can be carried, as the server is configured.
    pub fn supports(&self, kind: TaskKind) -> bool {
        self.shared.supports(kind)
    }

    /// A key for a link that this server gave out: derived from the server's secret, the organization, what the link is
    /// for (a word of your own) and whatever makes it the only one. Nothing of it is stored.
    pub fn link_key(&self, purpose: &str, parts: &[&str]) -> String {
        self.shared.credentials.link_key(self.id(), purpose, parts)
    }

    /// Whether a key is the one of a link, in constant time.
    pub fn is_link_key(&self, key: &str, purpose: &str, parts: &[&str]) -> bool {
        self.shared.credentials.is_link_key(key, self.id(), purpose, parts)
    }
}
