//! The providers of disposable addresses, kept compressed until an organization refuses them.

use flate2::read::GzDecoder;
use std::io::{self, Read};
use std::sync::LazyLock;

/// The domains in ASCII, in order, a line each.
const COMPRESSED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/disposable_domains.gz"));

static DOMAINS: LazyLock<Domains> = LazyLock::new(|| Domains::read(COMPRESSED).unwrap_or_default());

/// Whether a domain, in ASCII and lower case, is one of a provider.
pub fn is_listed(domain: &str) -> bool {
    DOMAINS.contains(domain)
}

/// Names in order, in one text.
#[derive(Default)]
struct Domains {
    text: String,
    /// Where each begins.
    starts: Vec<u32>,
}

impl Domains {
    fn read(compressed: &[u8]) -> io::Result<Self> {
        let mut text = String::new();
        GzDecoder::new(compressed).read_to_string(&mut text)?;
        let mut starts = vec![0];
        for (at, _) in text.match_indices('\n') {
            starts.push(u32::try_from(at + 1).map_err(io::Error::other)?);
        }
        Ok(Self { text, starts })
    }

    fn contains(&self, domain: &str) -> bool {
        let name_at = |start: &u32| self.text[*start as usize..].split('\n').next().unwrap_or_default();
        self.starts.binary_search_by(|start| name_at(start).cmp(domain)).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn each_listed_domain_is_found() {
        assert!(DOMAINS.starts.len() > 10_000, "{}", DOMAINS.starts.len());
        let all: HashSet<&str> = DOMAINS.text.split('\n').collect();
        for domain in &all {
            let (longer, shorter) = (format!("{domain}x"), &domain[1..]);
            assert!(is_listed(domain), "{domain}");
            assert_eq!(is_listed(&longer), all.contains(longer.as_str()), "{longer}");
            assert_eq!(is_listed(shorter), all.contains(shorter), "{shorter}");
        }
        assert!(is_listed("mailinator.com") && !is_listed("example.com") && !is_listed(""));
    }
}
