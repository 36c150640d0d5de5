//! Checks of the pages of the HTML report.

use std::error::Error;

use serde_json::Value;
use thirtyfour::prelude::*;

use crate::browser::{Browser, execute};

/// Names of the checked pages.
const NAMES: [&str; 3] = ["reference", "broken", "both"];

/// Script that checks a page for errors that none may have, and returns them as sentences.
pub(super) const AUDIT: &str = include_str!("audit.js");

/// Checks all pages in one viewport; returns the errors.
pub(super) async fn all(browser: &Browser, pages: &str) -> Result<Vec<String>, Box<dyn Error>> {
    let window = browser.window().await?;
    let tried = async {
        let mut wrong = Vec::new();
        for name in NAMES {
            window.goto(format!("{pages}/{name}.html")).await?;
            let mut found = audit(browser, &window, name).await?;
            found.extend(log(&window).await?);
            // Interactions are the same in dark mode, which differs only in colours.
            if !browser.viewport.dark {
                found.extend(reader(browser, &window, pages, name).await?);
                found.extend(log(&window).await?);
                window
                    .goto(format!("{pages}/without-scripts/{name}.html"))
                    .await?;
                found.extend(without_scripts(browser, &window, name).await?);
                // Drops the browser's warnings about frames without scripts.
                window.browser_log().await?;
            }
            wrong.extend(found.into_iter().map(|what| format!("{name}: {what}")));
        }
        Ok::<_, WebDriverError>(wrong)
    };
    let wrong = tried.await;
    window.quit().await?;
    Ok(wrong?)
}

/// Returns the console messages of the browser.
pub(super) async fn log(window: &WebDriver) -> WebDriverResult<Vec<String>> {
    let entries = window.browser_log().await?.into_iter();
    Ok(entries
        .map(|entry| format!("the console says {}", entry.message))
        .collect())
}

async fn audit(browser: &Browser, window: &WebDriver, name: &str) -> WebDriverResult<Vec<String>> {
    browser.shot(window, &format!("{name}-top")).await?;
    let mut found = sentences(&execute(window, AUDIT).await?);
    // Opens a clause and its parts, takes screenshots, and audits again.
    let places = [
        ("failing", "details.clause[data-marks~=fail]"),
        ("clause", "details.clause"),
    ];
    for (what, selector) in places {
        let open = format!(
            "const it = document.querySelector('{selector}'); if (it) {{ it.open = true; \
             it.querySelectorAll('details').forEach((one) => one.open = true); \
             it.scrollIntoView(); }} return it !== null;"
        );
        if execute(window, &open).await? == Value::Bool(true) {
            browser.shot(window, &format!("{name}-{what}")).await?;
        }
    }
    for part in ["failures", "sections", "clauses", "behaviour"] {
        let show = format!(
            "const it = document.getElementById('{part}'); it?.scrollIntoView(); return it !== null;"
        );
        if execute(window, &show).await? == Value::Bool(true) {
            browser.shot(window, &format!("{name}-{part}")).await?;
        }
    }
    found.extend(sentences(&execute(window, AUDIT).await?));
    found.dedup();
    Ok(found)
}

pub(super) fn sentences(found: &Value) -> Vec<String> {
    let found = found.as_array().into_iter().flatten();
    found
        .map(|what| what.as_str().unwrap_or_default().to_owned())
        .collect()
}

/// Uses a page like a reader: searches, filters, opens a clause with the keyboard, follows a link.
async fn reader(
    browser: &Browser,
    window: &WebDriver,
    pages: &str,
    name: &str,
) -> WebDriverResult<Vec<String>> {
    let mut wrong = Vec::new();
    let mut expect = |holds: bool, what: &str| {
        if !holds {
            wrong.push(what.to_owned());
        }
    };
    let count = "return document.getElementById('filter-count').textContent;";
    let visible = "return document.querySelectorAll('details.clause:not([hidden])').length;";
    let all = execute(window, visible).await?;
    expect(all.as_u64().is_some_and(|all| all > 100), "too few clauses");

    let search = window.find(By::Id("filter-text")).await?;
    search.send_keys("if-none-match").await?;
    let found = execute(window, visible).await?;
    expect(
        found.as_u64() > Some(0) && found.as_u64() < all.as_u64(),
        "the search does not narrow",
    );
    let count_text = execute(window, count).await?;
    let telling = format!("{found} of {all} clauses");
    expect(
        count_text.as_str() == Some(&telling),
        "the count does not tell what is shown",
    );
    browser.shot(window, &format!("{name}-search")).await?;

    // The Tab key moves from the search through the form to the first visible clause.
    let focus = "const it = document.activeElement; return it.matches('details.clause > summary') \
                 && it.getClientRects().length > 0;";
    let mut tabs = 0;
    while execute(window, focus).await? != Value::Bool(true) && tabs < 40 {
        window.active_element().await?.send_keys(Key::Tab).await?;
        tabs += 1;
    }
    let reached = execute(window, focus).await? == Value::Bool(true);
    expect(reached, "the keyboard does not reach the clauses");
    if reached {
        window.active_element().await?.send_keys(Key::Enter).await?;
        let open = execute(window, "return document.activeElement.parentElement.open;").await?;
        expect(open == Value::Bool(true), "Enter does not open a clause");
        browser.shot(window, &format!("{name}-keyboard")).await?;
    }

    window
        .find(By::Css("#filter button"))
        .await?
        .click()
        .await?;
    // The form is cleared a moment before its clauses reappear.
    let settled = "return new Promise((done) => setTimeout(() => done(\
                   document.querySelectorAll('details.clause:not([hidden])').length)));";
    expect(
        execute(window, settled).await? == all,
        "Clear does not bring the clauses back",
    );
    let chip = "const box = document.querySelector('#filter [name=mark]'); box.click(); \
                const shown = [...document.querySelectorAll('details.clause:not([hidden])')]; \
                return shown.length > 0 && shown.every((one) => one.dataset.marks.split(' ').includes(box.value));";
    expect(
        execute(window, chip).await? == Value::Bool(true),
        "a verdict does not filter",
    );

    // A link to a clause opens it, whatever the filter.
    let id = "return [...document.querySelectorAll('details.clause')].at(-1).id;";
    let id = execute(window, id).await?;
    let id = id.as_str().unwrap_or_default();
    window.goto(format!("{pages}/{name}.html#{id}")).await?;
    let open = "return document.getElementById(decodeURIComponent(location.hash.slice(1))).open;";
    expect(
        execute(window, open).await? == Value::Bool(true),
        "a link does not open its clause",
    );
    let title = window.title().await?;
    expect(
        title.starts_with("Conformance of "),
        "the page's title was changed by an answer",
    );
    Ok(wrong)
}

/// Checks that a page without its script is complete and its clauses are open.
async fn without_scripts(
    browser: &Browser,
    window: &WebDriver,
    name: &str,
) -> WebDriverResult<Vec<String>> {
    let script = "const page = document.querySelector('iframe').contentDocument; \
        const clauses = [...page.querySelectorAll('details.clause')]; \
        const wrong = []; \
        if (clauses.length < 100 || clauses.some((one) => one.hidden)) wrong.push('clauses are missing without scripts'); \
        if (!page.getElementById('filter').hidden) wrong.push('a filter that does nothing is shown'); \
        clauses[0].querySelector('summary').click(); \
        if (!clauses[0].open) wrong.push('nothing opens without scripts'); \
        clauses[0].scrollIntoView(); \
        return wrong;";
    let found = sentences(&execute(window, script).await?);
    browser
        .shot(window, &format!("{name}-without-scripts"))
        .await?;
    Ok(found)
}
