//! Fills a channel before measuring, with many concurrent senders, and skips messages that an earlier run sent.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::budget::Budget;
use super::fetch::count_up_to;
use super::send::{Sent, open_senders};
use crate::client::Api;
use crate::error::LoadError;
use crate::output::note;
use crate::pace::{Load, Pace};
use crate::recorder::{Recorder, Window};
use crate::report::progress::counting_bar;
use crate::scenario::FillPlan;
use crate::setup::Stage;
use crate::text::Writer;

const FILL_SECS_MAX: f64 = 3_600.0;

/// Sends the missing messages.
pub async fn fill(stage: &mut Stage, plan: &FillPlan) -> Result<(), LoadError> {
    let channel = stage.channel(&plan.channel)?;
    let accounts = stage.accounts(&channel.members, plan.senders as usize).await?;
    let mut api = Api::open(&stage.target).await?;
    let present = count_up_to(&mut api, &accounts[0], channel.id, plan.messages).await?;
    let missing = plan.messages.saturating_sub(present);
    if missing == 0 {
        if plan.messages > 0 {
            note(format!("the fill was skipped: {} has {} messages already", plan.channel, plan.messages));
        }
        return Ok(());
    }
    let writer = Arc::new(Writer::new(Instant::now(), plan.chars));
    let senders = open_senders(&stage.target, &accounts, &[channel.id], plan.topics, &writer).await?;
    let window = Window::starting_now(0.0, FILL_SECS_MAX);
    let recorder = Arc::new(Recorder::new("send", window));
    let budget = Arc::new(Budget::new(missing));
    let sent = Arc::new(Sent::default());
    let mut tasks = tokio::task::JoinSet::new();
    for sender in senders {
        let pace = Pace::new(&window, &Load::Unpaced, 0, 1);
        tasks.spawn(sender.run(pace, recorder.clone(), budget.clone(), sent.clone()));
    }
    let bar = counting_bar(missing, "messages");
    while !tasks.is_empty() {
        tokio::select! {
            _ = tasks.join_next() => {}
            () = tokio::time::sleep(Duration::from_millis(200)) => bar.set_position(recorder.total()),
        }
    }
    bar.finish_and_clear();
    let (operation, _) = recorder.finish(Instant::now());
    if operation.completed < missing {
        return Err(LoadError::Server(format!(
            "the fill sent {} of {missing} messages; failures: {:?}",
            operation.completed, operation.failures
        )));
    }
    Ok(())
}
