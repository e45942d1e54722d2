//! Tests of loading: precedence, places, and what is refused.

use super::super::LogFormat;
use super::*;
use proptest::prelude::*;

fn load(file: &str, environment: &[(&str, &str)], flags: Overrides) -> Result<Config, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("millstream.toml");
    std::fs::write(&path, file).unwrap();
    let environment = environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let name = path.display().to_string();
    Config::load(Some(&path), environment, flags)
        .map_err(|error| error.to_string().replace(&name, "millstream.toml"))
}

#[test]
fn defaults_are_valid() {
    let config = Config::load(None, [], Overrides::default()).unwrap();
    assert_eq!(config.listen.to_string(), "127.0.0.1:9991");
    assert_eq!(config.http.body_bytes_max, 1 << 20);
    assert_eq!(config.limits.api_by_user, [[60, 200]]);
    assert_eq!(config.log.format, LogFormat::Text);
    assert!(config.http_workers() >= 1 && config.shards() >= 1);
}

#[test]
fn every_option_is_explained() {
    let mut explained = false;
    for line in DEFAULT_TOML.lines() {
        if line.contains(" = ") && !line.starts_with('#') {
            assert!(explained, "no comment above: {line}");
        }
        explained = line.starts_with('#');
    }
}

#[test]
fn flags_win_over_environment_over_file() {
    let file = "listen = \"0.0.0.0:1\"\n[http]\nworkers = 3\nbacklog = 7\n[limits]\nenabled = false\n";
    let environment = [
        ("MILLSTREAM_LISTEN", "0.0.0.0:2"),
        ("MILLSTREAM_HTTP_WORKERS", "4"),
        ("MILLSTREAM_LIMITS_API_BY_USER", "[[1, 2], [3, 4]]"),
        ("MILLSTREAM_SERVICE_HOST", "10.0.0.1"),
    ];
    let flags = Overrides::default().set("listen", "--listen", Some("0.0.0.0:3")).set(
        "data",
        "--data",
        None::<String>,
    );
    let config = load(file, &environment, flags).unwrap();
    assert_eq!(config.listen.port(), 3);
    assert_eq!((config.http.workers, config.http.backlog), (4, 7));
    assert_eq!(config.limits.api_by_user, [[1, 2], [3, 4]]);
    assert!(!config.limits.enabled);
    assert_eq!(config.data, Path::new("millstream-data"));
}

#[test]
fn option_values_are_validated() {
    let mut defaults = Vec::new();
    flatten("", DEFAULT_TOML.parse().unwrap(), &mut |option, value| {
        kind_of(&option).unwrap_or_else(|| panic!("no values for {option}")).check(&value).unwrap();
        defaults.push(option);
    });
    for (option, _) in OPTIONS {
        assert!(defaults.iter().any(|name| name == option), "{option} has no default");
    }
}

type Variables<'a> = &'a [(&'a str, &'a str)];

/// A file, variables of the environment, and the problem that is reported.
const PROBLEMS: &[(&str, Variables<'static>, &str)] = &[
    ("lisen = \"x\"", &[], "millstream.toml:1: `lisen` is not an option; did you mean `listen`?"),
    (
        "\n[http]\nworker = 1",
        &[],
        "millstream.toml:3: `http.worker` is not an option; did you mean `http.workers`?",
    ),
    ("workers = 1", &[], "millstream.toml:1: `workers` is not an option; did you mean `http.workers`?"),
    // Rather an option of the same section than a name with fewer other letters in another section.
    (
        "[ldap]\nbase = \"dc=x\"",
        &[],
        "millstream.toml:2: `ldap.base` is not an option; did you mean `ldap.search_base`?",
    ),
    (
        "[http]\nlisten = \"x\"",
        &[],
        "millstream.toml:2: `http.listen` is not an option; did you mean `listen`?",
    ),
    ("[ldap]\ncertificate = \"x\"", &[], "millstream.toml:2: `ldap.certificate` is not an option"),
    ("foo = 1", &[], "millstream.toml:1: `foo` is not an option"),
    ("[mail]\nprot = 1", &[], "millstream.toml:2: `mail.prot` is not an option; did you mean `mail.port`?"),
    ("\"a\\nb\" = 1", &[], "millstream.toml:1: `a b` is not an option"),
    ("quite_something_else = 1", &[], "millstream.toml:1: `quite_something_else` is not an option"),
    (
        "[http]\nworkers = \"x\"",
        &[],
        "millstream.toml:2: `http.workers` must be a whole number from 0 to 256",
    ),
    (
        "[http]\nworkers = 100000",
        &[],
        "millstream.toml:2: `http.workers` must be a whole number from 0 to 256",
    ),
    (
        "[storage]\ncache_bytes = 1",
        &[],
        "millstream.toml:2: `storage.cache_bytes` must be a whole number from 1048576 to 1099511627776",
    ),
    (
        "",
        &[("MILLSTREAM_HTTP_WORKERS", "many")],
        "MILLSTREAM_HTTP_WORKERS: `http.workers` must be a whole number from 0 to 256",
    ),
    ("", &[("MILLSTREAM_LISTN", "x")], "MILLSTREAM_LISTN: is not an option; did you mean MILLSTREAM_LISTEN?"),
    (
        "",
        &[("MILLSTREAM_HTTP_WORKER", "1")],
        "MILLSTREAM_HTTP_WORKER: is not an option; did you mean MILLSTREAM_HTTP_WORKERS?",
    ),
    (
        "[ldap]\nurl = \"ldap.example.com\"",
        &[],
        "millstream.toml:2: `ldap.url` must be an address such as ldap://ldap.example.com",
    ),
    (
        "[ldap]\nsearch_base = \"dc=x\"\nsearch_filter = \"(uid=x)\"",
        &[("MILLSTREAM_LDAP_URL", "ldap://x")],
        "millstream.toml:3: `ldap.search_filter` must be a filter with {user} in it, such as (uid={user})",
    ),
    (
        "[limits]\napi_by_ip = [[1,1],[2,1],[3,1],[4,1],[5,1]]",
        &[],
        "millstream.toml:2: `limits.api_by_ip` must not have more than 4 rules",
    ),
    (
        "[mail]\nhost = \"mail.acme.example\"",
        &[],
        "millstream.toml:2: `mail.from` must be an address such as \"Acme <chat@acme.example>\", because mail.host is set",
    ),
    (
        "[mail]\nhost = \"mail.acme.example\"\nfrom = \"Acme\"",
        &[],
        "millstream.toml:3: `mail.from` must be an address such as \"Acme <chat@acme.example>\"",
    ),
    (
        "[blobs]\nkind = \"s3\"",
        &[],
        "millstream.toml:2: `blobs.bucket` must name a bucket, because blobs.kind is \"s3\"",
    ),
    (
        "[blobs]\nbucket = \"files\"",
        &[],
        "millstream.toml:2: `blobs.bucket` must be empty, or blobs.kind be \"s3\": without it files are in the data folder",
    ),
    (
        "[blobs]\nkind = \"s3\"\nbucket = \"a/b\"",
        &[],
        "millstream.toml:3: `blobs.bucket` must be the name of a bucket: letters, digits, `-`, `_` and dots",
    ),
    (
        "listen = \"0.0.0.0:9991\"\n[metrics]\nlisten = \"127.0.0.1:9991\"",
        &[],
        "millstream.toml:3: `metrics.listen` must be another address or port than listen, which the server listens on, too",
    ),
    (
        "[mail.incoming]\nlisten = \"127.0.0.1:9991\"\naddress_pattern = \"%s@mail.acme.example\"",
        &[],
        "millstream.toml:2: `mail.incoming.listen` must be another address or port than listen, which the server listens on, too",
    ),
    (
        "[cluster]\ndatabase = \"postgres://db/x\"\nnode = \"n\"\nadvertise = \"http://n\"\nlog_keep = \"7 days\"",
        &[],
        "millstream.toml:5: `cluster.shared_folder` must be set, or blobs.kind be \"s3\", because cluster.log_keep is not \"all\"",
    ),
    (
        "[cluster]\nlog_keep = \"7 hours\"",
        &[],
        "millstream.toml:2: `cluster.log_keep` must be \"all\" or 1 to 36600 days, such as \"30 days\"",
    ),
    (
        "[push]\nservice_url = \"x\"",
        &[],
        "millstream.toml:2: `push.service_url` must be an address such as https://service.example.com",
    ),
    (
        "[login]\npassword = false",
        &[],
        "millstream.toml:2: `login.password` is false, but ldap.url is not set: no login would be possible",
    ),
    (
        "[webhooks]\nrequest_secs_max = 30",
        &[],
        "millstream.toml:2: `webhooks.request_secs_max` must be less than outbox.delivery_secs_max (30)",
    ),
    ("[log]\nformat = \"xml\"", &[], "millstream.toml:2: `log.format` must be one of \"text\", \"json\""),
    ("data = \"\"", &[], "millstream.toml:1: `data` must not be empty"),
    ("data.more = 1", &[], "millstream.toml:1: `data` must be text in quotation marks"),
];

#[test]
fn problems_contain_option_and_origin() {
    for (file, environment, message) in PROBLEMS {
        let error = load(file, environment, Overrides::default()).unwrap_err();
        assert_eq!(error, *message, "{file}");
    }
    let starts = [
        ("listen = \"nowhere\"", "millstream.toml:1: `listen` must be an address and a port"),
        (
            "[limits]\napi_by_ip = [[60, 0]]",
            "millstream.toml:2: `limits.api_by_ip` must be a list of [seconds, calls]",
        ),
        (
            "[limits]\nauthenticate_by_username = [[60, 1001]]",
            "millstream.toml:2: `limits.authenticate_by_username` must be a list of [seconds, calls]",
        ),
        (
            "[http]\ntrusted_proxies = [\"10.0.0.0/8\", \"proxy\"]",
            "millstream.toml:2: `http.trusted_proxies` must only have IP addresses and networks such as 10.0.0.0/8; entry 2",
        ),
        ("[log]\nfilter = \"a=b=c\"", "millstream.toml:2: `log.filter` must be a list of directives"),
        (
            "[log]\nfilter = \"info,inof\"",
            "millstream.toml:2: `log.filter` must be a list of directives such as \"info,access=off\"; entry 2 is neither",
        ),
        ("\nlisten = ", "millstream.toml:2: is not valid TOML"),
    ];
    for (file, start) in starts {
        let message = load(file, &[], Overrides::default()).unwrap_err();
        assert!(message.starts_with(start), "{file}: {message}");
    }
}

#[test]
fn file_that_is_no_text_is_named_with_the_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("millstream.toml");
    std::fs::write(&path, b"listen = \"127.0.0.1:1\"\ndata = \"K\xe4se\"\n").unwrap();
    let error = Config::load(Some(&path), [], Overrides::default()).unwrap_err().to_string();
    let text = format!("{}: line 2 is not UTF-8 text; save the file as UTF-8", path.display());
    assert_eq!(error, text);
}

#[test]
fn all_problems_are_reported_at_once() {
    let file = "[http]\nworkers = -1\nworker = 2\n[mail]\nhost = \"mail.acme.example\"\nport = 0\n[[[\n";
    let error = load(file, &[("MILLSTREAM_LOG_FORMAT", "xml")], Overrides::default()).unwrap_err();
    let lines: Vec<&str> = error.lines().collect();
    assert_eq!(lines[0], "the configuration has 6 problems:", "{error}");
    for part in
        [":7: is not valid", ":2: `http.workers`", ":3: `http.worker`", ":6: `mail.port`", "FORMAT: `log"]
    {
        assert!(error.contains(part), "{part}: {error}");
    }
    assert!(error.contains(":5: `mail.from`"), "{error}");
}

#[test]
fn problems_contain_no_values() {
    let file = "[mail]\npassword = 5\nhost = \"hunter2 hunter2\"\n[ldap]\nbind_password = [\"hunter2\"]\nurl = \"hunter2\"\n";
    let error = load(file, &[("MILLSTREAM_HTTP_WORKERS", "hunter2")], Overrides::default()).unwrap_err();
    assert!(!error.contains("hunter2"), "{error}");
}

#[test]
fn platform_variables_are_ignored() {
    let variables = [
        ("MILLSTREAM_SERVICE_PORT", "9991"),
        ("MILLSTREAM_PORT_9991_TCP", "tcp://10.0.0.1:9991"),
        ("MILLSTREAM_MODEL_SEED", "7"),
        ("MILLSTREAM_LISTEN", "127.0.0.1:0"),
    ];
    assert!(load("", &variables, Overrides::default()).is_ok());
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    assert_eq!(unknown_variables(&variables), ["MILLSTREAM_MODEL_SEED"]);
}

#[test]
fn changed_options_are_listed() {
    let old = Config::load(None, [], Overrides::default()).unwrap();
    let flags = Overrides::default()
        .set("listen", "flag", Some("127.0.0.1:1"))
        .set("log.filter", "flag", Some("debug"))
        .set("limits.api_by_user", "flag", Some("[[1, 2]]"));
    let new = Config::load(None, [], flags).unwrap();
    assert_eq!(new.changed_options(&old, &["log.filter", "limits."]), ["listen"]);
    assert!(old.changed_options(&old, &[]).is_empty());
}

/// Any value that TOML has, with those near the bounds of every option more often than by chance.
fn any_value() -> impl Strategy<Value = Value> {
    let numbers: Vec<i64> = OPTIONS
        .iter()
        .filter_map(|(_, kind)| match kind {
            Kind::Whole(min, max) => Some([min - 1, *min, *max, max + 1]),
            _ => None,
        })
        .flatten()
        .chain([i64::MIN, -1, 0, 1, i64::MAX])
        .collect();
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::Boolean),
        any::<i64>().prop_map(Value::Integer),
        proptest::sample::select(numbers).prop_map(Value::Integer),
        any::<f64>().prop_map(Value::Float),
        ".{0,40}".prop_map(Value::String),
        "[a-z0-9.:/@<>=\\[\\]-]{0,30}".prop_map(Value::String),
    ];
    leaf.prop_recursive(2, 12, 5, |inner| proptest::collection::vec(inner, 0..5).prop_map(Value::Array))
}

proptest! {
    #[test]
    fn no_value_of_any_option_panics(
        option in proptest::sample::select(OPTIONS.iter().map(|(option, _)| *option).collect::<Vec<_>>()),
        value in any_value(),
    ) {
        let mut table = Table::new();
        insert(&mut table, option, value);
        let file = toml::to_string(&table).unwrap();
        match load(&file, &[], Overrides::default()) {
            // What is accepted can be used: everything that is computed from it.
            Ok(config) => {
                let options = crate::server::options(&config, true);
                prop_assert!(options.shards >= 1 && config.http_workers() >= 1);
                let limits = crate::rate_limit::Limits::new(config.limits.rules(), config.limits.keys_max);
                drop(limits);
            }
            // One that requires others may have several problems.
            Err(error) => prop_assert!(error.contains("millstream.toml:"), "{}", error),
        }
    }
}

#[test]
fn certificate_files_are_only_read_for_a_server() {
    let text = "[tls]\ncert_file = \"/nowhere/cert.pem\"\nkey_file = \"/nowhere/key.pem\"\n";
    assert!(load(text, &[], Overrides::default()).is_ok());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("millstream.toml");
    std::fs::write(&path, text).unwrap();
    let error = Config::of_server(&Sources { file: Some(&path), ..Sources::default() }).unwrap_err();
    assert!(
        error.to_string().contains("millstream.toml:2: `tls.cert_file` (/nowhere/cert.pem) cannot be read: "),
        "{error}"
    );
}

#[test]
fn missing_file_is_named() {
    let error = Config::load(Some(Path::new("/nowhere/at/all.toml")), [], Overrides::default()).unwrap_err();
    assert!(error.to_string().starts_with("cannot read /nowhere/at/all.toml: "), "{error}");
}

#[test]
fn external_url_must_be_http() {
    let load =
        |url: &str| Config::load(None, [], Overrides::default().set("external_url", "flag", Some(url)));
    for url in ["", "https://chat.example.com", "http://localhost:9991/"] {
        assert!(load(url).is_ok(), "{url}");
    }
    for url in ["chat.example.com", "ftp://chat.example.com", "https://chat.example.com/zulip", "https://"] {
        let error = load(url).unwrap_err().to_string();
        assert!(error.starts_with("flag: `external_url` must be an address"), "{error}");
    }
}

#[test]
fn only_servers_need_passwords() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("millstream.toml");
    let ldap =
        "[ldap]\nurl = \"ldap://ldap.acme.example\"\nsearch_base = \"dc=acme\"\nbind_dn = \"cn=reader\"\n";
    let mail = "[mail]\nhost = \"mail.acme.example\"\nfrom = \"Acme <chat@acme.example>\"\nuser = \"chat\"\n";
    let push = "[push]\nservice_url = \"https://push.acme.example\"\norg_id = \"acme\"\n";
    let files = "[blobs]\nkind = \"s3\"\nbucket = \"files\"\naccess_key_id = \"AKIAEXAMPLE\"\n";
    let passwords = [
        (ldap, "ldap.bind_password"),
        (mail, "mail.password"),
        (push, "push.org_key"),
        (files, "blobs.secret_access_key"),
    ];
    for (text, option) in passwords {
        std::fs::write(&path, text).unwrap();
        assert!(
            Config::load(Some(&path), [], Overrides::default()).is_ok(),
            "a backup beside the server needs none"
        );
        let error = Config::of_server(&Sources { file: Some(&path), ..Sources::default() }).unwrap_err();
        assert!(error.to_string().contains(option), "{error}");
        let environment = vec![(variable(option), "secret".to_owned())];
        let with_password = Sources { file: Some(&path), environment, ..Sources::default() };
        assert!(Config::of_server(&with_password).is_ok());
    }
}
