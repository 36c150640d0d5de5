//! Tries pages of the HTML report in a real browser and says what is wrong with them, a line each.
//!
//! `browser DRIVER PAGES SHOTS`: the addresses of the browser's driver and of the pages, and the
//! folder for the screenshots.

mod audit;
mod browser;

use std::error::Error;
use std::path::Path;

use browser::{Browser, Look};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [driver, pages, shots] = arguments.as_slice() else {
        return Err("browser DRIVER PAGES SHOTS".into());
    };
    for look in Look::ALL {
        let browser = Browser::new(look, driver, Path::new(shots));
        for what in audit::all(&browser, pages).await? {
            println!("{look}: {what}");
        }
    }
    Ok(())
}
