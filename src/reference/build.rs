//! Part of the build script: what tests recorded of answers, compressed.

use flate2::Compression;
use flate2::write::GzEncoder;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::{env, fs, io};

/// Writes `reference.rs` with the recordings: `ANSWERS`, and `EXAMPLES` by operation.
pub fn embed() -> io::Result<()> {
    let root = env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?;
    let out = env::var("OUT_DIR").map_err(io::Error::other)?;
    let (answers, examples) =
        (Path::new(&root).join("src/reference/answers"), Path::new(&root).join("src/reference/examples"));
    let mut all = String::from("{");
    for (at, name) in ["answers", "components", "events", "errors"].iter().enumerate() {
        let path = answers.join(format!("{name}.json"));
        let comma = if at == 0 { "" } else { "," };
        write!(all, "{comma}\"{name}\":{}", read(&path)?).map_err(io::Error::other)?;
    }
    all.push('}');
    write_compressed(&Path::new(&out).join("answers.json.gz"), &all)?;
    let mut list = String::from(
        "pub const ANSWERS: &[u8] = include_bytes!(concat!(env!(\"OUT_DIR\"), \"/answers.json.gz\"));\n",
    );
    list.push_str("pub const EXAMPLES: &[(&str, &[u8])] = &[\n");
    println!("cargo::rerun-if-changed={}", examples.display());
    let mut names = Vec::new();
    for entry in fs::read_dir(&examples)? {
        names.extend(entry?.file_name().to_string_lossy().strip_suffix(".json").map(str::to_owned));
    }
    names.sort();
    for name in names {
        let text = read(&examples.join(format!("{name}.json")))?;
        write_compressed(&Path::new(&out).join(format!("example-{name}.gz")), &text)?;
        writeln!(list, "    ({name:?}, include_bytes!(concat!(env!(\"OUT_DIR\"), \"/example-{name}.gz\"))),")
            .map_err(io::Error::other)?;
    }
    list.push_str("];\n");
    fs::write(Path::new(&out).join("reference.rs"), list)
}

fn read(path: &Path) -> io::Result<String> {
    println!("cargo::rerun-if-changed={}", path.display());
    fs::read_to_string(path)
}

/// Without the time of the build, so that two builds are equal.
fn write_compressed(path: &Path, text: &str) -> io::Result<()> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(text.as_bytes())?;
    fs::write(path, encoder.finish()?)
}
