//! Which crates a source file names: every identifier that begins or continues a path, or stands in a `use`.
//!
//! Comments, strings and `#[cfg(test)] mod … { }` blocks don't count. A path through a re-export
//! (`datafusion::sql::sqlparser::ast`) names each crate it passes.

/// A name in a path and where it stands.
#[derive(Debug, PartialEq, Eq)]
pub struct Import {
    /// The identifier.
    pub krate: String,
    /// Line, from 1.
    pub line: usize,
}

/// A token: an identifier, or one character of punctuation. `::` is one token.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Token<'a> {
    text: &'a str,
    line: usize,
}

/// The identifiers of `source` that a path or `use` names.
pub fn of(source: &str) -> Vec<Import> {
    let tokens = without_test_modules(tokens(source));
    let text = |i: usize| tokens.get(i).map_or("", |t: &Token| t.text);
    let mut found = Vec::new();
    for (i, token) in tokens.iter().enumerate() {
        let is_name = token.text.starts_with(|c: char| c.is_alphabetic() || c == '_');
        let in_path = text(i + 1) == "::" || (i > 0 && text(i - 1) == "::");
        let in_use = i > 0 && matches!(text(i - 1), "use" | "crate");
        if is_name && (in_path || in_use) {
            found.push(Import {
                krate: token.text.to_string(),
                line: token.line,
            });
        }
    }
    found
}

/// Drops `#[cfg(test)] mod name { … }` with all inside.
fn without_test_modules(tokens: Vec<Token>) -> Vec<Token> {
    const HEAD: [&str; 8] = ["#", "[", "cfg", "(", "test", ")", "]", "mod"];
    let mut kept = Vec::with_capacity(tokens.len());
    let mut i = 0;
    while i < tokens.len() {
        let is_head = HEAD
            .iter()
            .enumerate()
            .all(|(k, text)| tokens.get(i + k).is_some_and(|t| t.text == *text));
        let body = i + HEAD.len() + 1;
        if is_head && tokens.get(body).is_some_and(|t| t.text == "{") {
            i = after_block(&tokens, body);
        } else {
            kept.push(tokens[i].clone());
            i += 1;
        }
    }
    kept
}

/// The index after the block that opens at `open`.
fn after_block(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0usize;
    for (i, token) in tokens.iter().enumerate().skip(open) {
        match token.text {
            "{" => depth += 1,
            "}" if depth == 1 => return i + 1,
            "}" => depth -= 1,
            _ => {}
        }
    }
    tokens.len()
}

fn tokens(source: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut rest = source;
    let mut line = 1;
    while let Some(first) = rest.chars().next() {
        let (length, is_token) = match skipped(rest) {
            Some(length) => (length, false),
            None => token_length(rest, first),
        };
        let (taken, after) = rest.split_at(length);
        if is_token {
            tokens.push(Token { text: taken, line });
        }
        line += taken.matches('\n').count();
        rest = after;
    }
    tokens
}

/// The length of a comment, string or character literal at the beginning of `rest`; `None` when there is none.
fn skipped(rest: &str) -> Option<usize> {
    let end_of = |needle: &str, from: usize| {
        rest[from..]
            .find(needle)
            .map_or(rest.len(), |at| from + at + needle.len())
    };
    if rest.starts_with("//") {
        return Some(rest.find('\n').unwrap_or(rest.len()));
    }
    if rest.starts_with("/*") {
        return Some(end_of("*/", 2));
    }
    let raw = rest.strip_prefix('b').unwrap_or(rest);
    if let Some(after_r) = raw.strip_prefix('r') {
        let hashes = after_r.len() - after_r.trim_start_matches('#').len();
        if after_r[hashes..].starts_with('"') {
            let open = rest.len() - after_r.len() + hashes + 1;
            return Some(end_of(&format!("\"{}", "#".repeat(hashes)), open));
        }
    }
    if raw.starts_with('"') {
        return Some(quoted(rest, rest.len() - raw.len(), '"'));
    }
    // `'a` without a closing quote is a lifetime; `'a'` and `'\n'` are characters.
    let mut after_quote = rest.strip_prefix('\'')?.chars();
    let (first, second) = (after_quote.next()?, after_quote.next());
    (first == '\\' || second == Some('\'')).then(|| quoted(rest, 0, '\''))
}

/// The length of a literal whose opening quote is at `open`, with backslash escapes.
fn quoted(rest: &str, open: usize, quote: char) -> usize {
    let mut escaped = false;
    for (i, c) in rest.char_indices().skip_while(|(i, _)| *i <= open) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return i + c.len_utf8(),
            _ => {}
        }
    }
    rest.len()
}

/// The length of the next token or white space, and whether it is a token.
fn token_length(rest: &str, first: char) -> (usize, bool) {
    let name_length = rest
        .find(|c: char| !c.is_alphanumeric() && c != '_')
        .unwrap_or(rest.len());
    if name_length > 0 {
        return (name_length, true);
    }
    if rest.starts_with("::") {
        return (2, true);
    }
    (first.len_utf8(), !first.is_whitespace())
}
