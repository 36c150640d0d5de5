//! Migrations of the database schema.

/// Migration steps from an empty database to the current schema, oldest first; a released step
/// never changes. `{identity}` is a placeholder for the type of a generated key.
pub(super) const STEPS: &[&str] = &[
    include_str!("migrations/1_schema.sql"),
    include_str!("migrations/2_builds.sql"),
    include_str!("migrations/3_tenants.sql"),
    include_str!("migrations/4_probes.sql"),
    include_str!("migrations/5_pauses.sql"),
    include_str!("migrations/6_queues.sql"),
    include_str!("migrations/7_turns.sql"),
    include_str!("migrations/8_folders.sql"),
];
