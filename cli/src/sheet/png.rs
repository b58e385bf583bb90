//! Sheets as PNG, two pixels a point.

use anyhow::Context;

use super::glyphs::{GLYPH_HEIGHT, GLYPH_WIDTH, glyph};
use super::{Anchor, Colour, Shape, Sheet};

const PIXELS_A_POINT: f32 = 2.0;
/// Empty columns between two letters.
const GAP: usize = 1;
const BLACK: Colour = Colour(0, 0, 0);

/// Pixels, white at first.
struct Canvas {
    width: usize,
    height: usize,
    rgb: Vec<u8>,
}

pub(super) fn encode(sheet: &Sheet) -> anyhow::Result<Vec<u8>> {
    let (width, height) = (pixels(sheet.width), pixels(sheet.height));
    let mut canvas = Canvas {
        width,
        height,
        rgb: vec![255; width * height * 3],
    };
    for shape in &sheet.shapes {
        canvas.draw(shape);
    }
    let mut file = Vec::new();
    let mut encoder = ::png::Encoder::new(
        &mut file,
        u32::try_from(width).context("width")?,
        u32::try_from(height).context("height")?,
    );
    encoder.set_color(::png::ColorType::Rgb);
    encoder.set_depth(::png::BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&canvas.rgb)?;
    writer.finish()?;
    Ok(file)
}

impl Canvas {
    fn draw(&mut self, shape: &Shape) {
        match shape {
            Shape::Rectangle {
                x,
                y,
                width,
                height,
                fill,
            } => {
                self.fill(
                    pixels(*x),
                    pixels(*y),
                    pixels(x + width),
                    pixels(y + height),
                    *fill,
                );
            }
            Shape::Text {
                x,
                baseline,
                size,
                anchor,
                text,
            } => {
                // Letters are about as high as three quarters of the size, and a dot is whole pixels.
                let dot = pixels(size * 0.75 / 7.0).max(1);
                let n_letters = text.chars().count();
                let width = n_letters * (GLYPH_WIDTH + GAP) * dot;
                let left = match anchor {
                    Anchor::Start => pixels(*x),
                    Anchor::Middle => pixels(*x).saturating_sub(width / 2),
                    Anchor::End => pixels(*x).saturating_sub(width),
                };
                let top = pixels(*baseline).saturating_sub(GLYPH_HEIGHT * dot);
                for (i, letter) in text.chars().enumerate() {
                    self.letter(left + i * (GLYPH_WIDTH + GAP) * dot, top, dot, letter);
                }
            }
        }
    }

    fn letter(&mut self, left: usize, top: usize, dot: usize, letter: char) {
        for (row, bits) in glyph(letter).iter().enumerate() {
            for column in (0..GLYPH_WIDTH).filter(|column| bits >> (GLYPH_WIDTH - 1 - column) & 1 != 0) {
                let (x, y) = (left + column * dot, top + row * dot);
                self.fill(x, y, x + dot, y + dot, BLACK);
            }
        }
    }

    /// Fills from the first corner to before the second, as far as it is on the canvas.
    fn fill(&mut self, left: usize, top: usize, right: usize, bottom: usize, fill: Colour) {
        for y in top..bottom.min(self.height) {
            for x in left..right.min(self.width) {
                let at = (y * self.width + x) * 3;
                self.rgb[at..at + 3].copy_from_slice(&[fill.0, fill.1, fill.2]);
            }
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "negative lengths are cut to 0, and no sheet is billions of pixels wide"
)]
fn pixels(points: f32) -> usize {
    (points * PIXELS_A_POINT).round().max(0.0) as usize
}
