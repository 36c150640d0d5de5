//! Empty library of the package that contains the tests of the workspace.
