//! Logins, server settings, and notifications of accounts.

mod dev;
mod fetch_api_key;
mod ldap;
mod login_mail;
mod missed;
mod notifications;
mod push;
mod server_settings;
mod unsubscribe;
