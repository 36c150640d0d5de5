//! Mail addresses of RFC 5322 with the characters of RFC 6532, optionally with a name or a comment,
//! or as a group of one address.

use std::net::IpAddr;

/// Whether a string is one address.
pub(super) fn is_address(text: &str) -> bool {
    let mut reader = Reader { rest: text };
    reader.address(true) == Some(1) && reader.skip_comments().is_some() && reader.rest.is_empty()
}

/// Recursive descent parser. Methods return `None` on failure, with an unspecified position.
#[derive(Clone, Copy)]
struct Reader<'t> {
    rest: &'t str,
}

/// Supported character sets of encoded words.
const CHARACTER_SETS: [&str; 3] = ["utf-8", "iso-8859-1", "us-ascii"];

impl<'t> Reader<'t> {
    /// Parses an address or, where allowed, a group, and returns the number of addresses.
    fn address(&mut self, takes_group: bool) -> Option<usize> {
        self.skip_blanks();
        let start = *self;
        if self.plain_address().is_some() {
            self.skip_blanks();
            if self.rest.starts_with('(') {
                let before = self.rest;
                self.skip_comment()?;
                let length = before.len() - self.rest.len();
                let comment = before.get(1..length - 1)?;
                let mut words = comment.split([' ', '\t']);
                words.all(is_readable).then_some(())?;
            }
            return Some(1);
        }
        *self = start;
        if !self.rest.starts_with('<') {
            self.phrase()?;
        }
        self.skip_blanks();
        if takes_group && self.take(':') {
            return self.group();
        }
        self.expect('<')?;
        self.plain_address()?;
        self.expect('>')?;
        Some(1)
    }

    /// Parses the addresses of a group, after its name.
    fn group(&mut self) -> Option<usize> {
        let mut count = 0;
        self.skip_blanks();
        while !self.take(';') {
            if count > 0 {
                self.expect(',')?;
            }
            count += self.address(false)?;
            self.skip_comments()?;
        }
        self.skip_comments()?;
        Some(count)
    }

    /// Parses `local@domain`.
    fn plain_address(&mut self) -> Option<()> {
        self.skip_blanks();
        match self.rest.starts_with('"') {
            true => (!self.quoted()?.is_empty()).then_some(())?,
            false => self.dotted()?,
        }
        self.expect('@')?;
        self.skip_blanks();
        match self.take('[') {
            true => self.literal(),
            false => self.dotted(),
        }
    }

    /// Parses an IP address up to its closing bracket.
    fn literal(&mut self) -> Option<()> {
        let (address, rest) = self.rest.split_once(']')?;
        self.rest = rest;
        address.parse::<IpAddr>().is_ok().then_some(())
    }

    /// Parses the words of a name, up to the first one that cannot be parsed.
    fn phrase(&mut self) -> Option<()> {
        let mut count = 0;
        loop {
            if count > 0 {
                self.skip_comments()?;
            }
            self.skip_blanks();
            if self.rest.is_empty() {
                break;
            }
            let word = match self.rest.starts_with('"') {
                true => self.quoted().map(drop),
                false => self.atom().filter(|word| is_readable(word)).map(drop),
            };
            if word.is_none() {
                break;
            }
            count += 1;
        }
        // A name may be empty at the end of the input.
        (count > 0 || self.rest.is_empty()).then_some(())
    }

    /// Parses a complete quoted string with its escapes.
    fn quoted(&mut self) -> Option<&'t str> {
        let inner = self.rest.strip_prefix('"')?;
        let mut is_escaped = false;
        for (at, character) in inner.char_indices() {
            let is_text = is_visible(character) || character == ' ' || character == '\t';
            match character {
                _ if is_escaped && is_text => is_escaped = false,
                '"' if !is_escaped => {
                    let (text, rest) = inner.split_at(at);
                    self.rest = rest.strip_prefix('"')?;
                    return Some(text);
                }
                '\\' => is_escaped = true,
                _ if is_text => {}
                _ => return None,
            }
        }
        None
    }

    /// Parses letters, digits, signs and dots.
    fn atom(&mut self) -> Option<&'t str> {
        let end = self.rest.find(|character| !is_plain(character));
        let (atom, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        Some(atom).filter(|atom| !atom.is_empty())
    }

    /// Parses an atom in which each dot is between other characters.
    fn dotted(&mut self) -> Option<()> {
        let mut parts = self.atom()?.split('.');
        parts.all(|part| !part.is_empty()).then_some(())
    }

    fn skip_blanks(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t']);
    }

    fn skip_comments(&mut self) -> Option<()> {
        self.skip_blanks();
        while self.rest.starts_with('(') {
            self.skip_comment()?;
            self.skip_blanks();
        }
        Some(())
    }

    /// Skips a comment, which may contain others.
    fn skip_comment(&mut self) -> Option<()> {
        let mut depth = 0usize;
        let mut bytes = self.rest.bytes().enumerate();
        while let Some((at, byte)) = bytes.next() {
            match byte {
                // An escaped character is literal; a backslash at the end escapes nothing.
                b'\\' => {
                    bytes.next();
                }
                b'(' => depth += 1,
                b')' if depth == 1 => {
                    self.rest = self.rest.get(at + 1..)?;
                    return Some(());
                }
                b')' => depth -= 1,
                _ => {}
            }
        }
        None
    }

    fn take(&mut self, sign: char) -> bool {
        let rest = self.rest.strip_prefix(sign);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn expect(&mut self, sign: char) -> Option<()> {
        self.take(sign).then_some(())
    }
}

/// Whether a character is printable ASCII or non-ASCII.
fn is_visible(character: char) -> bool {
    character.is_ascii_graphic() || !character.is_ascii()
}

fn is_plain(character: char) -> bool {
    is_visible(character) && !"()<>[]:;@\\,\"".contains(character)
}

/// Whether a word is not encoded, or encoded in a known character set.
fn is_readable(word: &str) -> bool {
    let inner = word
        .strip_prefix("=?")
        .and_then(|word| word.strip_suffix("?="));
    let parts: Vec<&str> = inner.map_or(Vec::new(), |inner| inner.split('?').collect());
    match parts.as_slice() {
        [set, "q" | "Q" | "b" | "B", _] if !set.is_empty() => {
            let mut known = CHARACTER_SETS.iter();
            known.any(|known| known.eq_ignore_ascii_case(set))
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::is_address;

    #[test]
    fn addresses_are_told_from_others() {
        for address in [
            "a@b",
            " a.b@c.d ",
            "\"a b\"@c",
            "\"a\\\"b\"@c",
            "a@[127.0.0.1]",
            "a@[::1]",
            "é@ü",
            "A B <a@b>",
            "\"A\" <a@b>",
            "<a@b>",
            "a@b (c (d) \\) e)",
            "g: a@b;",
            "A. B <a@b>",
            "=?utf-8?q?a?= <a@b>",
            "a (x) b <c@d>",
        ] {
            assert!(is_address(address), "{address}");
        }
        for other in [
            "",
            " ",
            "a",
            "a@",
            "@b",
            "a..b@c",
            ".a@b",
            "a.@b",
            "\"\"@b",
            "\"a@b",
            "a@[b]",
            "a b@c",
            "<a@b",
            "A a@b",
            "g: a@b, c@d;",
            "g:;",
            "a@b (c",
            "a@b c",
            "a@b, c@d",
            "a@b\n",
            "=?x?q?a?= <a@b>",
        ] {
            assert!(!is_address(other), "{other}");
        }
    }
}
