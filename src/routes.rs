//! The table of routes. A new endpoint is one row here; the order of rows is the order of methods in `Allow`.

use crate::api::account::dev_fetch_api_key::dev_fetch_api_key;
use crate::api::account::dev_list_users::dev_list_users;
use crate::api::account::fetch_api_key::fetch_api_key;
use crate::api::account::jwt_fetch_api_key::jwt_fetch_api_key;
use crate::api::account::server_settings::server_settings;
use crate::api::account::{own_api_key, push_devices, push_tokens, sessions, test_push};
use crate::api::emoji::{EMOJI_PATH, emoji_json};
use crate::api::texts::{drafts, reminders, saved_snippets, scheduled_messages, scheduled_update};
use crate::api::users::create::create_user;
use crate::api::{
    bots, calls, channels, dev, events, external, folders, groups, invites, messages, pictures, realm,
    subscriptions, topics, tus, uploads, users,
};
use crate::dev::seed::SEED_BODY_BYTES_MAX;
use crate::http::Login;
use crate::http::caller::WEBHOOK_PATH;
use crate::http::route::{Limit, Route};
use crate::http::{metrics_listener, operations};
use crate::pages::SCRIPT_PATH;
use crate::pages::emails::{emails_html, emails_json};
use crate::pages::{
    about, confirm_email, devlogin, favicon, find, home, integrations, join, login, password_reset,
    reference, sign_up, static_files, unsubscribe,
};
use actix_web::http::Method;

/// All rows, grouped by family.
#[expect(clippy::too_many_lines, reason = "a table has a row for each endpoint, and nothing else")]
#[rustfmt::skip]
pub fn table() -> Vec<Route> {
    vec![
        Route::new(Method::GET, "/health",  Login::None, Limit::Free, operations::health).own_origin(),
        Route::new(Method::GET, "/metrics", Login::None, Limit::Page, metrics_listener::metrics).own_origin(),

        Route::new(Method::GET,  "/",                  Login::None, Limit::Api,   home::show).page(),
        Route::new(Method::GET,  "/login",             Login::None, Limit::Page,  home::login).page(),
        Route::new(Method::GET,  "/login/",            Login::None, Limit::Page,  login::show).page(),
        Route::new(Method::GET,  "/accounts/login/",   Login::None, Limit::Page,  login::show).page(),
        Route::new(Method::POST, "/accounts/login/",   Login::None, Limit::Login, login::log_in).page(),
        Route::new(Method::POST, "/accounts/logout/",  Login::None, Limit::Page,  login::log_out).page(),
        Route::new(Method::GET,  "/accounts/password/reset/",           Login::None, Limit::Page,  password_reset::show).page(),
        Route::new(Method::POST, "/accounts/password/reset/",           Login::None, Limit::Login, password_reset::request).page(),
        Route::new(Method::GET,  "/accounts/password/reset/done/",      Login::None, Limit::Page,  password_reset::sent).page(),
        Route::new(Method::GET,  "/accounts/password/reset/{key:rest}", Login::None, Limit::Page,  password_reset::choose).page(),
        Route::new(Method::POST, "/accounts/password/reset/{key:rest}", Login::None, Limit::Login, password_reset::set).page(),
        Route::new(Method::GET,  "/register/",              Login::None, Limit::Page,  sign_up::show).page(),
        Route::new(Method::POST, "/register/",              Login::None, Limit::Login, sign_up::request).page(),
        Route::new(Method::GET,  "/accounts/home/",         Login::None, Limit::Page,  sign_up::show).page(),
        Route::new(Method::POST, "/accounts/home/",         Login::None, Limit::Login, sign_up::request).page(),
        Route::new(Method::GET,  "/accounts/send_confirm/", Login::None, Limit::Page,  sign_up::sent).page(),
        // The key is the only credential, as for invitations.
        Route::new(Method::GET,  "/accounts/do_confirm/{key:rest}", Login::None, Limit::Page, sign_up::choose).own_origin(),
        Route::new(Method::POST, "/accounts/do_confirm/{key:rest}", Login::None, Limit::Page, sign_up::create).own_origin(),
        Route::new(Method::GET,  "/accounts/unsubscribe/{key:rest}", Login::None, Limit::Page, unsubscribe::show).own_origin(),
        Route::new(Method::POST, "/accounts/unsubscribe/{key:rest}", Login::None, Limit::Page, unsubscribe::turn_off).own_origin(),
        Route::new(Method::GET,  "/accounts/find/",      Login::None, Limit::Page,  find::show).page(),
        Route::new(Method::POST, "/accounts/find/",      Login::None, Limit::Login, find::find).page(),
        Route::new(Method::GET,  "/accounts/find/done/", Login::None, Limit::Page,  find::sent).page(),
        Route::new(Method::GET,  "/accounts/go/",        Login::None, Limit::Page,  find::ask).page(),
        Route::new(Method::POST, "/accounts/go/",        Login::None, Limit::Page,  find::go).page(),
        Route::new(Method::GET,  "/devlogin/",         Login::None, Limit::Page,  devlogin::show).for_developers().local_page(),
        Route::new(Method::POST, "/devlogin/",         Login::None, Limit::Login, devlogin::log_in).for_developers().local_page(),
        Route::new(Method::GET,  "/compatibility",     Login::None, Limit::Api,   home::compatibility),
        Route::new(Method::GET,  "/about",             Login::None, Limit::Page,  about::show).page(),
        Route::new(Method::GET,  "/about/",            Login::None, Limit::Page,  about::show).page(),
        Route::new(Method::GET,  "/integrations",              Login::None, Limit::Page, integrations::list).page(),
        Route::new(Method::GET,  "/integrations/",             Login::None, Limit::Page, integrations::list).page(),
        Route::new(Method::GET,  "/integrations/{name:rest}",  Login::None, Limit::Page, integrations::show).page(),
        Route::new(Method::GET,  "/desktop_home/",     Login::None, Limit::Page,  home::desktop_home).page(),
        Route::new(Method::GET,  "/help",              Login::None, Limit::Page,  home::help).page(),
        Route::new(Method::GET,  "/help/",             Login::None, Limit::Page,  home::help).page(),
        Route::new(Method::GET,  "/help/{page:rest}",  Login::None, Limit::Page,  home::help_page).page(),
        Route::new(Method::GET, "/user_avatars/exports/{realm_id:int}/{file:rest}", Login::None, Limit::Picture, realm::export_file::serve),
        Route::new(Method::GET, "/user_avatars/{path:rest}", Login::None, Limit::Picture, pictures::serve::serve),
        Route::new(Method::GET, "/static/{path:rest}", Login::None, Limit::Free, static_files::serve),
        Route::new(Method::GET, "/avatar/{user_id:int}",        Login::Spectator, Limit::Picture, pictures::redirect::by_id::<false>).file(),
        Route::new(Method::GET, "/avatar/{user_id:int}/medium", Login::Spectator, Limit::Picture, pictures::redirect::by_id::<true>).file(),
        Route::new(Method::GET, "/avatar/{email:text}",         Login::Spectator, Limit::Picture, pictures::redirect::by_address::<false>).file(),
        Route::new(Method::GET, "/avatar/{email:text}/medium",  Login::Spectator, Limit::Picture, pictures::redirect::by_address::<true>).file(),
        Route::new(Method::GET, "/favicon.ico", Login::None, Limit::Free, favicon::serve),
        Route::new(Method::GET, SCRIPT_PATH, Login::None, Limit::Free, about::script),
        Route::new(Method::GET, "/api",                    Login::None, Limit::Page, reference::list).page(),
        Route::new(Method::GET, "/api/",                   Login::None, Limit::Page, reference::list).page(),
        Route::new(Method::GET, "/api/{operation:text}",   Login::None, Limit::Page, reference::operation(table)).page(),
        Route::new(Method::GET, reference::DOCUMENT_PATH,  Login::None, Limit::Api,  reference::document(table)).with_key_only(),
        Route::new(Method::GET, reference::SCRIPT_PATH,    Login::None, Limit::Free, reference::script),
        Route::new(Method::GET, EMOJI_PATH, Login::None, Limit::Picture, emoji_json),
        Route::new(Method::GET, "/user_uploads/{realm_id:int}/{file:rest}",          Login::SpectatorOrKeyInUrl, Limit::Picture, uploads::serve::serve).file(),
        Route::new(Method::GET, "/user_uploads/download/{realm_id:int}/{file:rest}", Login::SpectatorOrKeyInUrl, Limit::Picture, uploads::serve::download).file(),
        Route::new(Method::GET, "/user_uploads/thumbnail/{realm_id:int}/{file:rest}", Login::SpectatorOrKeyInUrl, Limit::Picture, uploads::thumbnail::thumbnail).file(),
        Route::new(Method::GET, "/user_uploads/temporary/{token:text}/{name:rest}",  Login::None, Limit::Picture, uploads::temporary::serve_temporary),

        Route::new(Method::GET,  "/api/v1/server_settings",   Login::None, Limit::Api, server_settings).with_key_only(),
        Route::new(Method::POST, "/api/v1/fetch_api_key",     Login::None, Limit::Login, fetch_api_key).for_developers().with_key_only(),
        Route::new(Method::POST, "/api/v1/jwt/fetch_api_key", Login::None, Limit::Login, jwt_fetch_api_key).for_developers().with_key_only(),
        Route::new(Method::POST, "/api/v1/dev_fetch_api_key", Login::None, Limit::Login, dev_fetch_api_key).for_developers().with_key_only(),
        Route::new(Method::GET,  "/api/v1/dev_list_users",    Login::None, Limit::Api, dev_list_users).for_developers().with_key_only(),

        Route::new(Method::POST,   "/json/fetch_api_key",                        Login::Human, Limit::Login, own_api_key::fetch_own_api_key),
        Route::new(Method::GET,    "/api/v1/users/me/sessions",                  Login::Human, Limit::Api, sessions::list),
        Route::new(Method::DELETE, "/api/v1/users/me/sessions",                  Login::Human, Limit::Api, sessions::end_others),
        Route::new(Method::DELETE, "/api/v1/users/me/sessions/{session_id:text}", Login::Human, Limit::Api, sessions::end_one),
        Route::new(Method::DELETE, "/api/v1/users/{user_id:int}/sessions",       Login::Owner, Limit::Api, sessions::end_of_user),

        Route::new(Method::POST, "/api/v1/users", Login::Administrator, Limit::Api, create_user),

        Route::new(Method::GET,  "/api/v1/messages",                  Login::AccountOrBrowser, Limit::Api, messages::fetch::fetch),
        Route::new(Method::POST, "/api/v1/messages",                  Login::Account,   Limit::Api, messages::send::send),
        Route::new(Method::POST, "/api/v1/messages/render",           Login::Account,   Limit::Api, messages::render::render),
        Route::new(Method::POST, "/api/v1/messages/flags",            Login::Account,   Limit::Api, messages::flags::change),
        Route::new(Method::POST, "/api/v1/messages/flags/narrow",     Login::Account,   Limit::Api, messages::flags_narrow::change_in_narrow),
        Route::new(Method::GET,  "/api/v1/messages/matches_narrow",   Login::Account,   Limit::Api, messages::matches_narrow::matches_narrow),
        Route::new(Method::GET,  "/api/v1/messages/{message_id:int}", Login::AccountOrBrowser, Limit::Api, messages::fetch_one::fetch_one),
        Route::new(Method::PATCH,  "/api/v1/messages/{message_id:int}", Login::Account, Limit::Api, messages::edit::edit),
        Route::new(Method::DELETE, "/api/v1/messages/{message_id:int}", Login::Account, Limit::Api, messages::delete::delete),
        Route::new(Method::GET,    "/api/v1/messages/{message_id:int}/history",   Login::Account, Limit::Api, messages::history::history),
        Route::new(Method::GET,    "/api/v1/messages/{message_id:int}/read_receipts", Login::Account, Limit::Api, messages::read_receipts::read_receipts),
        Route::new(Method::POST,   "/api/v1/messages/{message_id:int}/reactions", Login::Account, Limit::Api, messages::reactions::add),
        Route::new(Method::DELETE, "/api/v1/messages/{message_id:int}/reactions", Login::Account, Limit::Api, messages::reactions::remove),
        Route::new(Method::POST,   "/api/v1/messages/{message_id:int}/report",    Login::Account, Limit::Api, messages::report::report_message),
        Route::new(Method::POST,   "/api/v1/messages/{message_id:int}/typing",    Login::Account, Limit::Api, messages::typing::report),
        Route::new(Method::POST,   "/api/v1/message_edit_typing",     Login::Account,   Limit::Api, messages::typing::report_at_old_path),
        Route::new(Method::POST,   "/api/v1/submessage",              Login::Account,   Limit::Api, messages::submessage::add_submessage),
        Route::new(Method::POST, "/api/v1/mark_all_as_read",          Login::Account,   Limit::Api, messages::mark_read::mark_all),
        Route::new(Method::POST, "/api/v1/mark_stream_as_read",       Login::Account,   Limit::Api, messages::mark_read::mark_channel),
        Route::new(Method::POST, "/api/v1/mark_topic_as_read",        Login::Account,   Limit::Api, messages::mark_read::mark_topic),

        Route::new(Method::POST,   "/api/v1/user_uploads",            Login::Account,   Limit::Api, uploads::store::upload).streaming(),
        Route::new(Method::GET,    "/api/v1/user_uploads/{realm_id:int}/{file:rest}", Login::Account, Limit::Api, uploads::temporary::temporary_url),
        Route::new(Method::POST,   "/api/v1/tus",                     Login::Account,   Limit::Api, tus::create::create).streaming().of_protocol(&tus::PROTOCOL).file(),
        Route::new(Method::POST,   "/api/v1/tus/",                    Login::Account,   Limit::Api, tus::create::create).streaming().of_protocol(&tus::PROTOCOL).file(),
        Route::new(Method::HEAD,   "/api/v1/tus/{upload_id:text}",    Login::Account,   Limit::Api, tus::status::status).of_protocol(&tus::PROTOCOL).file(),
        Route::new(Method::PATCH,  "/api/v1/tus/{upload_id:text}",    Login::Account,   Limit::Api, tus::append::append).streaming().of_protocol(&tus::PROTOCOL).file(),
        Route::new(Method::DELETE, "/api/v1/tus/{upload_id:text}",    Login::Account,   Limit::Api, tus::terminate::terminate).of_protocol(&tus::PROTOCOL).file(),
        Route::new(Method::GET,    "/api/v1/attachments",             Login::Account,   Limit::Api, uploads::list::list),
        Route::new(Method::DELETE, "/api/v1/attachments/{attachment_id:int}", Login::Account, Limit::Api, uploads::remove::remove),

        Route::new(Method::GET,    "/api/v1/events", Login::Account, Limit::Events, events::poll::poll),
        Route::new(Method::DELETE, "/api/v1/events", Login::Account, Limit::Events, events::close::close),

        Route::new(Method::POST, "/api/v1/typing",                      Login::Account, Limit::Api, users::typing::report),
        Route::new(Method::POST, "/api/v1/users/me/presence",           Login::Human,   Limit::Api, users::presence::report),
        Route::new(Method::GET,  "/api/v1/users/{user_id:int}/presence", Login::Account, Limit::Api, users::presence::one_by_id),
        Route::new(Method::GET,  "/api/v1/users/{email:text}/presence",  Login::Account, Limit::Api, users::presence::one_by_email),
        Route::new(Method::GET,  "/api/v1/realm/presence",              Login::Account, Limit::Api, users::presence::all),
        Route::new(Method::POST, "/api/v1/users/me/status",             Login::Human,   Limit::Api, users::status::set_own),
        Route::new(Method::GET,  "/api/v1/users/{user_id:int}/status",  Login::Account, Limit::Api, users::status::show),
        Route::new(Method::POST, "/api/v1/users/{user_id:int}/status",  Login::Account, Limit::Api, users::status::set),
        Route::new(Method::POST,   "/api/v1/users/me/muted_users/{user_id:int}", Login::Account, Limit::Api, users::muted::mute),
        Route::new(Method::DELETE, "/api/v1/users/me/muted_users/{user_id:int}", Login::Account, Limit::Api, users::muted::unmute),
        Route::new(Method::PATCH,  "/api/v1/users/me/profile_data",     Login::Human,   Limit::Api, users::profile_data::set_values),
        Route::new(Method::DELETE, "/api/v1/users/me/profile_data",     Login::Human,   Limit::Api, users::profile_data::remove_values),
        Route::new(Method::POST,   "/api/v1/users/me/onboarding_steps",        Login::Human,   Limit::Api, users::onboarding_steps::mark_seen),
        Route::new(Method::POST,   "/api/v1/zcommand",                         Login::Account, Limit::Api, users::zcommand::execute),
        Route::new(Method::GET,    "/api/v1/navigation_views",                 Login::Account, Limit::Api, users::navigation_views::list),
        Route::new(Method::POST,   "/api/v1/navigation_views",                 Login::Account, Limit::Api, users::navigation_views::create),
        Route::new(Method::PATCH,  "/api/v1/navigation_views/{fragment:rest}", Login::Account, Limit::Api, users::navigation_views::update),
        Route::new(Method::DELETE, "/api/v1/navigation_views/{fragment:rest}", Login::Account, Limit::Api, users::navigation_views::delete),

        Route::new(Method::GET,    "/api/v1/drafts",                                Login::Account, Limit::Api, drafts::list),
        Route::new(Method::POST,   "/api/v1/drafts",                                Login::Account, Limit::Api, drafts::create),
        Route::new(Method::PATCH,  "/api/v1/drafts/{draft_id:int}",                 Login::Account, Limit::Api, drafts::update),
        Route::new(Method::DELETE, "/api/v1/drafts/{draft_id:int}",                 Login::Account, Limit::Api, drafts::delete),
        Route::new(Method::GET,    "/api/v1/scheduled_messages",                            Login::Account, Limit::Api, scheduled_messages::list),
        Route::new(Method::POST,   "/api/v1/scheduled_messages",                            Login::Account, Limit::Api, scheduled_messages::create),
        Route::new(Method::PATCH,  "/api/v1/scheduled_messages/{scheduled_message_id:int}", Login::Account, Limit::Api, scheduled_update::update),
        Route::new(Method::DELETE, "/api/v1/scheduled_messages/{scheduled_message_id:int}", Login::Account, Limit::Api, scheduled_messages::delete),
        Route::new(Method::GET,    "/api/v1/reminders",                             Login::Account, Limit::Api, reminders::list),
        Route::new(Method::POST,   "/api/v1/reminders",                             Login::Account, Limit::Api, reminders::create),
        Route::new(Method::DELETE, "/api/v1/reminders/{reminder_id:int}",           Login::Account, Limit::Api, reminders::delete),
        Route::new(Method::GET,    "/api/v1/saved_snippets",                        Login::Account, Limit::Api, saved_snippets::list),
        Route::new(Method::POST,   "/api/v1/saved_snippets",                        Login::Account, Limit::Api, saved_snippets::create),
        Route::new(Method::PATCH,  "/api/v1/saved_snippets/{saved_snippet_id:int}", Login::Account, Limit::Api, saved_snippets::update),
        Route::new(Method::DELETE, "/api/v1/saved_snippets/{saved_snippet_id:int}", Login::Account, Limit::Api, saved_snippets::delete),

        Route::new(Method::POST,   "/api/v1/users/me/apns_device_token",          Login::Human, Limit::Api, push_tokens::add_apple),
        Route::new(Method::DELETE, "/api/v1/users/me/apns_device_token",          Login::Human, Limit::Api, push_tokens::remove_apple),
        Route::new(Method::POST,   "/api/v1/users/me/android_gcm_reg_id",         Login::Human, Limit::Api, push_tokens::add_google),
        Route::new(Method::DELETE, "/api/v1/users/me/android_gcm_reg_id",         Login::Human, Limit::Api, push_tokens::remove_google),
        Route::new(Method::POST,   "/api/v1/mobile_push/register",                Login::Human, Limit::Api, push_devices::register),
        Route::new(Method::POST,   "/api/v1/mobile_push/test_notification",       Login::Human, Limit::Api, test_push::test_tokens),
        Route::new(Method::POST,   "/api/v1/mobile_push/e2ee/test_notification",  Login::Human, Limit::Api, test_push::test_devices),

        Route::new(Method::POST, "/api/v1/register", Login::AccountOrBrowser, Limit::Api, events::register::register),

        Route::new(Method::GET,    "/api/v1/users/me/alert_words", Login::Account, Limit::Api, users::alert_words::list),
        Route::new(Method::POST,   "/api/v1/users/me/alert_words", Login::Account, Limit::Api, users::alert_words::add),
        Route::new(Method::DELETE, "/api/v1/users/me/alert_words", Login::Account, Limit::Api, users::alert_words::remove),

        Route::new(Method::GET, "/api/v1/users",                Login::Spectator, Limit::Api, users::list::list_users),
        Route::new(Method::GET, "/api/v1/users/me",             Login::Account,   Limit::Api, users::me::own_user),
        Route::new(Method::DELETE, "/api/v1/users/me",          Login::Human,     Limit::Api, users::deactivate::deactivate_self),
        Route::new(Method::POST, "/api/v1/users/me/api_key/regenerate", Login::Account, Limit::Api, users::api_key::regenerate_own),
        Route::new(Method::GET, "/api/v1/users/{user_id:int}",  Login::Account,   Limit::Api, users::get::user_by_id),
        Route::new(Method::PATCH,  "/api/v1/users/{user_id:int}", Login::Account, Limit::Api, users::update::update_by_id),
        Route::new(Method::DELETE, "/api/v1/users/{user_id:int}", Login::Account, Limit::Api, users::deactivate::deactivate_user),
        Route::new(Method::POST, "/api/v1/users/{user_id:int}/reactivate", Login::Account, Limit::Api, users::reactivate::reactivate_user),
        Route::new(Method::PATCH, "/api/v1/users/{email:text}", Login::Account,   Limit::Api, users::update::update_by_email),
        Route::new(Method::GET, "/api/v1/users/{email:text}",   Login::Account,   Limit::Api, users::get::user_by_email),

        Route::new(Method::GET,    "/api/v1/bots",                             Login::HumanNotGuest, Limit::Api, bots::list::list_bots),
        Route::new(Method::POST,   "/api/v1/bots",                             Login::HumanNotGuest, Limit::Api, bots::create::create_bot).streaming(),
        Route::new(Method::PATCH,  "/api/v1/bots/{bot_id:int}",                Login::HumanNotGuest, Limit::Api, bots::update::update_bot).streaming(),
        Route::new(Method::DELETE, "/api/v1/bots/{bot_id:int}",                Login::HumanNotGuest, Limit::Api, bots::delete::delete_bot),
        Route::new(Method::GET,    "/api/v1/bots/{bot_id:int}/api_key",            Login::HumanNotGuest, Limit::Api, bots::api_key::show),
        Route::new(Method::POST,   "/api/v1/bots/{bot_id:int}/api_key/regenerate", Login::HumanNotGuest, Limit::Api, bots::api_key::regenerate),
        Route::new(Method::POST,   WEBHOOK_PATH,                               Login::KeyInUrl, Limit::Api, external::receive).streaming().with_key_only(),
        Route::new(Method::GET,    "/api/v1/bot_storage",                      Login::Account, Limit::Api, bots::state::get),
        Route::new(Method::PUT,    "/api/v1/bot_storage",                      Login::Account, Limit::Api, bots::state::put),
        Route::new(Method::DELETE, "/api/v1/bot_storage",                      Login::Account, Limit::Api, bots::state::delete),
        Route::new(Method::GET,    "/api/v1/calls/bigbluebutton/create",       Login::Account, Limit::Api, calls::bigbluebutton::create),
        Route::new(Method::POST,   "/api/v1/calls/zoom/create",                Login::Account, Limit::Api, calls::zoom::create),

        Route::new(Method::GET,  "/api/v1/streams",                        Login::Account,   Limit::Api, channels::list::list_channels),
        Route::new(Method::GET,  "/api/v1/get_stream_id",                  Login::Account,   Limit::Api, channels::get_id::channel_id_by_name),
        Route::new(Method::GET,  "/api/v1/streams/{stream_id:int}",        Login::Account,   Limit::Api, channels::get::channel_by_id),
        Route::new(Method::GET,  "/api/v1/streams/{stream_id:int}/members", Login::Account,  Limit::Api, channels::members::list_members),
        Route::new(Method::GET,  "/api/v1/streams/{stream_id:int}/email_address", Login::Account, Limit::Api, channels::email_address::email_address),
        Route::new(Method::POST, "/api/v1/streams/{stream_id:int}/delete_topic", Login::Administrator, Limit::Api, messages::delete_topic::delete_topic),
        Route::new(Method::PATCH, "/api/v1/streams/{stream_id:int}",       Login::Account,   Limit::Api, channels::update::update_channel),
        Route::new(Method::DELETE, "/api/v1/streams/{stream_id:int}",      Login::Account,   Limit::Api, channels::archive::archive_channel),
        Route::new(Method::POST, "/api/v1/default_streams",                Login::Administrator, Limit::Api, channels::defaults::add_default_channel),
        Route::new(Method::DELETE, "/api/v1/default_streams",              Login::Administrator, Limit::Api, channels::defaults::remove_default_channel),
        Route::new(Method::POST, "/api/v1/default_stream_groups/create",   Login::Administrator, Limit::Api, channels::default_groups::create),
        Route::new(Method::PATCH, "/api/v1/default_stream_groups/{group_id:int}", Login::Administrator, Limit::Api, channels::default_groups::update),
        Route::new(Method::DELETE, "/api/v1/default_stream_groups/{group_id:int}", Login::Administrator, Limit::Api, channels::default_groups::delete),
        Route::new(Method::PATCH, "/api/v1/default_stream_groups/{group_id:int}/streams", Login::Administrator, Limit::Api, channels::default_groups::change_channels),
        Route::new(Method::GET,  "/api/v1/channel_folders",                Login::Account,   Limit::Api, folders::list::list_folders),
        Route::new(Method::PATCH, "/api/v1/channel_folders",               Login::Administrator, Limit::Api, folders::reorder::reorder_folders),
        Route::new(Method::POST, "/api/v1/channel_folders/create",         Login::Administrator, Limit::Api, folders::create::create_folder),
        Route::new(Method::PATCH, "/api/v1/channel_folders/{channel_folder_id:int}", Login::Administrator, Limit::Api, folders::update::update_folder),
        Route::new(Method::POST, "/api/v1/channels/create",                Login::NotGuest,  Limit::Api, channels::create::create_channel),
        Route::new(Method::GET,  "/api/v1/users/me/{stream_id:int}/topics", Login::AccountOrBrowser, Limit::Api, topics::list::list_topics),

        Route::new(Method::GET,    "/api/v1/users/me/subscriptions", Login::Account,  Limit::Api, subscriptions::list::list_subscriptions),
        Route::new(Method::POST,   "/api/v1/users/me/subscriptions", Login::NotGuest, Limit::Api, subscriptions::add::subscribe),
        Route::new(Method::PATCH,  "/api/v1/users/me/subscriptions", Login::Account,  Limit::Api, subscriptions::update::update_subscriptions),
        Route::new(Method::DELETE, "/api/v1/users/me/subscriptions", Login::Account,  Limit::Api, subscriptions::remove::unsubscribe),
        Route::new(Method::POST,   "/api/v1/users/me/subscriptions/properties",   Login::Account, Limit::Api, subscriptions::properties::set_properties),
        Route::new(Method::PATCH,  "/api/v1/users/me/subscriptions/{stream_id:int}", Login::Account, Limit::Api, subscriptions::property::set_property),
        Route::new(Method::PATCH,  "/api/v1/users/me/subscriptions/muted_topics", Login::Account, Limit::Api, topics::muted::change_muted),
        Route::new(Method::POST,   "/api/v1/user_topics",                         Login::Account, Limit::Api, topics::policy::set_policy),
        Route::new(Method::GET, "/api/v1/users/{user_id:int}/subscriptions/{stream_id:int}", Login::Account, Limit::Api, subscriptions::status::subscription_status),

        Route::new(Method::GET,   "/api/v1/user_groups",                                     Login::HumanNotGuest, Limit::Api, groups::list::list_groups),
        Route::new(Method::POST,  "/api/v1/user_groups/create",                              Login::NotGuest,      Limit::Api, groups::create::create_group),
        Route::new(Method::PATCH, "/api/v1/user_groups/{user_group_id:int}",                 Login::NotGuest,      Limit::Api, groups::update::update_group),
        Route::new(Method::POST,  "/api/v1/user_groups/{user_group_id:int}/deactivate",      Login::NotGuest,      Limit::Api, groups::deactivate::deactivate_group),
        Route::new(Method::DELETE, "/api/v1/user_groups/{user_group_id:int}",                Login::NotGuest,      Limit::Api, groups::deactivate::deactivate_group),
        Route::new(Method::GET,   "/api/v1/user_groups/{user_group_id:int}/members",         Login::HumanNotGuest, Limit::Api, groups::members::list_members),
        // Guests may leave a group.
        Route::new(Method::POST,  "/api/v1/user_groups/{user_group_id:int}/members",         Login::Account,       Limit::Api, groups::members::change_members),
        Route::new(Method::GET,   "/api/v1/user_groups/{user_group_id:int}/members/{user_id:int}", Login::HumanNotGuest, Limit::Api, groups::members::is_member),
        Route::new(Method::GET,   "/api/v1/user_groups/{user_group_id:int}/subgroups",       Login::HumanNotGuest, Limit::Api, groups::subgroups::list_subgroups),
        Route::new(Method::POST,  "/api/v1/user_groups/{user_group_id:int}/subgroups",       Login::NotGuest,      Limit::Api, groups::subgroups::change_subgroups),

        Route::new(Method::PATCH, "/api/v1/realm/user_settings_defaults", Login::Administrator, Limit::Api, realm::user_defaults::update_user_defaults),
        Route::new(Method::GET,    "/api/v1/invites",                             Login::HumanNotGuest, Limit::Api, invites::list::list),
        Route::new(Method::POST,   "/api/v1/invites",                             Login::HumanNotGuest, Limit::Api, invites::send::send),
        Route::new(Method::POST,   "/api/v1/invites/multiuse",                    Login::HumanNotGuest, Limit::Api, invites::multiuse::create),
        Route::new(Method::DELETE, "/api/v1/invites/multiuse/{invite_id:int}",    Login::HumanNotGuest, Limit::Api, invites::multiuse::revoke),
        Route::new(Method::DELETE, "/api/v1/invites/{invite_id:int}",             Login::HumanNotGuest, Limit::Api, invites::revoke::revoke),
        Route::new(Method::POST,   "/api/v1/invites/{invite_id:int}/resend",      Login::HumanNotGuest, Limit::Api, invites::resend::resend),
        // A link ends in a slash.
        Route::new(Method::GET,    "/join/{key:rest}",                            Login::None,          Limit::Page, join::show).own_origin(),
        Route::new(Method::GET,    "/confirm_email/{key:rest}",                   Login::None,          Limit::Page, confirm_email::confirm).own_origin(),
        Route::new(Method::GET,    "/emails",                                     Login::None,          Limit::Free, emails_html).for_developers(),
        Route::new(Method::GET,    "/emails.json",                                Login::None,          Limit::Free, emails_json).for_developers(),
        Route::new(Method::POST,   "/join/{key:rest}",                            Login::None,          Limit::Page, join::join).own_origin(),

        Route::new(Method::PATCH, "/api/v1/realm",                  Login::Administrator, Limit::Api, realm::update::update_realm),
        Route::new(Method::POST,   "/api/v1/realm/deactivate",            Login::Owner,   Limit::Api, realm::deactivate::deactivate),
        Route::new(Method::POST,   "/api/v1/realm/test_welcome_bot_custom_message", Login::Administrator, Limit::Api, realm::test_welcome::test_welcome),
        Route::new(Method::GET,    "/api/v1/export/realm",                Login::Administrator, Limit::Api, realm::exports::list),
        Route::new(Method::POST,   "/api/v1/export/realm",                Login::Administrator, Limit::Api, realm::exports::request),
        Route::new(Method::DELETE, "/api/v1/export/realm/{export_id:int}", Login::Administrator, Limit::Api, realm::exports::delete),
        Route::new(Method::GET,    "/api/v1/realm/audit",                 Login::Owner,   Limit::Api, realm::audit::list),
        Route::new(Method::GET,    "/api/v1/export/realm/consents",       Login::Administrator, Limit::Api, realm::export_consents::list),
        Route::new(Method::GET,    "/api/v1/realm/domains",               Login::Account, Limit::Api, realm::domains::list),
        Route::new(Method::POST,   "/api/v1/realm/domains",               Login::Owner,   Limit::Api, realm::domains::create),
        Route::new(Method::PATCH,  "/api/v1/realm/domains/{domain:text}", Login::Owner,   Limit::Api, realm::domains::update),
        Route::new(Method::DELETE, "/api/v1/realm/domains/{domain:text}", Login::Owner,   Limit::Api, realm::domains::delete),
        Route::new(Method::GET,    "/api/v1/realm/linkifiers",            Login::Account,       Limit::Api, realm::linkifiers::list),
        Route::new(Method::PATCH,  "/api/v1/realm/linkifiers",            Login::Administrator, Limit::Api, realm::linkifiers::reorder),
        Route::new(Method::POST,   "/api/v1/realm/filters",               Login::Administrator, Limit::Api, realm::linkifiers::create),
        Route::new(Method::PATCH,  "/api/v1/realm/filters/{filter_id:int}",  Login::Administrator, Limit::Api, realm::linkifiers::update),
        Route::new(Method::DELETE, "/api/v1/realm/filters/{filter_id:int}",  Login::Administrator, Limit::Api, realm::linkifiers::delete),
        Route::new(Method::POST,   "/api/v1/realm/playgrounds",              Login::Administrator, Limit::Api, realm::playgrounds::create),
        Route::new(Method::DELETE, "/api/v1/realm/playgrounds/{playground_id:int}", Login::Administrator, Limit::Api, realm::playgrounds::delete),
        Route::new(Method::POST,   "/api/v1/users/me/avatar",     Login::Human,         Limit::Api, pictures::avatar::upload).streaming(),
        Route::new(Method::DELETE, "/api/v1/users/me/avatar",     Login::Human,         Limit::Api, pictures::avatar::remove),
        Route::new(Method::GET,    "/api/v1/realm/icon",          Login::Account,       Limit::Api, pictures::realm::show_icon),
        Route::new(Method::POST,   "/api/v1/realm/icon",          Login::Administrator, Limit::Api, pictures::realm::upload_icon).streaming(),
        Route::new(Method::DELETE, "/api/v1/realm/icon",          Login::Administrator, Limit::Api, pictures::realm::remove_icon),
        Route::new(Method::GET,    "/api/v1/realm/logo",          Login::Account,       Limit::Api, pictures::realm::show_logo),
        Route::new(Method::POST,   "/api/v1/realm/logo",          Login::Administrator, Limit::Api, pictures::realm::upload_logo).streaming(),
        Route::new(Method::DELETE, "/api/v1/realm/logo",          Login::Administrator, Limit::Api, pictures::realm::remove_logo),
        Route::new(Method::GET,    "/api/v1/realm/emoji",                   Login::Account,  Limit::Api, pictures::emoji::list),
        Route::new(Method::POST,   "/api/v1/realm/emoji/{emoji_name:rest}", Login::NotGuest, Limit::Api, pictures::emoji::add).streaming(),
        Route::new(Method::DELETE, "/api/v1/realm/emoji/{emoji_name:rest}", Login::Account,  Limit::Api, pictures::emoji::remove),
        Route::new(Method::GET,    "/api/v1/realm/profile_fields",                Login::Account,       Limit::Api, realm::profile_fields::list),
        Route::new(Method::POST,   "/api/v1/realm/profile_fields",                Login::Administrator, Limit::Api, realm::profile_fields::create),
        Route::new(Method::PATCH,  "/api/v1/realm/profile_fields",                Login::Administrator, Limit::Api, realm::profile_fields::reorder),
        Route::new(Method::PATCH,  "/api/v1/realm/profile_fields/{field_id:int}", Login::Administrator, Limit::Api, realm::profile_fields::update),
        Route::new(Method::DELETE, "/api/v1/realm/profile_fields/{field_id:int}", Login::Administrator, Limit::Api, realm::profile_fields::delete),
        Route::new(Method::PATCH, "/api/v1/settings",               Login::Human,         Limit::Api, users::settings::update_settings),
        // Older paths of the same endpoint.
        Route::new(Method::PATCH, "/api/v1/settings/display",       Login::Human,         Limit::Api, users::settings::update_settings),
        Route::new(Method::PATCH, "/api/v1/settings/notifications", Login::Human,         Limit::Api, users::settings::update_settings),
    ]
}

/// The rows of a development server: all others, and the tools for testing clients.
#[rustfmt::skip]
pub fn development_table() -> Vec<Route> {
    let tools = [
        Route::new(Method::GET,    "/dev/clock",         Login::None, Limit::Free, dev::clock::show),
        Route::new(Method::POST,   "/dev/clock",         Login::None, Limit::Free, dev::clock::change),
        Route::new(Method::GET,    "/dev/faults",        Login::None, Limit::Free, dev::faults::list),
        Route::new(Method::POST,   "/dev/faults",        Login::None, Limit::Free, dev::faults::add),
        Route::new(Method::DELETE, "/dev/faults",        Login::None, Limit::Free, dev::faults::remove),
        Route::new(Method::POST,   "/dev/queues/expire", Login::None, Limit::Free, dev::queues::expire),
        Route::new(Method::POST,   "/dev/realms",        Login::None, Limit::Free, dev::realms::create).with_large_fields(SEED_BODY_BYTES_MAX),
        Route::new(Method::POST,   "/dev/reset",         Login::None, Limit::Free, dev::reset::reset),
        Route::new(Method::GET,    "/dev/requests",      Login::None, Limit::Free, dev::requests::list),
        Route::new(Method::DELETE, "/dev/requests",      Login::None, Limit::Free, dev::requests::clear),
    ];
    table().into_iter().chain(tools.map(Route::for_developers)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::router::Router;

    /// A path with something in place of each placeholder.
    fn example(pattern: &str) -> String {
        let fill = |piece| match piece {
            word if !str::starts_with(word, "{") => word,
            number if number.ends_with(":int}") => "12",
            text if text.ends_with(":text}") => "a@example.com",
            _ => "some/where",
        };
        pattern.split('/').map(fill).collect::<Vec<_>>().join("/")
    }

    #[test]
    fn every_row_of_the_table_is_reachable() {
        let router = Router::new(development_table());
        for (row, route) in router.routes().iter().enumerate() {
            let found =
                router.find(&example(route.path)).unwrap_or_else(|| panic!("{route:?} is never found"));
            assert_eq!(found.route(&route.method).map(|(row, _)| row), Some(row), "{route:?} is hidden");
        }
    }
}
