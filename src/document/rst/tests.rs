//! Whole files.

#![allow(clippy::unwrap_used)]
use super::*;

fn text(rst: &str) -> String {
    read(rst, &mut Budget::default()).unwrap().text
}

#[test]
fn headings_take_their_level_from_the_order_of_adornments() {
    let rst = "====\n手册\n====\n\n安装\n====\n\n1. 电源\n-------\n正文\n\n维护\n====\n";
    assert_eq!(text(rst), "# 手册\n\n## 安装\n\n### 1. 电源\n\n正文\n\n## 维护\n");
    assert_eq!(read(rst, &mut Budget::default()).unwrap().title.as_deref(), Some("手册"));
    assert_eq!(text(&rst.replace('\n', "\r\n")), text(rst));
}

#[test]
fn grid_tables_span_and_wide_characters_take_two_columns() {
    let rst = "\
+--------+-----------+
| 分类   | 处理方式  |
+========+===========+
| 错误   | 1.检查;   |
+        +-----------+
|        | 2.重启    |
|        | 控制器    |
+--------+-----------+
| 共同               |
+--------+-----------+
";
    let expected = "| 分类 | 处理方式 |\n| --- | --- |\n| 错误 | 1.检查; |\n| 错误 | 2.重启控制器 |\n| 共同 |\n";
    assert_eq!(text(rst), expected);
    let narrow = "+----+----+\n| 分类 | 值  |\n+----+----+\n";
    let out = read(narrow, &mut Budget::default()).unwrap();
    assert_eq!(out.text, "| 分类 | 值 |\n");
}

#[test]
fn simple_and_listed_tables_keep_their_rows() {
    let rst = "=====  =====  ====\n  Inputs      Out\n------------  ----\nA      B      C\n=====  =====  ====\n0      1      x\n              y\n2      3      z\n=====  =====  ====\n";
    let expected = "| Inputs A | Inputs B | Out C |\n| --- | --- | --- |\n| 0 | 1 | x y |\n| 2 | 3 | z |\n";
    assert_eq!(text(rst), expected);
    let listed = ".. list-table:: 参数\n   :header-rows: 0\n\n   * -\n     - **一轴**\n   * - **FR3**\n     - 0.47\n\n       mm\n";
    assert_eq!(text(listed), "参数\n\n| | 一轴 |\n| --- | --- |\n| FR3 | 0.47 mm |\n");
    let csv = ".. csv-table::\n   :header: \"代码\", 原因\n\n   1, \"a, b\"\n";
    assert_eq!(text(csv), "| 代码 | 原因 |\n| --- | --- |\n| 1 | a, b |\n");
}

#[test]
fn lists_definitions_and_code_are_blocks() {
    let rst = "- 断电；\n- 挂牌\n  上锁\n\n  1. 一\n  2. 二\n\n术语\n  解释\n\n示例::\n\n  a = 1\n    b\n\n.. code-block:: c\n   :linenos:\n\n   x;\n";
    let expected = "- 断电；\n- 挂牌上锁\n  - 1. 一\n  - 2. 二\n- 术语\n  - 解释\n\n示例:\n\n```\na = 1\n  b\n```\n\n```\nx;\n```\n";
    assert_eq!(text(rst), expected);
}

#[test]
fn directives_keep_words_and_name_what_they_drop() {
    let rst = "\
.. |x| replace:: XH-500

.. toctree::
   :maxdepth: 2

   a
   b

.. warning::
   |x| 有高压。

   断电后操作。

.. note:: - 一
   - 二

.. figure:: a.png
   :alt: 泵

   图 1 泵

.. image:: b.png

.. 注释

.. centered:: 表 1

.. [1] 脚注
";
    let out = read(rst, &mut Budget::default()).unwrap();
    let expected =
        "警告：XH-500 有高压。\n\n断电后操作。\n\n注解：\n\n- 一\n- 二\n\n泵\n\n图 1 泵\n\n表 1\n\n- [1] 脚注\n";
    assert_eq!(out.text, expected);
    let places: Vec<&str> = out.skipped.iter().map(|part| part.place.as_str()).collect();
    assert_eq!(places, ["toctree", "1 pictures"]);
}

#[test]
fn what_small_files_may_ask_for_is_bounded() {
    let bomb = format!(".. |x| replace:: {}\n\n{}", "long ".repeat(20_000), "|x|\n\n".repeat(20_000));
    let out = read(&bomb, &mut Budget::default()).unwrap();
    assert!(out.text.len() < 32 << 20 && out.skipped.iter().any(|part| part.place == "substitutions"));
    // Substitutions that come to nothing, many within each other.
    let many = |name: &str| format!("|{name}|").repeat(500);
    let empty = format!(
        ".. |a| replace:: {}\n.. |b| replace:: {}\n.. |c| replace:: {}\n.. |d| image:: e\n\n{}\n",
        many("b"),
        many("c"),
        many("d"),
        many("a")
    );
    assert!(read(&empty, &mut Budget::default()).is_ok());
    let border = "= ".repeat(20_000);
    let wide = format!("{border}\n{}{border}\n\n", "a\n".repeat(20_000));
    let out = read(&wide, &mut Budget::default()).unwrap();
    assert!(out.text.starts_with("a\n") && out.skipped.iter().any(|part| part.reason.contains("too many columns")));
}

#[test]
fn nesting_of_any_depth_is_read() {
    let mut rst = String::new();
    for depth in 0..500 {
        rst.push_str(&format!("{}- x{depth}\n\n", "  ".repeat(depth)));
    }
    let out = text(&rst);
    assert!((0..500).all(|depth| out.contains(&format!("x{depth}"))));
}
