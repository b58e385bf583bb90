//! Sheets as PNG, three pixels a point; edges are smooth.

use anyhow::Context;

use super::glyphs::{GLYPH_HEIGHT, GLYPH_WIDTH, glyph};
use super::{Anchor, Colour, Shape, Sheet};

const PIXELS_A_POINT: f32 = 3.0;
/// From one letter to the next, in dots.
const ADVANCE: f32 = 6.2;

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
                radius,
                fill,
            } => {
                let [left, top, right, bottom] =
                    [*x, *y, x + width, y + height].map(|points| points * PIXELS_A_POINT);
                self.rectangle([left, top, right, bottom], radius * PIXELS_A_POINT, *fill);
            }
            Shape::Text {
                x,
                baseline,
                size,
                anchor,
                ink,
                is_bold,
                text,
            } => {
                // Capitals are about as high as seven tenths of the size, and a letter's strokes run through its dots.
                let dot = size * PIXELS_A_POINT * 0.7 / 6.0;
                let mut n_letters = 0.0;
                text.chars().for_each(|_| n_letters += 1.0);
                let width = (n_letters * ADVANCE - 1.2) * dot;
                let mut left = match anchor {
                    Anchor::Start => x * PIXELS_A_POINT,
                    Anchor::Middle => x * PIXELS_A_POINT - width / 2.0,
                    Anchor::End => x * PIXELS_A_POINT - width,
                };
                let top = baseline * PIXELS_A_POINT - 6.0 * dot;
                let stroke = dot * if *is_bold { 0.75 } else { 0.5 };
                for letter in text.chars() {
                    self.letter(letter, (left, top), dot, stroke, *ink);
                    left += ADVANCE * dot;
                }
            }
        }
    }

    /// A letter as strokes between those of its dots that are neighbours.
    fn letter(&mut self, letter: char, (left, top): (f32, f32), dot: f32, stroke: f32, ink: Colour) {
        let rows = glyph(letter);
        let is_on = |column: usize, row: usize| {
            column < GLYPH_WIDTH && row < GLYPH_HEIGHT && rows[row] >> (GLYPH_WIDTH - 1 - column) & 1 != 0
        };
        let mut strokes = Vec::new();
        for (row, column) in
            (0..GLYPH_HEIGHT).flat_map(|row| (0..GLYPH_WIDTH).map(move |column| (row, column)))
        {
            if !is_on(column, row) {
                continue;
            }
            let place = |column: usize, row: usize| (left + dots(column) * dot, top + dots(row) * dot);
            let here = place(column, row);
            strokes.push((here, here));
            if is_on(column + 1, row) {
                strokes.push((here, place(column + 1, row)));
            }
            if is_on(column, row + 1) {
                strokes.push((here, place(column, row + 1)));
            }
            // Slanting strokes only where no straight ones go round.
            if is_on(column + 1, row + 1) && !is_on(column + 1, row) && !is_on(column, row + 1) {
                strokes.push((here, place(column + 1, row + 1)));
            }
            if column > 0 && is_on(column - 1, row + 1) && !is_on(column - 1, row) && !is_on(column, row + 1)
            {
                strokes.push((here, place(column - 1, row + 1)));
            }
        }
        let size = (dots(GLYPH_WIDTH) * dot, dots(GLYPH_HEIGHT) * dot);
        let area = [left - dot, top - dot, left + size.0, top + size.1];
        self.paint(area, ink, |x, y| {
            let nearest = strokes.iter().map(|&(from, to)| distance((x, y), from, to));
            stroke - nearest.fold(f32::MAX, f32::min)
        });
    }

    /// A rectangle (left, top, right, bottom), round at the corners.
    fn rectangle(&mut self, [left, top, right, bottom]: [f32; 4], radius: f32, fill: Colour) {
        self.paint([left, top, right, bottom], fill, |x, y| {
            // How far the point lies inside the outline: within the corners' squares, from their arcs.
            let (across, down) = ((x - left).min(right - x), (y - top).min(bottom - y));
            if across < radius && down < radius {
                radius - (radius - across).hypot(radius - down)
            } else {
                across.min(down)
            }
        });
    }

    /// Paints an area (left, top, right, bottom): each pixel as far as the point at its middle lies inside, in pixels.
    fn paint(
        &mut self,
        [left, top, right, bottom]: [f32; 4],
        fill: Colour,
        inside: impl Fn(f32, f32) -> f32,
    ) {
        let (first_row, end_row) = (floor(top), floor(bottom + 1.0).min(self.height));
        let (first_column, end_column) = (floor(left), floor(right + 1.0).min(self.width));
        for row in first_row..end_row {
            for column in first_column..end_column {
                let share = (inside(dots(column) + 0.5, dots(row) + 0.5) + 0.5).clamp(0.0, 1.0);
                let at = (row * self.width + column) * 3;
                for (part, new) in self.rgb[at..at + 3].iter_mut().zip([fill.0, fill.1, fill.2]) {
                    *part = blend(*part, new, share);
                }
            }
        }
    }
}

/// How far a point is from a stroke.
fn distance((x, y): (f32, f32), (ax, ay): (f32, f32), (bx, by): (f32, f32)) -> f32 {
    let (dx, dy) = (bx - ax, by - ay);
    let length = dx * dx + dy * dy;
    let along = if length > 0.0 {
        (((x - ax) * dx + (y - ay) * dy) / length).clamp(0.0, 1.0)
    } else {
        0.0
    };
    (x - ax - along * dx).hypot(y - ay - along * dy)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "between two numbers of 0 to 255"
)]
fn blend(old: u8, new: u8, share: f32) -> u8 {
    (f32::from(old) + (f32::from(new) - f32::from(old)) * share).round() as u8
}

#[expect(clippy::cast_precision_loss, reason = "no sheet is millions of pixels wide")]
fn dots(n: usize) -> f32 {
    n as f32
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "what lies left of the sheet is cut to 0, and no sheet is billions of pixels wide"
)]
fn floor(pixels: f32) -> usize {
    pixels.floor().max(0.0) as usize
}

fn pixels(points: f32) -> usize {
    floor((points * PIXELS_A_POINT).round())
}
