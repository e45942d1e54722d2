//! Millstream, a team chat server: the HTTP edge, and the command line.
//!
//! `actors` decides; this package turns requests into commands and queries, and results into responses.

// They panic when the other side is gone; `cli::print` has what commands use instead.
#![warn(clippy::print_stdout, clippy::print_stderr)]

pub mod admin;
pub mod api;
pub mod background;
pub mod bounded_read;
pub mod certificates;
pub mod cli;
mod clock_check;
pub mod config;
pub mod dev;
pub mod doctor;
pub mod fair_queue;
pub mod foreign_text;
pub mod hosts;
pub mod http;
pub mod integrations;
pub mod local_health;
pub mod open_files;
pub mod pages;
pub mod passwords;
pub mod probe;
pub mod rate_limit;
pub mod reference;
pub mod routes;
pub mod server;
mod storage_error;
mod text_file;
pub mod transfer;
pub mod units;
pub mod version;
pub mod web_app;
pub mod work_queue;
