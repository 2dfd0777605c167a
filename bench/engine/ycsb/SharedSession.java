import java.util.Properties;
import site.ycsb.DB;
import site.ycsb.DBException;
import site.ycsb.Status;

/** A database of which all threads share one session: the first makes it, the last ends it. */
abstract class SharedSession extends DB {
  private static int users;

  /** Makes the session that all threads share. */
  abstract void connect(Properties properties);

  /** Ends it. */
  abstract void disconnect();

  @Override
  public void init() throws DBException {
    synchronized (SharedSession.class) {
      if (users == 0) {
        connect(getProperties());
      }
      users++;
    }
  }

  @Override
  public void cleanup() throws DBException {
    synchronized (SharedSession.class) {
      if (users > 0 && --users == 0) {
        disconnect();
      }
    }
  }

  @Override
  public Status delete(String table, String key) {
    return Status.NOT_IMPLEMENTED;
  }

  /** Tells of an operation that failed, and that it did. */
  static Status failed(RuntimeException error) {
    error.printStackTrace();
    return Status.ERROR;
  }
}
