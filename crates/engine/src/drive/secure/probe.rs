//! Whether a server speaks TLS: asked where a connection in the open broke.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use rustls::Error;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use wire::load::Tls;

use super::trust;

/// A server that speaks TLS answers a greeting sooner.
const LONGEST: Duration = Duration::from_secs(1);

/// Whether the server at `remote`, which `host` was resolved to, answers a greeting of TLS, even if
/// it then refuses the client. Nothing else is said to it.
pub async fn speaks_tls(host: &str, remote: SocketAddr) -> bool {
    let any = Tls {
        authority: None,
        name: None,
        insecure: true,
    };
    let (Ok(demanded), Ok(name)) = (trust::configuration(&any, &[]), trust::name(host)) else {
        return false;
    };
    let greeting = async {
        let stream = TcpStream::connect(remote).await?;
        let connector = TlsConnector::from(Arc::new(demanded));
        connector.connect(name, stream).await.map(drop)
    };
    match timeout(LONGEST, greeting).await {
        Ok(Ok(())) => true,
        Ok(Err(error)) => answered(&error),
        Err(_) => false,
    }
}

/// Whether a handshake failed by words of TLS.
fn answered(error: &io::Error) -> bool {
    let error = error.get_ref().and_then(|error| error.downcast_ref());
    matches!(
        error,
        Some(Error::AlertReceived(_) | Error::PeerIncompatible(_))
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    /// Whether a server that answers a greeting so speaks TLS.
    fn spoken(answer: &'static [u8]) -> bool {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        let runtime = builder.enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let server = async {
                let (mut stream, _) = listener.accept().await.unwrap();
                let mut heard = [0; 1024];
                assert!(stream.read(&mut heard).await.unwrap() > 0);
                stream.write_all(answer).await.unwrap();
                // Closed in both directions, so that the answer is read before the end.
                stream.shutdown().await.unwrap();
                while stream.read(&mut heard).await.is_ok_and(|length| length > 0) {}
            };
            tokio::join!(speaks_tls("localhost", address), server).0
        })
    }

    #[test]
    fn who_answers_by_an_alert_of_tls_speaks_it_and_nobody_else() {
        // A fatal alert of version 1.2: the handshake failed.
        assert!(spoken(&[21, 3, 3, 0, 2, 2, 40]));
        assert!(!spoken(b"HTTP/1.1 400 Bad Request\r\n\r\n"));
        assert!(!spoken(b""));
    }
}
