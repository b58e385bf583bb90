//! Tables in plain text: columns as wide as their widest cell, two blanks apart.

use std::fmt::Write;

/// On which side a column's cells stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// A table with a head.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    aligns: Vec<Align>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these columns.
    pub(crate) fn new(columns: &[(&str, Align)]) -> Table {
        Table {
            aligns: columns.iter().map(|(_, align)| *align).collect(),
            rows: vec![columns.iter().map(|(head, _)| (*head).to_owned()).collect()],
        }
    }

    /// Adds a row, a cell a column.
    ///
    /// # Panics
    /// When the row has another number of cells than the table has columns.
    pub(crate) fn row(&mut self, cells: Vec<String>) {
        assert_eq!(cells.len(), self.aligns.len(), "a row has a cell for each column");
        self.rows.push(cells);
    }

    /// Has it no rows but the head?
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.len() == 1
    }
}

impl std::fmt::Display for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let width = |i: usize| {
            self.rows
                .iter()
                .map(|row| row[i].chars().count())
                .max()
                .unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.aligns.len()).map(width).collect();
        for row in &self.rows {
            let mut line = String::new();
            for ((cell, width), align) in row.iter().zip(&widths).zip(&self.aligns) {
                match align {
                    Align::Left => write!(line, "{cell:<width$}  ")?,
                    Align::Right => write!(line, "{cell:>width$}  ")?,
                }
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_right_and_words_left() {
        let mut table = Table::new(&[
            ("par", Align::Right),
            ("lot", Align::Left),
            ("boards", Align::Right),
        ]);
        table.row(vec!["9".into(), "6x6".into(), "1,000".into()]);
        table.row(vec!["51".into(), "16x16".into(), "1".into()]);
        assert_eq!(
            table.to_string(),
            "par  lot    boards\n  9  6x6     1,000\n 51  16x16       1\n"
        );
    }
}
