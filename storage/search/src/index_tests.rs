//! The index on disk: what it finds, what a restart finds, and damage.

use crate::{Analyzer, Identity, Index, Language, Query};
use model::{MessageId, Sequence};
use std::fs;
use std::path::Path;

fn english() -> Language {
    Language::of("en")
}

fn identity() -> Identity {
    Identity::new(1, 77, english())
}

/// Writes messages as one commit, after removing some.
fn write(index: &Index, removed: &[u32], messages: &[(u32, &str)], sequence: u64) {
    let mut writer = index.writer().unwrap();
    writer.remove(removed.iter().copied().collect()).unwrap();
    let mut analyzer = Analyzer::new(english());
    for (id, html) in messages {
        writer.add(MessageId(*id), html, &mut analyzer).unwrap();
    }
    writer.commit(Sequence(sequence)).unwrap();
    writer.finish().unwrap();
    index.reload().unwrap();
}

fn found(index: &Index, text: &str) -> Vec<u32> {
    let query = Query::parse(text, &mut Analyzer::new(english()));
    let mut words = index.reader().find(&query).unwrap().into_iter();
    let first = words.next().unwrap_or_default();
    words.fold(first, |all, word| all & word).iter().collect()
}

const MESSAGES: [(u32, &str); 4] =
    [(3, "<p>jumping quokka</p>"), (5, "quokkas of 東京都"), (6, "moon"), (900, "quokka moon 京")];

fn filled(folder: &Path) -> Index {
    let index = Index::create(folder, &identity()).unwrap();
    write(&index, &[], &MESSAGES, 12);
    index
}

#[test]
fn words_are_found_across_commits() {
    let folder = tempfile::tempdir().unwrap();
    let index = filled(&folder.path().join("1"));
    for (text, ids) in [
        ("quokka", &[3, 5, 900][..]),
        ("moon quokka", &[900]),
        ("東京都", &[5]),
        ("京", &[5, 900]),
        ("missing", &[]),
    ] {
        assert_eq!(found(&index, text), ids, "{text}");
    }
    write(&index, &[5, 900], &[(900, "sun"), (901, "quokka")], 20);
    assert_eq!(found(&index, "quokka"), [3, 901]);
    assert_eq!((found(&index, "sun"), found(&index, "moon")), (vec![900], vec![6]));
    assert_eq!(index.reader().len(), 5 - 1);
    let mut writer = index.writer().unwrap();
    writer.expunge().unwrap();
    writer.finish().unwrap();
    index.reload().unwrap();
    assert_eq!(found(&index, "quokka"), [3, 901]);
}

#[test]
fn many_commits_are_merged_and_stay_findable() {
    let folder = tempfile::tempdir().unwrap();
    let index = Index::create(&folder.path().join("1"), &identity()).unwrap();
    for id in 1..=40 {
        write(&index, &[id - 1], &[(id, "common"), (id + 1000, &format!("word{id}"))], id.into());
    }
    assert_eq!(found(&index, "common"), [40]);
    assert_eq!(found(&index, "word7"), [1007]);
    let parts = fs::read_dir(folder.path().join("1")).unwrap().count();
    assert!(parts < 100, "{parts} files");
}

#[test]
fn index_is_opened_again_with_its_sequence() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("1");
    assert!(Index::open(&path, &identity()).unwrap().is_none());
    drop(filled(&path));
    let (index, sequence) = Index::open(&path, &identity()).unwrap().unwrap();
    assert_eq!((sequence, found(&index, "moon")), (Sequence(12), vec![6, 900]));
    // What was not committed is not there.
    let writer = index.writer().unwrap();
    writer.add(MessageId(7), "lost", &mut Analyzer::new(english())).unwrap();
    drop((writer, index));
    let (index, sequence) = Index::open(&path, &identity()).unwrap().unwrap();
    assert_eq!((sequence, found(&index, "lost")), (Sequence(12), vec![]));
    for other in [
        Identity::new(2, 77, english()),
        Identity::new(1, 78, english()),
        Identity::new(1, 77, Language::of("de")),
        Identity { version: crate::VERSION + 1, ..identity() },
    ] {
        assert!(Index::open(&path, &other).unwrap().is_none(), "{other:?}");
    }
}

#[test]
fn damage_is_an_error_and_never_a_panic() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("1");
    drop(filled(&path));
    let files: Vec<_> = fs::read_dir(&path).unwrap().map(|file| file.unwrap().path()).collect();
    for file in files.iter().filter(|file| !file.ends_with(".managed.json")) {
        let whole = fs::read(file).unwrap();
        let mut flipped = whole.clone();
        let middle = flipped.len() / 2;
        flipped[middle] ^= 0xff;
        for damaged in [flipped, whole[..middle].to_vec(), Vec::new()] {
            fs::write(file, damaged).unwrap();
            let opened = Index::open(&path, &identity());
            assert!(!matches!(opened, Ok(Some(_))), "{}: {opened:?}", file.display());
            let inspected = crate::inspect(&path);
            assert!(inspected.is_err(), "{}: {inspected:?}", file.display());
        }
        // Cut while it is open.
        fs::write(file, &whole).unwrap();
        let (index, _) = Index::open(&path, &identity()).unwrap().unwrap();
        fs::write(file, "").unwrap();
        let query = Query::parse("quokka 京", &mut Analyzer::new(english()));
        let _ = index.reader().find(&query);
        let _ = index.reload();
        fs::write(file, &whole).unwrap();
    }
    assert!(Index::open(&path, &identity()).unwrap().is_some());
    let inspected = crate::inspect(&path).unwrap().unwrap();
    assert_eq!((inspected.sequence, inspected.identity), (Sequence(12), identity()));
    assert_eq!(crate::inspect(&folder.path().join("2")).unwrap(), None);
}
