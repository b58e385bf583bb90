//! Boards as Parquet: columns, a group of rows at a time.
//!
//! A Parquet file ends with its footer, which says where each group of columns lies; without it nothing can be read. So
//! that an export that was broken off can go on, the footer of what is complete stands in a file of its own, written anew
//! after each group, until the whole file is.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use board::{Canonical, Par};
use coordinator::store::BoardRow;
use parquet::basic::{Compression, Encoding};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::{
    FileMetaData, KeyValue, ParquetMetaData, ParquetMetaDataReader, ParquetMetaDataWriter, RowGroupMetaData,
};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::{ColumnPath, SchemaDescriptor};

use super::target::{Target, beside};

/// Rows of a group: some 20 MB while it is gathered, two or three in the file.
const GROUP: usize = if cfg!(test) { 3 } else { 1 << 17 };

const SCHEMA: &str = "
    message boards {
        REQUIRED INT32 par (INTEGER(16,false));
        REQUIRED BYTE_ARRAY canonical (STRING);
        REQUIRED BYTE_ARRAY lot (STRING);
        REQUIRED INT32 exit_row (INTEGER(8,false));
        REQUIRED INT32 vehicles (INTEGER(8,false));
        REQUIRED INT32 walls (INTEGER(8,false));
        REQUIRED INT64 states;
        OPTIONAL BOOLEAN minimal;
    }";

/// Under this key the footer of a part says which board was the last: par and spelling.
const LAST: &str = "parforce.last";

/// What an export that was broken off had written.
#[derive(Default)]
pub(super) struct Earlier {
    groups: Vec<RowGroupMetaData>,
    /// Where the last of them ends.
    end: u64,
    /// The last board of the last of them.
    pub(super) last: Option<(Par, Canonical)>,
}

impl Earlier {
    /// Reads the footer that stands beside an unfinished file; without one, nothing of it is complete.
    pub(super) fn of(target: &mut Target) -> anyhow::Result<Earlier> {
        let bytes = match fs::read(target.footer()) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                target.cut(0)?;
                return Ok(Earlier::default());
            }
            Err(error) => return Err(error.into()),
        };
        let told = || format!("{} is no footer of an export", target.footer().display());
        // Behind it stand its length and the letters PAR1.
        let footer = bytes.len().checked_sub(8).map(|end| &bytes[..end]);
        let metadata =
            ParquetMetaDataReader::decode_metadata(footer.with_context(told)?).with_context(told)?;
        let ends = metadata.row_groups().iter().flat_map(|group| {
            let end = |(start, length)| start + length;
            group.columns().iter().map(move |column| end(column.byte_range()))
        });
        let end = ends.max().with_context(told)?;
        let pairs = metadata.file_metadata().key_value_metadata();
        let last = pairs.and_then(|pairs| pairs.iter().find(|pair| pair.key == LAST)?.value.as_deref());
        let (par, canonical) = last.and_then(|last| last.split_once(' ')).with_context(told)?;
        let last = (Par::new(par.parse()?), Canonical::parse(canonical)?);
        anyhow::ensure!(
            end <= target.file.metadata()?.len(),
            "{} is shorter than its footer says",
            target.name()
        );
        target.cut(end)?;
        Ok(Earlier {
            groups: metadata.row_groups().to_vec(),
            end,
            last: Some(last),
        })
    }
}

/// A Parquet file that is being written.
pub(super) struct Columns<W: Write + Send> {
    writer: SerializedFileWriter<Skipping<W>>,
    schema: Arc<SchemaDescriptor>,
    earlier: Vec<RowGroupMetaData>,
    rows: Rows,
    /// Where the footer is kept after each group; `None`: nowhere.
    footer: Option<PathBuf>,
}

impl<W: Write + Send> Columns<W> {
    /// A file that goes on behind what is there.
    pub(super) fn new(out: W, earlier: Earlier, footer: Option<PathBuf>) -> anyhow::Result<Columns<W>> {
        let message = Arc::new(parse_message_type(SCHEMA)?);
        let spelling = ColumnPath::from("canonical");
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_offset_index_disabled(true)
            .set_created_by(concat!("parforce ", env!("CARGO_PKG_VERSION")).to_owned())
            // Spellings come in order: each shares its beginning with the one before.
            .set_column_dictionary_enabled(spelling.clone(), false)
            .set_column_encoding(spelling, Encoding::DELTA_BYTE_ARRAY)
            .build();
        let out = Skipping {
            n_left: earlier.end,
            out,
        };
        let mut writer = SerializedFileWriter::new(out, Arc::clone(&message), Arc::new(properties))?;
        // The writer counts what it has written to know where it is: it is told what stands there already.
        let nothing = vec![0; 1 << 16];
        while (writer.bytes_written() as u64) < earlier.end {
            let n_left = usize::try_from(earlier.end)? - writer.bytes_written();
            writer.write_all(&nothing[..n_left.min(nothing.len())])?;
        }
        writer.flush()?;
        Ok(Columns {
            writer,
            schema: Arc::new(SchemaDescriptor::new(message)),
            earlier: earlier.groups,
            rows: Rows::default(),
            footer,
        })
    }

    pub(super) fn push(&mut self, row: &BoardRow) -> io::Result<()> {
        self.rows.push(row);
        if self.rows.par.len() == GROUP {
            self.write_group().map_err(io::Error::other)?;
        }
        Ok(())
    }

    /// Writes what is left, and the footer.
    pub(super) fn finish(mut self) -> anyhow::Result<()> {
        if !self.rows.par.is_empty() {
            self.write_group()?;
        }
        let footer = self.footer_of(None)?;
        let out = self.writer.inner_mut();
        out.write_all(&footer)?;
        Ok(out.flush()?)
    }

    fn write_group(&mut self) -> anyhow::Result<()> {
        let rows = std::mem::take(&mut self.rows);
        let mut group = self.writer.next_row_group()?;
        column::<Int32Type, _>(&mut group, &rows.par, None)?;
        column::<ByteArrayType, _>(&mut group, &rows.canonical, None)?;
        column::<ByteArrayType, _>(&mut group, &rows.lot, None)?;
        column::<Int32Type, _>(&mut group, &rows.exit_row, None)?;
        column::<Int32Type, _>(&mut group, &rows.vehicles, None)?;
        column::<Int32Type, _>(&mut group, &rows.walls, None)?;
        column::<Int64Type, _>(&mut group, &rows.states, None)?;
        column::<BoolType, _>(&mut group, &rows.minimal, Some(&rows.minimal_levels))?;
        group.close()?;
        self.writer.flush()?;
        if let Some(path) = &self.footer {
            let new = beside(path, "new");
            fs::write(&new, self.footer_of(rows.last())?)?;
            fs::rename(&new, path)?;
        }
        Ok(())
    }

    /// The footer of a file of what is written so far.
    fn footer_of(&self, last: Option<String>) -> Result<Vec<u8>, ParquetError> {
        let groups: Vec<RowGroupMetaData> = self
            .earlier
            .iter()
            .chain(self.writer.flushed_row_groups())
            .cloned()
            .collect();
        let n_rows = groups.iter().map(RowGroupMetaData::num_rows).sum();
        let properties = self.writer.properties();
        let file = FileMetaData::new(
            properties.writer_version().as_num(),
            n_rows,
            Some(properties.created_by().to_owned()),
            last.map(|last| vec![KeyValue::new(LAST.to_owned(), last)]),
            Arc::clone(&self.schema),
            None,
        );
        let mut bytes = Vec::new();
        ParquetMetaDataWriter::new(&mut bytes, &ParquetMetaData::new(file, groups)).finish()?;
        Ok(bytes)
    }
}

fn column<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &[T::T],
    levels: Option<&[i16]>,
) -> Result<(), ParquetError> {
    let mut column = group.next_column()?.expect("the schema has this many columns");
    column.typed::<T>().write_batch(values, levels, None)?;
    column.close()
}

/// A group's rows, by column.
#[derive(Default)]
struct Rows {
    par: Vec<i32>,
    canonical: Vec<ByteArray>,
    lot: Vec<ByteArray>,
    exit_row: Vec<i32>,
    vehicles: Vec<i32>,
    walls: Vec<i32>,
    states: Vec<i64>,
    /// Without those that were not examined.
    minimal: Vec<bool>,
    /// 1: the next of `minimal`; 0: not examined.
    minimal_levels: Vec<i16>,
}

impl Rows {
    fn push(&mut self, row: &BoardRow) {
        let BoardRow { found, lot, exit_row } = row;
        self.par.push(found.par.get().into());
        self.canonical.push(found.canonical.as_str().into());
        self.lot.push(lot.to_string().as_str().into());
        self.exit_row.push((*exit_row).into());
        self.vehicles.push(found.n_vehicles.into());
        self.walls.push(found.n_walls.into());
        self.states
            .push(i64::try_from(found.states).expect("it was a signed number in the database"));
        self.minimal.extend(found.minimal);
        self.minimal_levels.push(found.minimal.is_some().into());
    }

    /// The last board: par and spelling.
    fn last(&self) -> Option<String> {
        let canonical = self.canonical.last()?.as_utf8().expect("spellings are letters");
        Some(format!("{} {canonical}", self.par.last()?))
    }
}

/// Lets the first bytes fall: they stand in the file already.
struct Skipping<W> {
    n_left: u64,
    out: W,
}

impl<W: Write> Write for Skipping<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.n_left == 0 {
            return self.out.write(bytes);
        }
        let n_skipped = bytes
            .len()
            .min(usize::try_from(self.n_left).unwrap_or(usize::MAX));
        self.n_left -= n_skipped as u64;
        Ok(n_skipped)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use board::StateLimit;
    use board::cluster::Explorer;

    use super::*;
    use crate::commands::import::columns::Rows as ImportedRows;

    /// Boards as an export hands them on.
    fn rows() -> Vec<BoardRow> {
        let spellings = [
            "BBoHoJFooHIJFAAHIKFCCCIKGoooDDGoooEE",
            "ooZoooooZoooAAZBoooooBoooooooooooooo",
            "oooooooooBooAAoBoooooooooooooooooooo",
            "BBBoooooooooAAoooooooooooooooooooooo",
            "ooooooBBooooAAoooooooooooooooooooooo",
            "BBooooooooooAAoooooooooooooooooooooo",
            "5x5:oooooooooBAAooBoooooooooo",
            "ooooBoooooBoAAoooooooooooooooooooooo",
        ];
        let found = spellings.map(|spelling| {
            let mut found = Explorer::new()
                .entry(&spelling.parse().unwrap(), StateLimit::DEFAULT)
                .unwrap()
                .unwrap();
            if spelling.starts_with('5') {
                found.minimal = None;
            }
            found
        });
        let mut rows: Vec<BoardRow> = found.map(BoardRow::from).to_vec();
        rows.sort_by(|a, b| (b.found.par, &a.found.canonical).cmp(&(a.found.par, &b.found.canonical)));
        rows.dedup_by(|a, b| a.found.canonical == b.found.canonical);
        assert!(rows.len() > 2 * GROUP);
        rows
    }

    fn read(path: &std::path::Path) -> Vec<(u64, String, u64, Option<bool>)> {
        let mut all = Vec::new();
        let mut rows = ImportedRows::open(File::open(path).unwrap()).unwrap();
        loop {
            let batch = rows.next_batch(2).unwrap();
            if batch.is_empty() {
                return all;
            }
            all.extend(
                batch
                    .into_iter()
                    .map(|row| (row.par, row.canonical, row.states, row.minimal)),
            );
        }
    }

    fn expected(rows: &[BoardRow]) -> Vec<(u64, String, u64, Option<bool>)> {
        rows.iter()
            .map(|row| {
                let found = &row.found;
                (
                    found.par.get().into(),
                    found.canonical.to_string(),
                    found.states,
                    found.minimal,
                )
            })
            .collect()
    }

    #[test]
    fn what_is_written_is_read_back_even_if_it_was_broken_off_after_any_row() {
        let rows = rows();
        let folder = tempfile::tempdir().unwrap();
        for n_before in 0..=rows.len() {
            let path = folder.path().join(format!("{n_before}.parquet"));
            let mut target = Target::create(&path).unwrap();
            let footer = Some(target.footer());
            let mut columns = Columns::new(&target.file, Earlier::default(), footer.clone()).unwrap();
            for row in &rows[..n_before] {
                columns.push(row).unwrap();
            }
            // Broken off: what was gathered is lost, and half a group stands behind the last whole one.
            drop(columns);
            (&target.file).write_all(b"half a group").unwrap();
            assert!(!path.exists());

            target = Target::reopen(&path).unwrap();
            let earlier = Earlier::of(&mut target).unwrap();
            let n_whole = n_before / GROUP * GROUP;
            let last = n_whole.checked_sub(1).map(|last| &rows[last].found);
            assert_eq!(
                earlier.last,
                last.map(|found| (found.par, found.canonical.clone()))
            );
            let mut columns = Columns::new(&target.file, earlier, footer).unwrap();
            for row in &rows[n_whole..] {
                columns.push(row).unwrap();
            }
            columns.finish().unwrap();
            target.complete().unwrap();
            assert_eq!(read(&path), expected(&rows), "broken off after {n_before} rows");
        }
        let n_files = fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(n_files, rows.len() + 1, "no part and no footer is left");
    }

    #[test]
    fn an_export_of_nothing_is_a_file_without_rows() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("none.parquet");
        let target = Target::create(&path).unwrap();
        let columns = Columns::new(&target.file, Earlier::default(), None).unwrap();
        columns.finish().unwrap();
        target.complete().unwrap();
        assert_eq!(read(&path), []);
    }

    #[test]
    fn a_footer_that_is_none_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let mut target = Target::create(&folder.path().join("a.parquet")).unwrap();
        fs::write(target.footer(), "PAR1 is not all").unwrap();
        assert!(Earlier::of(&mut target).is_err());
    }
}
