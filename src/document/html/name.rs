//! The names of elements and attributes that reading a page tells apart, and how elements behave.
//!
//! The lists follow the HTML Living Standard: which elements are void, special, block-like, and what an end tag must not
//! reach across. Names outside the list are one kind: an inline element without meaning.

/// Names of elements, in order for binary search.
const ELEMENTS: &[&str] = &[
    "a",
    "abbr",
    "address",
    "annotation",
    "annotation-xml",
    "applet",
    "area",
    "article",
    "aside",
    "audio",
    "b",
    "base",
    "basefont",
    "bgsound",
    "big",
    "blockquote",
    "body",
    "br",
    "button",
    "canvas",
    "caption",
    "center",
    "cite",
    "code",
    "col",
    "colgroup",
    "datalist",
    "dd",
    "defs",
    "del",
    "desc",
    "details",
    "dfn",
    "dialog",
    "dir",
    "div",
    "dl",
    "dt",
    "em",
    "embed",
    "fieldset",
    "figcaption",
    "figure",
    "font",
    "footer",
    "foreignobject",
    "form",
    "frame",
    "frameset",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "header",
    "hgroup",
    "hr",
    "html",
    "i",
    "iframe",
    "img",
    "input",
    "ins",
    "kbd",
    "keygen",
    "legend",
    "li",
    "link",
    "listing",
    "main",
    "marquee",
    "math",
    "menu",
    "meta",
    "metadata",
    "mfrac",
    "mi",
    "mn",
    "mo",
    "mover",
    "mroot",
    "msqrt",
    "msub",
    "msubsup",
    "msup",
    "mtext",
    "munder",
    "munderover",
    "nav",
    "nobr",
    "noembed",
    "noframes",
    "noscript",
    "object",
    "ol",
    "optgroup",
    "option",
    "p",
    "param",
    "picture",
    "plaintext",
    "pre",
    "q",
    "rb",
    "rp",
    "rt",
    "rtc",
    "ruby",
    "s",
    "samp",
    "script",
    "search",
    "section",
    "select",
    "small",
    "source",
    "span",
    "strike",
    "strong",
    "style",
    "sub",
    "summary",
    "sup",
    "svg",
    "table",
    "tbody",
    "td",
    "template",
    "text",
    "textarea",
    "tfoot",
    "th",
    "thead",
    "time",
    "title",
    "tr",
    "track",
    "tspan",
    "tt",
    "u",
    "ul",
    "var",
    "video",
    "wbr",
    "xmp",
];

/// Attributes that are kept.
const ATTRIBUTES: &[&str] = &[
    "alt",
    "aria-hidden",
    "aria-label",
    "aria-level",
    "border",
    "class",
    "colspan",
    "content",
    "datetime",
    "encoding",
    "headers",
    "hidden",
    "href",
    "http-equiv",
    "name",
    "property",
    "reversed",
    "role",
    "rowspan",
    "scope",
    "start",
    "style",
    "summary",
    "title",
    "type",
    "value",
];

/// The element called `name` (in lower case), or `?` for one without a meaning of its own.
pub(super) fn element(name: &str) -> &'static str {
    ELEMENTS.binary_search(&name).map_or("?", |at| ELEMENTS[at])
}

/// The attribute called `name`, if it is kept.
pub(super) fn attribute(name: &str) -> Option<&'static str> {
    ATTRIBUTES.binary_search(&name).ok().map(|at| ATTRIBUTES[at])
}

/// Elements that have no content and no end tag.
pub(super) fn is_void(name: &str) -> bool {
    matches!(
        name,
        "area"
            | "base"
            | "basefont"
            | "bgsound"
            | "br"
            | "col"
            | "embed"
            | "frame"
            | "hr"
            | "img"
            | "input"
            | "keygen"
            | "link"
            | "meta"
            | "param"
            | "source"
            | "track"
            | "wbr"
    )
}

/// Elements whose content is text and no markup.
pub(super) fn is_raw(name: &str) -> bool {
    matches!(
        name,
        "script"
            | "style"
            | "textarea"
            | "title"
            | "iframe"
            | "noembed"
            | "noframes"
            | "noscript"
            | "xmp"
            | "plaintext"
    )
}

/// `h1` to `h6`.
pub(super) fn heading_level(name: &str) -> Option<u8> {
    match name.as_bytes() {
        [b'h', digit @ b'1'..=b'6'] => Some(digit - b'0'),
        _ => None,
    }
}

/// Elements that stand on lines of their own.
pub(super) fn is_block(name: &str) -> bool {
    heading_level(name).is_some()
        || matches!(
            name,
            "address"
                | "article"
                | "aside"
                | "blockquote"
                | "caption"
                | "center"
                | "dd"
                | "details"
                | "dialog"
                | "dir"
                | "div"
                | "dl"
                | "dt"
                | "fieldset"
                | "figcaption"
                | "figure"
                | "footer"
                | "form"
                | "frameset"
                | "header"
                | "hgroup"
                | "hr"
                | "legend"
                | "li"
                | "listing"
                | "main"
                | "menu"
                | "nav"
                | "ol"
                | "p"
                | "plaintext"
                | "pre"
                | "search"
                | "section"
                | "summary"
                | "svg"
                | "table"
                | "ul"
                | "xmp"
        )
}

/// Elements before which an open paragraph ends.
pub(super) fn closes_paragraph(name: &str) -> bool {
    is_block(name) && !matches!(name, "caption" | "legend" | "svg" | "frameset")
}

/// Elements that the end tag of an inline element does not reach across.
pub(super) fn is_special(name: &str) -> bool {
    is_block(name) && name != "svg" || is_cell(name) || is_table_part(name) || is_scope(name)
}

/// Elements that no end tag but their own closes from inside.
pub(super) fn is_scope(name: &str) -> bool {
    matches!(
        name,
        "applet"
            | "caption"
            | "table"
            | "td"
            | "th"
            | "marquee"
            | "object"
            | "template"
            | "svg"
            | "math"
            | "foreignobject"
    )
}

/// `td` and `th`.
pub(super) fn is_cell(name: &str) -> bool {
    matches!(name, "td" | "th")
}

/// Groups of rows.
pub(super) fn is_row_group(name: &str) -> bool {
    matches!(name, "tbody" | "thead" | "tfoot")
}

/// What lies in a table outside its cells.
pub(super) fn is_table_part(name: &str) -> bool {
    is_row_group(name) || matches!(name, "tr" | "colgroup")
}

/// Elements that are never part of the text.
pub(super) fn is_dropped(name: &str) -> bool {
    matches!(
        name,
        "annotation"
            | "annotation-xml"
            | "audio"
            | "canvas"
            | "datalist"
            | "defs"
            | "desc"
            | "iframe"
            | "metadata"
            | "noembed"
            | "noframes"
            | "noscript"
            | "option"
            | "optgroup"
            | "rp"
            | "script"
            | "select"
            | "style"
            | "template"
            | "textarea"
            | "title"
            | "video"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_ordered_lists() {
        assert!(ELEMENTS.is_sorted() && ATTRIBUTES.is_sorted());
        assert_eq!((element("td"), element("my-card")), ("td", "?"));
        assert_eq!((attribute("colspan"), attribute("onclick")), (Some("colspan"), None));
        assert_eq!((heading_level("h3"), heading_level("hr")), (Some(3), None));
    }
}
