//! Connections, open or encrypted.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use rustls::pki_types::ServerName;
use rustls::{CertificateError, ClientConnection, Error};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use wire::load::{Target, Tls};

use super::trust;

/// Makes connections as a target demands them.
pub struct Connector {
    encryption: Option<Encryption>,
    /// How connections were encrypted so far.
    negotiated: RefCell<BTreeSet<String>>,
}

struct Encryption {
    connector: TlsConnector,
    /// What certificates must be for; None: the host that is connected to.
    name: Option<ServerName<'static>>,
    checked: bool,
}

impl Connector {
    /// The error is one sentence.
    pub fn of(target: &Target) -> Result<Self, String> {
        Ok(Self {
            encryption: target.tls.as_ref().map(Encryption::of).transpose()?,
            negotiated: RefCell::default(),
        })
    }

    /// Connect to `remote`, which `host` was resolved to.
    pub async fn connect(&self, host: &str, remote: SocketAddr) -> io::Result<Stream> {
        let stream = TcpStream::connect(remote).await?;
        stream.set_nodelay(true)?;
        let Some(encryption) = &self.encryption else {
            return Ok(Stream::Open(stream));
        };
        let name = match &encryption.name {
            Some(name) => name.clone(),
            None => trust::name(host).map_err(io::Error::other)?,
        };
        // Boxed: it is large, and would make the future of every operation larger.
        let connected = Box::pin(encryption.connector.connect(name, stream)).await;
        let stream = connected.map_err(|error| {
            let said = format!("no TLS with it: {error}{}", remedy(&error));
            io::Error::new(error.kind(), said)
        })?;
        let way = way(stream.get_ref().1, encryption.checked);
        self.negotiated.borrow_mut().insert(way);
        Ok(Stream::Encrypted(Box::new(stream)))
    }

    /// How connections were encrypted so far, as it was negotiated, each way once.
    pub fn negotiated(&self) -> Vec<String> {
        self.negotiated.borrow().iter().cloned().collect()
    }
}

impl Encryption {
    fn of(tls: &Tls) -> Result<Self, String> {
        Ok(Self {
            connector: TlsConnector::from(Arc::new(trust::configuration(tls, &[])?)),
            name: tls.name.as_deref().map(trust::name).transpose()?,
            checked: !tls.insecure,
        })
    }
}

/// What to type about a handshake that failed, where that is known.
fn remedy(error: &io::Error) -> &'static str {
    let error = error.get_ref().and_then(|error| error.downcast_ref());
    match error {
        Some(Error::InvalidCertificate(CertificateError::UnknownIssuer)) => {
            "; whoever signed its certificate must be trusted; type: --tls-ca FILE"
        }
        Some(Error::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        )) => "; a certificate for another name is taken by --tls-name NAME",
        Some(Error::InvalidMessage(_)) => "; a server that speaks no TLS is driven without --tls",
        _ => "",
    }
}

/// What was agreed on for a connection, in the words of the standards.
fn way(connection: &ClientConnection, checked: bool) -> String {
    let protocol = connection
        .protocol_version()
        .and_then(|version| version.as_str())
        .unwrap_or("unknown protocol")
        .replace('_', ".");
    let cipher = connection
        .negotiated_cipher_suite()
        .and_then(|suite| suite.suite().as_str())
        .unwrap_or("unknown cipher suite");
    let certificate = if checked { "checked" } else { "not checked" };
    format!("{protocol} {cipher}, certificate {certificate}")
}

/// One connection.
pub enum Stream {
    /// As it is.
    Open(TcpStream),
    /// By TLS.
    Encrypted(Box<TlsStream<TcpStream>>),
}

impl Stream {
    /// The address at the other end.
    pub fn remote(&self) -> Option<SocketAddr> {
        let stream = match self {
            Self::Open(stream) => stream,
            Self::Encrypted(stream) => stream.get_ref().0,
        };
        stream.peer_addr().ok()
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Open(stream) => Pin::new(stream).poll_read(context, buffer),
            Self::Encrypted(stream) => Pin::new(stream).poll_read(context, buffer),
        }
    }
}

/// What is written may wait inside until it is flushed.
impl AsyncWrite for Stream {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Open(stream) => Pin::new(stream).poll_write(context, bytes),
            Self::Encrypted(stream) => Pin::new(stream).poll_write(context, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Open(stream) => Pin::new(stream).poll_flush(context),
            Self::Encrypted(stream) => Pin::new(stream).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Open(stream) => Pin::new(stream).poll_shutdown(context),
            Self::Encrypted(stream) => Pin::new(stream).poll_shutdown(context),
        }
    }
}
