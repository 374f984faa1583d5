//! How wide text is on a terminal, and how columns share a width.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Narrower than this no column of text is made for want of space; columns are hidden instead.
const MIN_WIDTH: usize = 8;

/// Columns a text takes on a terminal.
pub fn width(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

/// The lines of a cell. Characters that would steer the terminal are written as escapes.
pub fn cell_lines(text: &str) -> Vec<String> {
    let text = text.replace("\r\n", "\n");
    let lines: Vec<String> = text.trim_end_matches('\n').split('\n').map(printable).collect();
    lines
}

fn printable(line: &str) -> String {
    if !line.contains(char::is_control) {
        return line.to_string();
    }
    let mut out = String::with_capacity(line.len());
    for c in line.chars() {
        match c {
            '\t' => out.push_str("    "),
            c if c.is_control() => out.extend(c.escape_default()),
            c => out.push(c),
        }
    }
    out
}

/// A line cut to a width, with an ellipsis where something is missing.
pub fn truncate(line: &str, max: usize) -> String {
    if width(line) <= max {
        return line.to_string();
    }
    let mut out = String::new();
    let mut used = 0;
    for c in line.chars() {
        let w = c.width().unwrap_or(0);
        if used + w + 1 > max {
            break;
        }
        used += w;
        out.push(c);
    }
    out + "…"
}

/// A line broken to a width, after spaces where there are some.
pub fn wrap(line: &str, max: usize) -> Vec<String> {
    let max = max.max(2);
    let mut lines = Vec::new();
    let mut rest = line;
    while width(rest) > max {
        let mut used = 0;
        let mut end = 0;
        let mut after_space = None;
        for (at, c) in rest.char_indices() {
            used += c.width().unwrap_or(0);
            if used > max && c != ' ' {
                break;
            }
            end = at + c.len_utf8();
            if c == ' ' {
                after_space = Some(end);
            }
            // The space at which a line is broken needs no room.
            if used > max {
                break;
            }
        }
        // A break in the first half would leave the line mostly empty.
        let at = after_space.filter(|at| *at * 2 > end).unwrap_or(end);
        let (head, tail) = rest.split_at(at);
        lines.push(head.trim_end().to_string());
        rest = tail;
    }
    lines.push(rest.to_string());
    lines
}

/// Whether a column may be made narrower than its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shrink {
    /// Its values may be cut or broken.
    Allowed,
    /// A part of its values would mislead: numbers.
    Forbidden,
}

/// Widths of the columns that are shown: the first ones, as many as fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Widths {
    /// Of each column that is shown.
    pub widths: Vec<usize>,
    /// How many further columns are not.
    pub hidden: usize,
}

/// Shares `total` among columns that want to be `wanted` wide and take `gap` more each. The widest give way first.
pub fn share(wanted: &[usize], shrink: &[Shrink], gap: usize, total: usize) -> Widths {
    for shown in (1..=wanted.len()).rev() {
        let hidden = wanted.len() - shown;
        // What stands for hidden columns is one character wide.
        let ellipsis = if hidden > 0 { gap + 1 } else { 0 };
        let room = total.saturating_sub(shown * gap + ellipsis);
        if let Some(widths) = fit(&wanted[..shown], &shrink[..shown], room) {
            return Widths { widths, hidden };
        }
    }
    let first = wanted.first().map_or(0, |w| (*w).min(total.saturating_sub(gap).max(1)));
    Widths {
        widths: wanted.first().map(|_| first).into_iter().collect(),
        hidden: wanted.len().saturating_sub(1),
    }
}

/// The widest cap under which the columns fit; `None` when they don't.
fn fit(wanted: &[usize], shrink: &[Shrink], room: usize) -> Option<Vec<usize>> {
    let capped = |cap: usize| -> Vec<usize> {
        let columns = wanted.iter().zip(shrink);
        columns
            .map(|(w, s)| if *s == Shrink::Forbidden { *w } else { (*w).min(cap) })
            .collect()
    };
    let fits = |cap: usize| capped(cap).iter().sum::<usize>() <= room;
    if !fits(MIN_WIDTH) {
        return None;
    }
    let widest = wanted.iter().copied().max().unwrap_or(0).max(MIN_WIDTH);
    if fits(widest) {
        return Some(wanted.to_vec());
    }
    let (mut low, mut high) = (MIN_WIDTH, widest);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if fits(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    let mut widths = capped(low);
    // What is left over goes to those that could use it, first come, first served.
    let mut left = room.saturating_sub(widths.iter().sum());
    for (width, (wanted, shrink)) in widths.iter_mut().zip(wanted.iter().zip(shrink)) {
        if *shrink == Shrink::Allowed && *wanted > *width && left > 0 {
            *width += 1;
            left -= 1;
        }
    }
    Some(widths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn width_counts_what_a_terminal_shows() {
        assert_eq!([width("abc"), width("äß"), width("日本"), width("")], [3, 2, 4, 0]);
    }

    #[test]
    fn cells_are_cut_within_their_width() {
        assert_eq!(truncate("abcdef", 6), "abcdef");
        assert_eq!(truncate("abcdef", 5), "abcd…");
        assert_eq!(truncate("日本語", 4), "日…");
        assert_eq!(truncate("日本語", 5), "日本…");
    }

    #[test]
    fn cells_are_broken_after_spaces() {
        assert_eq!(wrap("one two three", 8), ["one two", "three"]);
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("abcdefghij", 4), ["abcd", "efgh", "ij"]);
        assert_eq!(wrap("a bcdefghij", 6), ["a bcde", "fghij"]);
        assert_eq!(wrap("", 4), [""]);
    }

    #[test]
    fn a_cell_cannot_steer_the_terminal() {
        assert_eq!(cell_lines("a\x1b[31mb\u{9b}c\td"), ["a\\u{1b}[31mb\\u{9b}c    d"]);
        assert_eq!(cell_lines("one\r\ntwo\n"), ["one", "two"]);
        assert_eq!(cell_lines(""), [""]);
    }

    #[test]
    fn the_widest_columns_give_way_and_numbers_never() {
        use Shrink::{Allowed, Forbidden};
        let all = [Allowed, Allowed, Forbidden];
        // Everything fits.
        let fits = share(&[5, 10, 15], &all, 3, 39);
        assert_eq!((fits.widths, fits.hidden), (vec![5, 10, 15], 0));
        // 80 wide: 71 for three columns; the number keeps 15, the short one 5, the long one gets the rest.
        let shrunk = share(&[5, 200, 15], &all, 3, 80);
        assert_eq!((shrunk.widths, shrunk.hidden), (vec![5, 51, 15], 0));
        // Two long ones share evenly.
        let shared = share(&[100, 200, 15], &all, 3, 81);
        assert_eq!((shared.widths, shared.hidden), (vec![29, 28, 15], 0));
    }

    #[test]
    fn columns_that_have_no_room_are_hidden() {
        use Shrink::Allowed;
        let many = share(&[20; 10], &[Allowed; 10], 3, 40);
        // Three of 8 take 33, and the ellipsis 4.
        assert_eq!((many.widths, many.hidden), (vec![9, 9, 9], 7));
        let tiny = share(&[20; 3], &[Allowed; 3], 3, 5);
        assert_eq!((tiny.widths, tiny.hidden), (vec![2], 2));
        assert_eq!(share(&[], &[], 3, 80).widths, Vec::<usize>::new());
    }
}
