//! Bounds of text and bytes cut to a length: a lower bound is a prefix, an upper one a prefix made greater (Java
//! `UnicodeUtil`, `BinaryUtil`).

/// The first `length` code points.
pub(super) fn text_lower(text: &str, length: usize) -> &str {
    match text.char_indices().nth(length) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}

/// The least text of at most `length` code points that is not below `text`; `None` when there is none.
pub(super) fn text_upper(text: &str, length: usize) -> Option<String> {
    let prefix = text_lower(text, length);
    if prefix.len() == text.len() {
        return Some(text.to_string());
    }
    let mut rest = prefix.to_string();
    while let Some(last) = rest.pop() {
        if let Some(next) = next_char(last) {
            rest.push(next);
            return Some(rest);
        }
    }
    None
}

fn next_char(c: char) -> Option<char> {
    // The range skips the surrogates, which are no characters.
    (c..=char::MAX).nth(1)
}

/// The first `length` bytes.
pub(super) fn bytes_lower(bytes: &[u8], length: usize) -> &[u8] {
    bytes.get(..length).unwrap_or(bytes)
}

/// The least bytes of at most `length` that are not below `bytes`; `None` when there are none.
pub(super) fn bytes_upper(bytes: &[u8], length: usize) -> Option<Vec<u8>> {
    let prefix = bytes_lower(bytes, length);
    if prefix.len() == bytes.len() {
        return Some(bytes.to_vec());
    }
    let mut rest = prefix.to_vec();
    while let Some(last) = rest.pop() {
        if let Some(next) = last.checked_add(1) {
            rest.push(next);
            return Some(rest);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected values follow the spec's rule and the golden `select/string_bounds`, which Spark wrote.
    #[test]
    fn upper_bounds_of_text_are_raised_at_the_last_code_point_that_can_be() {
        assert_eq!(text_upper("abcdef", 3).as_deref(), Some("abd"));
        assert_eq!(text_upper("abc", 3).as_deref(), Some("abc"));
        assert_eq!(text_upper("ab\u{10FFFF}x", 3).as_deref(), Some("ac"));
        assert_eq!(text_upper("\u{10FFFF}\u{10FFFF}", 1), None);
        assert_eq!(text_upper("\u{D7FF}x", 1).as_deref(), Some("\u{E000}"));
        assert_eq!(text_lower("ééé", 2), "éé");
    }

    #[test]
    fn upper_bounds_of_bytes_are_raised_at_the_last_byte_that_can_be() {
        assert_eq!(bytes_upper(&[1, 2, 3], 2), Some(vec![1, 3]));
        assert_eq!(bytes_upper(&[1, 0xff, 3], 2), Some(vec![2]));
        assert_eq!(bytes_upper(&[0xff, 0xff, 0], 2), None);
        assert_eq!(bytes_upper(&[0xff, 0xff], 2), Some(vec![0xff, 0xff]));
        assert_eq!(bytes_lower(&[1, 2, 3], 2), [1, 2]);
    }
}
