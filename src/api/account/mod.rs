//! Server settings, API keys and push devices.

pub mod address;
pub mod attempt;
pub mod dev_fetch_api_key;
pub mod dev_list_users;
pub mod fetch_api_key;
pub mod jwt_fetch_api_key;
pub mod new_login;
pub mod own_api_key;
pub mod push_devices;
pub mod push_tokens;
pub mod server_settings;
pub mod sessions;
pub mod test_push;
