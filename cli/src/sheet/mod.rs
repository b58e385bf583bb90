//! Drawings made of rectangles, round at the corners or not, and short texts, as SVG, PNG or PDF.
//!
//! Boards and bar charts need nothing else, so no font, no rasteriser and no drawing library is: SVG is text, PNG has
//! its own letters ([`glyphs`]), PDF has those that every reader knows.

mod glyphs;
mod pdf;
mod png;
mod svg;

use std::path::Path;

use anyhow::Context;

/// A colour, red, green, blue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Colour(pub(crate) u8, pub(crate) u8, pub(crate) u8);

/// Which point of a text is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// How a text is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Letters {
    pub(crate) size: f32,
    pub(crate) ink: Colour,
    pub(crate) is_bold: bool,
}

impl Default for Letters {
    fn default() -> Letters {
        Letters {
            size: 9.0,
            ink: Colour(0, 0, 0),
            is_bold: false,
        }
    }
}

/// What a sheet is made of. Lengths in points, from the left and the top.
#[derive(Clone, Debug, PartialEq)]
enum Shape {
    Rectangle {
        x: f32,
        y: f32,
        width: f32,
        height: f32,
        /// Of the corners; 0: sharp ones.
        radius: f32,
        fill: Colour,
    },
    Text {
        x: f32,
        /// The line that letters stand on.
        baseline: f32,
        size: f32,
        anchor: Anchor,
        ink: Colour,
        is_bold: bool,
        text: String,
    },
}

/// One page.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sheet {
    width: f32,
    height: f32,
    shapes: Vec<Shape>,
}

/// How a sheet is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    Svg,
    Png,
    Pdf,
}

impl Format {
    /// By the end of a file's name.
    pub(crate) fn of(path: &Path) -> Option<Format> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "svg" => Some(Format::Svg),
            "png" => Some(Format::Png),
            "pdf" => Some(Format::Pdf),
            _ => None,
        }
    }
}

impl Sheet {
    pub(crate) fn new(width: f32, height: f32) -> Sheet {
        Sheet {
            width,
            height,
            shapes: Vec::new(),
        }
    }

    pub(crate) fn rectangle(&mut self, x: f32, y: f32, width: f32, height: f32, fill: Colour) {
        self.rounded([x, y, width, height], 0.0, fill);
    }

    /// A rectangle (left, top, width, height) with round corners.
    pub(crate) fn rounded(&mut self, [x, y, width, height]: [f32; 4], radius: f32, fill: Colour) {
        self.shapes.push(Shape::Rectangle {
            x,
            y,
            width,
            height,
            radius: radius.min(width / 2.0).min(height / 2.0),
            fill,
        });
    }

    pub(crate) fn text(&mut self, x: f32, baseline: f32, size: f32, anchor: Anchor, text: &str) {
        self.label(
            x,
            baseline,
            anchor,
            text,
            Letters {
                size,
                ..Letters::default()
            },
        );
    }

    pub(crate) fn label(&mut self, x: f32, baseline: f32, anchor: Anchor, text: &str, letters: Letters) {
        let Letters { size, ink, is_bold } = letters;
        self.shapes.push(Shape::Text {
            x,
            baseline,
            size,
            anchor,
            ink,
            is_bold,
            text: String::from(text),
        });
    }
}

/// The sheets as a file of this format. SVG and PNG hold one picture: several sheets stand below each other.
pub(crate) fn encode(sheets: &[Sheet], format: Format) -> anyhow::Result<Vec<u8>> {
    Ok(match format {
        Format::Svg => svg::encode(&joined(sheets)).into_bytes(),
        Format::Png => png::encode(&joined(sheets))?,
        Format::Pdf => pdf::encode(sheets),
    })
}

/// Writes the sheets to a file, in the format that its name ends in if none is given.
pub(crate) fn save(sheets: &[Sheet], path: &Path, format: Option<Format>) -> anyhow::Result<()> {
    let format = format.or_else(|| Format::of(path)).with_context(|| {
        format!(
            "{}: no picture format, expected .svg, .png or .pdf",
            path.display()
        )
    })?;
    std::fs::write(path, encode(sheets, format)?).with_context(|| format!("writing {}", path.display()))
}

fn joined(sheets: &[Sheet]) -> Sheet {
    let mut all = Sheet::new(sheets.iter().map(|sheet| sheet.width).fold(0.0, f32::max), 0.0);
    for sheet in sheets {
        let below = all.height;
        all.shapes.extend(sheet.shapes.iter().cloned().map(|mut shape| {
            match &mut shape {
                Shape::Rectangle { y, .. } => *y += below,
                Shape::Text { baseline, .. } => *baseline += below,
            }
            shape
        }));
        all.height += sheet.height;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sheet() -> Sheet {
        let mut sheet = Sheet::new(40.0, 20.0);
        sheet.rectangle(0.0, 0.0, 10.0, 20.0, Colour(255, 0, 0));
        sheet.rounded([30.0, 10.0, 10.0, 10.0], 5.0, Colour(0, 0, 255));
        sheet.text(11.0, 9.0, 10.0, Anchor::Start, "1 < 2");
        sheet
    }

    #[test]
    fn svg_is_text_with_its_special_characters_escaped() {
        let svg = String::from_utf8(encode(&[sheet(), sheet()], Format::Svg).unwrap()).unwrap();
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{svg}");
        assert!(
            svg.contains("viewBox=\"0 0 40 40\"") && svg.contains("1 &lt; 2") && svg.contains("y=\"20\""),
            "{svg}"
        );
    }

    #[test]
    fn png_has_the_pixels_of_the_rectangle_and_of_the_letters() {
        let bytes = encode(&[sheet()], Format::Png).unwrap();
        let mut reader = ::png::Decoder::new(std::io::Cursor::new(bytes))
            .read_info()
            .unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        assert_eq!((info.width, info.height), (120, 60));
        let pixel = |x: usize, y: usize| &pixels[(y * 120 + x) * 3..][..3];
        assert_eq!(pixel(0, 0), [255, 0, 0]);
        assert_eq!(pixel(119, 0), [255, 255, 255]);
        // A round corner leaves the corner white, and blends at its edge.
        assert_eq!(pixel(90, 30), [255, 255, 255]);
        assert_eq!(pixel(105, 45), [0, 0, 255]);
        assert!(
            pixels.chunks(3).filter(|pixel| pixel[0] < 100).count() > 20,
            "no letters"
        );
    }

    #[test]
    fn pdf_has_a_page_a_sheet() {
        let bytes = encode(&[sheet(), sheet()], Format::Pdf).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        assert!(text.starts_with("%PDF-1.") && text.trim_end().ends_with("%%EOF"));
        assert!(text.contains("/Count 2") && text.contains("(1 < 2)"), "{text}");
    }

    #[test]
    fn formats_are_known_by_the_end_of_the_name() {
        let of = |name: &str| Format::of(Path::new(name));
        assert_eq!(
            [of("a.SVG"), of("a.b.png"), of("x.pdf")],
            [Format::Svg, Format::Png, Format::Pdf].map(Some)
        );
        assert_eq!([of("svg"), of("a.gif")], [None, None]);
    }
}
