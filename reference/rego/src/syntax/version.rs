//! Versions of the language.

/// A version of the language: what a text may say without asking for it.
///
/// In v0 `if`, `contains`, `in` and `every` are names like others unless `import future.keywords`
/// or `import rego.v1` makes keywords of them, rules may have bodies without `if`, and `p[x] { … }`
/// is a partial set. Modules of different versions can be compiled together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    /// What was understood before v1.
    V0,
    /// What is understood unless something else is asked for.
    #[default]
    V1,
}

impl Version {
    /// The number, as manifests of bundles have it.
    pub fn number(self) -> u8 {
        match self {
            Self::V0 => 0,
            Self::V1 => 1,
        }
    }

    /// The version of a number.
    pub fn of_number(number: i64) -> Option<Self> {
        match number {
            0 => Some(Self::V0),
            1 => Some(Self::V1),
            _ => None,
        }
    }
}
