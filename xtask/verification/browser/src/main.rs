//! Checks pages of the report or of the site in a real browser and prints the errors, one per line.
//!
//! `browser report DRIVER PAGES SHOTS`: pages of the HTML report; `browser site DRIVER PAGES SHOTS
//! PATH…`: these pages of the site. DRIVER and PAGES are the addresses of the browser's driver and
//! of the pages, SHOTS is the folder for the screenshots.

mod audit;
mod browser;
mod site;

use std::error::Error;
use std::path::Path;

use browser::{Browser, Viewport};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [what, driver, pages, shots, paths @ ..] = arguments.as_slice() else {
        return Err("browser report|site DRIVER PAGES SHOTS PATH…".into());
    };
    for viewport in Viewport::ALL {
        let browser = Browser::new(viewport, driver, Path::new(shots));
        let wrong = match what.as_str() {
            "site" => site::all(&browser, pages, paths).await?,
            _ => audit::all(&browser, pages).await?,
        };
        for what in wrong {
            println!("{viewport}: {what}");
        }
    }
    Ok(())
}
