//! Whether the public URL leads to this server, and whether a proxy in front passes on what is needed. The running server
//! says what arrives; only to a request with a word that it gives out over its control socket.

use super::finding::Finding;
use super::running::{ANSWER_TIME_MAX, RunningServer, health};
use crate::admin::{AdminRequest, ask_within};
use crate::config::Config;
use crate::integrations::http_client::{self, reason};
use crate::probe::ProbeReport;
use serde_json::Value;
use std::net::IpAddr;

/// How long the public URL may take, in seconds.
const TIME_SECS_MAX: u64 = 10;

/// Asks the public URL for the health of the server.
pub async fn check(config: &Config, running: RunningServer) -> Finding {
    let (what, url) = ("public URL", config.external_url.trim_end_matches('/'));
    if url.is_empty() {
        let text = "external_url is not set: links in mails lead to the listening address, and organizations with a subdomain are reached \
                    below localhost only; set it to the public URL";
        return match config.listen.ip().is_loopback() {
            true => Finding::off(what, text),
            false => Finding::warning(what, text),
        };
    }
    let own_port = match running {
        RunningServer::None => {
            let text = format!("the server is stopped; run this again while it runs, to try {url}");
            return Finding::warning(what, text);
        }
        RunningServer::Silent => {
            return Finding::warning(what, format!("the server does not answer, so {url} was not tried"));
        }
        RunningServer::Answering(at) => at.map_or(config.listen, |at| at.address).port(),
    };
    let word = match ask_within(&config.data, &AdminRequest::Probe, ANSWER_TIME_MAX) {
        Ok(Some(Ok(answer))) => answer.value["word"].as_str().unwrap_or_default().to_owned(),
        Ok(Some(Err(_)) | None) | Err(_) => {
            return Finding::warning(
                what,
                "the running server is another version and cannot say what arrives; restart it",
            );
        }
    };
    match fetch(url, &word).await {
        Err(error) => {
            let why = reason(&error);
            Finding::problem(
                what,
                format!("{url} does not answer: {why}; check the proxy, the name and the firewall"),
            )
        }
        Ok((status @ (200 | 503), health)) => {
            match serde_json::from_value::<ProbeReport>(health["probe"].clone()) {
                Ok(probed) => evaluate(config, url, &probed, own_port),
                Err(_) => {
                    let text = format!(
                        "{url} answers {status}, but it is not this server; check the name and the proxy"
                    );
                    Finding::problem(what, text)
                }
            }
        }
        Ok((status, _)) => Finding::problem(what, format!("{url} answers {status}; check the proxy")),
    }
}

/// What a request shows that arrived at the server, which listens on `own_port`.
fn evaluate(config: &Config, url: &str, probed: &ProbeReport, own_port: u16) -> Finding {
    let what = "public URL";
    let parsed = url::Url::parse(url).ok();
    let wanted = parsed.as_ref().and_then(|url| url.host_str().map(str::to_lowercase));
    let host = probed.host.clone().unwrap_or_default().to_lowercase();
    let name = host.rsplit_once(':').map_or(host.as_str(), |(name, _)| name);
    if wanted.as_deref().is_some_and(|wanted| wanted != name && wanted != host) {
        let text = format!(
            "{url} leads to this server, but as {host}: let the proxy pass on the Host header (nginx: `proxy_set_header Host $host`)"
        );
        return Finding::problem(what, text);
    }
    let Some(peer) = probed.peer else {
        return Finding::good(what, format!("{url} leads to this server"));
    };
    let is_trusted = config.http.trusted_proxies.iter().any(|network| network.contains(peer.to_canonical()));
    match (probed.is_forwarded, is_trusted) {
        (true, false) => {
            let text = format!(
                "{url} leads here through the proxy {peer}, which is not in http.trusted_proxies: all clients share its rate \
                 limits; add \"{peer}\""
            );
            Finding::problem(what, text)
        }
        (false, true) => {
            let text = format!(
                "the proxy {peer} sends no X-Forwarded-For: all clients share its rate limits (nginx: `proxy_set_header \
                 X-Forwarded-For $proxy_add_x_forwarded_for`)"
            );
            Finding::problem(what, text)
        }
        (true, true) => {
            let client = probed.client.map(|client| client.to_string()).unwrap_or_default();
            Finding::good(
                what,
                format!(
                    "{url} leads to this server through {peer}, and clients have their own address ({client})"
                ),
            )
        }
        (false, false) if config.tls.is_on() == url.starts_with("https:") => {
            match parsed.and_then(|url| url.port_or_known_default()) == Some(own_port) {
                true => Finding::good(what, format!("{url} leads to this server, without a proxy")),
                false => Finding::warning(what, other_port(url, peer, own_port)),
            }
        }
        (false, false) => {
            let text = format!(
                "something at {peer} does TLS for {url} and does not say who the client is: let it send X-Forwarded-For, and \
                 add \"{peer}\" to http.trusted_proxies"
            );
            Finding::problem(what, text)
        }
    }
}

/// What may be between a port and another one on which the server listens.
fn other_port(url: &str, peer: IpAddr, own_port: u16) -> String {
    format!(
        "{url} leads to this server, which listens on port {own_port}: fine if a firewall or container forwards the port. If it is a \
         proxy, it must send X-Forwarded-For, and http.trusted_proxies must list \"{peer}\"; otherwise all clients share its rate limits"
    )
}

async fn fetch(url: &str, word: &str) -> Result<(u16, Value), reqwest::Error> {
    health(&http_client::builder(TIME_SECS_MAX).build()?, url, word).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Overrides;
    use crate::doctor::State;

    #[test]
    fn proxies_are_judged() {
        let config = |trusted: &str| {
            let environment = [("MILLSTREAM_HTTP_TRUSTED_PROXIES".to_owned(), trusted.to_owned())];
            Config::load(None, environment, Overrides::default()).unwrap()
        };
        let found = |trusted: &str, url: &str, is_forwarded, host: &str| {
            let peer = Some("127.0.0.1".parse().unwrap());
            let probed = ProbeReport { peer, client: peer, is_forwarded, host: Some(host.to_owned()) };
            evaluate(&config(trusted), url, &probed, 9991)
        };
        let (url, own) = ("https://chat.example", "[\"127.0.0.1\"]");
        for (found, state, text) in [
            (found(own, url, true, "chat.example"), State::Good, "clients have their own address"),
            (found("[]", url, true, "chat.example"), State::Problem, "add \"127.0.0.1\""),
            (found(own, url, false, "chat.example"), State::Problem, "sends no X-Forwarded-For"),
            (found("[]", url, false, "chat.example"), State::Problem, "does TLS for"),
            (
                found("[]", "http://chat.example:9991", false, "chat.example:9991"),
                State::Good,
                "without a proxy",
            ),
            (
                found("[]", "http://chat.example:8080", false, "chat.example:8080"),
                State::Warning,
                "it must send X-Forwarded-For",
            ),
            (found(own, url, true, "127.0.0.1:9991"), State::Problem, "pass on the Host header"),
        ] {
            assert!(found.state == state && found.text.contains(text), "{found:?}");
        }
    }
}
