//! Versions of the language.

/// Version of the language: the syntax that a source may use without imports.
///
/// In v0 `if`, `contains`, `in` and `every` are names like others unless `import future.keywords`
/// or `import rego.v1` makes keywords of them, rules may have bodies without `if`, and `p[x] { … }`
/// is a partial set. Modules of different versions can be compiled together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    /// The language before v1.
    V0,
    /// The current language, which is the default.
    #[default]
    V1,
}

impl Version {
    /// Returns the number of the version, as used in bundle manifests.
    pub fn number(self) -> u8 {
        match self {
            Self::V0 => 0,
            Self::V1 => 1,
        }
    }

    /// Returns the version with this number.
    pub fn of_number(number: i64) -> Option<Self> {
        match number {
            0 => Some(Self::V0),
            1 => Some(Self::V1),
            _ => None,
        }
    }
}
