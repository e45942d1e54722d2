//! As much of Rust's syntax as it takes to see what a file declares, imports and names.

/// A lexical token: an identifier, `::`, or any other single character.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token {
    Word(String),
    PathSep,
    Other(char),
}

impl Token {
    fn is(&self, other: char) -> bool {
        *self == Self::Other(other)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self, Self::Word(found) if found == word)
    }
}

/// A name that a `use` item binds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// The segments of its path, as written.
    pub path: Vec<String>,
    /// The name that it is bound to; none for a glob.
    pub name: Option<String>,
    /// Whether others can import it from here.
    pub is_public: bool,
}

/// The production code of one file. Items after `#[cfg(test)]` are skipped.
#[derive(Debug, Default)]
pub struct Syntax {
    /// Modules that are files of their own.
    pub modules: Vec<String>,
    /// Names of items defined at the top level, modules with a body among them.
    pub items: Vec<String>,
    pub imports: Vec<Import>,
    /// Paths in the code outside `use` items, single words included.
    pub paths: Vec<Vec<String>>,
}

impl Syntax {
    /// Reads the text of a file.
    pub fn of(text: &str) -> Self {
        let tokens = without_attributes(&tokens(text));
        let mut syntax = Self::default();
        let (mut at, mut depth) = (0, 0_usize);
        while at < tokens.len() {
            let next = tokens.get(at + 1);
            match &tokens[at] {
                Token::Word(word) if word == "use" => {
                    let is_public = at > 0 && (tokens[at - 1].is_word("pub") || tokens[at - 1].is(')'));
                    at += 1;
                    use_tree(&tokens, &mut at, &[], is_public, &mut syntax.imports);
                    continue;
                }
                Token::Word(word) if depth == 0 && DEFINES.contains(&word.as_str()) => {
                    if let Some(Token::Word(name)) = next {
                        let is_file = word == "mod" && tokens.get(at + 2).is_some_and(|after| after.is(';'));
                        let names = if is_file { &mut syntax.modules } else { &mut syntax.items };
                        names.push(name.clone());
                        at += 1;
                    }
                }
                Token::Word(_) => {
                    syntax.paths.push(path(&tokens, &mut at));
                    continue;
                }
                Token::Other('{') => depth += 1,
                Token::Other('}') => depth = depth.saturating_sub(1),
                Token::Other(_) | Token::PathSep => {}
            }
            at += 1;
        }
        syntax
    }
}

/// Keywords in front of the name of an item.
const DEFINES: [&str; 8] = ["fn", "struct", "enum", "trait", "type", "const", "static", "mod"];

/// The path that begins here, without generic arguments; advances past it.
fn path(tokens: &[Token], at: &mut usize) -> Vec<String> {
    let mut path = Vec::new();
    while let Some(Token::Word(word)) = tokens.get(*at) {
        path.push(word.clone());
        *at += 1;
        let goes_on =
            matches!((tokens.get(*at), tokens.get(*at + 1)), (Some(Token::PathSep), Some(Token::Word(_))));
        if !goes_on {
            break;
        }
        *at += 1;
    }
    path
}

/// Reads one tree of a `use` item, `a::{b, c::*}` for example; advances past it.
fn use_tree(tokens: &[Token], at: &mut usize, above: &[String], is_public: bool, found: &mut Vec<Import>) {
    let mut path = above.to_vec();
    while let Some(token) = tokens.get(*at) {
        match token {
            Token::Word(word) => path.push(word.clone()),
            Token::PathSep => {}
            Token::Other('*') => {
                found.push(Import { path, name: None, is_public });
                *at += 1;
                return;
            }
            Token::Other('{') => {
                *at += 1;
                while tokens.get(*at).is_some_and(|token| !token.is('}')) {
                    use_tree(tokens, at, &path, is_public, found);
                    *at += usize::from(tokens.get(*at).is_some_and(|token| token.is(',')));
                }
                *at += 1;
                return;
            }
            Token::Other(_) => break,
        }
        *at += 1;
    }
    let alias = path.iter().position(|segment| segment == "as");
    let mut name = path.last().cloned();
    if let Some(alias) = alias {
        path.truncate(alias);
    }
    if path.last().is_some_and(|last| last == "self") {
        path.pop();
        name = if alias.is_some() { name } else { path.last().cloned() };
    }
    found.push(Import { path, name, is_public });
}

/// The tokens without attributes and without the items after `#[cfg(test)]`.
fn without_attributes(tokens: &[Token]) -> Vec<Token> {
    let mut kept = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if !tokens[at].is('#') {
            kept.push(tokens[at].clone());
            at += 1;
            continue;
        }
        let open = at + 1 + usize::from(tokens.get(at + 1).is_some_and(|token| token.is('!')));
        let end = behind_group(tokens, open);
        let words: Vec<&Token> =
            tokens[open..end].iter().filter(|token| matches!(token, Token::Word(_))).collect();
        at = end;
        if words.len() == 2 && words[0].is_word("cfg") && words[1].is_word("test") {
            while tokens.get(at).is_some_and(|token| token.is('#')) {
                at = behind_group(tokens, at + 1);
            }
            while tokens.get(at).is_some_and(|token| !token.is('{') && !token.is(';')) {
                at += 1;
            }
            at = if tokens.get(at).is_some_and(|token| token.is('{')) {
                behind_group(tokens, at)
            } else {
                at + 1
            };
        }
    }
    kept
}

/// The position after the bracket that closes the one at `open`.
fn behind_group(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token {
            Token::Other('{' | '[' | '(') => depth += 1,
            Token::Other('}' | ']' | ')') => depth -= 1,
            Token::Other(_) | Token::PathSep | Token::Word(_) => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    tokens.len()
}

/// The tokens of a text without comments, and without the content of literals.
fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("::") {
            tokens.push(Token::PathSep);
            2
        } else if let Some(length) = literal(rest) {
            length
        } else if first.is_alphanumeric() || first == '_' {
            let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            tokens.push(Token::Word(rest[..length].to_owned()));
            length
        } else {
            if !first.is_whitespace() {
                tokens.push(Token::Other(first));
            }
            first.len_utf8()
        };
        rest = &rest[length..];
    }
    tokens
}

/// The length of the literal or lifetime that the text begins with, if it does.
fn literal(text: &str) -> Option<usize> {
    let unprefixed = text.strip_prefix('b').unwrap_or(text);
    let prefix = text.len() - unprefixed.len();
    if let Some(raw) = unprefixed.strip_prefix('r') {
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        if raw[hashes..].starts_with('"') {
            let end = format!("\"{}", "#".repeat(hashes));
            let body = &raw[hashes + 1..];
            return Some(prefix + 2 + hashes + body.find(&end)? + end.len());
        }
    }
    if let Some(body) = unprefixed.strip_prefix('"') {
        return Some(prefix + 1 + closing(body, '"')?);
    }
    let body = text.strip_prefix('\'')?;
    let mut chars = body.chars();
    match (chars.next()?, chars.next()) {
        ('\\', _) => Some(1 + closing(body, '\'')?),
        (one, Some('\'')) => Some(2 + one.len_utf8()),
        _ => Some(1 + body.find(|c: char| !c.is_alphanumeric() && c != '_')?),
    }
}

/// The position after the first unescaped quote.
fn closing(body: &str, quote: char) -> Option<usize> {
    let mut is_escaped = false;
    for (at, c) in body.char_indices() {
        if c == quote && !is_escaped {
            return Some(at + c.len_utf8());
        }
        is_escaped = c == '\\' && !is_escaped;
    }
    None
}
