//! Integrations: the other servers that this server uses, one file for each.

pub mod blobs;
mod block_writer;
mod bounded_stream;
pub mod certificate_problem;
pub mod delivery;
pub mod http_client;
pub mod images;
pub mod incoming;
pub mod ldap;
pub mod mail;
pub mod partial_uploads;
pub mod push;
pub mod push_payload;
pub mod push_service;
pub mod seal;
pub mod thumbnails;
pub mod webhook;
