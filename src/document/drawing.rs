//! Text in drawings: paragraphs of shapes (DrawingML), charts and SmartArt.

use super::math;
use super::xml::{Element, Space};

/// The text of one `a:p`: runs, line breaks, fields and equations.
pub(crate) fn paragraph(element: Element<'_>) -> String {
    let mut out = String::new();
    collect(element, &mut out);
    out
}

fn collect(element: Element<'_>, out: &mut String) {
    for child in element.children() {
        match (child.space(), child.name()) {
            (Space::Drawing, "t") => out.push_str(&child.text()),
            (Space::Drawing, "br") => out.push('\n'),
            (Space::Drawing, name) if name.ends_with("Pr") => {}
            (Space::Math, "oMath" | "oMathPara") => out.push_str(&math::linear(child)),
            _ => collect(child, out),
        }
    }
}

/// The paragraphs of every text body inside `element`, in order.
pub(crate) fn paragraphs(element: Element<'_>) -> Vec<String> {
    let mut out = Vec::new();
    outermost(element, &mut |inner| {
        let is_paragraph = inner.is(Space::Drawing, "p");
        if is_paragraph {
            out.push(paragraph(inner));
        }
        is_paragraph
    });
    out.retain(|text| !text.trim().is_empty());
    out
}

/// Calls `take` for the elements inside, in order, and goes into those that it does not take: what damaged or hostile files
/// put into itself is said once.
fn outermost<'t>(element: Element<'t>, take: &mut dyn FnMut(Element<'t>) -> bool) {
    for child in element.children() {
        if !take(child) {
            outermost(child, take);
        }
    }
}

/// The words of a SmartArt data part, one paragraph for each of its shapes.
pub(crate) fn diagram(root: Element<'_>) -> Vec<String> {
    let points = root.descendants().filter(|e| e.is(Space::Diagram, "pt"));
    points.filter_map(|point| point.child(Space::Diagram, "t")).flat_map(paragraphs).collect()
}

/// What a chart part says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Chart {
    /// Titles of the chart and its axes.
    pub(crate) titles: Vec<String>,
    /// First row: names of the series; first column: categories.
    pub(crate) rows: Vec<Vec<String>>,
}

/// Points of one series or category axis beyond these are left out; charts of measured curves have many and say little.
const POINTS: usize = 1000;
/// Programs allow 255 series.
const SERIES: usize = 255;

/// Reads the cached texts and values of a chart part.
pub(crate) fn chart(root: Element<'_>) -> Chart {
    let mut out = Chart::default();
    let mut names = vec![String::new()];
    outermost(root, &mut |element| {
        if element.is(Space::Chart, "title") {
            let title = paragraphs(element).join(" ");
            let cached = || points(element).into_iter().map(|(_, text)| text).collect::<Vec<_>>().join(" ");
            out.titles.push(if title.is_empty() { cached() } else { title });
        } else if element.is(Space::Chart, "ser") {
            let of = |name: &str| element.child(Space::Chart, name).map(points).unwrap_or_default();
            if names.len() > SERIES {
                return true;
            }
            names.push(of("tx").into_iter().map(|(_, text)| text).collect::<Vec<_>>().join(" "));
            let categories = if of("cat").is_empty() { of("xVal") } else { of("cat") };
            let values = if of("val").is_empty() { of("yVal") } else { of("val") };
            for (at, text) in categories {
                put(&mut out.rows, at, 0, text);
            }
            for (at, text) in values {
                put(&mut out.rows, at, names.len() - 1, text);
            }
        } else {
            return false;
        }
        true
    });
    out.titles.retain(|title| !title.trim().is_empty());
    if !out.rows.is_empty() {
        out.rows.insert(0, names);
    }
    out
}

fn put(rows: &mut Vec<Vec<String>>, row: usize, column: usize, text: String) {
    if rows.len() <= row {
        rows.resize(row + 1, Vec::new());
    }
    if let Some(row) = rows.get_mut(row) {
        if row.len() <= column {
            row.resize(column + 1, String::new());
        }
        if let Some(cell) = row.get_mut(column) {
            *cell = text;
        }
    }
}

/// The cached points of a chart's reference; several levels of one category are joined.
fn points(element: Element<'_>) -> Vec<(usize, String)> {
    let mut out: Vec<(usize, String)> = Vec::new();
    for inner in element.descendants() {
        if inner.is(Space::Chart, "pt") {
            let at = inner.attribute(Space::None, "idx").and_then(|at| at.parse().ok()).unwrap_or(0);
            let Some(value) = inner.child(Space::Chart, "v").filter(|_| at < POINTS) else { continue };
            out.push((at, value.text().trim().to_string()));
        } else if inner.is(Space::Chart, "v") && element.child(Space::Chart, "v").is_some() {
            out.push((0, inner.text().trim().to_string()));
        }
    }
    out
}

/// Whether a `pic` is as large as a screenshot or a table: 30 cm², or without a size of its own.
pub(crate) fn is_large_picture(pic: Element<'_>) -> bool {
    /// Square EMU, of which 360,000 are a centimetre.
    const LARGE: f64 = 30.0 * 360_000.0 * 360_000.0;
    let shape = pic.children().find(|child| child.name() == "spPr");
    let frame = shape.and_then(|shape| shape.child(Space::Drawing, "xfrm")?.child(Space::Drawing, "ext"));
    let length = |name| frame?.attribute(Space::None, name)?.parse::<f64>().ok();
    match (length("cx"), length("cy")) {
        (Some(width), Some(height)) => width * height >= LARGE,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::document::budget::Budget;
    use crate::document::xml::Tree;

    #[test]
    fn what_is_put_into_itself_is_said_once_and_empty_series_make_no_columns_without_end() {
        let ns = "xmlns:c='http://schemas.openxmlformats.org/drawingml/2006/chart' \
            xmlns:a='http://schemas.openxmlformats.org/drawingml/2006/main'";
        let nested = format!(
            "<x {ns}>{}<a:p><a:p><a:r><a:t>b</a:t></a:r></a:p></a:p>{}</x>",
            "<c:title>".repeat(90),
            "</c:title>".repeat(90)
        );
        let tree = Tree::parse(&nested, "chart", &mut Budget::default()).unwrap();
        assert_eq!(chart(tree.root()).titles, ["b"]);
        let point = "<c:ser><c:val><c:pt idx='999'><c:v>1</c:v></c:pt></c:val></c:ser>";
        let wide = format!("<x {ns}>{}{point}</x>", "<c:ser/>".repeat(100_000));
        let tree = Tree::parse(&wide, "chart", &mut Budget::default()).unwrap();
        assert!(chart(tree.root()).rows.iter().all(|row| row.len() <= 256));
    }

    #[test]
    fn a_chart_is_its_titles_and_a_table() {
        let xml = "<c:chart xmlns:c='http://schemas.openxmlformats.org/drawingml/2006/chart' \
            xmlns:a='http://schemas.openxmlformats.org/drawingml/2006/main'><c:title><c:tx><c:rich><a:p><a:r><a:t>温升</a:t>\
            </a:r></a:p></c:rich></c:tx></c:title><c:ser><c:tx><c:strRef><c:strCache><c:pt idx='0'><c:v>电机</c:v></c:pt>\
            </c:strCache></c:strRef></c:tx><c:cat><c:strRef><c:strCache><c:pt idx='0'><c:v>1 h</c:v></c:pt><c:pt idx='1'>\
            <c:v>2 h</c:v></c:pt></c:strCache></c:strRef></c:cat><c:val><c:numRef><c:numCache><c:pt idx='0'><c:v>40</c:v></c:pt>\
            <c:pt idx='1'><c:v>55</c:v></c:pt></c:numCache></c:numRef></c:val></c:ser></c:chart>";
        let tree = Tree::parse(xml, "chart", &mut Budget::default()).unwrap();
        let chart = chart(tree.root());
        assert_eq!(chart.titles, ["温升"]);
        assert_eq!(chart.rows, [vec!["", "电机"], vec!["1 h", "40"], vec!["2 h", "55"]]);
    }
}
