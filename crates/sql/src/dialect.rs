//! Spark SQL as the tokenizer and the expression parser see it.

use sqlparser::ast::{BinaryOperator, Expr};
use sqlparser::dialect::Dialect;
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};

/// What `"x"` is (`spark.sql.ansi.doubleQuotedIdentifiers`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DoubleQuotes {
    /// A string.
    #[default]
    String,
    /// An identifier.
    Identifier,
}

/// Spark SQL.
#[derive(Debug, Clone, Copy, Default)]
pub struct TarnDialect {
    /// What `"x"` is.
    pub double_quotes: DoubleQuotes,
}

impl Dialect for TarnDialect {
    fn is_delimited_identifier_start(&self, ch: char) -> bool {
        ch == '`' || (ch == '"' && self.double_quotes == DoubleQuotes::Identifier)
    }

    fn is_identifier_start(&self, ch: char) -> bool {
        ch.is_alphabetic() || ch == '_'
    }

    fn is_identifier_part(&self, ch: char) -> bool {
        ch.is_alphanumeric() || ch == '_'
    }

    // `3L`, `0.1D` and `7F` become words, which `tokens` then turns into casts.
    fn supports_numeric_prefix(&self) -> bool {
        true
    }

    fn supports_string_literal_backslash_escape(&self) -> bool {
        true
    }

    fn supports_string_literal_concatenation(&self) -> bool {
        true
    }

    fn supports_filter_during_aggregation(&self) -> bool {
        true
    }

    fn supports_group_by_expr(&self) -> bool {
        true
    }

    fn supports_group_by_with_modifier(&self) -> bool {
        true
    }

    fn supports_lambda_functions(&self) -> bool {
        true
    }

    fn supports_select_wildcard_except(&self) -> bool {
        true
    }

    fn supports_struct_literal(&self) -> bool {
        false
    }

    fn supports_nested_comments(&self) -> bool {
        true
    }

    fn supports_long_type_as_bigint(&self) -> bool {
        true
    }

    fn supports_values_as_table_factor(&self) -> bool {
        true
    }

    fn supports_bang_not_operator(&self) -> bool {
        true
    }

    fn supports_cte_without_as(&self) -> bool {
        true
    }

    fn supports_table_versioning(&self) -> bool {
        true
    }

    fn supports_table_sample_before_alias(&self) -> bool {
        true
    }

    fn supports_from_first_select(&self) -> bool {
        true
    }

    fn supports_order_by_all(&self) -> bool {
        true
    }

    fn supports_window_function_null_treatment_arg(&self) -> bool {
        true
    }

    fn supports_named_fn_args_with_rarrow_operator(&self) -> bool {
        true
    }

    fn supports_double_ampersand_operator(&self) -> bool {
        true
    }

    fn supports_left_associative_joins_without_parens(&self) -> bool {
        true
    }

    fn parse_infix(&self, parser: &mut Parser, expr: &Expr, _precedence: u8) -> Option<Result<Expr, ParserError>> {
        if !parser.parse_keyword(Keyword::DIV) {
            return None;
        }
        let precedence = self.prec_value(sqlparser::dialect::Precedence::MulDivModOp);
        Some(parser.parse_subexpr(precedence).map(|right| Expr::BinaryOp {
            left: Box::new(expr.clone()),
            op: BinaryOperator::MyIntegerDivide,
            right: Box::new(right),
        }))
    }

    fn get_next_precedence(&self, parser: &Parser) -> Option<Result<u8, ParserError>> {
        match &parser.peek_token_ref().token {
            sqlparser::tokenizer::Token::Word(w) if w.keyword == Keyword::DIV => {
                Some(Ok(self.prec_value(sqlparser::dialect::Precedence::MulDivModOp)))
            }
            _ => None,
        }
    }
}
