//! An installed web app, checked and loaded: its release, the pages' skeletons, its languages, and where its files are.

use super::languages::{Languages, read_bounded};
use super::manifest::Manifest;
use super::page_variant::{Assets, PageVariant};
use super::problem::WebAppError;
use super::release::Release;
use super::selection::{BASE, INDEX, LANGUAGES, MANIFEST, STATIC, STATIC_NAMES, VERSION, VERSION_PY};
use super::skeleton::{Skeleton, Skeletons};
use super::template::Templates;
use serde::Deserialize;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// An installed web app. Loading checks that it can be served.
#[derive(Debug)]
pub struct Bundle {
    root: PathBuf,
    release: Release,
    file_count: usize,
    skeletons: Skeletons,
    languages: Languages,
}

/// Django's manifest: the names with a hash of static files.
#[derive(Deserialize)]
struct StaticNames {
    paths: HashMap<String, String>,
}

impl Bundle {
    /// Loads a bundle from its folder.
    ///
    /// # Errors
    /// `NotARelease` or `WrongRelease` by its version; `Incomplete` if the manifest or a file that it names is missing.
    pub fn load(root: &Path) -> Result<Self, WebAppError> {
        let text =
            |name: &str| read_bounded(&root.join(name)).and_then(|bytes| String::from_utf8(bytes).ok());
        let release = Release::read(text(VERSION_PY).as_deref(), text(VERSION).as_deref())?;
        let missing = || WebAppError::NotARelease(format!("it has no {MANIFEST}"));
        let manifest = Manifest::parse(&read_bounded(&root.join(MANIFEST)).ok_or_else(missing)?)?;
        manifest.check(root)?;
        let names = read_bounded(&root.join(STATIC_NAMES));
        let names = names.and_then(|json| serde_json::from_slice::<StaticNames>(&json).ok());
        let assets =
            Assets { app: manifest.app_urls(), names: names.map(|names| names.paths).unwrap_or_default() };
        let templates = text(INDEX).zip(text(BASE)).map(|(index, base)| Templates { index, base });
        Ok(Self {
            skeletons: Skeletons::new(templates, &assets)?,
            languages: Languages::load(root, LANGUAGES),
            file_count: manifest.file_count(),
            root: root.to_owned(),
            release,
        })
    }

    /// The release that it is from.
    pub fn release(&self) -> &Release {
        &self.release
    }

    /// Changes with each installation: part of the ETags of its files.
    pub fn id(&self) -> &str {
        self.root.file_name().and_then(|name| name.to_str()).unwrap_or_default()
    }

    /// The folder of the files that are served below `/static/`.
    pub fn static_folder(&self) -> PathBuf {
        self.root.join(STATIC)
    }

    /// The number of scripts and style sheets that its manifest names.
    pub fn file_count(&self) -> usize {
        self.file_count
    }

    /// Its languages and their translations.
    pub fn languages(&self) -> &Languages {
        &self.languages
    }

    /// The page that starts it.
    pub fn skeleton(&self, variant: PageVariant) -> &Skeleton {
        self.skeletons.of(variant)
    }

    /// Why its own template is not used for the page, if it is not.
    pub fn template_problem(&self) -> Option<&str> {
        self.skeletons.template_problem()
    }
}
