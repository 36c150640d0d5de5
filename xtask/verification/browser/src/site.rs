//! Checks of the pages of the site.

use std::error::Error;

use serde_json::Value;
use thirtyfour::prelude::*;

use crate::audit::{AUDIT, log, sentences};
use crate::browser::{Browser, execute};

/// Start page of the site.
const FIRST: &str = "index.html";
/// Maximum load time of a page, in milliseconds.
const LOADED_WITHIN: f64 = 1_500.0;

/// Checks these pages in one viewport; returns the errors.
pub(super) async fn all(
    browser: &Browser,
    pages: &str,
    paths: &[String],
) -> Result<Vec<String>, Box<dyn Error>> {
    let window = browser.window().await?;
    let tried = async {
        let mut wrong = Vec::new();
        for path in paths {
            window.goto(format!("{pages}/{path}")).await?;
            let mut found = page(browser, &window, path).await?;
            if !browser.viewport.dark {
                found.extend(reader(&window, path).await?);
            }
            found.extend(log(&window).await?);
            wrong.extend(found.into_iter().map(|what| format!("{path}: {what}")));
        }
        Ok::<_, WebDriverError>(wrong)
    };
    let wrong = tried.await;
    window.quit().await?;
    Ok(wrong?)
}

async fn page(browser: &Browser, window: &WebDriver, path: &str) -> WebDriverResult<Vec<String>> {
    let name = path.trim_end_matches(".html").replace('/', "-");
    browser.shot(window, &name).await?;
    let mut found = sentences(&execute(window, AUDIT).await?);
    let elapsed = execute(
        window,
        "return performance.getEntriesByType('navigation')[0].duration;",
    )
    .await?;
    if elapsed
        .as_f64()
        .is_none_or(|elapsed| elapsed > LOADED_WITHIN)
    {
        found.push(format!("it takes {elapsed} ms to load"));
    }
    let open = "const it = document.querySelector('details.clause'); if (it) { it.open = true; \
                it.querySelectorAll('details').forEach((one) => one.open = true); \
                it.scrollIntoView(); } return it !== null;";
    if execute(window, open).await? == Value::Bool(true) {
        browser.shot(window, &format!("{name}-open")).await?;
        found.extend(sentences(&execute(window, AUDIT).await?));
    } else {
        let middle = "window.scrollTo(0, document.body.scrollHeight / 2); return true;";
        execute(window, middle).await?;
        browser.shot(window, &format!("{name}-middle")).await?;
    }
    found.dedup();
    Ok(found)
}

/// Checks that the keyboard reaches the content of a page and follows links.
async fn reader(window: &WebDriver, path: &str) -> WebDriverResult<Vec<String>> {
    let mut wrong = Vec::new();
    window.refresh().await?;
    let body = window.find(By::Tag("body")).await?;
    body.send_keys(Key::Tab).await?;
    let skip = "return document.activeElement.matches('.skip');";
    if execute(window, skip).await? != Value::Bool(true) {
        wrong.push("the first stop of the keyboard does not skip to the content".to_owned());
    }
    let goal = "const it = document.activeElement; \
                return it.matches('main a, main summary') && it.getClientRects().length > 0;";
    let mut tabs = 0;
    while execute(window, goal).await? != Value::Bool(true) && tabs < 20 {
        window.active_element().await?.send_keys(Key::Tab).await?;
        tabs += 1;
    }
    if execute(window, goal).await? != Value::Bool(true) {
        wrong.push("the keyboard does not reach the content".to_owned());
    } else if path == FIRST {
        window.active_element().await?.send_keys(Key::Enter).await?;
        let there = window.current_url().await?;
        if there.path().ends_with(FIRST) && there.path().matches('/').count() < 2 {
            wrong.push(format!("Enter on a link leads to {there}"));
        }
    }
    Ok(wrong)
}
