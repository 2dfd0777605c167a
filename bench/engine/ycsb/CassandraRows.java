import com.datastax.driver.core.Cluster;
import com.datastax.driver.core.ColumnDefinitions;
import com.datastax.driver.core.PreparedStatement;
import com.datastax.driver.core.Row;
import com.datastax.driver.core.Session;
import com.datastax.driver.core.SocketOptions;
import com.datastax.driver.core.exceptions.DriverException;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.Vector;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;
import site.ycsb.Status;

/**
 * Cassandra as YCSB's own binding keeps it, by the same driver: a row for each record, its key in
 * `y_id` and its fields in columns of text. Statements are known by their fields. All threads share one
 * session. Properties: `hosts` (one
 * of them) and `cassandra.keyspace`.
 */
public class CassandraRows extends SharedSession {
  private static final int PATIENCE_MILLIS = 60_000;
  private static final String KEY = "y_id";

  private static final Map<Set<String>, PreparedStatement> READS = new ConcurrentHashMap<>();
  private static final Map<Set<String>, PreparedStatement> SCANS = new ConcurrentHashMap<>();
  private static final Map<Set<String>, PreparedStatement> UPDATES = new ConcurrentHashMap<>();
  private static final Map<Set<String>, PreparedStatement> INSERTS = new ConcurrentHashMap<>();
  private static Cluster cluster;
  private static Session session;

  @Override
  void connect(Properties properties) {
    SocketOptions patient = new SocketOptions()
        .setConnectTimeoutMillis(PATIENCE_MILLIS)
        .setReadTimeoutMillis(PATIENCE_MILLIS);
    cluster = Cluster.builder()
        .addContactPoint(properties.getProperty("hosts"))
        .withSocketOptions(patient)
        .withoutMetrics()
        .withoutJMXReporting()
        .build();
    session = cluster.connect(properties.getProperty("cassandra.keyspace"));
  }

  @Override
  void disconnect() {
    READS.clear();
    SCANS.clear();
    UPDATES.clear();
    INSERTS.clear();
    cluster.close();
  }

  @Override
  public Status read(String table, String key, Set<String> fields,
      Map<String, ByteIterator> result) {
    try {
      PreparedStatement statement = prepared(READS, fields,
          names -> select(table, names) + " WHERE y_id = ? LIMIT 1");
      Row found = session.execute(statement.bind(key)).one();
      if (found == null) {
        return Status.NOT_FOUND;
      }
      fill(result, found);
      return Status.OK;
    } catch (DriverException error) {
      return failed(error);
    }
  }

  @Override
  public Status scan(String table, String first, int most, Set<String> fields,
      Vector<HashMap<String, ByteIterator>> result) {
    try {
      PreparedStatement statement = prepared(SCANS, fields,
          names -> select(table, names) + " WHERE token(y_id) >= token(?) LIMIT ?");
      for (Row found : session.execute(statement.bind(first, most))) {
        HashMap<String, ByteIterator> record = new HashMap<>();
        fill(record, found);
        result.add(record);
      }
      return result.isEmpty() ? Status.NOT_FOUND : Status.OK;
    } catch (DriverException error) {
      return failed(error);
    }
  }

  @Override
  public Status update(String table, String key, Map<String, ByteIterator> values) {
    try {
      write(prepared(UPDATES, values.keySet(), names -> "UPDATE " + table + " SET "
          + names.stream().map(name -> name + " = ?").collect(Collectors.joining(", "))
          + " WHERE y_id = ?"), key, values);
      return Status.OK;
    } catch (DriverException error) {
      return failed(error);
    }
  }

  @Override
  public Status insert(String table, String key, Map<String, ByteIterator> values) {
    try {
      write(prepared(INSERTS, values.keySet(), names -> "INSERT INTO " + table + " (" + KEY + ", "
          + String.join(", ", names) + ") VALUES (?" + ", ?".repeat(names.size()) + ")"),
          key, values);
      return Status.OK;
    } catch (DriverException error) {
      return failed(error);
    }
  }

  private static String select(String table, Set<String> fields) {
    return "SELECT " + (fields.isEmpty() ? "*" : String.join(", ", fields)) + " FROM " + table;
  }

  /** The statement for some fields; for all of them where none are named. */
  private static PreparedStatement prepared(Map<Set<String>, PreparedStatement> known,
      Set<String> fields, Function<Set<String>, String> text) {
    Set<String> named = fields == null ? Set.of() : fields;
    PreparedStatement statement = known.get(named);
    if (statement == null) {
      statement = session.prepare(text.apply(named));
      known.put(new HashSet<>(named), statement);
    }
    return statement;
  }

  private static void write(PreparedStatement statement, String key,
      Map<String, ByteIterator> values) {
    ColumnDefinitions columns = statement.getVariables();
    Object[] written = new Object[columns.size()];
    for (int number = 0; number < written.length; number++) {
      String name = columns.getName(number);
      written[number] = name.equals(KEY) ? key : values.get(name).toString();
    }
    session.execute(statement.bind(written));
  }

  private static void fill(Map<String, ByteIterator> result, Row found) {
    for (ColumnDefinitions.Definition column : found.getColumnDefinitions()) {
      ByteBuffer value = found.getBytesUnsafe(column.getName());
      if (value != null) {
        int begin = value.arrayOffset() + value.position();
        result.put(column.getName(),
            new ByteArrayByteIterator(value.array(), begin, value.remaining()));
      }
    }
  }
}
