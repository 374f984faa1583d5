//! From text to tokens, and what must be rewritten before sqlparser's expression parser sees them: number suffixes
//! (`3L`, `0.1D`) become casts, and the many spellings of versions become the one it knows.

use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Location, Span, Token, TokenWithSpan, Tokenizer, Whitespace, Word};
use tarn_format::{Error, Result};

use super::array_forms;
use super::cast_types::mark_nested_types;
use super::hints::{self, Hint};
use crate::dialect::TarnDialect;
use crate::script::{Position, shifted};

/// The function that marks `VERSION AS OF x` inside what sqlparser takes for `TIMESTAMP AS OF f(x)`.
pub(crate) const VERSION_MARKER: &str = "__version_as_of";

/// Splits text into statements, each a list of tokens without its semicolon. Empty statements are left out.
///
/// # Errors
/// `InvalidInput` for text that cannot be split, such as an open quote; with line and column.
pub(crate) fn statements(sql: &str, dialect: &TarnDialect, position: Position) -> Result<Vec<StatementTokens>> {
    let mut tokens = Tokenizer::new(dialect, sql).tokenize_with_location().map_err(|mut e| {
        e.location = moved(e.location, position);
        Error::invalid(format!("syntax error: {e}"))
    })?;
    for token in &mut tokens {
        token.span.start = moved(token.span.start, position);
        token.span.end = moved(token.span.end, position);
    }
    let mut statements = Vec::new();
    let mut current: Vec<TokenWithSpan> = Vec::new();
    for token in tokens {
        match token.token {
            Token::SemiColon => finish(&mut statements, &mut current),
            Token::EOF => {}
            _ => current.push(token),
        }
    }
    finish(&mut statements, &mut current);
    let statement = |tokens: Vec<TokenWithSpan>| {
        // Before anything is rewritten, as what is put in stands at no place.
        let last = tokens.iter().rev().find(|t| match &t.token {
            // Hints are part of what is written; other comments behind it are not.
            Token::Whitespace(Whitespace::MultiLineComment(comment)) => comment.starts_with('+'),
            Token::Whitespace(_) => false,
            _ => true,
        });
        let end = last.map_or(Location { line: 0, column: 0 }, |t| t.span.end);
        let hints = hints::find(dialect, &tokens)?;
        let tokens = match setting_value(sql, &tokens, position) {
            Some(setting) => setting,
            None => versions(suffixes(array_forms::rewrite(mark_nested_types(tokens))))?,
        };
        Ok(StatementTokens { hints, tokens, end })
    };
    statements.into_iter().map(statement).collect()
}

/// `SET key = value` with the value as one string, as it is written; `None` for other statements. A value that is a
/// string already stays one.
fn setting_value(sql: &str, tokens: &[TokenWithSpan], origin: Position) -> Option<Vec<TokenWithSpan>> {
    let is_space = |t: &TokenWithSpan| matches!(t.token, Token::Whitespace(_));
    let first = tokens.iter().find(|t| !is_space(t))?;
    if !is_word(&first.token, "SET") {
        return None;
    }
    let eq = tokens.iter().position(|t| t.token == Token::Eq)?;
    let (key, value) = tokens.split_at(eq + 1);
    let begin = value.iter().position(|t| !is_space(t))?;
    let end = value.iter().rposition(|t| !is_space(t))?;
    let (first, last) = (value.get(begin)?, value.get(end)?);
    let is_string = matches!(first.token, Token::SingleQuotedString(_) | Token::DoubleQuotedString(_));
    let token = match is_string && begin == end {
        true => first.token.clone(),
        false => {
            let text = sql.get(offset(sql, first.span.start, origin)?..offset(sql, last.span.end, origin)?)?;
            Token::SingleQuotedString(text.to_string())
        }
    };
    let value = TokenWithSpan::new(token, Span::new(first.span.start, last.span.end));
    Some(key.iter().cloned().chain([value]).collect())
}

/// Where a place of the whole text stands in the part of it that is `sql`, in bytes.
pub(crate) fn offset(sql: &str, at: Location, origin: Position) -> Option<usize> {
    let mut line_start = 0;
    let mut line = origin.line;
    let mut first_column = origin.column;
    while line < at.line {
        line_start += sql.get(line_start..)?.find('\n')? + 1;
        line += 1;
        first_column = 1;
    }
    let column = usize::try_from(at.column.checked_sub(first_column)?).ok()?;
    let text = sql.get(line_start..)?;
    let within = text.char_indices().map(|(i, _)| i).chain([text.len()]).nth(column)?;
    Some(line_start + within)
}

/// One statement.
pub(crate) struct StatementTokens {
    pub(crate) tokens: Vec<TokenWithSpan>,
    pub(crate) hints: Vec<Hint>,
    /// Where its text ends.
    pub(crate) end: Location,
}

/// A place in the statement as a place in the text that it is part of.
fn moved(at: Location, origin: Position) -> Location {
    let Position { line, column } = shifted(at, origin);
    Location { line, column }
}

fn finish(statements: &mut Vec<Vec<TokenWithSpan>>, current: &mut Vec<TokenWithSpan>) {
    let tokens = std::mem::take(current);
    if tokens.iter().any(|t| !matches!(t.token, Token::Whitespace(_))) {
        statements.push(tokens);
    }
}

/// Whether a token is this word, unquoted, in any case.
pub(crate) fn is_word(token: &Token, word: &str) -> bool {
    matches!(token, Token::Word(w) if w.quote_style.is_none() && w.value.eq_ignore_ascii_case(word))
}

fn word(value: &str, keyword: Keyword) -> Token {
    Token::Word(Word {
        value: value.to_string(),
        quote_style: None,
        keyword,
    })
}

fn suffixes(tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    let mut out: Vec<TokenWithSpan> = Vec::with_capacity(tokens.len());
    let mut rest = tokens.into_iter().peekable();
    while let Some(mut token) = rest.next() {
        // The tokenizer ends `1e3D` after the exponent.
        if let Token::Number(number, false) = &token.token
            && number.contains(['e', 'E'])
            && let Some(Token::Word(suffix)) = rest.peek().map(|t| &t.token)
            && suffixed(&word(&format!("{number}{}", suffix.value), Keyword::NoKeyword)).is_some()
        {
            token.token = word(&format!("{number}{}", suffix.value), Keyword::NoKeyword);
            rest.next();
        }
        match suffixed(&token.token) {
            Some((digits, type_tokens)) => {
                let cast = [word("CAST", Keyword::CAST), Token::LParen];
                let number = [Token::Number(digits, false), word("AS", Keyword::AS)];
                let all = cast.into_iter().chain(number).chain(type_tokens).chain([Token::RParen]);
                out.extend(all.map(|t| TokenWithSpan::new(t, token.span)));
            }
            None => out.push(token),
        }
    }
    out
}

/// The digits of a suffixed number and the tokens of its type.
fn suffixed(token: &Token) -> Option<(String, Vec<Token>)> {
    let text = match token {
        Token::Number(digits, true) => format!("{digits}L"),
        Token::Word(w) if w.quote_style.is_none() => w.value.clone(),
        _ => return None,
    };
    let first = text.chars().next()?;
    if !first.is_ascii_digit() && first != '.' {
        return None;
    }
    let upper = text.to_ascii_uppercase();
    let (digits, suffix) = upper.split_at(end_of_number(&upper));
    let simple = |name: &str, keyword| vec![word(name, keyword)];
    let type_tokens = match suffix {
        "L" => simple("BIGINT", Keyword::BIGINT),
        "S" => simple("SMALLINT", Keyword::SMALLINT),
        "Y" => simple("TINYINT", Keyword::TINYINT),
        "F" => simple("FLOAT", Keyword::FLOAT),
        "D" => simple("DOUBLE", Keyword::DOUBLE),
        "BD" => {
            let scale = digits.split_once('.').map_or(0, |(_, fraction)| fraction.len());
            let precision = digits.chars().filter(char::is_ascii_digit).count();
            vec![
                word("DECIMAL", Keyword::DECIMAL),
                Token::LParen,
                Token::Number(precision.to_string(), false),
                Token::Comma,
                Token::Number(scale.to_string(), false),
                Token::RParen,
            ]
        }
        _ => return None,
    };
    digits
        .starts_with(|c: char| c.is_ascii_digit() || c == '.')
        .then(|| (digits.to_string(), type_tokens))
}

/// Where a number ends: after digits and a point, and after an exponent that has digits.
fn end_of_number(text: &str) -> usize {
    let digits = |from: usize| {
        let rest = text.get(from..).unwrap_or_default();
        from + rest
            .find(|c: char| !(c.is_ascii_digit() || c == '.'))
            .unwrap_or(rest.len())
    };
    let end = digits(0);
    let rest = text.get(end..).unwrap_or_default();
    if !rest.starts_with('E') {
        return end;
    }
    let signed = end + 1 + usize::from(rest[1..].starts_with(['+', '-']));
    let after = digits(signed);
    if after > signed { after } else { end }
}

/// `[FOR] VERSION | SYSTEM_VERSION AS OF x` becomes `TIMESTAMP AS OF __version_as_of(x)`, and
/// `[FOR] SYSTEM_TIME | TIMESTAMP AS OF` becomes `TIMESTAMP AS OF`.
fn versions(tokens: Vec<TokenWithSpan>) -> Result<Vec<TokenWithSpan>> {
    let significant: Vec<usize> = (0..tokens.len())
        .filter(|i| !matches!(tokens[*i].token, Token::Whitespace(_)))
        .collect();
    let at = |n: usize| significant.get(n).map(|i| &tokens[*i].token);
    let is = |n: usize, text: &str| at(n).is_some_and(|t| is_word(t, text));
    let mut out: Vec<TokenWithSpan> = Vec::with_capacity(tokens.len());
    let mut n = 0;
    while n < significant.len() {
        let span = tokens[significant[n]].span;
        let clause = n + usize::from(is(n, "FOR"));
        let kind = if is(clause, "VERSION") || is(clause, "SYSTEM_VERSION") {
            Some(Kind::Version)
        } else if is(clause, "TIMESTAMP") || is(clause, "SYSTEM_TIME") {
            Some(Kind::Time)
        } else {
            None
        };
        // A table or column may be named `version`: only the whole clause counts, after something it can follow, and
        // not in `AS OF VERSION x` of branches and tags.
        let complete = n > 0 && is(clause + 1, "AS") && is(clause + 2, "OF");
        match kind {
            Some(kind) if complete => {
                follows_name(at(n - 1), n.checked_sub(2).and_then(&at))?;
                push_clause(&mut out, span);
                n = clause + 3;
                if kind == Kind::Version {
                    let value = version_value(at(n))?;
                    let wrapped = [
                        word(VERSION_MARKER, Keyword::NoKeyword),
                        Token::LParen,
                        value,
                        Token::RParen,
                    ];
                    out.extend(spaced(&wrapped, span));
                    n += 1;
                }
            }
            _ => {
                // Keep what stands between tokens, so that positions in messages stay right.
                let from = if n == 0 { 0 } else { significant[n - 1] + 1 };
                out.extend(tokens[from..=significant[n]].iter().cloned());
                n += 1;
            }
        }
    }
    Ok(out)
}

/// A version follows a name, or a path in the place of one; it never follows another version.
fn follows_name(previous: Option<&Token>, before: Option<&Token>) -> Result<()> {
    let begins = |t: &Token| *t == Token::Comma || is_word(t, "FROM") || is_word(t, "JOIN");
    let fits = match previous {
        Some(Token::Word(_)) => true,
        Some(Token::SingleQuotedString(_) | Token::DoubleQuotedString(_)) => before.is_some_and(begins),
        _ => false,
    };
    if fits {
        return Ok(());
    }
    Err(Error::invalid(
        "AS OF follows the name of a table, once: give one version, and before any alias",
    ))
}

/// What follows VERSION AS OF: one token, a whole number or the name of a ref.
fn version_value(token: Option<&Token>) -> Result<Token> {
    let refused = |found: &str| {
        Err(Error::invalid(format!(
            "VERSION AS OF takes a snapshot id, or the name of a branch or tag, not {found}"
        )))
    };
    match token {
        None => refused("nothing"),
        Some(Token::Number(digits, _)) if !digits.bytes().all(|b| b.is_ascii_digit()) => refused(digits),
        Some(
            token @ (Token::Number(..) | Token::SingleQuotedString(_) | Token::DoubleQuotedString(_) | Token::Word(_)),
        ) => Ok(token.clone()),
        Some(other) => refused(&format!("'{other}'")),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Version,
    Time,
}

fn push_clause(out: &mut Vec<TokenWithSpan>, span: Span) {
    let clause = [
        word("TIMESTAMP", Keyword::TIMESTAMP),
        word("AS", Keyword::AS),
        word("OF", Keyword::OF),
    ];
    out.extend(spaced(&clause, span));
}

fn spaced(tokens: &[Token], span: Span) -> Vec<TokenWithSpan> {
    let space = Token::Whitespace(sqlparser::tokenizer::Whitespace::Space);
    let each = tokens.iter().flat_map(|t| [space.clone(), t.clone()]);
    each.map(|t| TokenWithSpan::new(t, span)).collect()
}
