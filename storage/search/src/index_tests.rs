//! The index on disk: what it finds, what a restart finds, and damage.

use crate::{Analyzer, Identity, Index, Language, Merges, Query, TermHasher};
use model::{MessageId, Sequence};
use proptest::prelude::*;
use roaring::RoaringBitmap;
use std::collections::{BTreeMap, BTreeSet};
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
    write_merging(index, Merges::Soon, removed, messages, sequence);
}

fn write_merging(index: &Index, merges: Merges, removed: &[u32], messages: &[(u32, &str)], sequence: u64) {
    let mut writer = index.writer(merges).unwrap();
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

/// A writer gives the library messages in groups; none is lost, doubled or out of order.
#[test]
fn groups_are_added_before_what_removes_them() {
    let folder = tempfile::tempdir().unwrap();
    let index = filled(&folder.path().join("1"));
    let (mut writer, mut analyzer) = (index.writer(Merges::Soon).unwrap(), Analyzer::new(english()));
    let long = "quokka ".repeat(40_000);
    for id in 1000..1600 {
        let html = if id % 100 == 7 { &long } else { "quokka" };
        writer.add(MessageId(id), html, &mut analyzer).unwrap();
    }
    writer.remove((1590..1700).collect()).unwrap();
    writer.add(MessageId(1600), "quokka", &mut analyzer).unwrap();
    writer.commit(Sequence(13)).unwrap();
    writer.finish().unwrap();
    index.reload().unwrap();
    let expected: Vec<u32> = [3, 5, 900].into_iter().chain(1000..1590).chain([1600]).collect();
    assert_eq!(found(&index, "quokka"), expected);
}

/// What a commit wrote is replaced, although readers have not been given it yet.
#[test]
fn messages_of_unseen_commits_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    let index = filled(&folder.path().join("1"));
    let mut analyzer = Analyzer::new(english());
    for html in ["first", "second"] {
        let mut writer = index.writer(Merges::Soon).unwrap();
        writer.remove([2000].into()).unwrap();
        writer.add(MessageId(2000), html, &mut analyzer).unwrap();
        writer.commit(Sequence(13)).unwrap();
        writer.finish().unwrap();
    }
    index.reload().unwrap();
    assert_eq!((found(&index, "first"), found(&index, "second")), (vec![], vec![2000]));
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
    let mut writer = index.writer(Merges::Soon).unwrap();
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
fn parts_of_many_messages_are_merged_by_a_later_writer() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("1");
    let index = Index::create(&path, &identity()).unwrap();
    let parts = || {
        let meta = fs::read(path.join("meta.json")).unwrap();
        let meta: serde_json::Value = serde_json::from_slice(&meta).unwrap();
        meta["segments"].as_array().unwrap().len()
    };
    for id in 1..=63 {
        write_merging(&index, Merges::Late, &[], &[(id, "common")], id.into());
    }
    assert_eq!(parts(), 63);
    write(&index, &[], &[], 64);
    assert_eq!((parts(), found(&index, "common")), (1, (1..=63).collect()));
    for id in 65..=150 {
        write_merging(&index, Merges::Late, &[], &[(id, "common")], id.into());
        assert!(parts() < 64);
    }
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
    let mut writer = index.writer(Merges::Soon).unwrap();
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

const TERMS: [&str; 5] = ["moon", "sun", "東京", "京都", "a.b"];

/// Commits of messages with numbers of `TERMS`; a message of a later commit replaces the earlier one.
fn any_commits() -> impl Strategy<Value = Vec<Vec<(u32, BTreeSet<usize>)>>> {
    let id = prop_oneof![1_u32..5000, 60_000_u32..70_000];
    let message = (id, prop::collection::btree_set(0..TERMS.len(), 0..TERMS.len()));
    prop::collection::vec(prop::collection::vec(message, 0..1500), 1..4)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Parts of the index are the same as everything, cut afterwards; and hashes find the same.
    #[test]
    fn partial_lookups_match_whole_ones(
        commits in any_commits(),
        ids in prop::collection::vec((1_u32..70_000, 0_u32..3000), 0..5),
        text in prop::sample::subsequence(vec!["moon", "sun", "東京", "京", "a.b", "missing"], 1..4),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let index = Index::create(&folder.path().join("1"), &identity()).unwrap();
        let mut messages: BTreeMap<u32, String> = BTreeMap::new();
        for commit in &commits {
            // Neither by their ids nor in the order of the commits.
            let commit: std::collections::HashMap<u32, String> = commit.iter().map(|(id, terms)| {
                (*id, terms.iter().map(|term| format!("{} ", TERMS[*term])).collect())
            }).collect();
            let list: Vec<(u32, &str)> = commit.iter().map(|(id, text)| (*id, text.as_str())).collect();
            write(&index, &commit.keys().copied().collect::<Vec<_>>(), &list, 1);
            messages.extend(commit);
        }
        let mut analyzer = Analyzer::new(english());
        let query = Query::parse(&text.join(" "), &mut analyzer);
        let reader = index.reader();
        let whole = reader.find(&query).unwrap();
        let hasher = TermHasher::default();
        for (word, found) in hasher.words_of(&query).iter().zip(&whole) {
            let has = |html: &str, analyzer: &mut Analyzer| hasher.terms_of_html(html, analyzer).has(word);
            let naive: RoaringBitmap =
                messages.iter().filter(|(_, html)| has(html, &mut analyzer)).map(|(id, _)| *id).collect();
            prop_assert_eq!(found, &naive);
        }
        let mut some = RoaringBitmap::new();
        ids.iter().for_each(|(first, count)| _ = some.insert_range(*first..first + count));
        let cut: Vec<RoaringBitmap> = whole.iter().map(|found| found & &some).collect();
        prop_assert_eq!(reader.find_in(&query, &some).unwrap(), cut);
        let counts = reader.counts(&query).unwrap();
        for (base, with_base) in whole.iter().enumerate() {
            prop_assert!(counts[base] >= with_base.len());
            let cut: Vec<RoaringBitmap> = whole.iter().map(|found| found & with_base).collect();
            prop_assert_eq!(reader.find_with(&query, base).unwrap(), cut);
        }
    }
}
