//! A miniature of a release of the Zulip server, of our own making: an archive or folder with a manifest, two scripts,
//! a style sheet, templates and translations, in the places where a release has them.

use flate2::Compression;
use flate2::write::GzEncoder;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use tar::{Builder, EntryType, Header};

/// The folder in the archive, as in releases.
const TOP: &str = "zulip-server-11.4";
pub const VENDOR: &str = "vendor.0123456789abcdef0123.js";
pub const APP: &str = "app.abcdef0123456789abcd.js";
pub const STYLE: &str = "app.00000000001111111111.css";

/// The files of a release, by their path in it.
#[derive(Clone)]
pub struct MiniRelease {
    files: BTreeMap<String, Vec<u8>>,
    /// Symbolic links and their targets.
    links: Vec<(String, String)>,
}

impl MiniRelease {
    /// A complete release that can be installed.
    pub fn new() -> Self {
        let bundles = "prod-static/serve/webpack-bundles";
        let script = include_bytes!("../web_app/mini/app.js");
        let manifest = format!(
            r#"{{"status":"done","chunks":{{"app":["{VENDOR}","{STYLE}","{APP}"]}},"publicPath":"auto","assets":{{}}}}"#
        );
        Self { files: BTreeMap::new(), links: Vec::new() }
            .version("11.4", 423)
            .file("webpack-stats-production.json", manifest)
            .file("staticfiles.json", r#"{"paths":{"images/favicon.svg":"images/favicon.0123456789ab.svg"}}"#)
            .file(&format!("{bundles}/{VENDOR}"), include_bytes!("../web_app/mini/vendor.js"))
            .file(&format!("{bundles}/{APP}"), script)
            .file(&format!("{bundles}/{APP}.gz"), gzip(script))
            .file(&format!("{bundles}/{APP}.br"), brotli(script))
            .file(&format!("{bundles}/{STYLE}"), include_bytes!("../web_app/mini/app.css"))
            .file("prod-static/serve/images/favicon.svg", "<svg xmlns=\"http://www.w3.org/2000/svg\"/>")
            .file(
                "prod-static/serve/images/favicon.0123456789ab.svg",
                "<svg xmlns=\"http://www.w3.org/2000/svg\"/>",
            )
            .file("prod-static/serve/audio/notification_sounds/ding.ogg", vec![7; 200_000])
            .file("prod-static/serve/generated/emoji/images-google-64/1f600.png", "\u{89}PNG")
            .file("prod-static/serve/generated/emoji/emoji_api.json", "{\"of\":\"the release\"}")
            .file("templates/zerver/base.html", include_str!("../web_app/mini/base.html"))
            .file("templates/zerver/app/index.html", include_str!("../web_app/mini/index.html"))
            .file(
                "locale/language_name_map.json",
                r#"{"name_map":[{"code":"en","locale":"en","name":"English"},
                    {"code":"de","locale":"de","name":"Deutsch","percent_translated":99}]}"#,
            )
            .file("locale/de/translations.json", r#"{"Send":"Senden <jetzt>"}"#)
            .file("manage.py", "import this")
    }

    /// The same with a file.
    pub fn file(mut self, path: &str, bytes: impl AsRef<[u8]>) -> Self {
        self.files.insert(path.to_owned(), bytes.as_ref().to_vec());
        self
    }

    /// The same with another version.
    pub fn version(self, version: &str, level: u32) -> Self {
        self.file(
            "version.py",
            format!("import os\n\nZULIP_VERSION = \"{version}\"\n\nAPI_FEATURE_LEVEL = {level}\n"),
        )
    }

    /// The same without a file.
    pub fn without(mut self, path: &str) -> Self {
        self.files.remove(path).expect("it is there");
        self
    }

    /// The same with a symbolic link.
    pub fn link(mut self, path: &str, target: &str) -> Self {
        self.links.push((path.to_owned(), target.to_owned()));
        self
    }

    /// Writes the archive as releases are packed.
    pub fn write_archive(&self, path: &Path) {
        let mut archive =
            Builder::new(GzEncoder::new(File::create(path).expect("room"), Compression::fast()));
        for (name, bytes) in &self.files {
            append(&mut archive, EntryType::Regular, &format!("{TOP}/{name}"), bytes);
        }
        for (name, target) in &self.links {
            let mut header = header(EntryType::Symlink, 0);
            archive.append_link(&mut header, format!("{TOP}/{name}"), target).expect("room");
        }
        archive.into_inner().and_then(GzEncoder::finish).expect("room");
    }

    /// Writes the files into a folder, as the archive unpacks.
    pub fn write_folder(&self, folder: &Path) {
        for (name, bytes) in &self.files {
            let file = folder.join(name);
            fs::create_dir_all(file.parent().expect("a folder")).expect("room");
            fs::write(file, bytes).expect("room");
        }
        for (name, target) in &self.links {
            std::os::unix::fs::symlink(target, folder.join(name)).expect("room");
        }
    }
}

/// A Brotli stream with these bytes as one part that is not compressed; at most 64 KiB.
fn brotli(bytes: &[u8]) -> Vec<u8> {
    // From the lowest bit: a window of 64 KiB, a part that is not the last, its length less one in 16 bits, stored.
    let head = (u32::try_from(bytes.len() - 1).expect("a short file") << 4) | (1 << 20);
    // The last part is empty.
    [&head.to_le_bytes()[..3], bytes, &[3]].concat()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = GzEncoder::new(Vec::new(), Compression::fast());
    out.write_all(bytes).and_then(|()| out.finish()).expect("memory")
}

fn header(kind: EntryType, size: usize) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_size(size as u64);
    header.set_mode(0o644);
    header
}

fn append(archive: &mut Builder<impl Write>, kind: EntryType, name: &str, bytes: &[u8]) {
    archive.append_data(&mut header(kind, bytes.len()), name, bytes).expect("room");
}

/// An archive with one file whose name is written as it is, which no honest program would write.
pub fn hostile_archive(path: &Path, name: &str, kind: u8) {
    let mut archive = Builder::new(GzEncoder::new(File::create(path).expect("room"), Compression::fast()));
    let content = b"hostile";
    let mut header = header(EntryType::new(kind), content.len());
    let field = &mut header.as_gnu_mut().expect("a header of GNU tar").name;
    field.fill(0);
    field[..name.len()].copy_from_slice(name.as_bytes());
    header.set_cksum();
    archive.append(&header, &content[..]).expect("room");
    archive.into_inner().and_then(GzEncoder::finish).expect("room");
}
