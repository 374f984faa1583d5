//! What may stand where the cursor is.

use tarn::sql::dialect::TarnDialect;
use tarn::sql::lexemes::{Lexeme, LexemeKind, lexemes};

/// What is expected at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expected {
    /// Nothing that is known: inside of strings and comments.
    Nothing,
    /// A command of the shell, behind its backslash.
    Command,
    /// The first word of a statement.
    Statement,
    /// The second word of a statement that begins so: its place in [`super::keywords::SECOND_WORDS`].
    SecondWord(usize),
    /// A table.
    Relation,
    /// A catalog or namespace.
    Namespace,
    /// A column, function or word of the language.
    Expression,
}

/// A relation that a statement names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mention {
    /// As it is written, with quotes.
    pub sql: String,
    /// The name that its columns are qualified by.
    pub alias: String,
}

/// A place in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// Where the word begins that is completed, in bytes.
    pub start: usize,
    /// The word, without quotes.
    pub prefix: String,
    /// The parts of the name before it, without quotes.
    pub qualifiers: Vec<String>,
    /// What is expected.
    pub expected: Expected,
    /// Relations of the statement.
    pub mentions: Vec<Mention>,
}

/// Words that a table follows.
const BEFORE_RELATIONS: [&str; 9] = [
    "FROM",
    "JOIN",
    "INTO",
    "OVERWRITE",
    "UPDATE",
    "TABLE",
    "DESCRIBE",
    "DESC",
    "EXTENDED",
];

/// Words that begin a part of a statement, and so tell what a comma separates.
const CLAUSES: [&str; 16] = [
    "SELECT", "FROM", "JOIN", "WHERE", "ON", "BY", "HAVING", "SET", "VALUES", "INTO", "UPDATE", "USING", "LIMIT",
    "WINDOW", "QUALIFY", "WITH",
];

/// What may stand at `pos`.
pub(super) fn place(text: &str, pos: usize, dialect: &TarnDialect) -> Place {
    let before = text.get(..pos).unwrap_or(text);
    if let Some(command) = before.trim_start().strip_prefix('\\') {
        return of_command(before, command, dialect);
    }
    let parts = statement_before(lexemes(before, dialect));
    let word = word_at_end(&parts, before.len());
    let mut place = Place {
        expected: match word.is_open_text {
            true => Expected::Nothing,
            false => expected(&parts[..word.first]),
        },
        start: word.start,
        prefix: word.prefix,
        qualifiers: word.qualifiers,
        mentions: Vec::new(),
    };
    if place.expected == Expected::Expression {
        let statement_start = parts.first().map_or(0, |p| p.start);
        place.mentions = mentions(&lexemes(&text[statement_start..], dialect));
    }
    place
}

fn of_command(before: &str, command: &str, dialect: &TarnDialect) -> Place {
    let start = before.len() - command.len();
    match command.find(char::is_whitespace) {
        None => Place {
            start,
            prefix: command.to_string(),
            qualifiers: Vec::new(),
            expected: Expected::Command,
            mentions: Vec::new(),
        },
        Some(space) => {
            let parts = lexemes(&command[space..], dialect);
            let word = word_at_end(&parts, command.len() - space);
            Place {
                start: start + space + word.start,
                prefix: word.prefix,
                qualifiers: word.qualifiers,
                expected: match &command[..space] {
                    "d" => Expected::Relation,
                    "dn" => Expected::Namespace,
                    _ => Expected::Nothing,
                },
                mentions: Vec::new(),
            }
        }
    }
}

/// The parts behind the last semicolon.
fn statement_before(mut parts: Vec<Lexeme<'_>>) -> Vec<Lexeme<'_>> {
    let end = parts.iter().rposition(|p| p.text == ";").map_or(0, |i| i + 1);
    parts.drain(..end);
    parts
}

/// The name that a text ends in.
struct Word {
    /// The first part that belongs to it.
    first: usize,
    start: usize,
    prefix: String,
    qualifiers: Vec<String>,
    is_open_text: bool,
}

fn word_at_end(parts: &[Lexeme<'_>], end: usize) -> Word {
    let mut word = Word {
        first: parts.len(),
        start: end,
        prefix: String::new(),
        qualifiers: Vec::new(),
        is_open_text: false,
    };
    match parts.last() {
        Some(last) if is_word(last) => {
            word.first -= 1;
            word.start = last.start;
            word.prefix = unquoted(last.text);
        }
        Some(last) if last.kind == LexemeKind::Open => {
            word.is_open_text = !last.text.starts_with('`');
            word.first -= 1;
            word.start = last.start;
            word.prefix = last.text.trim_start_matches('`').to_string();
        }
        // A comment may be that of a line, which the text behind it belongs to.
        Some(last) if last.kind == LexemeKind::Comment && !last.text.ends_with(['\n', '/']) => word.is_open_text = true,
        _ => {}
    }
    while let [.., name, dot] = &parts[..word.first]
        && dot.text == "."
        && is_word(name)
    {
        word.qualifiers.insert(0, unquoted(name.text));
        word.first -= 2;
    }
    word
}

fn is_word(part: &Lexeme<'_>) -> bool {
    matches!(part.kind, LexemeKind::Keyword | LexemeKind::Name)
}

fn unquoted(text: &str) -> String {
    match text.strip_prefix('`').and_then(|t| t.strip_suffix('`')) {
        Some(inside) => inside.replace("``", "`"),
        None => text.to_string(),
    }
}

fn expected(before: &[Lexeme<'_>]) -> Expected {
    let words: Vec<&Lexeme<'_>> = significant(before).collect();
    let Some(last) = words.last() else {
        return Expected::Statement;
    };
    let first = words.first().map_or("", |w| w.text).to_ascii_uppercase();
    if words.len() == 1 {
        let known = super::keywords::SECOND_WORDS
            .iter()
            .position(|(word, _)| *word == first);
        if let Some(known) = known.filter(|_| first != "DESCRIBE") {
            return Expected::SecondWord(known);
        }
    }
    let is = |names: &[&str], word: &Lexeme<'_>| names.iter().any(|name| word.is_word(name));
    if is(&["USE", "NAMESPACE", "SCHEMA", "DATABASE", "CATALOG"], last) {
        return Expected::Namespace;
    }
    if first == "SHOW" && is(&["IN", "FROM"], last) {
        let of_tables = words.iter().any(|w| is(&["COLUMNS"], w));
        return if of_tables {
            Expected::Relation
        } else {
            Expected::Namespace
        };
    }
    let after_exists = last.is_word("EXISTS") && first != "SELECT";
    if is(&BEFORE_RELATIONS, last) || last.is_word("TBLPROPERTIES") && first == "SHOW" || after_exists {
        return Expected::Relation;
    }
    if last.text == "," && is(&["FROM", "JOIN"], clause(&words).unwrap_or(last)) {
        return Expected::Relation;
    }
    Expected::Expression
}

/// The word that began the part of the statement that the end is in, at the same depth of parentheses.
fn clause<'a, 'b>(words: &[&'b Lexeme<'a>]) -> Option<&'b Lexeme<'a>> {
    let mut depth = 0;
    words.iter().rev().copied().find(|word| {
        match word.text {
            ")" => depth += 1,
            "(" => depth -= 1,
            _ => {}
        }
        depth <= 0 && CLAUSES.iter().any(|clause| word.is_word(clause))
    })
}

fn significant<'a, 'b>(parts: &'b [Lexeme<'a>]) -> impl Iterator<Item = &'b Lexeme<'a>> {
    let is_significant = |p: &&Lexeme<'_>| !matches!(p.kind, LexemeKind::Space | LexemeKind::Comment);
    parts.iter().filter(is_significant)
}

/// The relations of the first statement of a text.
fn mentions(parts: &[Lexeme<'_>]) -> Vec<Mention> {
    let parts: Vec<&Lexeme<'_>> = significant(parts).take_while(|p| p.text != ";").collect();
    let mut found = Vec::new();
    let mut i = 0;
    while i < parts.len() {
        let introduces = ["FROM", "JOIN", "INTO", "UPDATE", "TABLE"]
            .iter()
            .any(|w| parts[i].is_word(w));
        i += 1;
        if !introduces {
            continue;
        }
        while let Some((mention, next)) = mention(&parts, i) {
            found.push(mention);
            i = next;
            match parts.get(i) {
                Some(comma) if comma.text == "," => i += 1,
                _ => break,
            }
        }
    }
    found
}

/// The relation at a place, and what comes behind it and its alias.
fn mention(parts: &[&Lexeme<'_>], mut i: usize) -> Option<(Mention, usize)> {
    let first = parts.get(i)?;
    if first.kind == LexemeKind::Text {
        let mention = Mention {
            sql: first.text.to_string(),
            alias: String::new(),
        };
        return Some(with_alias(mention, parts, i + 1));
    }
    if !is_word(first) || first.is_word("SELECT") {
        return None;
    }
    let mut sql = first.text.to_string();
    let mut alias = unquoted(first.text);
    while let (Some(dot), Some(name)) = (parts.get(i + 1), parts.get(i + 2))
        && dot.text == "."
        && is_word(name)
    {
        sql = format!("{sql}.{}", name.text);
        alias = unquoted(name.text);
        i += 2;
    }
    Some(with_alias(Mention { sql, alias }, parts, i + 1))
}

fn with_alias(mut mention: Mention, parts: &[&Lexeme<'_>], mut i: usize) -> (Mention, usize) {
    if parts.get(i).is_some_and(|p| p.is_word("AS")) {
        i += 1;
    }
    match parts.get(i) {
        // Words of the language may be names; those that go on behind a relation are none.
        Some(name) if name.kind == LexemeKind::Name => {
            mention.alias = unquoted(name.text);
            (mention, i + 1)
        }
        _ => (mention, i),
    }
}

#[cfg(test)]
mod tests;
