//! One connection to one server, and one request on it at a time.

use std::collections::HashMap;

use scylla_cql::Consistency;
use scylla_cql::frame::protocol_features::ProtocolFeatures;
use scylla_cql::frame::request::SerializableRequest;
use scylla_cql::frame::request::query::{Query, QueryParameters};
use scylla_cql::frame::request::startup::Startup;
use scylla_cql::frame::response::Response;
use scylla_cql::frame::response::result::Result as Outcome;
use scylla_cql::frame::{SerializedRequest, parse_response_body_extensions, read_response_frame};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use wire::answer::Answer;

use super::said;
use super::value::answer;
use crate::drive::resolve::resolve;

/// A connection that has said hello.
pub struct Link {
    stream: TcpStream,
}

impl Link {
    /// Connect to `host:port`; the error says what came instead of a connection.
    pub async fn open(address: &str) -> Result<Self, String> {
        let remote = resolve(address).await.map_err(|failure| failure.message)?;
        let stream = TcpStream::connect(remote).await.map_err(said)?;
        let mut link = Self { stream };
        let options = HashMap::from([("CQL_VERSION".into(), "3.0.0".into())]);
        match link.exchange(&Startup { options }).await? {
            Response::Ready => Ok(link),
            Response::Authenticate(_) => Err("the server asks for a password".to_owned()),
            other => Err(unexpected(&other)),
        }
    }

    /// What the server answers to a statement.
    pub async fn query(&mut self, statement: &str) -> Result<Answer, String> {
        let query = Query {
            contents: statement.into(),
            parameters: QueryParameters {
                consistency: Consistency::One,
                ..QueryParameters::default()
            },
        };
        match self.exchange(&query).await? {
            Response::Result(Outcome::Rows((rows, _))) => answer(rows),
            Response::Result(_) => Ok(Answer::default()),
            other => Err(unexpected(&other)),
        }
    }

    async fn exchange(&mut self, request: &impl SerializableRequest) -> Result<Response, String> {
        let frame = SerializedRequest::make(request, None, false).map_err(said)?;
        self.stream
            .write_all(frame.get_data())
            .await
            .map_err(said)?;
        let (head, kind, body) = read_response_frame(&mut self.stream).await.map_err(said)?;
        let body = parse_response_body_extensions(head.flags, None, body).map_err(said)?;
        match Response::deserialize(&ProtocolFeatures::default(), kind, body.body, None) {
            Ok(Response::Error(error)) => Err(error.reason),
            other => other.map_err(said),
        }
    }
}

fn unexpected(response: &Response) -> String {
    let kind = response.to_response_kind();
    format!("the server answered with `{kind}`, which does not answer this request")
}
