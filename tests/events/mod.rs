//! Event queues: register, poll, delete, and above all that the state of a registration with the following events
//! applied equals the state of a new registration.
//!
//! `apply` is an independent client: it knows only docs/api/events.md, and updates its state by the events that it
//! receives. `verify` makes a change and compares the states.

mod after_restart;
mod apply;
mod close;
mod each_account;
mod each_bot;
mod each_change;
mod each_invitation;
mod each_list;
mod each_message_change;
mod each_personal;
mod each_picture;
mod each_text;
mod each_type;
mod each_upload;
mod poll;
mod register;
mod verify;
mod while_others_act;

pub use verify::{Seen, difference, verify};
