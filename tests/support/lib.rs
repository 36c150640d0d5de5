//! Empty library, which Cargo requires for the package with the workspace's tests.
