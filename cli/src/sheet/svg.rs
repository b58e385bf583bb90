//! Sheets as SVG.

use std::fmt::Write;

use super::{Anchor, Colour, Shape, Sheet};

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
            radius,
            fill,
        } => {
            let corners = if *radius > 0.0 {
                format!(" rx=\"{radius}\"")
            } else {
                String::new()
            };
            writeln!(
                svg,
                "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"{corners} fill=\"{}\"/>",
                hex(*fill)
            )
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
            let anchor = match anchor {
                Anchor::Start => "start",
                Anchor::Middle => "middle",
                Anchor::End => "end",
            };
            let text = text
                .replace('&', "&amp;")
                .replace('<', "&lt;")
                .replace('>', "&gt;");
            let weight = if *is_bold { " font-weight=\"bold\"" } else { "" };
            let fill = match *ink {
                Colour(0, 0, 0) => String::new(),
                ink => format!(" fill=\"{}\"", hex(ink)),
            };
            writeln!(
                svg,
                "<text x=\"{x}\" y=\"{baseline}\" font-size=\"{size}\" text-anchor=\"{anchor}\"{weight}{fill}>{text}</text>"
            )
        }
    }
}

fn hex(colour: Colour) -> String {
    format!("#{:02x}{:02x}{:02x}", colour.0, colour.1, colour.2)
}
