//! Sheets as PDF, a page each.

use pdf_writer::{Content, Name, Pdf, Rect, Ref, Str};

use super::{Anchor, Shape, Sheet};

const FONT: Name = Name(b"F");

pub(super) fn encode(sheets: &[Sheet]) -> Vec<u8> {
    let mut pdf = Pdf::new();
    let (catalog, pages, font) = (Ref::new(1), Ref::new(2), Ref::new(3));
    let n_sheets = i32::try_from(sheets.len()).expect("a pack has few pages");
    let page = |sheet: i32| Ref::new(4 + 2 * sheet);
    pdf.catalog(catalog).pages(pages);
    pdf.pages(pages).kids((0..n_sheets).map(page)).count(n_sheets);
    pdf.type1_font(font).base_font(Name(b"Helvetica"));
    for (i, sheet) in (0..n_sheets).zip(sheets) {
        let content = Ref::new(page(i).get() + 1);
        let mut writer = pdf.page(page(i));
        writer
            .media_box(Rect::new(0.0, 0.0, sheet.width, sheet.height))
            .parent(pages)
            .contents(content);
        writer.resources().fonts().pair(FONT, font);
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
                fill,
            } => {
                let part = |part: u8| f32::from(part) / 255.0;
                content.set_fill_rgb(part(fill.0), part(fill.1), part(fill.2));
                // PDF counts from the bottom.
                content
                    .rect(*x, sheet.height - y - height, *width, *height)
                    .fill_nonzero();
            }
            Shape::Text {
                x,
                baseline,
                size,
                anchor,
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
                content.set_fill_rgb(0.0, 0.0, 0.0);
                content
                    .begin_text()
                    .set_font(FONT, *size)
                    .next_line(x, sheet.height - baseline);
                content.show(Str(&bytes)).end_text();
            }
        }
    }
    content.finish().into_vec()
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
