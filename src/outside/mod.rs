//! The world outside: what this server asks of others, one file for each.

pub mod blobs;
pub mod courier;
pub mod http_client;
pub mod images;
pub mod ldap;
pub mod mail;
pub mod payload;
pub mod push;
pub mod push_service;
pub mod seal;
pub mod webhook;
