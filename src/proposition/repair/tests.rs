//! What each rule may do, and what it must leave alone.

use super::*;
use crate::document::Format;
use crate::proposition::{Passage, sentences};

/// Repairs the sentence of `text` that holds `part`, as it stands.
fn repaired(title: &str, headings: &[&str], text: &str, part: &str) -> Repaired {
    let headings: Vec<String> = headings.iter().map(|h| (*h).to_owned()).collect();
    let found = sentences(text, Format::Markdown);
    let passage = Passage::new(title, &headings, text, &found);
    let source = Source::new(&passage);
    let index = source.sentences.iter().position(|s| s.original.contains(part)).unwrap_or(usize::MAX);
    repair(&crate::proposition::tidy::tidy(&source.sentences[index].original, title), index, &source)
}

fn statement(title: &str, headings: &[&str], text: &str, part: &str) -> String {
    repaired(title, headings, text, part).statement
}

const STATUTE: &str = "第八条 仓库负责人擅自停用报警器的，处五百元罚款；情节严重的，处二千元罚款。\n\n\
                       前款规定的罚款，由主管部门决定。\n\n未按前款规定缴纳的，可以加处罚款。\n\n\
                       依照本条第一款受到处罚的仓库，应当限期整改。\n\n第九条 违反前条的，责令改正。本条例另有规定的除外。";

#[test]
fn a_back_reference_in_a_statute_becomes_article_and_paragraph() {
    let at = |part| statement("仓库管理条例", &[], STATUTE, part);
    assert_eq!(at("未按前款"), "未按第八条第二款规定缴纳的，可以加处罚款。");
    assert_eq!(at("依照本条"), "依照第八条第一款受到处罚的仓库，应当限期整改。");
    assert_eq!(at("违反前条"), "违反第八条的，责令改正。");
    assert_eq!(at("本条例"), "《仓库管理条例》另有规定的除外。");
}

#[test]
fn what_a_short_paragraph_says_is_quoted_where_something_of_it_is_meant() {
    let found = repaired("仓库管理条例", &[], STATUTE, "前款规定的罚款");
    assert_eq!(
        found.statement,
        "第八条第一款（仓库负责人擅自停用报警器的，处五百元罚款；情节严重的，处二千元罚款）规定的罚款，由主管部门决定。"
    );
    let chars: Vec<char> = STATUTE.chars().collect();
    let places: Vec<String> = found.antecedents.iter().map(|s| chars[s.start..s.end].iter().collect()).collect();
    assert_eq!(places, ["第八条", "第八条 仓库负责人擅自停用报警器的，处五百元罚款；"]);
}

#[test]
fn a_reference_without_an_article_at_hand_is_left_to_the_gates() {
    let text = "前款规定的罚款，由主管部门决定。";
    assert_eq!(statement("", &[], text, "前款"), text);
}

#[test]
fn a_determiner_and_a_noun_become_the_only_name_they_can_mean() {
    for (title, headings, text, part, expected) in [
        ("KL-200 空压机使用手册", &[][..], "首次启动前应加油。该设备不得空载。", "该设备", "KL-200 空压机不得空载。"),
        ("", &[], "“远程复位”端口用于上位机。该端口为常开触点。", "该端口", "“远程复位”端口为常开触点。"),
        ("", &[], "AX-7 主轴箱装有两个传感器。该主轴箱应水平放置。", "该主轴箱", "AX-7 主轴箱应水平放置。"),
        ("", &[], "油泵风扇由变频器驱动。油泵风扇装在背面。该风扇应每月清洁。", "该风扇", "油泵风扇应每月清洁。"),
        ("", &["2.3 回程缓冲阀"], "该缓冲阀出厂时已调好。", "该缓冲阀", "回程缓冲阀出厂时已调好。"),
        ("", &["RESET_AXIS"], "该命令使轴回零。", "该命令", "RESET_AXIS命令使轴回零。"),
        ("", &["DX1 温度传感器"], "这些传感器最高量程是 125 C。", "这些", "DX1 温度传感器最高量程是 125 C。"),
        ("", &[], "手册给出了最低和最高油温范围。超出该油温范围时停机。", "超出", "超出最低和最高油温范围时停机。"),
    ] {
        assert_eq!(statement(title, headings, text, part), expected);
    }
}

#[test]
fn a_noun_with_no_name_or_with_a_verb_in_front_is_left_alone() {
    for text in [
        "检查风扇是否转动。该风扇应每月清洁。",
        "启动设备的步骤见附录。该设备不得空载。",
        "操作人员应该先停机。",
        "应根据本地规定处理。",
        "驱动风扇应先接线。该风扇应每月清洁。",
        "AX-7 主轴箱在左侧，BX-2 主轴箱在右侧。该主轴箱应水平放置。",
        "PT1 传感器可以并联。这些传感器应校准。",
        "先运行上位命令。上述命令应逐条运行。",
        "油温过高时，泵停止。该情况下应检查冷却器。",
    ] {
        let part = text.split_inclusive('。').next_back().unwrap_or(text);
        let found = statement("", &[], text, part.trim_end_matches('。'));
        assert_eq!(found, part, "{text}");
    }
}

#[test]
fn english_the_device_is_the_product_of_the_title_and_another_device_is_not() {
    let title = "Orbit 5 user manual";
    let text = "Wait for the device to cool down. Use your device only indoors. The device manager shows an error.";
    assert_eq!(statement(title, &[], text, "Wait"), "Wait for the Orbit 5 to cool down.");
    assert_eq!(statement(title, &[], text, "indoors"), "Use the Orbit 5 only indoors.");
    assert_eq!(statement(title, &[], text, "manager"), "The device manager shows an error.");
    let two = "Connect the audio device. Then restart the device.";
    assert_eq!(statement(title, &[], two, "restart"), "Then restart the device.");
}

#[test]
fn a_line_on_a_faults_page_names_the_fault_and_its_label() {
    let headings = &["报警 5000 至 5999", "5011：负限位"];
    let text = "- **反应**：\n    - 电机停止。\n- **处理**：\n    - 反向移动轴，离开限位开关。\n    - 5011 仍在时，检查接线。\n    - 重新上电后该报警自动消失。\n";
    let at = |part| statement("轴控手册", headings, text, part);
    assert_eq!(at("电机停止"), "5011：负限位（反应）：电机停止。");
    assert_eq!(at("反向移动"), "5011：负限位（处理）：反向移动轴，离开限位开关。");
    assert!(at("检查接线").ends_with("5011 仍在时，检查接线。"), "{}", at("检查接线"));
    assert!(at("自动消失").contains("报警“5011：负限位”自动消失"), "{}", at("自动消失"));
}

#[test]
fn the_name_in_a_label_is_put_back_though_its_other_words_are_there() {
    let text = "- 通过直流总线供电：\n    - VAC 电源：干扰（断线、电源故障）\n";
    let at = statement("轴控手册", &["6020：欠压"], text, "干扰");
    assert!(at.starts_with("6020：欠压") && at.contains("VAC 电源") && at.ends_with("干扰（断线、电源故障）"), "{at}");
}

/// A line that only pointed at 5032 was found for 5032 and put 5033 above it.
#[test]
fn a_line_that_points_at_another_fault_still_names_its_own() {
    let headings = &["5033：制动距离超过负限位"];
    let text = "- **反应**：\n    - 查看错误编号 [5032](#5032制动距离超过正限位)。\n    - 参见 5032：制动距离超过正限位。\n    - 制动距离超过负限位时停机。\n";
    let at = |part| statement("轴控手册", headings, text, part);
    assert!(at("查看").starts_with("5033：制动距离超过负限位（反应）：查看"), "{}", at("查看"));
    assert!(at("参见").starts_with("5033：制动距离超过负限位（反应）：参见"), "{}", at("参见"));
    assert!(!at("停机").contains("5033"), "{}", at("停机"));
}

#[test]
fn an_item_completes_its_lead_in_and_a_label_that_names_goes_in_front() {
    let text = "有下列情形之一的，由班长责令停机：\n\n（一）防护罩未关闭；\n\n（二）油温超过限值。\n";
    let found = repaired("", &[], text, "油温");
    assert_eq!(found.statement, "有下列情形之一的，由班长责令停机：油温超过限值。");
    assert_eq!((found.rules.as_slice(), found.antecedents.len()), (&["topic"][..], 1));
    let text = "- Eco 模式：主轴降速。再按一次可以退出。\n- 注意：停机。\n";
    assert_eq!(statement("", &[], text, "再按"), "Eco 模式：再按一次可以退出。");
    assert_eq!(statement("", &[], text, "停机"), "注意：停机。");
}

#[test]
fn a_paragraph_is_counted_only_where_the_text_shows_what_one_is() {
    for text in [
        // A line break without an empty line may wrap a paragraph.
        "第八条 停用报警器的，处罚款。\n情节严重的，责令停业。\n\n前款规定的罚款，由主管部门决定。",
        // A table or code is no paragraph, and may interrupt one.
        "第八条 停用报警器的，处罚款。\n\n| 甲 | 乙 |\n|--|--|\n| 1 | 2 |\n\n前款规定的罚款，由主管部门决定。",
        // The number stands alone, or with a title: the first paragraph comes next.
        "第八条\n\n停用报警器的，前款规定的罚款，由主管部门决定。",
        "第八条 报警器\n\n停用报警器的，前款规定的罚款，由主管部门决定。",
    ] {
        assert!(statement("", &[], text, "前款").contains("前款"), "{text}");
    }
    let titled = "第八条 报警器\n\n停用报警器的，处罚款。\n\n前款规定的罚款，由主管部门决定。";
    assert!(statement("", &[], titled, "前款").starts_with("第八条第一款（停用报警器的，处罚款）规定的罚款"));
    let gap = "第七条 甲应当报告。\n\n第九条 违反前条的，责令改正。";
    assert!(statement("", &[], gap, "违反前条").contains("前条"));
}

#[test]
fn one_of_several_things_is_not_quoted_for_all() {
    let text = "第二条 主轴的保修期为一年。油泵的保修期为二年。电机和控制柜的保修期为三年，自交付之日起计算，以验收单为准。\n\n\
                前款规定的期限届满，另行协商。";
    assert_eq!(statement("", &[], text, "前款"), "第二条第一款规定的期限届满，另行协商。");
}

#[test]
fn a_heading_is_a_name_only_where_it_names_one_thing_and_no_other_is_near() {
    for (headings, text, part) in [
        (&["第二章 委托合同"][..], "该合同只约束受托人。", "该合同"),
        (&["一般抵押权"], "该抵押权人优先受偿。", "该抵押权人"),
        (&["离线处理振动数据"], "该数据可在以后使用。", "该数据"),
        (&["29314：在错误的任务类中调用功能块"], "该功能块的输出被重置。", "该功能块"),
        (&["引导程序", "SAM3"], "该程序可以通过串口写入。", "该程序"),
        (&["BME280 温度传感器", "环境"], "这些传感器不适用于热床。", "这些"),
        (&["G-Code 命令"], "移动工具头用 `G1` 命令。该命令依赖于坐标模式。", "该命令"),
    ] {
        assert!(statement("", headings, text, part).contains(part), "{headings:?} {text}");
    }
}

#[test]
fn a_fault_is_named_only_on_its_page_and_where_no_other_fault_is_near() {
    let page = &["5011：负限位"][..];
    for (headings, text, part) in [
        (&["BL-Touch v3"][..], "控制器会自动清除该错误。", "该错误"),
        (page, "出现 5022 时，该报警自动复位。", "该报警"),
        (page, "此时会产生温度报警。该报警自动复位。", "该报警"),
        (page, "如果该错误文本模块为空，则返回零。", "该错误"),
        (page, "这些错误导致归位失败。", "这些错误"),
    ] {
        assert!(statement("", headings, text, part).contains(part), "{headings:?} {text}");
    }
    assert!(statement("", page, "离开限位后该报警自动复位。", "该报警").contains("报警“5011：负限位”自动复位"));
}

#[test]
fn a_latin_name_is_taken_whole() {
    let text = "Hybrid CoreXZ 运动学由固件实现。该运动学也称为混合型。";
    assert_eq!(statement("", &[], text, "该运动学"), "Hybrid CoreXZ 运动学也称为混合型。");
}

#[test]
fn a_label_on_a_line_of_its_own_ends_at_the_next_label() {
    let text = "保持电流 I2：\n\n电机停止时的电流。\n\n采样 R：0.11\n\n默认不降低电流。\n";
    assert!(!statement("", &[], text, "默认").contains("保持电流"));
}

#[test]
fn pointers_and_joining_words_go_and_the_rest_stays() {
    assert_eq!(statement("", &[], "默认接法是星形，如下图所示。", "默认"), "默认接法是星形。");
    assert_eq!(statement("", &[], "此外，应记录油温。", "此外"), "应记录油温。");
    assert_eq!(statement("", &[], "如下图所示。", "如下"), "如下图所示。");
    assert_eq!(statement("", &[], "However, the valve may stick.", "valve"), "The valve may stick.");
}

#[test]
fn hostile_statements_neither_panic_nor_grow_without_bound() {
    let text = format!("{STATUTE}\n\n- **反应**：\n  - 该该该前款本条其它\n");
    let found = sentences(&text, Format::Markdown);
    let headings = vec!["5011：负限位".to_owned()];
    let passage = Passage::new("KL-200 使用手册", &headings, &text, &found);
    let source = Source::new(&passage);
    for statement in [
        "",
        "该",
        "前款",
        "本条第",
        "，",
        "如下图所示",
        "the device",
        "该\u{0}该设备",
        "“该设备",
        &"该设备前款".repeat(200),
    ] {
        for index in 0..source.sentences.len() {
            let out = repair(statement, index, &source).statement;
            assert!(out.chars().count() <= 400 + 60 * statement.chars().count());
            let _ = split(&out);
        }
    }
}
