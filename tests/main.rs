//! Integration tests: each starts its own server and makes HTTP requests to it like a client.
//!
//! `support` has the fixtures for servers, users and event queues; start reading there.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say where, and stop")]

mod api;
mod authorization;
mod compat;
mod events;
mod flows;
mod integrations;
mod model;
mod recovery;
mod reference;
mod robustness;
mod support;
mod tidy;
mod web_app;
