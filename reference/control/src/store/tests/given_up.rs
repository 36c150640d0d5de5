//! Cancelled transactions.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

use sqlx::Executor as _;

use super::*;

/// Returns the result of a future, or `None` when it is dropped after a number of polls.
async fn given_up_after<T>(times: usize, future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    let mut remaining = times;
    let polled = poll_fn(move |context| match future.as_mut().poll(context) {
        Poll::Ready(result) => Poll::Ready(Some(result)),
        Poll::Pending => {
            remaining = remaining.saturating_sub(1);
            if remaining == 0 {
                return Poll::Ready(None);
            }
            Poll::Pending
        }
    });
    polled.await
}

#[tokio::test]
async fn what_is_given_up_leaves_no_transaction_open() -> Tested {
    for database in TestDatabase::all("gave_up").await? {
        let store = database.store().await?;
        let mut dropped = 0;
        for times in (1..8).cycle().take(70) {
            let begun = given_up_after(times, store.begin()).await;
            dropped += usize::from(begun.is_none());
            drop(begun);
            // If that transaction is still open, a different kind cannot begin after a query.
            let mut connections = Vec::new();
            for _ in 0..store.reader().options().get_max_connections() {
                connections.push(store.reader().acquire().await?);
            }
            for mut connection in connections {
                connection.execute("SELECT id FROM resources").await?;
            }
            for _ in 0..store.reader().size() {
                store.begin_read().await?.rollback().await?;
            }
            store.begin().await?.rollback().await?;
        }
        assert!(dropped > 0, "no transaction was given up");
    }
    Ok(())
}
