//! Runs the phases of a scenario. Each kind of step has its file; `tasks` has what they share.

pub mod background;
pub mod budget;
pub mod crowd;
pub mod fanout;
pub mod fetch;
pub mod fill;
pub mod get;
pub mod idle;
pub mod missed;
pub mod mixed;
pub mod receive;
pub mod send;
pub mod start;
pub mod tasks;
#[cfg(test)]
mod tests;

use crate::error::LoadError;
use crate::outcome::PhaseResult;
use crate::scenario::{Phase, Step};
use crate::setup::Stage;

/// Runs one phase of a running server. `Start` phases have no running server: see [`start::run`].
pub async fn run_phase(
    stage: &mut Stage,
    phase: &Phase,
    server_pid: Option<u32>,
) -> Result<PhaseResult, LoadError> {
    let mut result = match &phase.step {
        Step::Send(step) => send::run(stage, phase, step, server_pid).await?,
        Step::Fanout(step) => fanout::run(stage, phase, step, server_pid).await?,
        Step::Fetch(step) => fetch::run(stage, phase, step, server_pid).await?,
        Step::Get(step) => get::run(stage, phase, step, server_pid).await?,
        Step::Idle(step) => idle::run(stage, step, server_pid).await?,
        Step::Mixed(step) => mixed::run(stage, phase, step, server_pid).await?,
        Step::Crowd(step) => crowd::run(stage, phase, step, server_pid).await?,
        Step::Start(_) => return Err(LoadError::Usage("a start phase needs --spawn".to_owned())),
    };
    result.name = phase.name.clone();
    phase.step.kind().clone_into(&mut result.kind);
    Ok(result)
}
