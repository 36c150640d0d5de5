//! Numbers: their order and arithmetic.

#![expect(clippy::panic, reason = "a broken table ends the test")]

use std::cmp::Ordering;

use rego::value::{ArithmeticError, Number};
use rstest::rstest;

#[track_caller]
fn number(text: &str) -> Number {
    let Some(number) = Number::parse(text) else {
        panic!("{text} is not a number");
    };
    assert_eq!(number.text(), text);
    number
}

#[rstest]
#[case::empty("")]
#[case::sign("-")]
#[case::zero_in_front("01")]
#[case::no_digit_after_the_point("1.")]
#[case::no_digit_before_the_point(".1")]
#[case::plus("+1")]
#[case::no_exponent("1e")]
#[case::no_digit_in_the_exponent("1e+")]
#[case::space_in_front(" 1")]
#[case::space_behind("1 ")]
#[case::hexadecimal("0x1")]
#[case::not_a_number("NaN")]
#[case::two_signs("--1")]
fn texts_that_are_no_numbers(#[case] text: &str) {
    assert!(Number::parse(text).is_none());
}

#[test]
fn numbers_are_ordered_by_their_exact_value() {
    // In ascending order.
    let ascending = [
        "-1e999999999999999999999",
        "-1e1000",
        "-9223372036854775809",
        "-9223372036854775808",
        "-1.5",
        "-1",
        "-1e-999999999999999999999",
        "0",
        "1e-1000",
        "0.1",
        "0.10000000000000000000001",
        "1",
        "2",
        "10",
        "9007199254740993",
        "9007199254740993.5",
        "9223372036854775807",
        "9223372036854775808",
        "123456789012345678901",
        "123456789012345678902",
        "1e999999998",
        "1e999999999",
    ];
    for (at, left) in ascending.iter().enumerate() {
        for (other, right) in ascending.iter().enumerate() {
            assert_eq!(
                number(left).cmp(&number(right)),
                at.cmp(&other),
                "{left} {right}"
            );
        }
    }
}

#[rstest]
#[case::fraction_of_zero("1", "1.0")]
#[case::exponent_of_zero("1", "1e0")]
#[case::exponent("100", "1E+2")]
#[case::negative_zero("0", "-0")]
#[case::zero_with_an_exponent("0", "0e5")]
#[case::negative_exponent("0.5", "5e-1")]
#[case::fraction_with_an_exponent("0.05", "0.5e-1")]
#[case::negative("-1200", "-1.2e3")]
#[case::large("123456789012345678901", "123456789012345678901.0")]
fn numbers_with_one_value_are_equal(#[case] left: &str, #[case] right: &str) {
    assert_eq!(number(left).cmp(&number(right)), Ordering::Equal);
}

/// Formats a result or its error.
fn shown(result: Result<Number, ArithmeticError>) -> String {
    match result {
        Ok(number) => number.to_string(),
        Err(failure) => failure.to_string(),
    }
}

#[test]
fn operations_on_two_numbers() {
    for (left, operator, right, expected) in [
        ("1", '+', "2", "3"),
        ("0.1", '+', "0.2", "0.3"),
        ("1.5", '+', "1.5", "3"),
        ("1e3", '+', "1", "1001"),
        ("1500e-2", '+', "1", "16"),
        ("9223372036854775807", '+', "1", "9223372036854775808"),
        (
            "123456789012345678901234567890",
            '+',
            "1",
            "123456789012345678901234567891",
        ),
        (
            "123456789012345678901234567890.5",
            '+',
            "0",
            "123456789012345678900000000000",
        ),
        ("1000000.5", '+', "0", "1.0000005e+06"),
        ("1", '-', "0.9", "0.10000000000000000002"),
        ("0.5", '-', "0.5", "0"),
        ("-9223372036854775808", '-', "1", "-9223372036854775809"),
        ("0.1", '*', "3", "0.3"),
        ("1234567.5", '*', "1", "1.2345675e+06"),
        ("1e-5", '*', "1.5", "1.49999999999999999995e-05"),
        ("0.0001", '*', "1.5", "0.00015"),
        ("1e29", '*', "1.1", "110000000000000000000000000000"),
        (
            "100000000000000000000000",
            '*',
            "1.5",
            "150000000000000000000000",
        ),
        ("3037000500", '*', "3037000500", "9223372037000250000"),
        ("10", '/', "2", "5"),
        ("1", '/', "3", "0.33333333333333333334"),
        ("1e5", '/', "3", "33333.333333333333332"),
        ("1", '/', "3e10", "3.3333333333333333333e-11"),
        ("2", '/', "3e5", "6.6666666666666666668e-06"),
        ("0", '/', "-5", "-0"),
        ("6.0", '/', "2", "3"),
        ("1", '/', "0", "divide by zero"),
        ("1", '/', "0.0", "divide by zero"),
        ("7", '%', "-3", "1"),
        ("-7", '%', "3", "-1"),
        ("5.0", '%', "2", "1"),
        ("10", '%', "18446744073709551616", "10"),
        ("7", '%', "0", "modulo by zero"),
        ("7.5", '%', "2", "modulo on floating-point number"),
        ("1e999999999", '+', "1", "number too big"),
        ("1.5", '*', "1e-999999999", "number too big"),
    ] {
        let (first, second) = (number(left), number(right));
        let result = match operator {
            '+' => first.plus(&second),
            '-' => first.minus(&second),
            '*' => first.times(&second),
            '/' => first.over(&second),
            _ => first.modulo(&second),
        };
        assert_eq!(shown(result), expected, "{left} {operator} {right}");
    }
}

const NEAR_1E30: &str = "1000000000000000000024696061952";

#[rstest]
#[case::integer("-7", "7", "-7", "-7", "-7")]
#[case::fraction_of_zero("-1.0", "1", "-1", "-1", "-1")]
#[case::half("2.5", "2.5", "3", "3", "2")]
#[case::negative_half("-2.5", "2.5", "-3", "-2", "-3")]
#[case::near_zero("-0.3", "0.3", "0", "1", "0")]
#[case::large(
    "1e30",
    "1000000000000000000000000000000",
    NEAR_1E30,
    NEAR_1E30,
    NEAR_1E30
)]
#[case::smallest_integer(
    "-9223372036854775808",
    "9223372036854775808",
    "-9223372036854775808",
    "-9223372036854775808",
    "-9223372036854775808"
)]
fn operations_on_one_number(
    #[case] text: &str,
    #[case] absolute: &str,
    #[case] rounded: &str,
    #[case] ceiling: &str,
    #[case] floored: &str,
) {
    let value = number(text);
    assert_eq!(shown(value.absolute()), absolute, "abs");
    assert_eq!(shown(value.rounded()), rounded, "round");
    assert_eq!(shown(value.ceiling()), ceiling, "ceil");
    assert_eq!(shown(value.floored()), floored, "floor");
}
