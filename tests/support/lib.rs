//! The tests of the workspace live beside this file.
