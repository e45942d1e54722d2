//! Getting in: what the server is, and API keys.

pub mod address;
pub mod dev_fetch_api_key;
pub mod dev_list_users;
pub mod fetch_api_key;
pub mod server_settings;
