import com.datastax.driver.core.Cluster;
import com.datastax.driver.core.ColumnDefinitions;
import com.datastax.driver.core.PreparedStatement;
import com.datastax.driver.core.ResultSet;
import com.datastax.driver.core.Row;
import com.datastax.driver.core.Session;
import com.datastax.driver.core.SocketOptions;
import com.datastax.driver.core.exceptions.DriverException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.Vector;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.Status;
import site.ycsb.StringByteIterator;

/**
 * Cassandra as YCSB's own binding keeps it, by the same driver: a row for each record, its key in
 * `y_id` and its fields in columns of text. All threads share one session. Properties: `hosts` (one
 * of them) and `cassandra.keyspace`.
 */
public class CassandraRows extends DB {
  private static final int PATIENCE_MILLIS = 60_000;

  private static final Map<String, PreparedStatement> PREPARED = new ConcurrentHashMap<>();
  private static Cluster cluster;
  private static Session session;
  private static int users;

  @Override
  public void init() {
    connect(getProperties());
  }

  @Override
  public void cleanup() {
    leave();
  }

  private static synchronized void connect(Properties properties) {
    users++;
    if (users > 1) {
      return;
    }
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

  private static synchronized void leave() {
    users--;
    if (users == 0) {
      PREPARED.clear();
      cluster.close();
    }
  }

  @Override
  public Status read(String table, String key, Set<String> fields,
      Map<String, ByteIterator> result) {
    try {
      String text = select(table, fields) + " WHERE y_id = ? LIMIT 1";
      Row found = execute(text, key).one();
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
      String text = select(table, fields) + " WHERE token(y_id) >= token(?) LIMIT ?";
      for (Row found : execute(text, first, most)) {
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
    List<String> names = List.copyOf(values.keySet());
    String changes = names.stream().map(name -> name + " = ?").collect(Collectors.joining(", "));
    List<Object> written = texts(names, values);
    written.add(key);
    try {
      execute("UPDATE " + table + " SET " + changes + " WHERE y_id = ?", written.toArray());
      return Status.OK;
    } catch (DriverException error) {
      return failed(error);
    }
  }

  @Override
  public Status insert(String table, String key, Map<String, ByteIterator> values) {
    List<String> names = List.copyOf(values.keySet());
    String columns = String.join(", ", names);
    String marks = ", ?".repeat(names.size());
    List<Object> written = texts(names, values);
    written.add(0, key);
    try {
      execute("INSERT INTO " + table + " (y_id, " + columns + ") VALUES (?" + marks + ")",
          written.toArray());
      return Status.OK;
    } catch (DriverException error) {
      return failed(error);
    }
  }

  @Override
  public Status delete(String table, String key) {
    return Status.NOT_IMPLEMENTED;
  }

  private static String select(String table, Set<String> fields) {
    return "SELECT " + (fields == null ? "*" : String.join(", ", fields)) + " FROM " + table;
  }

  private static ResultSet execute(String text, Object... values) {
    PreparedStatement statement = PREPARED.computeIfAbsent(text, session::prepare);
    return session.execute(statement.bind(values));
  }

  private static List<Object> texts(List<String> names, Map<String, ByteIterator> values) {
    List<Object> texts = new ArrayList<>();
    names.forEach(name -> texts.add(values.get(name).toString()));
    return texts;
  }

  private static void fill(Map<String, ByteIterator> result, Row found) {
    for (ColumnDefinitions.Definition column : found.getColumnDefinitions()) {
      String value = found.getString(column.getName());
      if (value != null) {
        result.put(column.getName(), new StringByteIterator(value));
      }
    }
  }

  private static Status failed(DriverException error) {
    error.printStackTrace();
    return Status.ERROR;
  }
}
