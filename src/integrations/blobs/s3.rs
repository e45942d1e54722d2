//! The client of a service with an S3-compatible API.

use super::error::BlobError;
use crate::config::BlobSettings;
use crate::integrations::http_client::use_ring;
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::{BackoffConfig, ClientOptions, RetryConfig};
use std::time::Duration;

/// Retries of a request for which a user waits.
const FEW_RETRIES: usize = 4;
/// More retries than there is time for.
const MANY_RETRIES: usize = 1_000;

/// How often a failing request is repeated: services answer 503 when they want their clients to slow down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Retries {
    /// For a second or three: a user waits, so an early error is better than a late response.
    Few,
    /// Until the time of the request is over.
    UntilTimeout,
}

impl Retries {
    /// With `time_max` for a request including its retries.
    fn config(self, time_max: Duration) -> RetryConfig {
        let (max_retries, first, longest) = match self {
            Self::Few => (FEW_RETRIES, Duration::from_millis(200), Duration::from_secs(2)),
            Self::UntilTimeout => (MANY_RETRIES, Duration::from_millis(500), Duration::from_secs(10)),
        };
        let backoff = BackoffConfig { init_backoff: first, max_backoff: longest, base: 2.0 };
        RetryConfig { max_retries, retry_timeout: time_max, backoff }
    }
}

/// The client for a bucket. With `is_streaming`, only the time without any bytes is limited.
///
/// # Errors
/// `Store` for options that are inconsistent. The service is not contacted.
pub(super) fn open(
    settings: &BlobSettings,
    retries: Retries,
    is_streaming: bool,
) -> Result<AmazonS3, BlobError> {
    use_ring();
    let time_max = Duration::from_secs(settings.request_secs_max.get());
    let client = ClientOptions::new();
    let client = match is_streaming {
        true => client.with_timeout_disabled().with_read_timeout(time_max),
        false => client.with_timeout(time_max),
    };
    let client = client.with_connect_timeout(time_max.min(Duration::from_secs(5))).with_allow_http(true);
    let mut builder = AmazonS3Builder::new()
        .with_bucket_name(&settings.bucket)
        .with_region(&settings.region)
        .with_virtual_hosted_style_request(!settings.path_style)
        .with_client_options(client)
        .with_retry(retries.config(time_max));
    if !settings.endpoint.is_empty() {
        builder = builder.with_endpoint(&settings.endpoint);
    }
    match (settings.access_key_id.as_str(), settings.secret_access_key.0.as_str()) {
        // The instance's own credentials are used.
        ("", "") => {}
        ("", _) => {
            return Err(BlobError::Store("secret_access_key is set, but access_key_id is empty".into()));
        }
        (_, "") => {
            return Err(BlobError::Store("access_key_id is set, but secret_access_key is empty".into()));
        }
        (id, secret) => builder = builder.with_access_key_id(id).with_secret_access_key(secret),
    }
    Ok(builder.build()?)
}

#[cfg(test)]
mod tests {
    use super::super::{BlobName, Blobs};
    use super::*;
    use crate::config::{BlobKind, Config, Overrides};
    use bytes::Bytes;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
    use tokio::net::{TcpListener, TcpStream};

    const KEY: &str = "AKIAEXAMPLE";

    async fn answer(stream: TcpStream, status: &str, content: &str) {
        let (mut stream, mut bytes) = (BufReader::new(stream), 0);
        loop {
            let mut line = String::new();
            stream.read_line(&mut line).await.unwrap();
            let line = line.trim_end().to_lowercase();
            if let Some(value) = line.strip_prefix("content-length:") {
                bytes = value.trim().parse().unwrap();
            }
            if line.is_empty() {
                break;
            }
        }
        stream.read_exact(&mut vec![0; bytes]).await.unwrap();
        let length = content.len();
        let head = format!(
            "HTTP/1.1 {status}\r\nETag: \"e\"\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
        );
        stream.write_all(format!("{head}{content}").as_bytes()).await.unwrap();
    }

    /// Files in a service that fails this often with this status and content; and the number of requests to it.
    async fn failing(times: usize, status: &'static str, content: &'static str) -> (Blobs, Arc<AtomicUsize>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let count = Arc::new(AtomicUsize::new(0));
        let counted = count.clone();
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                match counted.fetch_add(1, Ordering::SeqCst) < times {
                    true => answer(stream, status, content).await,
                    false => answer(stream, "200 OK", "").await,
                }
            }
        });
        let mut settings = Config::load(None, [], Overrides::default()).unwrap().blobs;
        settings.kind = BlobKind::S3;
        (settings.bucket, settings.endpoint) = ("files".to_owned(), endpoint);
        settings.access_key_id = KEY.to_owned();
        settings.secret_access_key.0 = "secret".to_owned();
        (Blobs::open(&settings, std::path::Path::new("/nowhere"), true).unwrap(), count)
    }

    #[test]
    fn a_key_needs_its_secret() {
        let mut settings = Config::load(None, [], Overrides::default()).unwrap().blobs;
        (settings.kind, settings.bucket) = (BlobKind::S3, "files".to_owned());
        for (id, secret, missing) in
            [(KEY, "", "secret_access_key is empty"), ("", KEY, "access_key_id is empty")]
        {
            (settings.access_key_id, settings.secret_access_key.0) = (id.to_owned(), secret.to_owned());
            let error = open(&settings, Retries::Few, true).err().map(|error| error.to_string());
            assert!(error.is_some_and(|error| error.contains(missing) && !error.contains(KEY)));
        }
    }

    #[tokio::test]
    async fn a_service_that_is_busy_for_a_moment_fails_no_upload() {
        let busy = "<Error><Code>SlowDown</Code></Error>";
        let (blobs, count) = failing(3, "503 Service Unavailable", busy).await;
        blobs.put(&BlobName::parse("a").unwrap(), Bytes::from_static(b"hello")).await.unwrap();
        assert_eq!(count.load(Ordering::SeqCst), 4);
    }

    #[tokio::test]
    async fn errors_of_the_service_are_words_without_keys() {
        let content =
            "<Error><Code>InvalidAccessKeyId</Code><AWSAccessKeyId>AKIAEXAMPLE</AWSAccessKeyId></Error>";
        let (blobs, count) = failing(usize::MAX, "403 Forbidden", content).await;
        let error = blobs.put(&BlobName::parse("a").unwrap(), Bytes::new()).await.unwrap_err().to_string();
        let expected =
            "files cannot be stored or read: the service refuses the key (status 403 InvalidAccessKeyId)";
        assert_eq!(error, expected);
        assert_eq!(count.load(Ordering::SeqCst), 1, "another attempt would fail, too");
    }

    #[test]
    fn backups_are_retried_until_the_timeout() {
        let time_max = Duration::from_secs(60);
        let config = Retries::UntilTimeout.config(time_max);
        let shortest = config.backoff.init_backoff * u32::try_from(config.max_retries).unwrap();
        assert!(shortest > time_max && config.retry_timeout == time_max, "{config:?}");
        let config = Retries::Few.config(Duration::from_secs(10));
        assert_eq!((config.max_retries, config.retry_timeout), (4, Duration::from_secs(10)));
    }
}
