//! Events about the bots that a client's user manages.

use super::State;
use serde_json::Value;

impl State {
    pub(super) fn bot(&mut self, event: &Value, op: &str) {
        let bot = &event["bot"];
        let is_it = |known: &Value| known["user_id"] == bot["user_id"];
        let at = self.view("realm_bots").iter().position(is_it);
        match (op, at) {
            ("add", None) => self.list("realm_bots").push(bot.clone()),
            ("update", Some(at)) => {
                let known = self.list("realm_bots")[at].as_object_mut().expect("a bot");
                for (name, value) in bot.as_object().expect("what changed") {
                    assert!(known.contains_key(name), "bots have no {name}: {event}");
                    known.insert(name.clone(), value.clone());
                }
            }
            ("delete", Some(at)) => drop(self.list("realm_bots").remove(at)),
            _ => panic!("no client expects this of a bot that it knows {at:?}: {event}"),
        }
    }
}
