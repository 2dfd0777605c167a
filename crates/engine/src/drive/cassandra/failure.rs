//! What the driver's errors mean for a measurement.

use scylla::errors::{
    BrokenConnectionError, BrokenConnectionErrorKind, ConnectionError, ConnectionPoolError,
    ConnectionSetupRequestErrorKind, DbError, ExecutionError, FrameHeaderParseError, MetadataError,
    NewSessionError, PrepareError, RequestAttemptError,
};

use crate::drive::secure::Login;
use crate::drive::{Failure, Fault};

/// How Cassandra begins what it says when it cannot look a user up now, as while it starts.
const NOT_NOW: [&str; 2] = [
    "Unable to perform authentication",
    "Error during authentication",
];

/// Of connecting to the member that messages tell as `told`.
pub fn of_connecting(error: &NewSessionError, told: &str, login: Option<&Login>) -> Failure {
    use ConnectionSetupRequestErrorKind::{DbError as Refused, MissingAuthentication};
    match (setup(error), login) {
        (Some(Refused(DbError::AuthenticationError, said)), Some(login)) => {
            let (user, remedy) = (login.user().unwrap_or_default(), login.remedy());
            let said = login.masked(said);
            let message = format!("{told} refuses the user `{user}`: {said}; {remedy}");
            if NOT_NOW.iter().any(|begin| said.starts_with(begin)) {
                Failure::new(Fault::Connection, message)
            } else {
                Failure::lasting(message)
            }
        }
        (Some(MissingAuthentication), _) => Failure::lasting(format!(
            "{told} lets in known users only; put the password into the variable \
             `DUNNAGE_PASSWORD`, and type: --user NAME"
        )),
        _ => Failure::new(Fault::Connection, error.to_string()),
    }
}

/// Why a member that was reached would not be spoken to, if it was reached.
fn setup(error: &NewSessionError) -> Option<&ConnectionSetupRequestErrorKind> {
    match last(error) {
        Some(ConnectionError::ConnectionSetupRequestError(error)) => Some(error.get_error()),
        _ => None,
    }
}

/// Why the last connection that was tried could not be made or used, if that is why.
fn last(error: &NewSessionError) -> Option<&ConnectionError> {
    match error {
        NewSessionError::MetadataError(MetadataError::ConnectionPoolError(
            ConnectionPoolError::Broken {
                last_connection_error,
            },
        )) => Some(last_connection_error),
        _ => None,
    }
}

/// Whether a member was reached, and the connection broke before anything was answered.
pub fn broke(error: &NewSessionError) -> bool {
    use ConnectionSetupRequestErrorKind::BrokenConnection;
    matches!(last(error), Some(ConnectionError::BrokenConnection(_)))
        || matches!(setup(error), Some(BrokenConnection(_)))
}

/// Of a member that speaks TLS only, and was spoken to in the open.
pub fn of_the_open(told: &str) -> Failure {
    Failure::lasting(format!(
        "{told} speaks TLS, and ends connections in the open; type: --tls, or --tls-ca FILE where \
         this host does not trust its certificate"
    ))
}

/// Of one request.
pub fn of_execution(error: &ExecutionError) -> Failure {
    match error {
        ExecutionError::LastAttemptError(error) => of_attempt(error),
        ExecutionError::PrepareError(error) => of_preparation(error),
        ExecutionError::EmptyPlan | ExecutionError::ConnectionPoolError(_) => {
            Failure::new(Fault::Connection, error.to_string())
        }
        _ => Failure::new(Fault::Protocol, error.to_string()),
    }
}

/// Of preparing a statement.
pub fn of_preparation(error: &PrepareError) -> Failure {
    match error {
        PrepareError::AllAttemptsFailed { first_attempt } => of_attempt(first_attempt),
        PrepareError::ConnectionPoolError(_) => Failure::new(Fault::Connection, error.to_string()),
        _ => Failure::new(Fault::Protocol, error.to_string()),
    }
}

fn of_attempt(error: &RequestAttemptError) -> Failure {
    match error {
        RequestAttemptError::DbError(error, message) => Failure {
            lasting: matches!(
                error,
                DbError::SyntaxError | DbError::ConfigError | DbError::Unauthorized
            ),
            ..Failure::new(of_server(error), message)
        },
        RequestAttemptError::BrokenConnectionError(broken) => {
            Failure::new(of_break(broken), told(broken))
        }
        RequestAttemptError::UnableToAllocStreamId => {
            Failure::new(Fault::Connection, error.to_string())
        }
        _ => Failure::new(Fault::Protocol, error.to_string()),
    }
}

/// What is said of a connection that broke.
fn told(error: &BrokenConnectionError) -> String {
    match error.downcast_ref::<BrokenConnectionErrorKind>() {
        Some(BrokenConnectionErrorKind::TooManyOrphanedStreamIds(given_up)) => format!(
            "{given_up} operations on one connection were given up over a second ago and are not \
             answered yet, so the driver ended it; ask for a longer `timeout`, or for fewer clients"
        ),
        _ => error.to_string(),
    }
}

/// The driver ends a connection by itself when what came on it makes no sense.
fn of_break(error: &BrokenConnectionError) -> Fault {
    let senseless = match error.downcast_ref::<BrokenConnectionErrorKind>() {
        Some(BrokenConnectionErrorKind::UnexpectedStreamId(_)) => true,
        Some(BrokenConnectionErrorKind::FrameHeaderParseError(error)) => !matches!(
            error,
            FrameHeaderParseError::HeaderIoError(_)
                | FrameHeaderParseError::BodyChunkIoError(..)
                | FrameHeaderParseError::ConnectionClosed(..)
        ),
        _ => false,
    };
    if senseless {
        Fault::Protocol
    } else {
        Fault::Connection
    }
}

/// A member that waited in vain for others tells of a time-out, too.
fn of_server(error: &DbError) -> Fault {
    match error {
        DbError::Unavailable { .. } => Fault::Unavailable,
        DbError::ReadTimeout { .. } | DbError::WriteTimeout { .. } => Fault::Timeout,
        _ => Fault::Server,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scylla::errors::WriteType;
    use scylla::statement::Consistency;

    fn answered(error: DbError) -> Failure {
        let attempt = RequestAttemptError::DbError(error, "as it says".to_owned());
        of_execution(&ExecutionError::LastAttemptError(attempt))
    }

    #[test]
    fn errors_of_the_server_are_told_apart_and_keep_its_words() {
        let unavailable = DbError::Unavailable {
            consistency: Consistency::Quorum,
            required: 2,
            alive: 1,
        };
        assert_eq!(
            answered(unavailable),
            Failure::new(Fault::Unavailable, "as it says")
        );
        let timeout = DbError::WriteTimeout {
            consistency: Consistency::Quorum,
            received: 1,
            required: 2,
            write_type: WriteType::Simple,
        };
        assert_eq!(answered(timeout).fault, Fault::Timeout);
        let overloaded = answered(DbError::Overloaded);
        assert_eq!(
            (overloaded.fault, overloaded.lasting),
            (Fault::Server, false)
        );
        assert!(answered(DbError::ConfigError).lasting);
    }

    #[test]
    fn a_connection_that_ended_because_too_much_was_given_up_says_so() {
        let kind = BrokenConnectionErrorKind::TooManyOrphanedStreamIds(1025);
        let attempt = RequestAttemptError::BrokenConnectionError(kind.into());
        let failure = of_execution(&ExecutionError::LastAttemptError(attempt));
        assert_eq!(failure.fault, Fault::Connection);
        assert!(
            failure
                .message
                .starts_with("1025 operations on one connection were given up")
        );
    }

    #[test]
    fn what_makes_no_sense_is_told_from_a_connection_that_ended() {
        let fault = |kind: BrokenConnectionErrorKind| {
            let attempt = RequestAttemptError::BrokenConnectionError(kind.into());
            of_execution(&ExecutionError::LastAttemptError(attempt)).fault
        };
        let header = BrokenConnectionErrorKind::FrameHeaderParseError;
        let cut = || std::io::Error::from(std::io::ErrorKind::UnexpectedEof);
        for senseless in [
            header(FrameHeaderParseError::FrameFromClient),
            header(FrameHeaderParseError::VersionNotSupported(3)),
            BrokenConnectionErrorKind::UnexpectedStreamId(7),
        ] {
            assert_eq!(fault(senseless), Fault::Protocol);
        }
        for ended in [
            header(FrameHeaderParseError::HeaderIoError(cut())),
            header(FrameHeaderParseError::BodyChunkIoError(1, cut())),
            header(FrameHeaderParseError::ConnectionClosed(1, 2)),
            BrokenConnectionErrorKind::ChannelError,
        ] {
            assert_eq!(fault(ended), Fault::Connection);
        }
    }

    #[test]
    fn nobody_to_ask_is_a_failure_of_the_connection() {
        let fault = |error| of_execution(&error).fault;
        assert_eq!(fault(ExecutionError::EmptyPlan), Fault::Connection);
        let attempt = RequestAttemptError::UnableToAllocStreamId;
        assert_eq!(
            fault(ExecutionError::LastAttemptError(attempt)),
            Fault::Connection
        );
    }
}
