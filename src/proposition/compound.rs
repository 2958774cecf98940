//! Parts and organisations: compound nouns of a Chinese passage, told by their last word and by being said more than once.

use std::collections::{HashMap, HashSet};

use crate::proposition::lexis::{Folded, is_ideograph};
use crate::proposition::{Passage, Unit};

/// Last words of parts of a machine and of organisations.
const HEADS: &[&str] = &[
    "阀",
    "閥",
    "泵",
    "电机",
    "電機",
    "马达",
    "轴",
    "軸",
    "轴承",
    "开关",
    "開關",
    "传感器",
    "傳感器",
    "感測器",
    "编码器",
    "接口",
    "端口",
    "端子",
    "电缆",
    "電纜",
    "继电器",
    "接触器",
    "变频器",
    "驱动器",
    "控制器",
    "滤芯",
    "过滤器",
    "冷却器",
    "加热器",
    "风扇",
    "油箱",
    "气缸",
    "液压缸",
    "按钮",
    "指示灯",
    "模块",
    "模組",
    "电源",
    "电池",
    "电阻",
    "熔断器",
    "断路器",
    "探针",
    "喷嘴",
    "热床",
    "螺栓",
    "防护罩",
    "皮带",
    "齿轮",
    "联轴器",
    "制动器",
    "离合器",
    "卡盘",
    "丝杠",
    "导轨",
    "显示屏",
    "机械臂",
    "控制柜",
    "公司",
    "部门",
    "委员会",
    "法院",
    "检察院",
    "机关",
    "机构",
    "银行",
    "协会",
    "医院",
    "学校",
    "单位",
    "政府",
    "管理局",
    "车间",
    "班组",
];
/// Words that open a verb phrase or a phrase, never a name.
const NOT_FIRST: &[&str] = &[
    "更换", "检查", "关闭", "打开", "启动", "停止", "清洗", "清洁", "拆下", "拆卸", "安装", "连接", "断开", "调整",
    "选择", "设置", "按下", "使用", "通过", "其他", "所有", "各", "每", "该", "此", "本", "或", "及", "与", "和", "向",
    "对", "由", "在", "从", "将", "把", "为", "有", "是", "应", "可", "不",
];
/// Most ideographs in front of the last word.
const FRONT: usize = 6;

/// Compound nouns that the passage, its headings and its title say at least twice, longest at each place.
pub(crate) fn compounds(passage: &Passage<'_>) -> Vec<String> {
    let mut text = passage.title.to_owned();
    for part in passage.heading_path.iter().map(String::as_str).chain([passage.text]) {
        text.push('\n');
        text.push_str(part);
    }
    let folded = Folded::new(&text);
    let mut places: Vec<Vec<String>> = Vec::new();
    let mut counts: HashMap<String, usize> = HashMap::new();
    for end in 1..=folded.len() {
        let Some(head) = HEADS.iter().filter(|h| folded.ends(end, h)).map(|h| h.chars().count()).max() else {
            continue;
        };
        let mut here = Vec::new();
        for front in 1..=FRONT.min(end - head) {
            let first = folded.chars[end - head - front];
            if !is_ideograph(first) || "的了着过时后前中上下之者并且而但如若当让使".contains(first)
            {
                break;
            }
            let name = folded.text(end - head - front, end);
            *counts.entry(name.clone()).or_insert(0) += 1;
            here.push(name);
        }
        places.push(here);
    }
    let found: HashSet<&String> = places.iter().filter_map(|here| longest(here, &counts)).collect();
    let mut found: Vec<String> = found.into_iter().cloned().collect();
    found.sort_by_key(|name| (std::cmp::Reverse(name.chars().count()), name.clone()));
    found
}

/// The longest of `here`, shortest first, that is said twice and does not begin with a verb, whole or cut.
fn longest<'n>(here: &'n [String], counts: &HashMap<String, usize>) -> Option<&'n String> {
    let mut cut = 0;
    for name in here.iter().rev() {
        if let Some(verb) = NOT_FIRST.iter().filter(|w| name.starts_with(**w)).map(|w| w.chars().count()).max() {
            cut = verb;
        }
        if cut > 0 {
            cut -= 1;
        } else if counts.get(name).is_some_and(|n| *n >= 2) {
            return Some(name);
        }
    }
    None
}

/// Adds to each unit the compounds that its statement says.
pub(crate) fn name_compounds(units: &mut [Unit], passage: &Passage<'_>) {
    let all = compounds(passage);
    if all.is_empty() {
        return;
    }
    for unit in units {
        let mut rest = unit.statement.clone();
        for name in &all {
            if rest.contains(name.as_str()) {
                // The part of a longer name is no name of its own.
                rest = rest.replace(name.as_str(), "\u{0}");
                if !unit.entities.contains(name) {
                    unit.entities.push(name.clone());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_and_organisations_are_names_where_they_are_said_twice() {
        let text = "更换滤芯时应关闭进油阀。关闭进油阀后，检查液压泵。液压泵由维修班组负责，进油阀由主管部门封存。";
        let headings = vec!["主管部门".to_owned()];
        let found = compounds(&Passage::new("液压站", &headings, text, &[]));
        assert_eq!(found, ["主管部门", "液压泵", "进油阀"]);
    }
}
