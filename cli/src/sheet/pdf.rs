//! Sheets as PDF, a page each.

use pdf_writer::{Content, Name, Pdf, Rect, Ref, Str};

use super::{Anchor, Colour, Shape, Sheet};

const FONT: Name = Name(b"F");
const BOLD: Name = Name(b"B");

/// How far the handles of a curve are from its ends, for a quarter of a circle of radius 1.
const QUARTER: f32 = 0.5523;

pub(super) fn encode(sheets: &[Sheet]) -> Vec<u8> {
    let mut pdf = Pdf::new();
    let (catalog, pages, font, bold) = (Ref::new(1), Ref::new(2), Ref::new(3), Ref::new(4));
    let n_sheets = i32::try_from(sheets.len()).expect("a pack has few pages");
    let page = |sheet: i32| Ref::new(5 + 2 * sheet);
    pdf.catalog(catalog).pages(pages);
    pdf.pages(pages).kids((0..n_sheets).map(page)).count(n_sheets);
    pdf.type1_font(font).base_font(Name(b"Helvetica"));
    pdf.type1_font(bold).base_font(Name(b"Helvetica-Bold"));
    for (i, sheet) in (0..n_sheets).zip(sheets) {
        let content = Ref::new(page(i).get() + 1);
        let mut writer = pdf.page(page(i));
        writer
            .media_box(Rect::new(0.0, 0.0, sheet.width, sheet.height))
            .parent(pages)
            .contents(content);
        writer.resources().fonts().pair(FONT, font).pair(BOLD, bold);
        writer.finish_page();
        pdf.stream(content, &draw(sheet));
    }
    pdf.finish()
}

/// Ends a page's dictionary: it is written when its writer is dropped.
trait FinishPage {
    fn finish_page(self);
}

impl FinishPage for pdf_writer::writers::Page<'_> {
    fn finish_page(self) {}
}

fn draw(sheet: &Sheet) -> Vec<u8> {
    let mut content = Content::new();
    for shape in &sheet.shapes {
        match shape {
            Shape::Rectangle {
                x,
                y,
                width,
                height,
                radius,
                fill,
            } => {
                dip(&mut content, *fill);
                // PDF counts from the bottom.
                let bottom = sheet.height - y - height;
                if *radius > 0.0 {
                    round(&mut content, [*x, bottom, x + width, bottom + height], *radius);
                } else {
                    content.rect(*x, bottom, *width, *height);
                }
                content.fill_nonzero();
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
                let width = size * text.chars().map(width_of).sum::<f32>();
                let x = match anchor {
                    Anchor::Start => *x,
                    Anchor::Middle => x - width / 2.0,
                    Anchor::End => x - width,
                };
                // The font knows Latin letters alone.
                let bytes: Vec<u8> = text
                    .chars()
                    .map(|c| if c.is_ascii() { c as u8 } else { b'?' })
                    .collect();
                dip(&mut content, *ink);
                content
                    .begin_text()
                    .set_font(if *is_bold { BOLD } else { FONT }, *size)
                    .next_line(x, sheet.height - baseline);
                content.show(Str(&bytes)).end_text();
            }
        }
    }
    content.finish().into_vec()
}

/// The colour of what comes next.
fn dip(content: &mut Content, colour: Colour) {
    let part = |part: u8| f32::from(part) / 255.0;
    content.set_fill_rgb(part(colour.0), part(colour.1), part(colour.2));
}

/// The outline of a rectangle (left, bottom, right, top) with round corners.
fn round(content: &mut Content, [left, bottom, right, top]: [f32; 4], radius: f32) {
    let handle = radius * (1.0 - QUARTER);
    content.move_to(left + radius, bottom);
    content.line_to(right - radius, bottom);
    content.cubic_to(
        right - handle,
        bottom,
        right,
        bottom + handle,
        right,
        bottom + radius,
    );
    content.line_to(right, top - radius);
    content.cubic_to(right, top - handle, right - handle, top, right - radius, top);
    content.line_to(left + radius, top);
    content.cubic_to(left + handle, top, left, top - handle, left, top - radius);
    content.line_to(left, bottom + radius);
    content.cubic_to(
        left,
        bottom + handle,
        left + handle,
        bottom,
        left + radius,
        bottom,
    );
    content.close_path();
}

/// How wide a letter of Helvetica is, in parts of its size; exact for digits and what stands in numbers.
fn width_of(letter: char) -> f32 {
    match letter {
        ' ' | '.' | ',' | ':' | '/' | 'i' | 'l' | 'j' | 't' | 'f' | 'I' => 0.278,
        'm' | 'M' | 'w' | 'W' => 0.833,
        'A'..='Z' => 0.667,
        _ => 0.556,
    }
}
