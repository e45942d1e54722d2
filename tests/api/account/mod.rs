//! Logging in, and what a client asks before it does.

mod dev;
mod fetch_api_key;
mod ldap;
mod login_mail;
mod missed;
mod notifications;
mod push;
mod server_settings;
