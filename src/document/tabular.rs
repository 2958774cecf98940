//! What tables of all formats have in common: which row names the columns.

/// Characters in a cell that names a column.
const LONGEST: usize = 40;

/// Words that name columns in tables of two columns, where a header looks like any other row.
const NAMES: &[&str] = &[
    "名称",
    "名字",
    "代码",
    "代号",
    "编号",
    "编码",
    "序号",
    "说明",
    "描述",
    "含义",
    "参数",
    "项目",
    "内容",
    "单位",
    "备注",
    "数值",
    "取值",
    "类型",
    "功能",
    "原因",
    "措施",
    "处理",
    "方法",
    "故障",
    "报警",
    "符号",
    "术语",
    "定义",
    "值",
    "字段",
    "选项",
    "要求",
    "意义",
    "name",
    "code",
    "description",
    "meaning",
    "value",
    "parameter",
    "item",
    "type",
    "unit",
    "remark",
    "note",
    "cause",
    "remedy",
    "action",
    "symbol",
    "term",
    "definition",
    "field",
    "option",
    "function",
    "key",
    "id",
    "no.",
    "column",
    "title",
];

/// True for a first row that names columns: all cells filled, short, none a number. `stands_out` says that it looks unlike
/// the rows below it. A row of two cells that does not stand out is a header only by its words: it may be the first entry.
pub(crate) fn is_header(row: &[String], stands_out: bool) -> bool {
    let is_name = |cell: &String| {
        let cell = cell.trim();
        !cell.is_empty() && cell.chars().count() <= LONGEST && !is_number(cell) && !cell.ends_with(['。', '；'])
    };
    if row.len() < 2 || !row.iter().all(is_name) {
        return false;
    }
    let names = |cell: &String| {
        let cell = cell.to_lowercase();
        NAMES
            .iter()
            .any(|name| if name.is_ascii() { cell.split(' ').any(|word| word == *name) } else { cell.ends_with(name) })
    };
    stands_out || row.len() > 2 || row.iter().any(names)
}

/// True for figures with what stands around figures: signs, units of per cent and currency, dates.
pub(crate) fn is_number(cell: &str) -> bool {
    let mut digits = 0;
    let is_part =
        |c: char| c.is_ascii_digit() || c.is_whitespace() || "+-−±.,:/%‰()$€£¥￥~～年月日时分秒eE<>≤≥=×".contains(c);
    for c in cell.chars() {
        if !is_part(c) {
            return false;
        }
        digits += usize::from(c.is_ascii_digit());
    }
    digits > 0
}

/// Several header rows as one: the different names over a column, from the top.
pub(crate) fn joined_header(rows: &[Vec<String>]) -> Vec<String> {
    let width = rows.iter().map(Vec::len).max().unwrap_or(0);
    (0..width)
        .map(|at| {
            let mut names: Vec<&str> = Vec::new();
            for name in rows.iter().filter_map(|row| row.get(at)).map(|name| name.trim()) {
                if !name.is_empty() && names.last() != Some(&name) {
                    names.push(name);
                }
            }
            names.join(" ")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(cells: &[&str]) -> Vec<String> {
        cells.iter().map(|cell| cell.to_string()).collect()
    }

    #[test]
    fn headers_are_short_filled_and_without_numbers() {
        assert!(is_header(&row(&["轴", "最大速度", "备注"]), false));
        assert!(is_header(&row(&["代码", "含义"]), false) && is_header(&row(&["Error code", "Text"]), false));
        assert!(!is_header(&row(&["设备", "泵"]), false) && is_header(&row(&["设备", "泵"]), true));
        assert!(!is_header(&row(&["1", "速度", "a"]), false) && !is_header(&row(&["", "速度", "a"]), true));
        assert!(is_number("2024年3月1日") && is_number("-12.5 %") && !is_number("E") && !is_number("3 mm"));
    }

    #[test]
    fn header_rows_become_one() {
        assert_eq!(
            joined_header(&[row(&["轴", "速度", "速度"]), row(&["轴", "最小", "最大"])]),
            ["轴", "速度 最小", "速度 最大"]
        );
    }
}
