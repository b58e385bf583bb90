//! Sheets as SVG.

use std::fmt::Write;

use super::{Anchor, Shape, Sheet};

pub(super) fn encode(sheet: &Sheet) -> String {
    let Sheet {
        width,
        height,
        shapes,
    } = sheet;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"Helvetica, Arial, sans-serif\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
    );
    for shape in shapes {
        write_shape(&mut svg, shape).expect("writing to a string does not fail");
    }
    svg.push_str("</svg>\n");
    svg
}

fn write_shape(svg: &mut String, shape: &Shape) -> std::fmt::Result {
    match shape {
        Shape::Rectangle {
            x,
            y,
            width,
            height,
            fill,
        } => writeln!(
            svg,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"#{:02x}{:02x}{:02x}\"/>",
            fill.0, fill.1, fill.2
        ),
        Shape::Text {
            x,
            baseline,
            size,
            anchor,
            text,
        } => {
            let anchor = match anchor {
                Anchor::Start => "start",
                Anchor::Middle => "middle",
                Anchor::End => "end",
            };
            let text = text
                .replace('&', "&amp;")
                .replace('<', "&lt;")
                .replace('>', "&gt;");
            writeln!(
                svg,
                "<text x=\"{x}\" y=\"{baseline}\" font-size=\"{size}\" text-anchor=\"{anchor}\">{text}</text>"
            )
        }
    }
}
