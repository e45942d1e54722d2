//! Logging in, and what a client asks before it does.

mod dev;
mod fetch_api_key;
mod ldap;
mod login_mail;
mod server_settings;
