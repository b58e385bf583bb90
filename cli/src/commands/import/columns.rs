//! Parquet files, as `parforce export` writes them: a batch of rows at a time.

use std::fs::File;

use anyhow::Context;
use parquet::column::reader::{ColumnReaderImpl, get_typed_column_reader};
use parquet::data_type::{BoolType, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::file::reader::{FileReader, SerializedFileReader};

/// A board as a row states it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) canonical: String,
    pub(crate) par: u64,
    pub(crate) states: u64,
    pub(crate) minimal: Option<bool>,
}

/// The rows of a file, in order.
pub(crate) struct Rows {
    reader: SerializedFileReader<File>,
    columns: Columns<usize>,
    next_group: usize,
    group: Option<Group>,
}

/// The columns that are read.
struct Columns<T> {
    canonical: T,
    par: T,
    states: T,
    minimal: T,
}

/// The columns of a group of rows, read as far as they are.
struct Group {
    n_left: usize,
    canonical: ColumnReaderImpl<ByteArrayType>,
    par: ColumnReaderImpl<Int32Type>,
    states: ColumnReaderImpl<Int64Type>,
    minimal: ColumnReaderImpl<BoolType>,
}

impl Rows {
    pub(crate) fn open(file: File) -> anyhow::Result<Rows> {
        let reader = SerializedFileReader::new(file).context("this is no whole Parquet file")?;
        let columns = Columns {
            canonical: place::<ByteArrayType>(&reader, "canonical", 0)?,
            par: place::<Int32Type>(&reader, "par", 0)?,
            states: place::<Int64Type>(&reader, "states", 0)?,
            minimal: place::<BoolType>(&reader, "minimal", 1)?,
        };
        Ok(Rows {
            reader,
            columns,
            next_group: 0,
            group: None,
        })
    }

    /// The next rows, at most so many; none: that was all.
    pub(crate) fn next_batch(&mut self, n: usize) -> anyhow::Result<Vec<Row>> {
        loop {
            match &mut self.group {
                Some(group) if group.n_left > 0 => return group.read(n),
                _ if self.next_group == self.reader.num_row_groups() => return Ok(Vec::new()),
                _ => self.group = Some(self.open_group()?),
            }
        }
    }

    fn open_group(&mut self) -> anyhow::Result<Group> {
        let group = self.reader.get_row_group(self.next_group)?;
        self.next_group += 1;
        let Columns {
            canonical,
            par,
            states,
            minimal,
        } = self.columns;
        Ok(Group {
            n_left: usize::try_from(group.metadata().num_rows()).context("a group of rows")?,
            canonical: get_typed_column_reader(group.get_column_reader(canonical)?),
            par: get_typed_column_reader(group.get_column_reader(par)?),
            states: get_typed_column_reader(group.get_column_reader(states)?),
            minimal: get_typed_column_reader(group.get_column_reader(minimal)?),
        })
    }
}

/// Where a column stands, if it is of the type and as often absent as an export writes it.
fn place<T: DataType>(reader: &SerializedFileReader<File>, name: &str, levels: i16) -> anyhow::Result<usize> {
    let schema = reader.metadata().file_metadata().schema_descr();
    let is_it = |idx: &usize| {
        let column = schema.column(*idx);
        column.path().string() == name
            && column.physical_type() == T::get_physical_type()
            && column.max_def_level() == levels
            && column.max_rep_level() == 0
    };
    (0..schema.num_columns()).find(is_it).with_context(|| {
        let kind = T::get_physical_type();
        format!("the file has no column {name} of type {kind}, as `parforce export` writes it")
    })
}

impl Group {
    fn read(&mut self, n: usize) -> anyhow::Result<Vec<Row>> {
        let n = n.min(self.n_left);
        let canonical = values(&mut self.canonical, n, None)?;
        let par = values(&mut self.par, n, None)?;
        let states = values(&mut self.states, n, None)?;
        let mut levels = Vec::with_capacity(n);
        let mut minimal = values(&mut self.minimal, n, Some(&mut levels))?.into_iter();
        let is_whole = [canonical.len(), par.len(), states.len(), levels.len()] == [n; 4];
        anyhow::ensure!(is_whole, "a column of the file has fewer rows than the others");
        self.n_left -= n;
        let mut rows = Vec::with_capacity(n);
        for (((canonical, par), states), level) in canonical.into_iter().zip(par).zip(states).zip(levels) {
            rows.push(Row {
                canonical: String::from_utf8_lossy(canonical.data()).into_owned(),
                par: u64::try_from(par).context("a par below 0")?,
                states: u64::try_from(states).context("a cluster of fewer than 0 positions")?,
                minimal: if level > 0 { minimal.next() } else { None },
            });
        }
        Ok(rows)
    }
}

fn values<T: DataType>(
    column: &mut ColumnReaderImpl<T>,
    n: usize,
    mut levels: Option<&mut Vec<i16>>,
) -> anyhow::Result<Vec<T::T>> {
    let mut values = Vec::with_capacity(n);
    let mut n_read = 0;
    while n_read < n {
        let (n_records, _, _) = column.read_records(n - n_read, levels.as_deref_mut(), None, &mut values)?;
        if n_records == 0 {
            break;
        }
        n_read += n_records;
    }
    Ok(values)
}
