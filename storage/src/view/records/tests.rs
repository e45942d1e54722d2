//! The numbers of the tables.

use super::*;

#[test]
fn ids_of_tables_are_unique() {
    let mut ids: Vec<u8> = TABLES.iter().map(|table| table.id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), TABLES.len());
}
