//! Build script: compresses the list of providers of disposable addresses, which few organizations need.

use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::{self, Write};
use std::path::Path;
use std::{env, fs};

/// Writes `disposable_domains.gz`: the domains in order, a line each.
fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=src/build.rs");
    let mut domains = mailchecker::blacklist();
    domains.sort_unstable();
    domains.dedup();
    let out = env::var("OUT_DIR").map_err(io::Error::other)?;
    let file = fs::File::create(Path::new(&out).join("disposable_domains.gz"))?;
    let mut encoder = GzEncoder::new(file, Compression::best());
    encoder.write_all(domains.join("\n").as_bytes())?;
    encoder.finish().map(drop)
}
