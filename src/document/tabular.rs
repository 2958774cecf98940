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
    "数量",
    "规格",
    "范围",
    "周期",
    "版本",
    "日期",
    "状态",
    "对策",
    "型号",
    "时间",
    "条件",
    "部位",
    "等级",
    "频次",
    "次数",
    "现象",
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
    "text",
    "message",
    "default",
    "range",
    "version",
    "date",
    "comment",
    "status",
    "quantity",
    "interval",
    "solution",
    "model",
    "time",
    "condition",
    "limit",
    "level",
    "setting",
];

/// Those of them that stand over names and label no value.
const KINDS: &[&str] = &[
    "代码",
    "代号",
    "序号",
    "参数",
    "符号",
    "术语",
    "字段",
    "选项",
    "code",
    "parameter",
    "symbol",
    "term",
    "field",
    "option",
    "column",
    "key",
    "no.",
];

/// True for a first row that names the columns: all cells filled, short, none a number, and not an entry like the rows `below`.
/// `stands_out` says that it looks unlike them. Two or four columns may be a form, labels on the left of values: there a value
/// column needs a word for columns on top and none below, or a label column such a word that labels no value, or figures below.
pub(crate) fn is_header(row: &[String], below: &[Vec<String>], stands_out: bool) -> bool {
    /// Rows that are looked at.
    const BELOW: usize = 8;
    let has_digit = |cell: &str| cell.contains(|c: char| c.is_ascii_digit());
    let is_name = |cell: &String| {
        let cell = cell.trim();
        !cell.is_empty() && cell.chars().count() <= LONGEST && !is_number(cell) && !cell.ends_with(['。', '；'])
    };
    if row.len() < 2 || !row.iter().all(is_name) {
        return false;
    }
    let column =
        |at: usize| below.iter().take(BELOW).filter_map(move |row| row.get(at)).filter(|cell| !cell.trim().is_empty());
    if stands_out {
        return true;
    }
    if !matches!(row.len(), 2 | 4) {
        // `E01` over `E02` is an entry.
        let is_like =
            |at: usize| has_digit(&row[at]) && column(at).next().is_some_and(|cell| shape(cell) == shape(&row[at]));
        return !(0..row.len()).any(is_like);
    }
    let has = |words: &[&str], at: usize| holds(words, &row[at]) && !column(at).any(|cell| holds(words, cell));
    let has_figures = |at: usize| match column(at).count() {
        0 => false,
        1 => column(at).all(|cell| is_number(cell)),
        _ => column(at).all(|cell| has_digit(cell)),
    };
    !row.iter().any(|cell| has_digit(cell))
        && (0..row.len()).any(|at| if at % 2 == 0 { has_figures(at) || has(KINDS, at) } else { has(NAMES, at) })
}

/// What kinds of characters follow each other in a cell.
fn shape(cell: &str) -> String {
    let mut out = String::new();
    for c in cell.trim().chars() {
        let kind = match c {
            c if c.is_numeric() => '9',
            c if c.is_alphabetic() => 'a',
            c => c,
        };
        if !out.ends_with(kind) {
            out.push(kind);
        }
    }
    out
}

/// Whether a cell ends with, or in English holds, a word for columns.
pub(crate) fn names(cell: &str) -> bool {
    holds(NAMES, cell)
}

fn holds(words: &[&str], cell: &str) -> bool {
    let cell = cell.trim().to_lowercase();
    words
        .iter()
        .any(|name| if name.is_ascii() { cell.split(' ').any(|word| word == *name) } else { cell.ends_with(name) })
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

/// Rows of a header: where a cell of the first row spans columns, those under it name the columns, too, as far as the tallest
/// cell of the first row reaches. `rows` tells which cell covers each place, by its number.
pub(crate) fn header_height<'r>(rows: impl Iterator<Item = Vec<Option<usize>>> + 'r) -> usize {
    /// More rows than this are no header.
    const TALLEST: usize = 4;
    let rows: Vec<Vec<Option<usize>>> = rows.take(TALLEST + 2).collect();
    let Some(first) = rows.first() else { return 1 };
    if !first.windows(2).any(|pair| pair[0].is_some() && pair[0] == pair[1]) {
        return 1;
    }
    let reach = |at: usize| rows.iter().take_while(|row| row.get(at) == first.get(at)).count();
    let tallest = (0..first.len()).map(reach).max().unwrap_or(1);
    if tallest <= TALLEST && tallest < rows.len() { tallest } else { 1 }
}

/// Several header rows as one: the different names over a column, from the top.
pub(crate) fn joined_header(rows: &[Vec<String>]) -> Vec<String> {
    let width = rows.iter().map(Vec::len).max().unwrap_or(0);
    (0..width)
        .map(|at| {
            let mut names: Vec<&str> = Vec::new();
            for name in rows.iter().filter_map(|row| row.get(at)).map(|name| name.trim()) {
                if !name.is_empty() && !names.contains(&name) {
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
        let is = |head: &[&str], below: &[&[&str]], stands_out: bool| {
            is_header(&row(head), &below.iter().map(|cells| row(cells)).collect::<Vec<_>>(), stands_out)
        };
        assert!(is(&["代码", "含义"], &[&["E01", "过热"]], false) && is(&["Error code", "Text"], &[], false));
        assert!(is(&["Parameter", "Purpose"], &[&["Speed", "none"], &["Mode", "none"]], false));
        assert!(is(&["STOIA输入", "STOIB输入", "PWM信号"], &[&["ON", "ON", "正常"], &["OFF", "ON", "禁止"]], false));
        assert!(!is(&["E01", "过热", "停机"], &[&["E02", "过流", "检查"]], false));
        assert!(!is(&["设备", "泵"], &[], false) && is(&["设备", "泵"], &[], true));
        assert!(!is(&["1", "速度", "a"], &[], false) && !is(&["", "速度", "a"], &[], true));
    }

    #[test]
    fn the_first_entry_of_a_form_is_no_header() {
        for form in [
            [["设备编号", "A-5"], ["设备名称", "泵"]],
            [["设备编号", "甲"], ["设备名称", "泵"]],
            [["厂家", "某厂"], ["电压", "380 V"]],
        ] {
            assert!(!is_header(&row(&form[0]), &[row(&form[1])], false), "{form:?}");
        }
        let form = [["姓名", "张三", "性别", "男"], ["工号", "A123", "电话", "139"], ["部门", "2", "级别", "3"]];
        assert!(!is_header(&row(&form[0]), &[row(&form[1]), row(&form[2])], false));
        let versions = [["Version", "Date", "Change", "Author"], ["1.0", "2024-01", "First", "Li"]];
        assert!(is_header(&row(&versions[0]), &[row(&versions[1])], false));
    }

    #[test]
    fn figures_are_told_from_words() {
        assert!(is_number("2024年3月1日") && is_number("-12.5 %") && !is_number("E") && !is_number("3 mm"));
    }

    #[test]
    fn a_header_is_as_high_as_its_tallest_cell_where_another_spans_columns() {
        let height = |rows: &[[usize; 3]]| header_height(rows.iter().map(|row| row.iter().map(|&n| Some(n)).collect()));
        assert_eq!(height(&[[1, 2, 2], [1, 3, 4], [5, 6, 7]]), 2);
        assert_eq!(height(&[[1, 2, 3], [1, 4, 5], [6, 7, 8]]), 1);
        assert_eq!(height(&[[1, 2, 2], [1, 3, 4]]), 1);
        assert_eq!(header_height(std::iter::empty()), 1);
    }

    #[test]
    fn header_rows_become_one() {
        assert_eq!(
            joined_header(&[row(&["轴", "速度", "速度"]), row(&["轴", "最小", "最大"])]),
            ["轴", "速度 最小", "速度 最大"]
        );
    }
}
