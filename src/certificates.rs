//! Certificates and keys of this server, from files in PEM form: for HTTPS, and for STARTTLS of incoming mail.

mod validity;

use validity::version;
pub use validity::{DAYS_WARN, Usable, Validity, is_authority};

use crate::foreign_text::one_line;
use jiff::Timestamp;
use parking_lot::RwLock;
use rustls::ServerConfig;
use rustls::crypto::ring::{default_provider, sign::any_supported_type};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use std::fmt::Display;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

/// How often the files are checked for changes.
const WATCH_EVERY: Duration = Duration::from_secs(5);
/// How often it is logged that a certificate has ended or ends soon.
const REMIND_EVERY: Duration = Duration::from_secs(24 * 60 * 60);
/// The largest file that is read, in bytes.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Why a certificate cannot be used: the wrong option, and its file with what is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{option}` {text}")]
pub struct TlsProblem {
    pub option: &'static str,
    pub text: String,
}

impl TlsProblem {
    /// A problem of the file that an option names.
    fn of_file(option: &'static str, file: &Path, text: impl Display) -> Self {
        Self { option, text: format!("({}) {text}", file.display()) }
    }
}

/// The files of a certificate, and the options that name them.
#[derive(Clone, Debug)]
pub struct CertificateFiles {
    pub cert_file: PathBuf,
    pub key_file: PathBuf,
    pub cert_option: &'static str,
    pub key_option: &'static str,
}

impl CertificateFiles {
    /// The certificate chain with its key.
    ///
    /// # Errors
    /// When a file cannot be read, or the key is not that of the certificate.
    pub fn read(&self) -> Result<CertifiedKey, TlsProblem> {
        let certificates = self.certificates()?;
        let pem = read(&self.key_file, self.key_option)?;
        let refused = |text: &str| TlsProblem::of_file(self.key_option, &self.key_file, text);
        let key = PrivateKeyDer::from_pem_slice(&pem)
            .map_err(|_| refused("must be a file with a private key in PEM form, without a password"))?;
        let key = any_supported_type(&key).map_err(|_| {
            refused("must be a key for ECDSA (P-256, P-384), Ed25519 or RSA (2048 bits or more)")
        })?;
        let found = CertifiedKey::new(certificates, key);
        match found.keys_match() {
            Ok(()) | Err(rustls::Error::InconsistentKeys(rustls::InconsistentKeys::Unknown)) => Ok(found),
            Err(rustls::Error::InconsistentKeys(rustls::InconsistentKeys::KeyMismatch)) => {
                Err(refused("must be the key of the certificate"))
            }
            Err(reason) => {
                let text = match found.cert.first().and_then(|own| version(own)) {
                    Some(old @ 1..=2) => format!(
                        "must have certificates of version 3; this one is of version {old}, made without extensions"
                    ),
                    _ => format!("must have a certificate that can be used: {}", unusable(&reason)),
                };
                Err(TlsProblem::of_file(self.cert_option, &self.cert_file, text))
            }
        }
    }

    /// The certificate chain, the server's own certificate first.
    ///
    /// # Errors
    /// When the file cannot be read or has none.
    pub fn certificates(&self) -> Result<Vec<CertificateDer<'static>>, TlsProblem> {
        let pem = read(&self.cert_file, self.cert_option)?;
        let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pem).collect();
        match certificates {
            Ok(certificates) if !certificates.is_empty() => Ok(certificates),
            Ok(_) | Err(_) => {
                let text = "must be a file with certificates in PEM form";
                Err(TlsProblem::of_file(self.cert_option, &self.cert_file, text))
            }
        }
    }

    /// What changes when the files are replaced; none while one is missing.
    fn stamp(&self) -> Option<Stamp> {
        let of = |path: &Path| {
            let found = std::fs::metadata(path).ok()?;
            Some((found.modified().ok()?, found.len(), found.ino()))
        };
        Some([of(&self.cert_file)?, of(&self.key_file)?])
    }
}

/// Why the library refuses a certificate. It says so of that of another side, and in names of its own.
fn unusable(reason: &rustls::Error) -> String {
    let text = one_line(reason);
    if text.contains("UnsupportedCriticalExtension") {
        return "this one has an extension that is marked as critical and not known; get one without it"
            .to_owned();
    }
    if text.contains("BadEncoding") || text.contains("BadDer") {
        return "this one is damaged; get it again from the authority".to_owned();
    }
    text.strip_prefix("invalid peer certificate: ").map(str::to_owned).unwrap_or(text)
}

/// Modification time, length and inode of both files.
type Stamp = [(SystemTime, u64, u64); 2];

fn read(path: &Path, option: &'static str) -> Result<Vec<u8>, TlsProblem> {
    let problem = |text: String| TlsProblem::of_file(option, path, text);
    let unreadable = |reason: std::io::Error| problem(format!("cannot be read: {reason}"));
    if std::fs::metadata(path).map_err(unreadable)?.len() > FILE_BYTES_MAX {
        return Err(problem(format!("must not be longer than {FILE_BYTES_MAX} bytes")));
    }
    std::fs::read(path).map_err(unreadable)
}

/// A certificate that is read again when its files change. Connections keep the one that they began with.
#[derive(Debug)]
pub struct Certificate {
    files: CertificateFiles,
    current: RwLock<(Arc<CertifiedKey>, Option<Stamp>)>,
}

impl Certificate {
    /// Reads the files.
    ///
    /// # Errors
    /// As for [`CertificateFiles::read`].
    pub fn open(files: CertificateFiles) -> Result<Arc<Self>, TlsProblem> {
        let stamp = files.stamp();
        let current = RwLock::new((Arc::new(files.read()?), stamp));
        Ok(Arc::new(Self { files, current }))
    }

    /// The configuration of connections with this certificate: TLS 1.2 and 1.3.
    ///
    /// # Errors
    /// Those of the TLS library.
    pub fn server_config(self: &Arc<Self>) -> Result<ServerConfig, rustls::Error> {
        let config = ServerConfig::builder_with_provider(Arc::new(default_provider()));
        let config = config.with_safe_default_protocol_versions()?.with_no_client_auth();
        Ok(config.with_cert_resolver(self.clone()))
    }

    /// Reads the files again if they have changed; true if new ones are used. Errors are logged, and the certificate
    /// stays the one before.
    pub fn reload(&self) -> bool {
        let stamp = self.files.stamp();
        if stamp == self.current.read().1 {
            return false;
        }
        match self.files.read() {
            Ok(read) => {
                *self.current.write() = (Arc::new(read), stamp);
                tracing::info!(file = %self.files.cert_file.display(), "the certificate was reloaded");
                self.note_end();
                true
            }
            Err(problem) => {
                tracing::error!(%problem, "the changed certificate cannot be used; the one before stays");
                false
            }
        }
    }

    /// Puts the end of the certificate into the metrics, and logs it if that is soon, or was already.
    pub fn note_end(&self) {
        let current = self.current.read().0.clone();
        let Some(validity) = current.cert.first().and_then(|first| Validity::of(first)) else { return };
        let (file, end) = (self.files.cert_file.display(), validity.end);
        metrics::gauge!("millstream_tls_certificate_ends_seconds").set(end.as_second() as f64);
        match validity.at(Timestamp::now()) {
            Usable::Ended => {
                tracing::warn!(%file, %end, "the certificate has expired and clients refuse it; renew it")
            }
            Usable::EndsSoon => {
                tracing::warn!(%file, %end, "the certificate expires in less than {DAYS_WARN} days; renew it");
            }
            Usable::NotYet => {
                let start = validity.start;
                tracing::warn!(%file, %start, "the certificate cannot be used yet; check the clock");
            }
            Usable::ForDays(_) => {}
        }
    }

    /// Uses changed files as long as the certificate is used, and says each day if it has ended or ends soon.
    pub async fn watch(self: Arc<Self>) {
        let certificate = Arc::downgrade(&self);
        drop(self);
        let (mut watched, mut noted) = (Watched::default(), Instant::now());
        loop {
            tokio::time::sleep(WATCH_EVERY).await;
            let Some(certificate) = certificate.upgrade() else { return };
            certificate.check_files(&mut watched);
            if noted.elapsed() >= REMIND_EVERY {
                certificate.note_end();
                noted = Instant::now();
            }
        }
    }

    /// Uses changed files, and logs when a file is missing, and when both are there again.
    fn check_files(&self, watched: &mut Watched) {
        let stamp = self.files.stamp();
        if watched.is_missing != stamp.is_none() {
            watched.is_missing = stamp.is_none();
            let (cert_file, key_file) = (self.files.cert_file.display(), self.files.key_file.display());
            match stamp {
                None => tracing::error!(
                    %cert_file, %key_file,
                    "a file of the certificate is missing or cannot be read; the certificate stays in use, but the next start \
                     needs the file"
                ),
                Some(_) => {
                    tracing::info!(%cert_file, %key_file, "the files of the certificate are there again")
                }
            }
        }
        // What cannot be used is not tried again until it changes: half of a new pair is followed by the other.
        if stamp.is_some() && stamp != watched.failed && stamp != self.current.read().1 {
            watched.failed = if self.reload() { None } else { stamp };
        }
    }
}

/// What was found when the files were last examined.
#[derive(Default)]
struct Watched {
    /// The files that could not be used.
    failed: Option<Stamp>,
    is_missing: bool,
}

impl ResolvesServerCert for Certificate {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.current.read().0.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A certificate with its key, in PEM.
    fn pair() -> (String, String) {
        let made = rcgen::generate_simple_self_signed(vec!["chat.example".to_owned()]).unwrap();
        (made.cert.pem(), made.signing_key.serialize_pem())
    }

    fn files(folder: &Path) -> CertificateFiles {
        CertificateFiles {
            cert_file: folder.join("cert.pem"),
            key_file: folder.join("key.pem"),
            cert_option: "tls.cert_file",
            key_option: "tls.key_file",
        }
    }

    #[test]
    fn files_that_cannot_be_used_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let files = files(folder.path());
        let named = format!("({}) ", folder.path().join("NAME").display());
        let [cert_name, key_name] = ["cert.pem", "key.pem"].map(|name| named.replace("NAME", name));
        // Each names its file.
        let problem =
            || files.read().unwrap_err().to_string().replace(&cert_name, "C ").replace(&key_name, "K ");
        assert!(problem().starts_with("`tls.cert_file` C cannot be read: No such file"));
        let ((cert, key), (_, other_key)) = (pair(), pair());
        std::fs::write(&files.cert_file, "tea").unwrap();
        assert_eq!(problem(), "`tls.cert_file` C must be a file with certificates in PEM form");
        std::fs::write(&files.cert_file, &cert).unwrap();
        assert!(problem().starts_with("`tls.key_file` K cannot be read"));
        std::fs::write(&files.key_file, &cert).unwrap();
        assert!(problem().starts_with("`tls.key_file` K must be a file with a private key"));
        std::fs::write(&files.key_file, other_key).unwrap();
        assert_eq!(problem(), "`tls.key_file` K must be the key of the certificate");
        std::fs::write(&files.key_file, key).unwrap();
        assert!(files.read().is_ok());
        std::fs::write(&files.cert_file, vec![b'x'; FILE_BYTES_MAX as usize + 1]).unwrap();
        assert_eq!(problem(), "`tls.cert_file` C must not be longer than 1048576 bytes");
    }

    /// Made with `openssl x509 -req` and without extensions.
    const VERSION_1: &str = "-----BEGIN CERTIFICATE-----\n\
MIIBFDCBuwIUWBOml0GyeVpwdJHFDCA2W567+4UwCgYIKoZIzj0EAwIwDDEKMAgG\n\
A1UEAwwBeDAgFw0yNjExMjcyMzQ1NThaGA8yMTA5MDExNjIzNDU1OFowDDEKMAgG\n\
A1UEAwwBeDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABNPpKOiY2wmm9pL/rYaY\n\
O/Nac5qrsut1xP3J/25SqjVXSHywOdCLpj7OYSfG5JPnA8n0t0GzhcvYxjWBcsVE\n\
7GkwCgYIKoZIzj0EAwIDSAAwRQIhAOEk6jj46ePtwKEGL3/mDrruXiMy8YCjLXYS\n\
H0I/bDXMAiADGB6SKDYfXIjBL0yRsAy2l1cGVdTDvalH2JOX/cUjsg==\n\
-----END CERTIFICATE-----\n";
    const VERSION_1_KEY: &str = "-----BEGIN PRIVATE KEY-----\n\
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgLmRXYVo/r3Rx0P/A\n\
lkqypZ2gBvuzVsc9bMTtl69JwKehRANCAATT6SjomNsJpvaS/62GmDvzWnOaq7Lr\n\
dcT9yf9uUqo1V0h8sDnQi6Y+zmEnxuST5wPJ9LdBs4XL2MY1gXLFROxp\n\
-----END PRIVATE KEY-----\n";

    #[test]
    fn certificates_of_version_1_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let files = files(folder.path());
        std::fs::write(&files.cert_file, VERSION_1).unwrap();
        std::fs::write(&files.key_file, VERSION_1_KEY).unwrap();
        let shown = format!("({}) ", files.cert_file.display());
        assert_eq!(
            files.read().unwrap_err().to_string().replace(&shown, ""),
            "`tls.cert_file` must have certificates of version 3; this one is of version 1, made without extensions"
        );
    }

    #[test]
    fn certificates_that_the_library_refuses_are_explained() {
        let folder = tempfile::tempdir().unwrap();
        let files = files(folder.path());
        let mut params = rcgen::CertificateParams::new(vec!["chat.example".to_owned()]).unwrap();
        let mut unknown = rcgen::CustomExtension::from_oid_content(&[1, 2, 3, 4], vec![5, 0]);
        unknown.set_criticality(true);
        params.custom_extensions.push(unknown);
        let key = rcgen::KeyPair::generate().unwrap();
        std::fs::write(&files.cert_file, params.self_signed(&key).unwrap().pem()).unwrap();
        std::fs::write(&files.key_file, key.serialize_pem()).unwrap();
        let shown = format!("({}) ", files.cert_file.display());
        assert_eq!(
            files.read().unwrap_err().to_string().replace(&shown, ""),
            "`tls.cert_file` must have a certificate that can be used: this one has an extension that is marked as critical and not \
             known; get one without it"
        );
        std::fs::write(&files.cert_file, "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n")
            .unwrap();
        let damaged = files.read().unwrap_err().to_string();
        assert!(damaged.ends_with("this one is damaged; get it again from the authority"), "{damaged}");
    }

    #[test]
    fn changed_files_are_read_again_and_broken_ones_are_not_used() {
        let folder = tempfile::tempdir().unwrap();
        let files = files(folder.path());
        let write = |(cert, key): &(String, String)| {
            std::fs::write(&files.cert_file, cert).unwrap();
            std::fs::write(&files.key_file, key).unwrap();
        };
        write(&pair());
        let certificate = Certificate::open(files.clone()).unwrap();
        let shown = || certificate.current.read().0.cert[0].clone();
        let first = shown();
        assert!(!certificate.reload());
        std::fs::write(&files.cert_file, "half of").unwrap();
        assert!(!certificate.reload());
        assert_eq!(shown(), first);
        write(&pair());
        assert!(certificate.reload());
        assert_ne!(shown(), first);
    }

    #[test]
    fn missing_file_is_noted_once_and_again_when_it_is_back() {
        let folder = tempfile::tempdir().unwrap();
        let files = files(folder.path());
        let (cert, key) = pair();
        std::fs::write(&files.cert_file, cert).unwrap();
        std::fs::write(&files.key_file, key).unwrap();
        let certificate = Certificate::open(files.clone()).unwrap();
        let mut watched = Watched::default();
        certificate.check_files(&mut watched);
        assert!(!watched.is_missing);
        std::fs::remove_file(&files.cert_file).unwrap();
        for _ in 0..2 {
            certificate.check_files(&mut watched);
            assert!(watched.is_missing && watched.failed.is_none());
        }
        std::fs::write(&files.cert_file, "half of").unwrap();
        certificate.check_files(&mut watched);
        assert!(!watched.is_missing && watched.failed.is_some());
    }
}
