//! Event queues: registering, polling, ending, and above all that a registration and the events after it
//! add up to what registering again would say.
//!
//! `apply` is a client of its own: it knows only the specification, and changes the state it was given by
//! the events it receives. `verify` runs something and compares.

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
mod each_type;
mod poll;
mod register;
mod verify;
mod while_others_act;

pub use verify::{Seen, difference, verify};
