//! An in-memory server with enough of the API for the drivers' tests, and with faults on request: a load test must
//! detect lost events.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use actix_web::{App, HttpRequest, HttpResponse, HttpServer, web};
use base64::Engine;
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::client::Api;
use crate::http::Target;

/// Faults of the fake server, each at every n-th message; 0 for never.
#[derive(Debug, Clone, Copy, Default)]
pub struct Faults {
    /// Omits an event from every queue.
    pub lose_every: u64,
    /// Adds an event to every queue twice.
    pub double_every: u64,
    /// Changes the end of the content in the events of every queue.
    pub change_every: u64,
    /// Gives the events a time of sending that is still to come.
    pub postdate_every: u64,
    /// Stores a message a second time, with the next id, and delivers both.
    pub store_twice_every: u64,
    /// Answers with the id of the message before, and stores nothing. Counted by requests.
    pub repeat_id_every: u64,
    pub refuse_every: u64,
    /// Refuses the first requests for an account's own profile, this many, and asks to wait for 20 ms.
    pub limit_profiles: u64,
    /// Refuses this many sends after the first ten, and asks to wait for 20 ms.
    pub limit_sends: u64,
    /// Refuses this many polls, and asks to wait for four seconds.
    pub limit_polls: u64,
    /// Swaps the events of every answer with several, so that the last one comes first.
    pub reverse_events: bool,
    /// Answers 500 to this many sends after the first ten.
    pub break_sends: u64,
    /// Answers this many messages, and none after them; 0 for all.
    pub hang_after: u64,
    /// Does not answer the deletion of queues.
    pub keep_queues: bool,
    /// Sends all requests to the same path of https://localhost.
    pub redirects: bool,
    /// Has none of the endpoints of a development server, and no counters.
    pub production: bool,
}

#[derive(Default)]
struct World {
    users: Vec<String>,
    channels: HashMap<String, (u64, Vec<u64>)>,
    messages: Vec<(u64, String)>,
    queues: HashMap<String, (u64, Vec<Value>)>,
    next_queue: u64,
    ended_queues: u64,
    sends: u64,
    profiles: u64,
    polls: u64,
}

struct Fake {
    world: Mutex<World>,
    changed: watch::Sender<u64>,
    faults: Faults,
}

type Fields = HashMap<String, String>;
type Shared = web::Data<Fake>;

fn good(mut fields: Value) -> HttpResponse {
    fields["result"] = "success".into();
    fields["msg"] = "".into();
    HttpResponse::Ok().json(fields)
}

fn bad(status: u16, code: &str) -> HttpResponse {
    let status = actix_web::http::StatusCode::from_u16(status).unwrap();
    HttpResponse::build(status).json(json!({"result": "error", "msg": "no", "code": code}))
}

/// A refusal that asks to wait, in its header. The body says something else, which does not count.
fn limited(secs: &str) -> HttpResponse {
    let msg = "API usage exceeded rate limit";
    let body = json!({"result": "error", "msg": msg, "code": "RATE_LIMIT_HIT", "retry-after": 86_400});
    HttpResponse::TooManyRequests().insert_header(("Retry-After", secs)).json(body)
}

/// Email address and API key.
fn credentials(request: &HttpRequest) -> (String, String) {
    let header = request.headers().get("Authorization").unwrap().to_str().unwrap();
    let pair = base64::engine::general_purpose::STANDARD.decode(&header["Basic ".len()..]).unwrap();
    let pair = String::from_utf8(pair).unwrap();
    let (email, key) = pair.split_once(':').unwrap();
    (email.to_owned(), key.to_owned())
}

fn caller(request: &HttpRequest) -> u64 {
    credentials(request).1.parse().unwrap()
}

fn user_id(world: &mut World, email: &str) -> u64 {
    let index = world.users.iter().position(|known| known == email).unwrap_or_else(|| {
        world.users.push(email.to_owned());
        world.users.len() - 1
    });
    index as u64
}

async fn login(fake: Shared, form: web::Form<Fields>) -> HttpResponse {
    let email = &form["username"];
    let id = user_id(&mut fake.world.lock().unwrap(), email);
    good(json!({"api_key": format!("{id:032}"), "email": email, "user_id": id}))
}

async fn list_users(fake: Shared) -> HttpResponse {
    let world = fake.world.lock().unwrap();
    let members: Vec<Value> =
        (0..).zip(&world.users).map(|(id, email): (u64, _)| json!({"user_id": id, "email": email})).collect();
    good(json!({ "members": members }))
}

async fn create_user(fake: Shared, form: web::Form<Fields>) -> HttpResponse {
    let mut world = fake.world.lock().unwrap();
    if world.users.contains(&form["email"]) {
        return bad(400, "BAD_REQUEST");
    }
    good(json!({"user_id": user_id(&mut world, &form["email"])}))
}

async fn subscribe(fake: Shared, request: HttpRequest, form: web::Form<Fields>) -> HttpResponse {
    let names: Vec<Value> = serde_json::from_str(&form["subscriptions"]).unwrap();
    let principals: Vec<u64> = match form.get("principals") {
        Some(principals) => serde_json::from_str(principals).unwrap(),
        None => vec![caller(&request)],
    };
    let mut world = fake.world.lock().unwrap();
    for name in names {
        let next = world.channels.len() as u64 + 1;
        let name = name["name"].as_str().unwrap().to_owned();
        let (_, members) = world.channels.entry(name).or_insert((next, Vec::new()));
        members.extend(&principals);
        members.sort_unstable();
        members.dedup();
    }
    good(json!({}))
}

async fn channel_id(fake: Shared, query: web::Query<Fields>) -> HttpResponse {
    match fake.world.lock().unwrap().channels.get(&query["stream"]) {
        Some((id, _)) => good(json!({ "stream_id": id })),
        None => bad(400, "STREAM_DOES_NOT_EXIST"),
    }
}

async fn send(fake: Shared, form: web::Form<Fields>) -> HttpResponse {
    match accept(&fake, &form) {
        Some(response) => response,
        None => std::future::pending().await,
    }
}

/// Stores a message; the response, unless there is none.
fn accept(fake: &Fake, form: &Fields) -> Option<HttpResponse> {
    let mut world = fake.world.lock().unwrap();
    let channel: u64 = form["to"].parse().unwrap();
    world.sends += 1;
    let after = world.sends.saturating_sub(10);
    if (1..=fake.faults.limit_sends).contains(&after) {
        return Some(limited("0.02"));
    }
    if (1..=fake.faults.break_sends).contains(&after) {
        return Some(bad(500, "INTERNAL"));
    }
    let repeats = fake.faults.repeat_id_every;
    if repeats > 0 && world.sends.is_multiple_of(repeats) {
        return Some(good(json!({"id": world.messages.len()})));
    }
    world.messages.push((channel, form["content"].clone()));
    let id = world.messages.len() as u64;
    if fake.faults.hang_after > 0 && id > fake.faults.hang_after {
        return None;
    }
    let hit = |every: u64| every > 0 && id.is_multiple_of(every);
    if hit(fake.faults.refuse_every) {
        world.messages.pop();
        world.messages.push((0, String::new()));
        return Some(bad(429, "RATE_LIMIT_HIT"));
    }
    let content = match form["content"].split_once('x') {
        _ if hit(fake.faults.change_every) => form["content"].clone() + "!",
        Some((_, rest)) if hit(fake.faults.postdate_every) => format!("t{}x{rest}", u64::MAX / 4),
        _ => form["content"].clone(),
    };
    let copies = if hit(fake.faults.lose_every) { 0 } else { 1 + usize::from(hit(fake.faults.double_every)) };
    let members = world.channels.values().find(|(known, _)| *known == channel).unwrap().1.clone();
    let message = json!({"id": id, "stream_id": channel, "content": content});
    let mut delivered = vec![message; copies];
    if hit(fake.faults.store_twice_every) {
        world.messages.push((channel, form["content"].clone()));
        delivered.push(json!({"id": id + 1, "stream_id": channel, "content": content}));
    }
    for (_, events) in world.queues.values_mut().filter(|(user, _)| members.contains(user)) {
        for message in &delivered {
            let event = json!({"id": events.len(), "type": "message", "flags": [], "message": message});
            events.push(event);
        }
    }
    fake.changed.send_modify(|version| *version += 1);
    Some(good(json!({ "id": id })))
}

async fn fetch(fake: Shared, query: web::Query<Fields>) -> HttpResponse {
    let narrow: Value = serde_json::from_str(&query["narrow"]).unwrap();
    let wanted = narrow[0]["operand"].as_u64().unwrap();
    let (before, after): (usize, usize) =
        (query["num_before"].parse().unwrap(), query["num_after"].parse().unwrap());
    let world = fake.world.lock().unwrap();
    let all: Vec<Value> = (1..)
        .zip(&world.messages)
        .filter(|(_, (channel, _))| *channel == wanted)
        .map(|(id, (channel, content)): (u64, _)| json!({"id": id, "stream_id": channel, "content": content}))
        .collect();
    let split = match query["anchor"].as_str() {
        "newest" => all.len(),
        "oldest" => 0,
        number => {
            let anchor: u64 = number.parse().unwrap();
            all.iter().filter(|message| message["id"].as_u64() < Some(anchor)).count()
        }
    };
    let page = &all[split.saturating_sub(before)..(split + after).min(all.len())];
    good(json!({ "messages": page }))
}

async fn register(fake: Shared, request: HttpRequest) -> HttpResponse {
    let mut world = fake.world.lock().unwrap();
    world.next_queue += 1;
    let queue_id = format!("queue/{}", world.next_queue);
    world.queues.insert(queue_id.clone(), (caller(&request), Vec::new()));
    good(json!({"queue_id": queue_id, "last_event_id": -1}))
}

async fn poll(fake: Shared, query: web::Query<Fields>) -> HttpResponse {
    let last: i64 = query["last_event_id"].parse().unwrap();
    let mut changed = fake.changed.subscribe();
    {
        let mut world = fake.world.lock().unwrap();
        world.polls += 1;
        if world.polls <= fake.faults.limit_polls {
            return limited("4");
        }
    }
    loop {
        {
            let world = fake.world.lock().unwrap();
            let Some((_, events)) = world.queues.get(&query["queue_id"]) else {
                return bad(400, "BAD_EVENT_QUEUE_ID");
            };
            let mut fresh: Vec<&Value> =
                events.iter().filter(|event| event["id"].as_i64() > Some(last)).collect();
            if fake.faults.reverse_events {
                fresh.reverse();
            }
            if !fresh.is_empty() {
                return good(json!({ "events": fresh }));
            }
        }
        let _ = tokio::time::timeout(Duration::from_secs(5), changed.changed()).await;
    }
}

async fn end_queue(fake: Shared, query: web::Query<Fields>) -> HttpResponse {
    if fake.faults.keep_queues {
        return std::future::pending().await;
    }
    let mut world = fake.world.lock().unwrap();
    match world.queues.remove(&query["queue_id"]) {
        Some(_) => {
            world.ended_queues += 1;
            good(json!({}))
        }
        None => bad(400, "BAD_EVENT_QUEUE_ID"),
    }
}

async fn move_messages(fake: Shared, path: web::Path<usize>, form: web::Form<Fields>) -> HttpResponse {
    let mut world = fake.world.lock().unwrap();
    let (from, to) = (world.messages[*path - 1].0, form["stream_id"].parse().unwrap());
    world.messages.iter_mut().filter(|(channel, _)| *channel == from).for_each(|message| message.0 = to);
    good(json!({}))
}

/// Deletes half of the messages, or the rest.
async fn delete_topic(fake: Shared, path: web::Path<u64>) -> HttpResponse {
    let mut world = fake.world.lock().unwrap();
    let mut here: Vec<&mut (u64, String)> =
        world.messages.iter_mut().filter(|(channel, _)| *channel == *path).collect();
    let kept = if here.len() < 10 { 0 } else { here.len() / 2 };
    here[kept..].iter_mut().for_each(|message| message.0 = 0);
    good(json!({ "complete": kept == 0 }))
}

async fn metrics(fake: Shared) -> HttpResponse {
    let world = fake.world.lock().unwrap();
    let (frames, ended) = (world.messages.len(), world.ended_queues);
    let (queues, polls) = (world.queues.len(), world.polls);
    HttpResponse::Ok().body(format!(
        "# TYPE x counter\nframes_total {frames}\nended_queues_total {ended}\nqueues {queues}\npolls_total {polls}\n"
    ))
}

/// The profile of the caller, whose address says whether it is a guest, or an account that is refused.
async fn own_profile(fake: Shared, request: HttpRequest) -> HttpResponse {
    let asked = {
        let mut world = fake.world.lock().unwrap();
        world.profiles += 1;
        world.profiles
    };
    if asked <= fake.faults.limit_profiles {
        return limited("0.02");
    }
    let email = credentials(&request).0;
    if email.starts_with("webhook-bot") {
        let msg = "This API is not available to incoming webhook bots.";
        return HttpResponse::BadRequest()
            .json(json!({"result": "error", "msg": msg, "code": "BAD_REQUEST"}));
    }
    if email.starts_with("wrong-key") {
        return bad(401, "INVALID_API_KEY");
    }
    good(json!({"user_id": caller(&request), "is_guest": email.starts_with("guest")}))
}

/// Changes the content of a message, its topic, or moves all messages of its channel to another one.
async fn change(fake: Shared, path: web::Path<usize>, form: web::Form<Fields>) -> HttpResponse {
    if form.contains_key("stream_id") {
        return move_messages(fake, path, form).await;
    }
    let mut world = fake.world.lock().unwrap();
    match (form.get("content"), form.get("topic")) {
        (Some(content), None) => world.messages[*path - 1].1.clone_from(content),
        (None, Some(_)) => {}
        _ => return bad(400, "BAD_REQUEST"),
    }
    good(json!({}))
}

/// A users file of this many accounts, for a server without the development endpoints.
pub fn users_csv(count: u64) -> String {
    (0..count).fold("email,api_key\n".to_owned(), |text, id| text + &format!("user{id}@x,{id:032}\n"))
}

async fn redirect(request: HttpRequest) -> HttpResponse {
    let location = format!("https://localhost{}", request.path());
    HttpResponse::MovedPermanently().insert_header(("Location", location)).finish()
}

async fn settings() -> HttpResponse {
    good(json!({"zulip_version": "12.0"}))
}

/// Waits until a fake server has an event queue.
pub async fn wait_for_queue(target: &Arc<Target>) {
    let mut api = Api::open(target).await.unwrap();
    while api.get_text("/metrics").await.unwrap().contains("\nqueues 0\n") {}
}

/// Starts a fake server in a thread of its own; it lives as long as the test process.
pub fn start(faults: Faults) -> Arc<Target> {
    let (port_sender, port_receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        actix_web::rt::System::new().block_on(async move {
            let world = Mutex::new(World::default());
            let fake = web::Data::new(Fake { world, changed: watch::Sender::new(0), faults });
            let server = HttpServer::new(move || {
                let api = web::scope("/api/v1");
                let api = match faults.redirects {
                    true => api.default_service(web::to(redirect)),
                    false => api.configure(add_routes),
                };
                match faults.production {
                    true => App::new().app_data(fake.clone()).service(api),
                    false => App::new()
                        .app_data(fake.clone())
                        .route("/metrics", web::get().to(metrics))
                        .service(api.configure(add_development_routes)),
                }
            });
            let server = server.workers(1).bind(("127.0.0.1", 0)).unwrap();
            port_sender.send(server.addrs()[0].port()).unwrap();
            server.run().await.unwrap();
        });
    });
    let port = port_receiver.recv().unwrap();
    Arc::new(Target::local(&format!("http://127.0.0.1:{port}")).unwrap())
}

/// Like `start`, over HTTPS; returns also its self-signed certificate in PEM.
pub fn start_tls(faults: Faults) -> (Arc<Target>, String) {
    let plain = start(faults);
    let certified = rcgen::generate_simple_self_signed(vec!["127.0.0.1".to_owned()]).unwrap();
    let key = rustls::pki_types::PrivatePkcs8KeyDer::from(certified.signing_key.serialize_der());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = config.unwrap().with_no_client_auth();
    let config = config.with_single_cert(vec![certified.cert.der().clone()], key.into()).unwrap();
    let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
    let (port_sender, port_receiver) = std::sync::mpsc::channel();
    let address = plain.addresses()[0];
    std::thread::spawn(move || {
        actix_web::rt::System::new().block_on(async move {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            port_sender.send(listener.local_addr().unwrap().port()).unwrap();
            loop {
                let (client, _) = listener.accept().await.unwrap();
                let acceptor = acceptor.clone();
                tokio::spawn(async move {
                    // A client that does not trust the certificate ends the handshake.
                    let Ok(mut client) = acceptor.accept(client).await else { return };
                    let mut server = tokio::net::TcpStream::connect(address).await.unwrap();
                    let _ = tokio::io::copy_bidirectional(&mut client, &mut server).await;
                });
            }
        });
    });
    let port = port_receiver.recv().unwrap();
    let host = format!("127.0.0.1:{port}");
    (Arc::new(plain.with_host(&host)), certified.cert.pem())
}

fn add_development_routes(config: &mut web::ServiceConfig) {
    config
        .route("/dev_fetch_api_key", web::post().to(login))
        .route("/users", web::get().to(list_users))
        .route("/users", web::post().to(create_user));
}

fn add_routes(config: &mut web::ServiceConfig) {
    config
        .route("/server_settings", web::get().to(settings))
        .route("/fetch_api_key", web::post().to(login))
        .route("/users/me", web::get().to(own_profile))
        .route("/users/me/subscriptions", web::post().to(subscribe))
        .route("/get_stream_id", web::get().to(channel_id))
        .route("/messages", web::post().to(send))
        .route("/messages", web::get().to(fetch))
        .route("/messages/{id}", web::patch().to(change))
        .route("/streams/{id}/delete_topic", web::post().to(delete_topic))
        .route("/register", web::post().to(register))
        .route("/events", web::get().to(poll))
        .route("/events", web::delete().to(end_queue));
}
