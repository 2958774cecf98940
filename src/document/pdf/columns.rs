//! The order of reading: a page is cut into regions, each read from the top down. Only running text is cut into columns;
//! what stands side by side in a table is left together, because its rows belong together.

use super::grids::Grid;
use super::segments::Segment;

/// What takes up room on a page.
#[derive(Debug, Clone)]
pub(super) enum Item {
    Text(Segment),
    Grid(Grid),
}

impl Item {
    pub(super) fn x0(&self) -> f64 {
        match self {
            Self::Text(segment) => segment.x0,
            Self::Grid(grid) => grid.x0,
        }
    }

    pub(super) fn x1(&self) -> f64 {
        match self {
            Self::Text(segment) => segment.x1,
            Self::Grid(grid) => grid.x1,
        }
    }

    pub(super) fn top(&self) -> f64 {
        match self {
            Self::Text(segment) => segment.top(),
            Self::Grid(grid) => grid.y0,
        }
    }

    pub(super) fn bottom(&self) -> f64 {
        match self {
            Self::Text(segment) => segment.bottom(),
            Self::Grid(grid) => grid.y1,
        }
    }
}

/// Columns that may be cut out of each other.
const DEEPEST_CUT: usize = 6;
/// Items above which a page is not searched for columns.
const MOST: usize = 20_000;

/// The items of a page, region by region in the order of reading.
pub(super) fn regions(mut items: Vec<Item>) -> Vec<Vec<Item>> {
    items.sort_by(|a, b| a.top().total_cmp(&b.top()).then(a.x0().total_cmp(&b.x0())));
    let mut out = Vec::new();
    if items.len() > MOST {
        out.push(items);
    } else {
        cut(items, DEEPEST_CUT, &mut out);
    }
    out
}

fn cut(items: Vec<Item>, depth: usize, out: &mut Vec<Vec<Item>>) {
    if items.is_empty() {
        return;
    }
    if depth > 0 {
        let em = median(items.iter().filter_map(|item| match item {
            Item::Text(segment) => Some(segment.size),
            Item::Grid(_) => None,
        }));
        for x in gutters(&items, em) {
            let bands = bands(&items, x, em);
            if bands.iter().any(|band| band.is_columns) {
                for band in bands {
                    if band.is_columns {
                        let (left, right) = band.items.into_iter().partition(|item| item.x1() <= x);
                        cut(left, depth - 1, out);
                        cut(right, depth - 1, out);
                    } else {
                        cut(band.items, depth - 1, out);
                    }
                }
                return;
            }
        }
    }
    out.push(items);
}

/// Places where few lines cross, with text on both sides, the best first.
fn gutters(items: &[Item], em: f64) -> Vec<f64> {
    // Columns stand at least this far apart.
    let narrowest = 0.8 * em;
    let mut edges: Vec<(f64, i32)> = items.iter().flat_map(|item| [(item.x0(), 1), (item.x1(), -1)]).collect();
    edges.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let most_crossing = (items.len() / 4) as i32;
    let mut found: Vec<(usize, f64)> = Vec::new();
    let mut crossing = 0;
    let (mut left, mut best) = (0usize, (0.0, 0.0, i32::MAX));
    for pair in edges.windows(2) {
        let &[(x, step), (next, _)] = pair else { continue };
        crossing += step;
        left += usize::from(step < 0);
        let right = items.len().saturating_sub(left + crossing.max(0) as usize);
        let is_gutter = crossing <= most_crossing && left.min(right) >= 3;
        if is_gutter && next - x >= narrowest && (crossing, x - next) < (best.2, best.0 - best.1) {
            best = (x, next, crossing);
        } else if !is_gutter && best.2 < i32::MAX {
            found.push((best.2 as usize, (best.0 + best.1) / 2.0));
            best = (0.0, 0.0, i32::MAX);
        }
    }
    if best.2 < i32::MAX {
        found.push((best.2 as usize, (best.0 + best.1) / 2.0));
    }
    found.sort_by_key(|&(crossing, _)| crossing);
    found.truncate(8);
    found.into_iter().map(|(_, x)| x).collect()
}

/// A stretch of the page, between two heights.
struct Band {
    items: Vec<Item>,
    is_columns: bool,
}

/// Cuts at the items that cross `x`; neighbours that are not in columns stay one band.
fn bands(items: &[Item], x: f64, em: f64) -> Vec<Band> {
    let crosses = |item: &Item| item.x0() < x && item.x1() > x;
    let mut out: Vec<Band> = Vec::new();
    let mut open: Vec<Item> = Vec::new();
    let mut close = |open: &mut Vec<Item>, crossing: Option<&Item>| {
        let is_columns = are_columns(open, x, em);
        let items = std::mem::take(open);
        match out.last_mut() {
            Some(last) if !is_columns && !last.is_columns => last.items.extend(items),
            _ if items.is_empty() => {}
            _ => out.push(Band { items, is_columns }),
        }
        if let Some(item) = crossing {
            match out.last_mut() {
                Some(last) if !last.is_columns => last.items.push(item.clone()),
                _ => out.push(Band { items: vec![item.clone()], is_columns: false }),
            }
        }
    };
    for item in items {
        if crosses(item) {
            close(&mut open, Some(item));
        } else {
            open.push(item.clone());
        }
    }
    close(&mut open, None);
    out
}

/// True when there is running text on both sides of `x`: several lines that fill a column wide enough for sentences.
fn are_columns(items: &[Item], x: f64, em: f64) -> bool {
    let (left, right): (Vec<&Item>, Vec<&Item>) = items.iter().partition(|item| item.x1() <= x);
    let extent = |side: &[&Item]| {
        let top = side.iter().map(|item| item.top()).fold(f64::MAX, f64::min);
        let bottom = side.iter().map(|item| item.bottom()).fold(f64::MIN, f64::max);
        (top, bottom)
    };
    let is_text = |side: &[&Item]| {
        let x0 = side.iter().map(|item| item.x0()).fold(f64::MAX, f64::min);
        let x1 = side.iter().map(|item| item.x1()).fold(f64::MIN, f64::max);
        let lines: Vec<&Segment> = side
            .iter()
            .filter_map(|item| match item {
                Item::Text(segment) => Some(segment),
                Item::Grid(_) => None,
            })
            .collect();
        let full = lines.iter().filter(|line| line.x1 - line.x0 >= 0.6 * (x1 - x0)).count();
        let has_grid = lines.len() < side.len();
        let is_prose = lines.len() >= 3 && full * 2 >= lines.len() && x1 - x0 >= 11.0 * em;
        is_prose || has_grid && lines.is_empty()
    };
    if left.len() + right.len() < 4 || !is_text(&left) || !is_text(&right) {
        return false;
    }
    let ((top, bottom), (other_top, other_bottom)) = (extent(&left), extent(&right));
    let common = bottom.min(other_bottom) - top.max(other_top);
    common > 0.3 * (bottom - top).min(other_bottom - other_top)
}

/// The middle value; 10 where there is none.
pub(super) fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(10.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str, x0: f64, x1: f64, base: f64) -> Item {
        Item::Text(Segment { text: text.into(), x0, x1, base, size: 10.0, is_bold: false, characters: text.len() })
    }

    fn order(items: Vec<Item>) -> Vec<Vec<String>> {
        let text = |item: Item| match item {
            Item::Text(segment) => segment.text,
            Item::Grid(_) => "grid".into(),
        };
        regions(items).into_iter().map(|region| region.into_iter().map(text).collect()).collect()
    }

    #[test]
    fn two_columns_are_read_one_after_the_other_between_lines_that_cross() {
        let mut items = vec![line("title", 100.0, 400.0, 50.0)];
        for n in 0..4 {
            let y = 80.0 + 12.0 * f64::from(n);
            items.push(line(&format!("l{n}"), 50.0, 240.0, y));
            items.push(line(&format!("r{n}"), 260.0, 450.0, y + 2.0));
        }
        items.push(line("foot", 50.0, 450.0, 140.0));
        let expected: Vec<Vec<String>> = vec![
            vec!["title".into()],
            (0..4).map(|n| format!("l{n}")).collect(),
            (0..4).map(|n| format!("r{n}")).collect(),
            vec!["foot".into()],
        ];
        assert_eq!(order(items), expected);
    }

    #[test]
    fn rows_of_a_table_stay_together() {
        let mut items = Vec::new();
        for n in 0..5 {
            let y = 80.0 + 12.0 * f64::from(n);
            items.push(line("E01", 50.0, 80.0, y));
            items.push(line("overheating of the motor", 150.0, 300.0, y));
            items.push(line("stop", 350.0, 380.0, y));
        }
        assert_eq!(order(items).len(), 1);
    }
}
