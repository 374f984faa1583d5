//! Calls that sqlparser takes for something else: `exists(array, x -> …)` for a subquery, and `struct(a AS b)`, whose
//! names it does not know.

use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan, Word};

use super::tokens::is_word;

/// Rewrites such calls.
pub(crate) fn rewrite(tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    let wanted = |t: &TokenWithSpan| is_word(&t.token, "EXISTS") || is_word(&t.token, "STRUCT");
    if !tokens.iter().any(wanted) {
        return tokens;
    }
    let mut out = Vec::with_capacity(tokens.len());
    let mut i = 0;
    while let Some(token) = tokens.get(i) {
        let open = next_significant(&tokens, i + 1);
        let is_call = open.is_some_and(|o| tokens[o].token == Token::LParen);
        if is_call && is_word(&token.token, "EXISTS") && !begins_query(&tokens, open) && !follows_if(&out) {
            out.push(renamed(token, "any_match"));
            i += 1;
            continue;
        }
        if is_call
            && is_word(&token.token, "STRUCT")
            && let Some(open) = open
            && let Some((call, after)) = named_struct(&tokens, i, open)
        {
            out.extend(call);
            i = after;
            continue;
        }
        out.push(token.clone());
        i += 1;
    }
    out
}

/// Whether IF is the last word: what follows `IF EXISTS` may be a list.
fn follows_if(before: &[TokenWithSpan]) -> bool {
    let mut significant = before.iter().rev().filter(|t| !matches!(t.token, Token::Whitespace(_)));
    significant.next().is_some_and(|t| is_word(&t.token, "IF"))
}

fn renamed(token: &TokenWithSpan, name: &str) -> TokenWithSpan {
    let word = Word {
        value: name.to_string(),
        quote_style: None,
        keyword: Keyword::NoKeyword,
    };
    TokenWithSpan::new(Token::Word(word), token.span)
}

fn next_significant(tokens: &[TokenWithSpan], from: usize) -> Option<usize> {
    (from..tokens.len()).find(|i| !matches!(tokens[*i].token, Token::Whitespace(_)))
}

/// Whether what follows a parenthesis is a query.
fn begins_query(tokens: &[TokenWithSpan], open: Option<usize>) -> bool {
    let mut at = open;
    while let Some(i) = at.filter(|i| tokens[*i].token == Token::LParen) {
        at = next_significant(tokens, i + 1);
    }
    let words = ["SELECT", "WITH", "VALUES", "FROM", "TABLE"];
    at.is_some_and(|i| words.iter().any(|w| is_word(&tokens[i].token, w)))
}

/// `struct(a AS x, b)` as `named_struct('x', a, 'b', b)`, and where it ends; `None` when it names nothing.
fn named_struct(tokens: &[TokenWithSpan], at: usize, open: usize) -> Option<(Vec<TokenWithSpan>, usize)> {
    let (arguments, close) = arguments(tokens, open)?;
    let named: Vec<Option<(usize, &TokenWithSpan)>> = arguments.iter().map(|a| name_of(tokens, a.clone())).collect();
    if named.iter().all(Option::is_none) {
        return None;
    }
    let span = tokens[at].span;
    let punctuation = |token: Token| TokenWithSpan::new(token, span);
    let mut out = vec![renamed(&tokens[at], "named_struct"), punctuation(Token::LParen)];
    for (n, (argument, name)) in arguments.into_iter().zip(named).enumerate() {
        if n > 0 {
            out.push(punctuation(Token::Comma));
        }
        let (text, end) = match name {
            Some((as_at, token)) => (word_of(token), as_at),
            None => (own_name(tokens, argument.clone(), n), argument.end),
        };
        out.push(punctuation(Token::SingleQuotedString(text)));
        out.push(punctuation(Token::Comma));
        // What an argument holds may be such a call itself.
        out.extend(rewrite(tokens[argument.start..end].to_vec()));
    }
    out.push(punctuation(Token::RParen));
    Some((out, close + 1))
}

/// The arguments of a call, as ranges of tokens, and its closing parenthesis.
fn arguments(tokens: &[TokenWithSpan], open: usize) -> Option<(Vec<std::ops::Range<usize>>, usize)> {
    let mut found = Vec::new();
    let mut depth = 0_usize;
    let mut start = open + 1;
    for (i, token) in tokens.iter().enumerate().skip(open) {
        match token.token {
            Token::LParen | Token::LBracket => depth += 1,
            Token::RBracket => depth = depth.checked_sub(1)?,
            Token::RParen => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    found.push(start..i);
                    return Some((found, i));
                }
            }
            Token::Comma if depth == 1 => {
                found.push(start..i);
                start = i + 1;
            }
            _ => {}
        }
    }
    None
}

/// Where AS stands in an argument that ends in `AS name`, and the name.
fn name_of(tokens: &[TokenWithSpan], argument: std::ops::Range<usize>) -> Option<(usize, &TokenWithSpan)> {
    let mut significant = argument
        .rev()
        .filter(|i| !matches!(tokens[*i].token, Token::Whitespace(_)));
    let (name, as_at) = (significant.next()?, significant.next()?);
    let is_name = matches!(tokens[name].token, Token::Word(_)) && is_word(&tokens[as_at].token, "AS");
    is_name.then(|| (as_at, &tokens[name]))
}

fn word_of(token: &TokenWithSpan) -> String {
    match &token.token {
        Token::Word(w) => w.value.clone(),
        other => other.to_string(),
    }
}

/// The name of an argument without AS: that of a column, or one by its place.
fn own_name(tokens: &[TokenWithSpan], argument: std::ops::Range<usize>, n: usize) -> String {
    let significant: Vec<&Token> = tokens[argument]
        .iter()
        .map(|t| &t.token)
        .filter(|t| !matches!(t, Token::Whitespace(_)))
        .collect();
    let is_column = significant.iter().all(|t| matches!(t, Token::Word(_) | Token::Period));
    match significant.last() {
        Some(Token::Word(w)) if is_column => w.value.clone(),
        _ => format!("col{}", n + 1),
    }
}

#[cfg(test)]
mod tests {
    use sqlparser::tokenizer::Tokenizer;

    use super::*;
    use crate::dialect::TarnDialect;

    fn rewritten(sql: &str) -> String {
        let tokens = Tokenizer::new(&TarnDialect::default(), sql)
            .tokenize_with_location()
            .unwrap();
        rewrite(tokens).iter().map(|t| t.token.to_string()).collect()
    }

    #[test]
    fn only_calls_change() {
        assert_eq!(rewritten("exists(a, x -> x > 1)"), "any_match(a, x -> x > 1)");
        for same in [
            "EXISTS (SELECT 1)",
            "exists ((WITH a AS (SELECT 1) TABLE a))",
            "IF EXISTS t",
            "UNSET TBLPROPERTIES IF EXISTS ('a', 'b')",
            "struct(a, b)",
        ] {
            assert_eq!(rewritten(same), same);
        }
    }

    #[test]
    fn names_of_struct_fields_become_arguments() {
        assert_eq!(
            rewritten("struct(1 AS p, t.q, f(a, b), struct(2 AS r) AS s)"),
            "named_struct('p',1 ,'q', t.q,'col3', f(a, b),'s', named_struct('r',2 ) )"
        );
        assert_eq!(rewritten("CAST(x AS struct<a: int>)"), "CAST(x AS struct<a: int>)");
        assert_eq!(rewritten("struct(CAST(a AS int))"), "struct(CAST(a AS int))");
    }
}
