//! `/bots/{bot_id}/api_key`: the key of a bot, for those who look after it (companions.md 5).

use crate::http::{Answer, Caller, Params, Path, reply};
use rules::bots::access_bot;
use serde::Serialize;

#[derive(Serialize)]
struct Key {
    api_key: String,
}

/// `api_key` as it is.
pub async fn show(caller: Caller, Path(bot): Path<u32>, _: Params<()>) -> Answer {
    let directory = caller.realm.directory();
    let bot = access_bot(&directory, &caller.user, bot.into())?;
    reply(&Key { api_key: caller.realm.api_key(bot) })
}

/// A new `api_key`; the one before stops at once.
pub async fn regenerate(caller: Caller, Path(bot): Path<u32>, _: Params<()>) -> Answer {
    let bot = caller.realm.renew_bot_key(caller.user.id, bot.into()).await?;
    reply(&Key { api_key: caller.realm.api_key(&bot) })
}
