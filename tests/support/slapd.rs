//! A real LDAP directory for one test: OpenLDAP's `slapd` on a folder and a port of its own.

use super::TIMEOUT;
use super::skip::{not_skipped, skip};
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Where distributions install `slapd`; neither folder is in an ordinary user's `PATH`.
const PROGRAMS: [&str; 2] = ["/usr/sbin/slapd", "/usr/lib/openldap/slapd"];

/// Distinguished name and password of the account that searches the directory.
pub const READER: (&str, &str) = ("cn=reader,dc=example,dc=org", "reader secret");

/// Base distinguished name of all users.
pub const BASE: &str = "ou=people,dc=example,dc=org";

/// A user of the directory.
pub struct Entry {
    pub uid: &'static str,
    pub full_name: &'static str,
    /// None for an entry without a mail address.
    pub mail: Option<&'static str>,
    pub password: &'static str,
}

/// A running directory server.
pub struct Slapd {
    child: Child,
    _folder: TempDir,
    pub url: String,
    /// File with the CA certificate (PEM) that signed the server's certificate.
    pub authority: PathBuf,
}

impl Slapd {
    /// Starts a directory with these users. Without an installed `slapd` the result is none and the test is skipped;
    /// with MILLSTREAM_REQUIRE_CLIENTS set (as in `.ci/run`) the test fails.
    pub fn start(people: &[Entry]) -> Option<Self> {
        let Some(program) = PROGRAMS.into_iter().find(|path| Path::new(path).exists()) else {
            skip("logins with an LDAP directory", "slapd is not installed");
            return None;
        };
        not_skipped("logins with an LDAP directory");
        let folder = tempfile::tempdir().expect("a folder");
        let (config, authority) = configure(folder.path(), people);
        let load = folder.path().join("people.ldif");
        run(Command::new(program).args(["-T", "add", "-f"]).arg(&config).arg("-l").arg(&load));
        let port = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").port();
        let url = format!("ldap://localhost:{port}");
        let child = Command::new(program)
            .args(["-d", "0", "-h", &format!("ldap://127.0.0.1:{port}"), "-f"])
            .arg(&config)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("slapd starts");
        let slapd = Self { child, _folder: folder, url, authority };
        let deadline = Instant::now() + TIMEOUT;
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(Instant::now() < deadline, "slapd does not listen");
            std::thread::sleep(Duration::from_millis(10));
        }
        Some(slapd)
    }

    /// Kills the process; all connections are reset.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Slapd {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Writes the configuration and the initial entries; returns the paths of the configuration and of the CA certificate.
fn configure(folder: &Path, people: &[Entry]) -> (PathBuf, PathBuf) {
    let authority = certificates(folder);
    let (here, base, (reader, password)) = (folder.display(), BASE, READER);
    fs::create_dir(folder.join("db")).expect("a folder");
    let config = format!(
        "include /etc/ldap/schema/core.schema\ninclude /etc/ldap/schema/cosine.schema\n\
         include /etc/ldap/schema/inetorgperson.schema\nmodulepath /usr/lib/ldap\nmoduleload back_mdb\n\
         pidfile {here}/pid\nTLSCACertificateFile {here}/ca.pem\nTLSCertificateFile {here}/cert.pem\n\
         TLSCertificateKeyFile {here}/key.pem\n\
         database mdb\nmaxsize 16777216\nsuffix dc=example,dc=org\ndirectory {here}/db\n\
         access to attrs=userPassword by anonymous auth by * none\n\
         access to * by dn.exact=\"{reader}\" read by anonymous auth by * none\n"
    );
    let mut ldif = format!(
        "dn: dc=example,dc=org\nobjectClass: dcObject\nobjectClass: organization\no: Example\ndc: example\n\n\
         dn: {reader}\nobjectClass: organizationalRole\nobjectClass: simpleSecurityObject\ncn: reader\n\
         userPassword: {password}\n\ndn: {base}\nobjectClass: organizationalUnit\nou: people\n\n"
    );
    for Entry { uid, full_name, mail, password } in people {
        let mail = mail.map(|mail| format!("mail: {mail}\n")).unwrap_or_default();
        ldif.push_str(&format!(
            "dn: uid={uid},{base}\nobjectClass: inetOrgPerson\nuid: {uid}\ncn: {full_name}\nsn: x\n{mail}\
             userPassword: {password}\n\n"
        ));
    }
    let path = folder.join("slapd.conf");
    fs::write(&path, config).expect("a file");
    fs::write(folder.join("people.ldif"), ldif).expect("a file");
    (path, authority)
}

/// Creates a CA and a certificate for `localhost` signed by it; returns the path of the CA certificate.
fn certificates(folder: &Path) -> PathBuf {
    let openssl = |words: &str| {
        run(Command::new("openssl").args(words.split_whitespace()).current_dir(folder).stderr(Stdio::null()));
    };
    fs::write(folder.join("names"), "subjectAltName=DNS:localhost\n").expect("a file");
    let new_key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
    openssl(&format!("req -x509 {new_key} -keyout ca.key -out ca.pem -days 2 -subj /CN=authority"));
    openssl(&format!("req {new_key} -keyout key.pem -out request.pem -subj /CN=localhost"));
    openssl(
        "x509 -req -in request.pem -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names -out cert.pem",
    );
    folder.join("ca.pem")
}

fn run(command: &mut Command) {
    let status = command.stdout(Stdio::null()).status().expect("the program runs");
    assert!(status.success(), "{command:?}: {status}");
}
