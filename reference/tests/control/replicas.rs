//! Several control planes on one database.

use crate::environment::Environment;
use crate::transcript::run_script;
use crate::{Case, Outcome};

pub(crate) const CASES: &[Case] = &[("replicas-start-together", start_together)];

const DECLARED: &str = "
sources:
  a: {requirements: [{source: b}]}
  b: {requirements: [{source: a}]}
";

fn start_together(environment: Environment) -> Outcome {
    Box::pin(async move {
        let starts = (0..4).map(|_| environment.open(DECLARED));
        let replicas = futures_util::future::try_join_all(starts).await?;
        for replica in &replicas {
            run_script(replica, "admin GET /v1/sources/a => 200").await?;
        }
        let [first, second, ..] = replicas.as_slice() else {
            return Err("not enough replicas".into());
        };
        run_script(first, "admin PUT /v1/bundles/b {} => 200 {}").await?;
        run_script(second, "admin DELETE /v1/bundles/b => 200 {}").await?;
        run_script(first, "admin GET /v1/bundles/b => 404 not_found").await
    })
}
