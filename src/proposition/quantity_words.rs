//! Words that make a number a claim: units, measure words, number words, comparisons.

use super::quantity::Bound;

/// Chinese units and measure words, longest first where one begins another.
pub(super) const MEASURES: &str = "\
    工作日 个月 個月 小时 小時 分钟 分鐘 毫秒 微秒 纳秒 摄氏度 攝氏度 毫米 厘米 微米 公里 千米 毫升 千克 \
    公斤 毫克 千瓦 千伏 毫安 兆帕 千帕 赫兹 欧姆 亿元 億元 万元 萬元 万次 周岁 年 月 日 天 周 时 時 分 秒 元 \
    倍 个 個 次 台 件 种 種 条 條 款 项 項 章 节 節 人 名 米 升 克 吨 噸 度 伏 安 瓦 转 轉 级 級 号 號 层 層 \
    步 位 页 頁 行 列 轴 軸 路 轮 根 颗 只 支 把 套 组 組 批 处 處 份 张 張 岁 歲 成 万 萬 亿 億";

/// Units that stand apart from their number in Latin script, stemmed.
pub(super) const UNITS: &str = "\
    v ma w kw mw kv mv hz khz mhz ghz s ms us ns min h hr mm cm m km um μm micron inch inches ft kg g lb nm \
    kn pa kpa mpa bar psi ml l rpm r/min ohm ω kω c f k db bit byte kb mb gb tb px second minut hour day \
    week month year percent degre time litr liter gallon metr meter volt amp watt newton pound bus mm/s m/s mm/min";

/// English numbers written as words, from two on: `one` is mostly an article.
pub(super) const WORDS: &str = "\
    two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen \
    eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million half \
    twice thrice";

/// Comparisons that stand in front of the number, separated by bars.
pub(super) const BEFORE: &[(Bound, &str)] = &[
    (
        Bound::Lower,
        "\
     不低于|不得低于|不应低于|不小于|不得小于|不应小于|不少于|不得少于|不早于|至少|最少|超过|超過|高于|\
     高於|大于|大於|多于|≥|>=|>|no less than|not less than|no fewer than|not be less than|\
     not be lower than|at least|more than|higher than|greater than|larger than|exceed|exceeds|exceeding|\
     over|above|minimum of",
    ),
    (
        Bound::Upper,
        "\
     不超过|不超過|未超过|不得超过|不应超过|不能超过|不高于|不得高于|不大于|不得大于|不应大于|不多于|\
     不晚于|不足|未满|不到|不满|至多|最多|低于|低於|小于|小於|少于|少於|≤|<=|<|no more than|not more than|\
     not exceed|not exceeding|not be more than|not be higher than|at most|less than|fewer than|lower than|\
     smaller than|below|under|up to|within|maximum of",
    ),
];

/// Comparisons that stand behind the number, separated by bars.
pub(super) const AFTER: &[(Bound, &str)] = &[
    (
        Bound::Lower,
        "\
     以上|及以上|或以上|or more|or above|or higher|or greater|and above",
    ),
    (
        Bound::Upper,
        "\
     以下|及以下|以内|以內|之内|or less|or below|or lower|or fewer|and below",
    ),
];
