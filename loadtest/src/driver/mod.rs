//! Runs the phases of a scenario. Each kind of step has its file; `tasks` has what they share.

pub mod acknowledged;
pub mod arrivals;
pub mod background;
pub mod budget;
pub mod crowd;
pub mod edit;
pub mod fanout;
pub mod fetch;
pub mod fill;
pub mod get;
pub mod idle;
pub mod meter;
pub mod missed;
pub mod mixed;
pub mod receive;
pub mod register;
pub mod send;
pub mod start;
pub mod tasks;
#[cfg(test)]
mod tests;

use crate::attribution::drop_other_process;
use crate::error::LoadError;
use crate::outcome::PhaseResult;
use crate::scenario::{Phase, Step};
use crate::setup::Stage;

/// Runs one phase of a running server; `stages` are its prepared organizations, one unless the scenario has more. `Start` phases have no running server: see [`start::run`].
pub async fn run_phase(
    stages: &mut [Stage],
    phase: &Phase,
    server_pid: Option<u32>,
) -> Result<PhaseResult, LoadError> {
    let [stage, ..] = &mut *stages else {
        return Err(LoadError::Usage("no organization".to_owned()));
    };
    let result = match &phase.step {
        Step::Send(step) => send::run(stages, phase, step, server_pid).await?,
        Step::Fanout(step) => fanout::run(stage, phase, step, server_pid).await?,
        Step::Fetch(step) => fetch::run(stage, phase, step, server_pid).await?,
        Step::Get(step) => get::run(stage, phase, step, server_pid).await?,
        Step::Idle(step) => idle::run(stage, step, server_pid).await?,
        Step::Mixed(step) => mixed::run(stage, phase, step, server_pid).await?,
        Step::Crowd(step) => crowd::run(stage, phase, step, server_pid).await?,
        Step::Register(step) => register::run(stage, phase, step, server_pid).await?,
        Step::Edit(step) => edit::run(stage, phase, step, server_pid).await?,
        Step::Start(_) => return Err(LoadError::Usage("a start phase needs --spawn".to_owned())),
    };
    Ok(complete(result, phase))
}

/// A result with the name of its phase, and without the figures of a process that is not the server.
fn complete(mut result: PhaseResult, phase: &Phase) -> PhaseResult {
    result.name = phase.name.clone();
    phase.step.kind().clone_into(&mut result.kind);
    drop_other_process(&mut result);
    result
}
