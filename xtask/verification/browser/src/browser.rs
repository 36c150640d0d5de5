//! Controls Chromium over WebDriver.

use std::fmt;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use thirtyfour::common::capabilities::chromium::ChromiumLikeCapabilities as _;
use thirtyfour::prelude::*;

/// Path of the executable of Debian's package `chromium`.
const CHROMIUM: &str = "/usr/bin/chromium";

/// Screen size and colour scheme of a page view.
#[derive(Debug, Clone, Copy)]
pub(super) struct Viewport {
    pub(super) phone: bool,
    pub(super) dark: bool,
}

impl Viewport {
    pub(super) const ALL: [Self; 4] = [
        Self {
            phone: false,
            dark: false,
        },
        Self {
            phone: false,
            dark: true,
        },
        Self {
            phone: true,
            dark: false,
        },
        Self {
            phone: true,
            dark: true,
        },
    ];
}

impl fmt::Display for Viewport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = if self.phone { "phone" } else { "desktop" };
        let scheme = if self.dark { "dark" } else { "light" };
        write!(out, "{width}-{scheme}")
    }
}

/// Browser whose windows have one viewport.
#[derive(Debug)]
pub(super) struct Browser {
    pub(super) viewport: Viewport,
    /// Address of the WebDriver server.
    driver: String,
    shots: PathBuf,
}

impl Browser {
    pub(super) fn new(viewport: Viewport, driver: &str, shots: &Path) -> Self {
        Self {
            viewport,
            driver: driver.to_owned(),
            shots: shots.to_owned(),
        }
    }

    /// Opens a browser window with the viewport.
    pub(super) async fn window(&self) -> WebDriverResult<WebDriver> {
        let mut capabilities = DesiredCapabilities::chrome();
        capabilities.set_binary(CHROMIUM)?;
        let scheme = u8::from(!self.viewport.dark);
        for argument in [
            "--headless=new",
            // The sandbox does not work for root in a container.
            "--no-sandbox",
            "--disable-dev-shm-usage",
            "--disable-gpu",
            "--hide-scrollbars",
            "--window-size=1280,900",
            &format!("--blink-settings=preferredColorScheme={scheme}"),
        ] {
            capabilities.add_arg(argument)?;
        }
        if self.viewport.phone {
            let screen = json!({ "width": 390, "height": 844, "pixelRatio": 2.0, "touch": true });
            capabilities
                .add_experimental_option("mobileEmulation", json!({ "deviceMetrics": screen }))?;
        }
        capabilities.set("goog:loggingPrefs", json!({ "browser": "ALL" }))?;
        WebDriver::new(&self.driver, capabilities).await
    }

    /// Saves a screenshot of the window.
    pub(super) async fn shot(&self, window: &WebDriver, name: &str) -> WebDriverResult<()> {
        let file = format!("{name}-{}.png", self.viewport);
        window.screenshot(&self.shots.join(file)).await
    }
}

/// Runs a script in the page and returns its result.
pub(super) async fn execute(window: &WebDriver, script: &str) -> WebDriverResult<Value> {
    Ok(window.execute(script, Vec::new()).await?.json().clone())
}
