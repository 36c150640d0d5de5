//! Type guards for MySQL and SQL Server, which convert between strings and numbers in comparisons.
//! The type of a column is tested along with each comparison, by its text in JSON; booleans are the
//! numbers 0 and 1.

use super::{ColumnOperand, Comparison, MatchPosition, Rendered, Scalar, Writer, literal, names};

/// Database-specific SQL for the comparisons.
pub(super) trait TypeGuards {
    /// Returns the test whether a column contains a string, or does not; NULL is not a string.
    fn is_text(&self, column: &str, expected: bool) -> String;

    /// Returns the bytes of a column's text, for ordering.
    fn bytes(&self, column: &str) -> String;

    /// Returns the constant for a string that is compared with such bytes.
    fn bytes_of(&self, text: &str) -> String;

    /// Returns the test whether a column has exactly this text, regardless of its type.
    fn same_text(&self, column: &str, text: &str) -> String;

    /// Returns the test whether a column has exactly one of these texts, regardless of its type.
    fn one_of_texts(&self, column: &str, texts: &[&str]) -> String;

    /// Returns the text of a column, in a collation that distinguishes all strings.
    fn exact_text(&self, column: &str) -> String;

    /// Returns the operand of `LIKE` that finds a string at a position.
    fn pattern(&self, place: MatchPosition, text: &str) -> String;

    /// Returns the test whether two columns are equal by the database's own rules.
    fn equal(&self, left: &str, right: &str) -> String;

    /// Formats a boolean or number.
    fn constant(&self, value: &Scalar) -> Rendered;

    /// Quotes a name.
    fn quoted(&self, name: &str) -> String {
        names::doubled(name, '"')
    }
}

/// Generates tests that check the types of the columns.
pub(super) struct ByKinds<K>(pub(super) K);

impl<K: TypeGuards> Writer for ByKinds<K> {
    fn quoted(&self, name: &str) -> String {
        self.0.quoted(name)
    }

    fn compare(&self, column: &ColumnOperand, comparison: Comparison, value: &Scalar) -> Rendered {
        let column = &*column.name;
        if let Scalar::Text(text) = value {
            return Ok(self.compare_text(column, comparison, text));
        }
        let value = self.0.constant(value)?;
        let compared = format!("{column} {} {value}", comparison.sql());
        let number = self.0.is_text(column, false);
        Ok(match comparison {
            Comparison::Equal => format!("({compared} AND {number})"),
            Comparison::NotEqual => {
                let text = self.0.is_text(column, true);
                format!("({column} IS NULL OR {compared} OR {text})")
            }
            Comparison::Less | Comparison::LessOrEqual => {
                format!("({column} IS NULL OR ({compared} AND {number}))")
            }
            Comparison::Greater | Comparison::GreaterOrEqual => {
                format!("({compared} OR {})", self.0.is_text(column, true))
            }
        })
    }

    fn among(&self, column: &ColumnOperand, values: &[&Scalar]) -> Rendered {
        let column = &*column.name;
        let texts: Vec<&str> = values
            .iter()
            .filter_map(|value| match value {
                Scalar::Text(text) => Some(text.as_str()),
                _ => None,
            })
            .collect();
        if texts.is_empty() {
            let values = values.iter().map(|value| self.0.constant(value));
            let values = values.collect::<Result<Vec<_>, _>>()?.join(", ");
            let number = self.0.is_text(column, false);
            return Ok(format!("({column} IN ({values}) AND {number})"));
        }
        let same = self.0.one_of_texts(column, &texts);
        Ok(if texts.iter().any(|text| literal::is_ambiguous(text)) {
            format!("({same} AND {})", self.0.is_text(column, true))
        } else {
            format!("({same})")
        })
    }

    fn columns(&self, left: &str, comparison: Comparison, right: &str) -> String {
        let number = |column| self.0.is_text(column, false);
        let text = |column| self.0.is_text(column, true);
        let operator = comparison.sql();
        match comparison {
            Comparison::Equal | Comparison::NotEqual => {
                let (left_bytes, right_bytes) = (self.0.bytes(left), self.0.bytes(right));
                let equal = self.0.equal(left, right);
                let equal = format!(
                    "(({} AND {} AND {equal}) OR ({} AND {} AND {left_bytes} = {right_bytes}))",
                    number(left),
                    number(right),
                    text(left),
                    text(right),
                );
                match comparison {
                    Comparison::Equal => equal,
                    _ => format!("NOT {equal}"),
                }
            }
            Comparison::Less | Comparison::LessOrEqual => {
                let (left_bytes, right_bytes) = (self.0.bytes(left), self.0.bytes(right));
                let null = match comparison {
                    Comparison::Less => format!("({left} IS NULL AND {right} IS NOT NULL)"),
                    _ => format!("{left} IS NULL"),
                };
                format!(
                    "({null} OR ({} AND {}) OR ({} AND {} AND {left} {operator} {right}) \
                     OR ({} AND {} AND {left_bytes} {operator} {right_bytes}))",
                    number(left),
                    text(right),
                    number(left),
                    number(right),
                    text(left),
                    text(right),
                )
            }
            Comparison::Greater | Comparison::GreaterOrEqual => {
                self.columns(right, comparison.mirrored(), left)
            }
        }
    }

    fn text(&self, column: &ColumnOperand, place: MatchPosition, text: &str) -> Rendered {
        let column = &*column.name;
        let kind = self.0.is_text(column, true);
        Ok(if text.is_empty() {
            kind
        } else {
            let (exact, pattern) = (self.0.exact_text(column), self.0.pattern(place, text));
            format!("({exact} LIKE {pattern} AND {kind})")
        })
    }

    fn exact(&self, value: &Scalar) -> Option<String> {
        match value {
            // Without the trailing spaces, it may equal the value of a column.
            Scalar::Text(text) if text.ends_with(' ') => None,
            value => self.0.constant(value).ok(),
        }
    }

    fn search(&self, column: &str, place: MatchPosition, text: &str) -> Option<String> {
        Some(format!("{column} LIKE {}", self.0.pattern(place, text)))
    }
}

impl<K: TypeGuards> ByKinds<K> {
    fn compare_text(&self, column: &str, comparison: Comparison, text: &str) -> String {
        let operator = comparison.sql();
        match comparison {
            Comparison::Equal => format!("({})", self.equals_text(column, text)),
            Comparison::NotEqual => {
                format!(
                    "({column} IS NULL OR NOT ({}))",
                    self.equals_text(column, text)
                )
            }
            Comparison::Less | Comparison::LessOrEqual => {
                let (number, bytes) = (self.0.is_text(column, false), self.0.bytes(column));
                format!("({number} OR {bytes} {operator} {})", self.0.bytes_of(text))
            }
            Comparison::Greater | Comparison::GreaterOrEqual => {
                let (string, bytes) = (self.0.is_text(column, true), self.0.bytes(column));
                format!(
                    "({string} AND {bytes} {operator} {})",
                    self.0.bytes_of(text)
                )
            }
        }
    }

    fn equals_text(&self, column: &str, text: &str) -> String {
        let same = self.0.same_text(column, text);
        if literal::is_ambiguous(text) {
            format!("{same} AND {}", self.0.is_text(column, true))
        } else {
            same
        }
    }
}
