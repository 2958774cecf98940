//! Wrong statements, by the way in which they are wrong, and right ones that must not be refused with them.

use crate::document::{Format, Span};
use crate::proposition::{Passage, Unit, judge_statement, sentences};

const ZH: &str = "液压油温度超过65℃时，控制器报 E-201 并在10秒后停机。\n\
换油前，操作人员必须切断主电源，并挂上警示牌。\n\
油箱容积为40升，其中10升为备用。\n\
未经培训的人员不得打开防护罩。\n\
主泵由变频器驱动，辅助泵由接触器控制。\n\
所有安全门关闭后，才可以启动主轴。\n\
滤芯每500小时更换一次，压差不得大于0.35MPa。\n\
班长应当在停机前通知维修人员。\n\
如果急停按钮被按下，除照明外全部电源断开。\n\
本机于2021年3月投入使用，至少每年检验一次。\n\
部分阀门可以在运行中调整，其余阀门只能在停机后调整。\n\
冷却水压力低于0.2MPa时，报警灯闪烁。\n\
仅维修人员可以修改参数。\n\
油温升高会使密封件老化。";

const EN: &str = "If the oil temperature exceeds 65 °C, the controller reports E-201 and stops the press within 10 seconds.\n\n\
The operator must disconnect the power supply before opening the guard.\n\n\
Untrained persons must not open the guard.\n\n\
The main pump is driven by an inverter and the auxiliary pump by a contactor.\n\n\
All safety doors must be closed before the spindle may be started.\n\n\
Replace the filter every 500 hours.\n\n\
Only service staff may change the parameters.\n\n\
The shift leader must inform the fitter before the shutdown.\n\n\
The tank holds 40 litres, of which 10 litres are reserve.\n\n\
Some valves can be adjusted while the press is running; the other valves can be adjusted only after a shutdown.\n\n\
The lamp flashes unless the pressure is above 2 bar.\n\n\
The press was commissioned in March 2021 and must be inspected at least once a year.\n\n\
High oil temperature causes seal wear.";

/// What is wrong, words by which the sentence is found, the statement.
const WRONG: &[(&str, &str, &str)] = &[
    ("number", "液压油", "液压油温度超过60℃时，控制器报 E-201 并在10秒后停机。"),
    ("number", "滤芯", "滤芯每300小时更换一次。"),
    ("number", "滤芯", "滤芯每500小时更换两次。"),
    ("number", "exceeds", "If the oil temperature exceeds 60 °C, the controller reports E-201."),
    ("number", "Replace", "Replace the filter every 50 hours."),
    ("unit", "液压油", "液压油温度超过65℃时，控制器在10分钟后停机。"),
    ("unit", "油箱", "油箱容积为40毫升。"),
    ("unit", "exceeds", "If the oil temperature exceeds 65 °C, the controller stops the press within 10 minutes."),
    ("unit", "Replace", "Replace the filter every 500 days."),
    ("unit", "tank", "The tank holds 40 gallons."),
    ("code", "液压油", "液压油温度超过65℃时，控制器报 E-210。"),
    ("code", "exceeds", "If the oil temperature exceeds 65 °C, the controller reports E-210."),
    ("name", "主泵", "主泵由 Siemens 变频器驱动。"),
    ("name", "inverter", "The main pump is driven by a Siemens inverter."),
    ("date", "本机", "本机于2021年8月投入使用。"),
    ("date", "本机", "本机于2012年3月投入使用。"),
    ("date", "commissioned", "The press was commissioned in May 2021."),
    ("comparison", "液压油", "液压油温度低于65℃时，控制器报 E-201。"),
    ("comparison", "冷却水", "冷却水压力高于0.2MPa时，报警灯闪烁。"),
    ("comparison", "冷却水", "冷却水压力为0.2MPa时，报警灯闪烁。"),
    ("comparison", "滤芯", "压差不得小于0.35MPa。"),
    ("comparison", "本机", "本机至多每年检验一次。"),
    ("comparison", "exceeds", "If the oil temperature is below 65 °C, the controller reports E-201."),
    ("comparison", "commissioned", "The press must be inspected at most once a year."),
    ("modality", "换油", "换油前，操作人员可以切断主电源。"),
    ("modality", "换油", "换油前，操作人员切断主电源。"),
    ("modality", "班长", "班长可以在停机前通知维修人员。"),
    ("modality", "仅维修", "维修人员必须修改参数。"),
    ("modality", "disconnect", "The operator may disconnect the power supply before opening the guard."),
    ("modality", "service", "Service staff must change the parameters."),
    ("negation", "未经", "未经培训的人员可以打开防护罩。"),
    ("negation", "未经", "经培训的人员不得打开防护罩。"),
    ("negation", "未经", "人员不得打开防护罩。"),
    ("negation", "滤芯", "压差大于0.35MPa。"),
    ("negation", "Untrained", "Untrained persons may open the guard."),
    ("negation", "Untrained", "Trained persons must not open the guard."),
    ("negation", "Untrained", "Persons must not open the guard."),
    ("condition", "液压油", "控制器报 E-201。"),
    ("condition", "急停", "除照明外全部电源断开。"),
    ("condition", "急停", "如果急停按钮被按下，全部电源断开。"),
    ("condition", "冷却水", "报警灯闪烁。"),
    ("condition", "安全门", "可以启动主轴。"),
    ("condition", "exceeds", "The controller stops the press within 10 seconds."),
    ("condition", "lamp", "The lamp flashes."),
    ("condition", "lamp", "The lamp flashes if the pressure is above 2 bar."),
    ("antecedent", "滤芯", "主泵每500小时更换一次。"),
    ("antecedent", "Replace", "Replace the inverter every 500 hours."),
    ("neighbour", "主泵", "滤芯每500小时更换一次。"),
    ("neighbour", "inverter", "Replace the filter every 500 hours."),
    ("merged", "主泵", "主泵由接触器控制。"),
    ("merged", "主泵", "辅助泵由变频器驱动。"),
    ("merged", "部分", "部分阀门只能在停机后调整。"),
    ("merged", "油箱", "油箱容积为10升。"),
    ("merged", "inverter", "The main pump is driven by a contactor."),
    ("merged", "inverter", "The auxiliary pump is driven by an inverter."),
    ("merged", "valves", "Some valves can be adjusted only after a shutdown."),
    ("merged", "valves", "The other valves can be adjusted while the press is running."),
    ("merged", "tank", "The tank holds 10 litres."),
    ("swapped", "班长", "维修人员应当在停机前通知班长。"),
    ("swapped", "主泵", "变频器由主泵驱动。"),
    ("swapped", "密封件", "密封件老化会使油温升高。"),
    ("swapped", "fitter", "The fitter must inform the shift leader before the shutdown."),
    ("swapped", "inverter", "The inverter is driven by the main pump."),
    ("swapped", "seal", "Seal wear causes high oil temperature."),
    ("quantifier", "安全门", "部分安全门关闭后，才可以启动主轴。"),
    ("quantifier", "部分", "所有阀门可以在运行中调整。"),
    ("quantifier", "部分", "阀门可以在运行中调整。"),
    ("quantifier", "急停", "如果急停按钮被按下，除照明外部分电源断开。"),
    ("quantifier", "仅维修", "所有人员可以修改参数。"),
    ("quantifier", "本机", "本机每年检验一次。"),
    ("quantifier", "doors", "Some safety doors must be closed before the spindle may be started."),
    ("quantifier", "valves", "All valves can be adjusted while the press is running."),
    ("quantifier", "valves", "Valves can be adjusted while the press is running."),
    ("quantifier", "service", "All staff may change the parameters."),
    ("order", "班长", "班长应当在停机后通知维修人员。"),
    ("order", "换油", "换油后，操作人员必须切断主电源。"),
    ("order", "安全门", "所有安全门关闭前，才可以启动主轴。"),
    ("order", "部分", "其余阀门只能在停机前调整。"),
    ("order", "disconnect", "The operator must disconnect the power supply after opening the guard."),
    ("order", "fitter", "The shift leader must inform the fitter after the shutdown."),
    ("opposite", "密封件", "油温降低会使密封件老化。"),
    ("opposite", "seal", "Low oil temperature causes seal wear."),
    ("opposite", "未经", "未经培训的人员不得关闭防护罩。"),
];

/// Right statements, with words of their sentence.
const RIGHT: &[(&str, &str)] = &[
    ("液压油", "液压油温度超过65℃时，控制器报 E-201。"),
    ("液压油", "液压油温度超过65℃时，控制器在10秒后停机。"),
    ("换油", "换油前，操作人员必须切断主电源。"),
    ("换油", "操作人员必须在换油前切断主电源。"),
    ("换油", "换油前，操作人员必须挂上警示牌。"),
    ("油箱", "油箱容积为40升。"),
    ("未经", "未经培训的人员不得打开防护罩。"),
    ("主泵", "主泵由变频器驱动。"),
    ("主泵", "变频器驱动主泵。"),
    ("主泵", "辅助泵由接触器控制。"),
    ("安全门", "所有安全门关闭后，才可以启动主轴。"),
    ("滤芯", "滤芯每500小时更换一次。"),
    ("滤芯", "滤芯压差不得大于0.35MPa。"),
    ("班长", "班长应当在停机前通知维修人员。"),
    ("班长", "停机前，班长应当通知维修人员。"),
    ("急停", "如果急停按钮被按下，除照明外全部电源断开。"),
    ("急停", "急停按钮被按下时，除照明外全部电源断开。"),
    ("本机", "XH-500 液压冲床于2021年3月投入使用。"),
    ("部分", "部分阀门可以在运行中调整。"),
    ("冷却水", "冷却水压力低于0.2MPa时，报警灯闪烁。"),
    ("密封件", "油温升高会使密封件老化。"),
    ("exceeds", "If the oil temperature exceeds 65 °C, the controller reports E-201."),
    ("exceeds", "The controller stops the press within 10 seconds if the oil temperature exceeds 65 °C."),
    ("disconnect", "The operator must disconnect the power supply before opening the guard."),
    ("disconnect", "Before opening the guard, the operator must disconnect the power supply."),
    ("Untrained", "Untrained persons must not open the guard."),
    ("inverter", "The main pump is driven by an inverter."),
    ("inverter", "An inverter drives the main pump."),
    ("doors", "All safety doors must be closed before the spindle may be started."),
    ("Replace", "Replace the filter every 500 hours."),
    ("service", "Only service staff may change the parameters."),
    ("fitter", "The shift leader must inform the fitter before the shutdown."),
    ("tank", "The tank holds 40 litres."),
    ("valves", "Some valves can be adjusted while the press is running."),
    ("valves", "The other valves can be adjusted only after a shutdown."),
    ("lamp", "The lamp flashes unless the pressure is above 2 bar."),
    ("commissioned", "The press was commissioned in March 2021."),
    ("commissioned", "The press must be inspected at least once a year."),
    ("seal", "High oil temperature causes seal wear."),
];

fn judged(word: &str, statement: &str) -> Unit {
    let (title, text) = if statement.is_ascii() || statement.contains('°') {
        ("Halden 4 hydraulic press manual", EN)
    } else {
        ("XH-500 液压冲床操作手册", ZH)
    };
    let found = sentences(text, Format::Markdown);
    let at = text[..text.find(word).unwrap_or_else(|| panic!("{word}"))].chars().count();
    judge_statement(&Passage::new(title, &[], text, &found), Span::new(at, at + word.chars().count()), statement)
}

#[test]
fn wrong_statements_do_not_pass() {
    let silent: Vec<_> = WRONG
        .iter()
        .filter(|(_, word, statement)| {
            let unit = judged(word, statement);
            unit.is_searchable() && unit.reasons.iter().all(|r| r.gate == "joins-facts")
        })
        .collect();
    assert!(silent.is_empty(), "{silent:#?}");
}

#[test]
fn right_statements_are_not_refused_with_them() {
    let refused: Vec<_> = RIGHT
        .iter()
        .map(|(word, statement)| (statement, judged(word, statement).reasons))
        .filter(|(_, reasons)| !reasons.is_empty())
        .collect();
    assert!(refused.is_empty(), "{refused:#?}");
}
