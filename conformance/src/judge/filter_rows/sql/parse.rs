//! Parses a clause as exactly one expression.

use sqlparser::ast::Expr;
use sqlparser::dialect::{Dialect, MsSqlDialect, MySqlDialect, PostgreSqlDialect};
use sqlparser::keywords::Keyword;
use sqlparser::parser::Parser;
use sqlparser::tokenizer::{Token, Tokenizer, Whitespace};

use super::Language;

/// Maximum number of tokens of a clause. A chain of operators nests as deep as it is long, and
/// nested expressions are dropped recursively.
const MOST_TOKENS: usize = 4_000;

/// Maximum nesting depth of calls. The parser reads each argument twice, so that its time doubles
/// with each enclosing call.
const DEEPEST_CALLS: usize = 8;

/// Parses the expression of a clause that may begin with the word WHERE.
///
/// # Errors
/// The clause is not an expression, or further tokens follow it.
pub(super) fn condition(clause: &str, language: Language) -> Result<Expr, String> {
    let dialect: &dyn Dialect = match language {
        Language::Mysql => &MySqlDialect {},
        Language::Sqlserver => &MsSqlDialect {},
        _ => &PostgreSqlDialect {},
    };
    let tokens = Tokenizer::new(dialect, clause).tokenize();
    let tokens = tokens.map_err(|error| error.to_string())?;
    if tokens.len() > MOST_TOKENS {
        return Err(format!("more than {MOST_TOKENS} tokens"));
    }
    for token in &tokens {
        refused(token, language)?;
    }
    check_calls(&tokens)?;
    let tokens = match language {
        Language::Mysql => without_div(tokens),
        _ => bounded(tokens),
    };
    let mut parser = Parser::new(dialect).with_tokens(tokens);
    // WHERE is optional.
    let _ = parser.parse_keyword(Keyword::WHERE);
    let parsed = parser.parse_expr().map_err(|error| error.to_string())?;
    match parser.next_token().token {
        Token::EOF => Ok(parsed),
        other => Err(format!("`{other}` behind the condition")),
    }
}

/// Rejects operators that the parser accepts but the database does not, and comments that the
/// parser skips but MySQL runs.
fn refused(token: &Token, language: Language) -> Result<(), String> {
    match token {
        Token::DoubleEq => Err("unknown operator `==`".to_owned()),
        Token::Spaceship if language != Language::Mysql => Err("only MySQL has `<=>`".to_owned()),
        Token::Whitespace(Whitespace::MultiLineComment(text))
            if language == Language::Mysql && text.starts_with(['!', '+']) =>
        {
            Err("a comment that MySQL executes".to_owned())
        }
        _ => Ok(()),
    }
}

/// Replaces `a IS NOT DISTINCT FROM b` with `a <=> (b)`, and `a IS DISTINCT FROM b` with `a <=> (b)
/// IS FALSE`. The parser takes everything after FROM as the operand; databases end it before AND
/// and OR.
fn bounded(tokens: Vec<Token>) -> Vec<Token> {
    use Keyword::{DISTINCT, FROM, IS, NOT};
    let is_space = |token: &Token| matches!(token, Token::Whitespace(_));
    let tokens: Vec<Token> = tokens
        .into_iter()
        .filter(|token| !is_space(token))
        .collect();
    let mut bounded = Vec::new();
    let mut depth = 0_usize;
    // Depth at which each added parenthesis closes, and the tokens to add after it.
    let mut open: Vec<(usize, Vec<Token>)> = Vec::new();
    let mut rest = tokens.as_slice();
    while let [token, after @ ..] = rest {
        for (words, suffix) in [
            (&[IS, DISTINCT, FROM][..], vec!["IS", "FALSE"]),
            (&[IS, NOT, DISTINCT, FROM], vec![]),
        ] {
            if rest
                .iter()
                .map(keyword)
                .take(words.len())
                .eq(words.iter().copied())
            {
                let suffix = suffix.into_iter().map(Token::make_keyword);
                open.push((depth, suffix.collect()));
                bounded.extend([Token::Spaceship, Token::LParen]);
                rest = rest.get(words.len()..).unwrap_or_default();
            }
        }
        if rest.len() <= after.len() {
            continue;
        }
        let word = keyword(token);
        let closes = matches!(token, Token::RParen | Token::RBracket) || word == Keyword::END;
        let ends = closes || *token == Token::Comma || ENDS.contains(&word);
        while let Some((_, suffix)) = open.pop_if(|(at, _)| ends && *at == depth) {
            bounded.push(Token::RParen);
            bounded.extend(suffix);
        }
        if matches!(token, Token::LParen | Token::LBracket) || word == Keyword::CASE {
            depth += 1;
        } else if closes {
            depth = depth.saturating_sub(1);
        }
        bounded.push(token.clone());
        rest = after;
    }
    for (_, suffix) in open.into_iter().rev() {
        bounded.push(Token::RParen);
        bounded.extend(suffix);
    }
    bounded
}

/// Replaces the operator DIV with `^`, because the parser panics if no number follows DIV. A
/// condition with either operator is not evaluated here, so the result is the same.
fn without_div(mut tokens: Vec<Token>) -> Vec<Token> {
    let mut before = Token::EOF;
    for token in &mut tokens {
        // The name of a column may be any word.
        if keyword(token) == Keyword::DIV && before != Token::Period {
            *token = Token::Caret;
        }
        if !matches!(token, Token::Whitespace(_)) {
            before = token.clone();
        }
    }
    tokens
}

fn keyword(token: &Token) -> Keyword {
    match token {
        Token::Word(word) => word.keyword,
        _ => Keyword::NoKeyword,
    }
}

/// The words that end the operand of DISTINCT FROM.
const ENDS: [Keyword; 5] = [
    Keyword::AND,
    Keyword::OR,
    Keyword::WHEN,
    Keyword::THEN,
    Keyword::ELSE,
];

/// Checks that calls and intervals do not nest too deep. Intervals nest without parentheses.
fn check_calls(tokens: &[Token]) -> Result<(), String> {
    let mut before = &Token::EOF;
    let mut intervals = 0;
    let mut open = Vec::new();
    for token in tokens {
        match token {
            Token::Whitespace(_) => continue,
            Token::LParen => open.push(calls(before)),
            Token::RParen => drop(open.pop()),
            Token::Word(word) if word.keyword == Keyword::INTERVAL => intervals += 1,
            _ => {}
        }
        if open.iter().filter(|calls| **calls).count() + intervals > DEEPEST_CALLS {
            return Err(format!("calls nested deeper than {DEEPEST_CALLS}"));
        }
        before = token;
    }
    Ok(())
}

/// Whether a parenthesis after a token begins the arguments of a call.
fn calls(before: &Token) -> bool {
    use Keyword::{AND, ELSE, IN, NOT, OR, THEN, WHEN, WHERE};
    let words = [AND, ELSE, IN, NOT, OR, THEN, WHEN, WHERE];
    matches!(before, Token::Word(word) if !words.contains(&word.keyword))
}
