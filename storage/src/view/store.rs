//! Changes of one record, in memory and in its row at once.

use super::record::{Record, Removable};
use super::{Rows, View};
use crate::error::StoreError;
use serde::Serialize;

impl View {
    pub(super) fn put<R: Record>(
        &mut self,
        rows: &mut Rows,
        key: R::Key,
        value: R::Value,
    ) -> Result<(), StoreError>
    where
        R::Value: Serialize,
    {
        rows.put::<R>(self.realm(), &key, &value)?;
        if let Some(load) = R::LOAD {
            load(self, key, value);
        }
        Ok(())
    }

    pub(super) fn remove<R: Removable>(&mut self, rows: &mut Rows, key: &R::Key) {
        rows.remove::<R>(self.realm(), key);
        R::unload(self, key);
    }

    pub(super) fn put_or_remove<R: Removable>(
        &mut self,
        rows: &mut Rows,
        key: R::Key,
        value: Option<R::Value>,
    ) -> Result<(), StoreError>
    where
        R::Value: Serialize,
    {
        match value {
            Some(value) => self.put::<R>(rows, key, value),
            None => {
                self.remove::<R>(rows, &key);
                Ok(())
            }
        }
    }

    /// Writes the row of a record that memory has already changed, or removes it where there is none.
    pub(super) fn put_row<R: Record>(
        &self,
        rows: &mut Rows,
        key: R::Key,
        value: Option<&R::Value>,
    ) -> Result<(), StoreError>
    where
        R::Value: Serialize,
    {
        match value {
            Some(value) => rows.put::<R>(self.realm(), &key, value),
            None => {
                rows.remove::<R>(self.realm(), &key);
                Ok(())
            }
        }
    }
}
