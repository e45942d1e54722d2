//! Files of tables: an object with a list of rows for each table, written row by row to a temporary file without a name, which
//! disappears with the process.

use crate::transfer::problem::TransferError;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;

const BUFFER_BYTES: usize = 1 << 17;

/// Number of rows by table.
pub type RowCounts = BTreeMap<String, u64>;

/// A temporary file.
pub struct Spool {
    file: BufWriter<File>,
    folder: std::path::PathBuf,
}

impl Spool {
    /// An empty file in a folder.
    pub fn new(folder: &Path) -> Result<Self, TransferError> {
        let file = tempfile::tempfile_in(folder).map_err(|reason| TransferError::system(folder, reason))?;
        Ok(Self { file: BufWriter::with_capacity(BUFFER_BYTES, file), folder: folder.to_owned() })
    }

    /// Appends bytes to the file.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), TransferError> {
        self.file.write_all(bytes).map_err(|reason| TransferError::system(&self.folder, reason))
    }

    /// Appends a value as JSON.
    pub fn value(&mut self, value: &impl Serialize) -> Result<(), TransferError> {
        let written = serde_json::to_writer(&mut self.file, value).map_err(std::io::Error::from);
        written.map_err(|reason| TransferError::system(&self.folder, reason))
    }

    /// Copies everything that was written to a new file.
    pub fn copy_to(self, path: &Path) -> Result<(), TransferError> {
        let failed = |reason| TransferError::system(path, reason);
        let (_, mut reader) = self.into_reader()?;
        let mut file = File::create(path).map_err(failed)?;
        std::io::copy(&mut reader, &mut file).map_err(failed)?;
        Ok(())
    }

    /// The size and a reader of everything that was written.
    pub fn into_reader(self) -> Result<(u64, BufReader<File>), TransferError> {
        let Self { file, folder } = self;
        let failed = |reason| TransferError::system(&folder, reason);
        let mut file = file.into_inner().map_err(|error| failed(error.into_error()))?;
        let size = file.stream_position().map_err(failed)?;
        file.seek(SeekFrom::Start(0)).map_err(failed)?;
        Ok((size, BufReader::with_capacity(BUFFER_BYTES, file)))
    }
}

/// Writes the tables of one file.
pub struct TableWriter {
    spool: Spool,
    /// The names so far, with the number of rows.
    pub counts: RowCounts,
    /// The table that is open.
    open: Option<String>,
    entries: usize,
}

impl TableWriter {
    /// A file without tables.
    pub fn new(folder: &Path) -> Result<Self, TransferError> {
        let mut spool = Spool::new(folder)?;
        spool.write(b"{")?;
        Ok(Self { spool, counts: RowCounts::new(), open: None, entries: 0 })
    }

    /// Begins a table; the one before ends.
    pub fn begin(&mut self, table: &str) -> Result<(), TransferError> {
        self.key(table)?;
        self.spool.write(b"[")?;
        self.counts.insert(table.to_owned(), 0);
        self.open = Some(table.to_owned());
        Ok(())
    }

    fn key(&mut self, name: &str) -> Result<(), TransferError> {
        self.end()?;
        self.spool.write(if self.entries == 0 { b"\n" } else { b",\n" })?;
        self.entries += 1;
        self.spool.value(&name)?;
        self.spool.write(b": ")
    }

    fn end(&mut self) -> Result<(), TransferError> {
        if self.open.take().is_some() { self.spool.write(b"]") } else { Ok(()) }
    }

    /// The number of rows of the open table, which is also the id of the last one where rows have no id of their own.
    pub fn row_count(&self) -> u64 {
        self.open.as_ref().and_then(|table| self.counts.get(table)).copied().unwrap_or_default()
    }

    /// Adds a row to the open table.
    pub fn row(&mut self, row: &impl Serialize) -> Result<(), TransferError> {
        self.next()?;
        self.spool.value(row)
    }

    fn next(&mut self) -> Result<(), TransferError> {
        let count = self.open.as_ref().and_then(|table| self.counts.get_mut(table));
        let is_first = count.is_none_or(|count| {
            *count += 1;
            *count == 1
        });
        self.spool.write(if is_first { b"\n" } else { b",\n" })
    }

    /// A table with these rows.
    pub fn table<T: Serialize>(
        &mut self,
        table: &str,
        rows: impl IntoIterator<Item = T>,
    ) -> Result<(), TransferError> {
        self.begin(table)?;
        rows.into_iter().try_for_each(|row| self.row(&row))
    }

    /// A table whose rows were written to a temporary file, with a comma between two.
    pub fn spooled(&mut self, table: &str, rows: Spool, count: u64) -> Result<(), TransferError> {
        self.begin(table)?;
        self.counts.insert(table.to_owned(), count);
        let (_, mut reader) = rows.into_reader()?;
        let mut buffer = vec![0; BUFFER_BYTES];
        loop {
            let read = reader.read(&mut buffer);
            let read = read.map_err(|reason| TransferError::system(&self.spool.folder, reason))?;
            if read == 0 {
                return Ok(());
            }
            self.spool.write(buffer.get(..read).unwrap_or_default())?;
        }
    }

    /// A value that is no table.
    pub fn value(&mut self, name: &str, value: &impl Serialize) -> Result<(), TransferError> {
        self.key(name)?;
        self.spool.value(value)
    }

    /// The complete file.
    pub fn finish(mut self) -> Result<(Spool, RowCounts), TransferError> {
        self.end()?;
        self.spool.write(b"\n}\n")?;
        Ok((self.spool, self.counts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn files_of_tables_are_json() {
        let folder = tempfile::tempdir().unwrap();
        let mut spool = Spool::new(folder.path()).unwrap();
        spool.write(b"{\"id\":1},\n{\"id\":2}").unwrap();
        let mut tables = TableWriter::new(folder.path()).unwrap();
        tables.table("empty", Vec::<u32>::new()).unwrap();
        tables.table("rows", [json!({"id": 7}), json!({"id": 8})]).unwrap();
        tables.value("import_source", &"zulip").unwrap();
        tables.spooled("spooled", spool, 2).unwrap();
        let (file, counts) = tables.finish().unwrap();
        assert_eq!(
            counts,
            [("empty", 0), ("rows", 2), ("spooled", 2)].map(|(t, n)| (t.to_owned(), n)).into()
        );
        let (size, mut reader) = file.into_reader().unwrap();
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        assert_eq!(text.len() as u64, size);
        let expected = json!({"empty": [], "rows": [{"id": 7}, {"id": 8}], "import_source": "zulip",
            "spooled": [{"id": 1}, {"id": 2}]});
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), expected);
    }
}
