//! Terms of each kind of value.

use super::Choices;
use super::mistakes;
use super::template::expand;

/// Maximum nesting depth of terms and bodies.
const DEPTH: usize = 3;

/// Letter that denotes a kind of values, as in templates.
pub(crate) type Kind = char;

/// Kinds of rules and parameters.
pub(crate) const KINDS: &[Kind] = &['n', 's', 'b', 'N', 'S', 'M', 'T', 'O'];

/// Names and restrictions that apply to a term.
#[derive(Debug, Clone)]
pub(crate) struct Scope {
    /// Bound variables, innermost last.
    pub(crate) variables: Vec<(String, Kind)>,
    /// Preceding rules, as references to a value.
    pub(crate) rules: Vec<(String, Kind)>,
    /// Preceding functions: name, kinds of the parameters, kind of the result.
    pub(crate) functions: Vec<(String, Vec<Kind>, Kind)>,
    /// Remaining nesting depth of terms and bodies.
    pub(crate) depth: usize,
    /// Whether a body begins here, where no outer name is in use yet.
    pub(crate) begins: bool,
    /// Whether terms must not bind variables.
    pub(crate) closed: bool,
    /// Whether `with` modifiers are excluded: OPA does not check those in the closures of queries,
    /// and may crash on them.
    pub(crate) unmodified: bool,
    /// Whether the term is part of an object or set literal.
    pub(crate) in_braces: bool,
    /// Whether `and`, `or` and `not { … }` are allowed.
    pub(crate) logic: bool,
    /// Whether the term is part of a query.
    pub(crate) query: bool,
    /// Whether errors are generated.
    pub(crate) faulty: bool,
    /// Number for the name of the next new variable.
    next: usize,
}

impl Scope {
    pub(crate) fn new(faulty: bool) -> Self {
        Self {
            variables: Vec::new(),
            rules: Vec::new(),
            functions: Vec::new(),
            depth: DEPTH,
            begins: false,
            closed: false,
            unmodified: false,
            in_braces: false,
            logic: false,
            query: false,
            faulty,
            next: 0,
        }
    }

    /// Returns a new variable, rarely one that shadows another of the same name.
    pub(crate) fn fresh(&mut self, choices: &mut Choices<'_>) -> String {
        if self.begins && choices.rarely(4) {
            let at = choices.below(self.variables.len().max(1));
            if let Some((name, _)) = self.variables.get(at) {
                return name.clone();
            }
        }
        self.next += 1;
        format!("v{}", self.next)
    }

    /// Calls `make` with one nesting level less.
    pub(crate) fn deeper(&mut self, make: impl FnOnce(&mut Self) -> String) -> String {
        let depth = self.depth;
        self.depth = depth.saturating_sub(1);
        let text = make(self);
        self.depth = depth;
        text
    }

    fn variables_of(&self, kind: Kind) -> Vec<&str> {
        // A shadowed name refers to the innermost variable only.
        let mut seen = Vec::new();
        let mut fitting = Vec::new();
        for (name, of) in self.variables.iter().rev() {
            if !seen.contains(&name) {
                seen.push(name);
                if kind == 'x' || kind == *of {
                    fitting.push(name.as_str());
                }
            }
        }
        fitting
    }
}

/// Generates a term of a kind, whose variables are all bound; `x` is any kind, `d` a document
/// unknown to compilers, `~` before a kind a constant.
pub(crate) fn term(choices: &mut Choices<'_>, scope: &mut Scope, kind: Kind) -> String {
    if scope.faulty && choices.rarely(25) {
        return mistakes::term(choices, scope);
    }
    let ways = if scope.depth == 0 { 5 } else { 10 };
    match choices.below(ways) {
        0 if kind != 'd' => literal(choices, kind),
        0 | 1 => document(choices, scope, kind),
        2 | 3 => variable(choices, scope, kind),
        4 => rule(choices, scope, kind),
        5 => call(choices, scope, kind),
        _ => {
            let kind = known(choices, kind);
            let template = choices.of(compound(kind));
            scope.deeper(|scope| expand(choices, scope, template))
        }
    }
}

/// Generates a constant.
pub(crate) fn literal(choices: &mut Choices<'_>, kind: Kind) -> String {
    let literals: &[&str] = match kind {
        'n' => &[
            "1",
            "0",
            "2",
            "-1",
            "1.5",
            "2.0",
            "1e2",
            "123456789012345678901",
        ],
        's' => &[
            "\"a\"",
            "\"\"",
            "\"ann\"",
            "`b\\n`",
            "\"x,y z\"",
            "\"\\u00e9\\t\"",
            "\"2\"",
            "\"k\"",
        ],
        'b' => &["true", "false"],
        'N' => &["[1, 2]", "[3]", "[2, 1.5, 2.0, -7]"],
        'S' => &["[\"a\", \"b\"]", "[\"k\"]", "[\"ann\", \"\", \"B c\"]"],
        'M' => &["{1, 2}", "{3}", "{1.0, 1, 2e0}"],
        'T' => &["{\"a\", \"b\"}", "{\"k\"}", "{\"ann\", \"\"}"],
        'O' => &[
            "{\"a\": 1}",
            "{\"k\": 2, \"b\": 0}",
            "{\"ann\": 1.5, \"\": -1, \"a\": 2}",
        ],
        _ => &[
            "null",
            "[]",
            "{}",
            "set()",
            "[1, \"a\", null]",
            "{\"a\": {\"b\": [1, {2}]}}",
            "{null, true, [1]}",
            "{1: 2, [3]: 4, null: \"z\"}",
        ],
    };
    choices.of(literals).to_owned()
}

/// Returns a reference to a part of the input or the base documents, mostly one of this kind.
fn document(choices: &mut Choices<'_>, scope: &Scope, kind: Kind) -> String {
    let paths: &[&str] = match kind {
        'n' => &[
            "input.x",
            "data.base.map.a",
            "data.base.numbers[_]",
            "data.base.people[0].age",
            "data.base.people[_].age",
            "data.base.sizes[_]",
            "input.who.age",
            "input.deep.a.b[0].c",
            "input.list[_]",
            "data.base.list[0]",
        ],
        's' => &[
            "input.y",
            "data.base.text",
            "data.base.names[_]",
            "data.base.people[_].name",
            "data.base.people[1].tags[_]",
            "input.who.name",
            "data.base.list[4]",
            "data.base.people[2][\"name\"]",
        ],
        'b' => &["data.base.flag", "data.base.off", "input.ok"],
        'N' => &[
            "data.base.numbers",
            "input.list",
            "data.base.map.b",
            "data.base.list",
        ],
        'S' => &[
            "data.base.names",
            "data.base.people[0].tags",
            "data.base.people[_].tags",
            "input.list",
        ],
        'M' => &[
            "{x | x := data.base.numbers[_]}",
            "{x | some x in input.list}",
        ],
        'T' => &[
            "{x | x := data.base.names[_]}",
            "{x | some x in data.base.people[0].tags}",
        ],
        'O' => &[
            "data.base.sizes",
            "data.base.map",
            "input.who",
            "data.base.people[_]",
        ],
        _ => &[
            "data.base.list",
            "data.base.map",
            "data.base.map.c",
            "data.base.map.c.d",
            "data.base.nothing",
            "data.base.missing",
            "data.base",
            "input",
            "input.deep",
            "input[\"list\"]",
            "data.base.map[_]",
            "data.base.people[_][_]",
            "data.base.people",
        ],
    };
    let path = choices.of(paths);
    match scope.closed && !path.starts_with('{') {
        true => path.replace("[_]", "[0]"),
        false => path.to_owned(),
    }
}

fn variable(choices: &mut Choices<'_>, scope: &Scope, kind: Kind) -> String {
    let variables = scope.variables_of(kind);
    match variables.get(choices.below(variables.len().max(1))) {
        Some(name) => (*name).to_owned(),
        None if kind == 'd' => document(choices, scope, kind),
        None => literal(choices, kind),
    }
}

fn rule(choices: &mut Choices<'_>, scope: &Scope, kind: Kind) -> String {
    let rules = scope.rules.iter();
    let rules: Vec<_> = rules.filter(|(_, of)| kind == 'x' || kind == *of).collect();
    match rules.get(choices.below(rules.len().max(1))) {
        // A rule is referred to by its name, or through `data`.
        Some((name, _)) if choices.rarely(4) => format!("data.m.{name}"),
        Some((name, _)) => name.clone(),
        None => document(choices, scope, kind),
    }
}

fn call(choices: &mut Choices<'_>, scope: &mut Scope, kind: Kind) -> String {
    let functions = scope.functions.iter();
    let functions: Vec<_> = functions
        .filter(|(_, _, of)| kind == 'x' || kind == *of)
        .cloned()
        .collect();
    let Some((name, kinds, _)) = functions.get(choices.below(functions.len().max(1))) else {
        return rule(choices, scope, kind);
    };
    scope.deeper(|scope| {
        let operands: Vec<_> = kinds
            .iter()
            .map(|kind| term(choices, scope, *kind))
            .collect();
        format!("{name}({})", operands.join(", "))
    })
}

/// Replaces `x`, any kind, by a specific kind in two of three cases.
fn known(choices: &mut Choices<'_>, kind: Kind) -> Kind {
    match kind {
        'x' if choices.rarely(3) => 'x',
        'x' => choices.of(KINDS),
        kind => kind,
    }
}

/// Returns [templates](expand) of compound terms.
fn compound(kind: Kind) -> &'static [&'static str] {
    match kind {
        'n' => &[
            "(#n + #n)",
            "(#n - #n)",
            "(#n * #n)",
            "(#n / #n)",
            "(#n %% #n)",
            "count(#N)",
            "count(#s)",
            "count(#O)",
            "count(#T)",
            "count([1 | %])",
            "sum(#N)",
            "sum(#M)",
            "max(#N)",
            "min(#M)",
            "product(#N)",
            "abs(#n)",
            "round(#n)",
            "ceil(#n)",
            "floor(#n)",
            "(0 - #n)",
            "to_number(#s)",
            "to_number(#n)",
            "indexof(#s, #s)",
            "strings.count(#s, #s)",
            "object.get(#O, #s, #n)",
            "#N[0]",
            "[#n, #n][0]",
            "data.base.numbers[#n]",
            "data.base.people[#n].age",
            "data.base.sizes[#s]",
            "bits.and(#n, #n)",
            "bits.or(#n, 6)",
            "bits.xor(5, #n)",
            "bits.lsh(#n, 2)",
            "bits.rsh(#n, 1)",
            "bits.negate(#n)",
            "sum([@n | %])",
            "semver.compare(\"1.2.0\", #s)",
            "units.parse_bytes(#s)",
            "json.unmarshal(json.marshal(#n))",
        ],
        's' => &[
            "concat(#s, #S)",
            "concat(\",\", #T)",
            "upper(#s)",
            "lower(#s)",
            "trim(#s, #s)",
            "trim_left(#s, \"ax\")",
            "trim_prefix(#s, #s)",
            "trim_suffix(#s, \"n\")",
            "trim_space(#s)",
            "substring(#s, #n, 2)",
            "substring(#s, 0, #n)",
            "replace(#s, \"n\", #s)",
            "strings.reverse(#s)",
            "strings.replace_n({\"a\": #s, \"n\": \"m\"}, #s)",
            "sprintf(\"%%v-%%v\", [#x, #n])",
            "sprintf(\"%%d|%%s|%%.2f|%%x\", [#n, #s, #n, #n])",
            "format_int(#n, 10)",
            "format_int(#n, 16)",
            "json.marshal(#x)",
            "type_name(#x)",
            "base64.encode(#s)",
            "base64.decode(base64.encode(#s))",
            "base64url.encode(#s)",
            "hex.encode(#s)",
            "urlquery.encode(#s)",
            "urlquery.decode(#s)",
            "crypto.md5(#s)",
            "crypto.sha256(#s)",
            "regex.replace(#s, \"[a-m]+\", #s)",
            "yaml.marshal(#x)",
            "$$\"{|#x|} and {|#n|}\"",
            "$$`a{|#s|}{|#d|}`",
            "#S[0]",
            "[#s, #s][0]",
            "data.base.names[#n]",
            "object.get({\"a\": #s}, #s, #s)",
            "glob.quote_meta(#s)",
            "concat(\",\", net.cidr_merge([\"10.0.0.0/25\", #s]))",
        ],
        'b' => &[
            "#n == #n",
            "#n < #n",
            "#s >= #s",
            "#d != #x",
            "#n in #N",
            "#s in #T",
            "#s, #n in #O",
            "startswith(#s, #s)",
            "endswith(#s, #s)",
            "contains(#s, #s)",
            "is_string(#x)",
            "is_number(#x)",
            "is_object(#d)",
            "is_set(#x)",
            "is_null(#d)",
            "is_boolean(#x)",
            "is_array(#d)",
            "regex.match(\"^^[a-z]+$$\", #s)",
            "regex.is_valid(#s)",
            "glob.match(\"a*\", [], #s)",
            "json.is_valid(#s)",
            "base64.is_valid(#s)",
            "strings.any_prefix_match(#s, #S)",
            "strings.any_suffix_match(#T, #s)",
            "object.subset(#O, #O)",
            "object.subset(#T, #T)",
            "semver.is_valid(#s)",
            "net.cidr_contains(\"10.0.0.0/8\", #s)",
            "data.base.flag",
        ],
        'N' => &[
            "[#n, #n]",
            "[#n]",
            "[@n | %]",
            "[@n | %]",
            "array.concat(#N, #N)",
            "array.slice(#N, 0, #n)",
            "array.reverse(#N)",
            "sort(#M)",
            "sort(#N)",
            "numbers.range(1, count(#S))",
            "numbers.range_step(9, count(#S), 3)",
            "indexof_n(#s, #s)",
            "[x | some x in #M]",
            "[x | x := #O[_]]",
            "array.flatten([#N, [#N]])",
        ],
        'S' => &[
            "[#s, #s]",
            "[@s | %]",
            "[@s | %]",
            "split(#s, #s)",
            "split(#s, \"\")",
            "regex.split(\"[ ,]\", #s)",
            "regex.find_n(\"[a-c]\", #s, -1)",
            "sort(#T)",
            "array.concat(#S, #S)",
            "array.reverse(#S)",
            "[k | some k, _ in #O]",
        ],
        'M' => &[
            "{#n, #n}",
            "{@n | %}",
            "{@n | %}",
            "(#M | #M)",
            "(#M & #M)",
            "union({#M, #M})",
            "intersection({#M, #M})",
            "{x | some x in #N}",
            "{x | x := #N[_]}",
        ],
        'T' => &[
            "{#s, #s}",
            "{@s | %}",
            "{@s | %}",
            "(#T | #T)",
            "(#T & #T)",
            "union({#T, {#s}})",
            "object.keys(#O)",
            "{k | #O[k]}",
            "graph.reachable({\"a\": [\"b\"], \"b\": [#s]}, #S)",
        ],
        'O' => &[
            "{#s: #n}",
            "{\"k\": #n, #s: #n}",
            "{@s: @n | %}",
            "{@s: @n | %}",
            "object.union(#O, #O)",
            "object.union_n([#O, #O, #O])",
            "object.remove(#O, #S)",
            "object.filter(#O, #T)",
            "json.filter(#O, #S)",
            "json.remove(#O, [\"a\"])",
            "json.patch(#O, [{\"op\": \"add\", \"path\": \"z\", \"value\": #n}])",
            "json.unmarshal(json.marshal(#O))",
            "{k: v | some k, v in #O}",
        ],
        'd' => &[
            "data.base[#s]",
            "data.base.map[#s]",
            "input[#s]",
            "data.base.people[#n]",
            "data.base.list[#n]",
            "object.get(#d, #s, #x)",
            "object.get(#d, [#s, #n], #x)",
            "json.unmarshal(#s)",
            "yaml.unmarshal(#s)",
            "json.unmarshal(json.marshal(#x))",
        ],
        _ => &[
            "[#x, #x]",
            "{#x, #x}",
            "{\"k\": #x, #s: 1}",
            "{#x: #x}",
            "[@x | %]",
            "{@x | %}",
            "{@s: @x | %}",
            "#d",
            "(#T - #T)",
            "(#M - #M)",
            "[p | walk(#x, [p, _])]",
            "{v | walk(#d, [_, v])}",
            "regex.find_all_string_submatch_n(\"([a-z])(n)\", #s, -1)",
            "set()",
            "json.patch(#d, [{\"op\": \"replace\", \"path\": \"\", \"value\": #x}])",
            "min(#N)",
            "object.union({\"a\": #x}, {\"a\": #O})",
        ],
    }
}
