//! Merges a discovered configuration with the boot configuration.

use rego::Value;
use rego::value::Object;

use super::status_registry::DISCOVERY;
use crate::config;

/// Merges a discovered configuration with the boot configuration, which takes precedence. The
/// section `discovery` is removed.
///
/// # Errors
/// When a service or key of the boot configuration would change.
pub(super) fn merge(discovered: &Value, boot: &Value) -> Result<Value, String> {
    let mut merged = name_services(discovered.clone());
    let boot = name_services(boot.clone());
    for section in ["services", "keys"] {
        let [now, started] = [&merged, &boot].map(|config| config.get(section)?.as_object());
        let (Some(now), Some(started)) = (now, started) else {
            continue;
        };
        for (name, value) in started.iter() {
            if now.get_value(name).is_some_and(|now| now != value) {
                let reason = "cannot be changed by discovery";
                return Err(format!("{section}: {name} {reason}"));
            }
        }
    }
    config::overlay(&mut merged, &boot);
    if let Some(members) = merged.as_object_mut() {
        members.remove(DISCOVERY);
    }
    Ok(merged)
}

/// Converts an array `services` to an object by name, so that others can be merged into it.
fn name_services(mut config: Value) -> Value {
    let Some(members) = config.as_object_mut() else {
        return config;
    };
    if let Some(Value::Array(services)) = members.get("services") {
        let services = services.iter().filter_map(|service| {
            let mut service = service.as_object()?.clone();
            let name = service.remove("name")?;
            Some((name, Value::from(service)))
        });
        let services: Object = services.collect();
        members.insert("services", Value::from(services));
    }
    config
}

#[cfg(test)]
mod tests {
    use rego::value::from_json;
    use rstest::rstest;

    use super::merge;

    #[rstest]
    #[case::labels(
        r#"{"labels": {"a": "1", "b": "2"}, "default_decision": "/x"}"#,
        r#"{"labels": {"b": "3"}, "discovery": {"resource": "d"}}"#,
        Ok(r#"{"default_decision":"/x","labels":{"a":"1","b":"3"}}"#)
    )]
    #[case::discovery(r#"{"discovery": {"resource": "other"}}"#, "{}", Ok("{}"))]
    #[case::lists_of_services(
        r#"{"services": [{"url": "http://t", "name": "t"}, {"url": "http://s", "name": "s"}]}"#,
        r#"{"services": [{"name": "s", "url": "http://s"}]}"#,
        Ok(r#"{"services":{"s":{"url":"http://s"},"t":{"url":"http://t"}}}"#)
    )]
    #[case::changed_address(
        r#"{"services": {"s": {"url": "http://else"}}}"#,
        r#"{"services": {"s": {"url": "http://s"}}}"#,
        Err("services: \"s\" cannot be changed by discovery")
    )]
    #[case::added_headers(
        r#"{"services": {"s": {"headers": {"a": "b"}}}}"#,
        r#"{"services": {"s": {"url": "http://s"}}}"#,
        Err("services: \"s\" cannot be changed by discovery")
    )]
    #[case::changed_key(
        r#"{"keys": {"k": {"scope": "all"}}}"#,
        r#"{"keys": {"k": {"key": "secret"}}}"#,
        Err("keys: \"k\" cannot be changed by discovery")
    )]
    fn the_configuration_of_the_start_decides(
        #[case] discovered: &str,
        #[case] boot: &str,
        #[case] expected: Result<&str, &str>,
    ) -> Result<(), Box<dyn std::error::Error>> {
        let merged = merge(
            &from_json(discovered.as_bytes())?,
            &from_json(boot.as_bytes())?,
        );
        let merged = merged.map(|merged| merged.to_string());
        let expected = expected.map(str::to_owned).map_err(str::to_owned);
        assert_eq!(merged, expected);
        Ok(())
    }
}
