//! What the driver's errors mean for a measurement.

use scylla::errors::{
    BrokenConnectionError, BrokenConnectionErrorKind, DbError, ExecutionError,
    FrameHeaderParseError, PrepareError, RequestAttemptError,
};

use crate::drive::{Failure, Fault};

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
        RequestAttemptError::DbError(error, message) => Failure::new(of_server(error), message),
        RequestAttemptError::BrokenConnectionError(broken) => {
            Failure::new(of_break(broken), error.to_string())
        }
        RequestAttemptError::UnableToAllocStreamId => {
            Failure::new(Fault::Connection, error.to_string())
        }
        _ => Failure::new(Fault::Protocol, error.to_string()),
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

    fn told(error: DbError) -> Failure {
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
            told(unavailable),
            Failure::new(Fault::Unavailable, "as it says")
        );
        let timeout = DbError::WriteTimeout {
            consistency: Consistency::Quorum,
            received: 1,
            required: 2,
            write_type: WriteType::Simple,
        };
        assert_eq!(told(timeout).fault, Fault::Timeout);
        assert_eq!(told(DbError::Overloaded).fault, Fault::Server);
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
