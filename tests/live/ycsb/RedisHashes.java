import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.Vector;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.DBException;
import site.ycsb.Status;

/**
 * Redis as YCSB's own binding keeps it: a hash for each record, and beside them the sorted set
 * `_indices` of all keys, by Java's hash code of each. Properties: `redis.host`, `redis.port`.
 */
public class RedisHashes extends DB {
  private static final String INDEX = "_indices";

  private Socket connection;
  private InputStream answers;
  private OutputStream requests;

  @Override
  public void init() throws DBException {
    String host = getProperties().getProperty("redis.host");
    int port = Integer.parseInt(getProperties().getProperty("redis.port"));
    try {
      connection = new Socket(host, port);
      connection.setTcpNoDelay(true);
      answers = new BufferedInputStream(connection.getInputStream());
      requests = new BufferedOutputStream(connection.getOutputStream());
    } catch (IOException error) {
      throw new DBException(error);
    }
  }

  @Override
  public void cleanup() throws DBException {
    try {
      connection.close();
    } catch (IOException error) {
      throw new DBException(error);
    }
  }

  @Override
  public Status read(String table, String key, Set<String> fields,
      Map<String, ByteIterator> result) {
    try {
      hash(key, fields, result);
      return result.isEmpty() ? Status.ERROR : Status.OK;
    } catch (IOException error) {
      return failed(error);
    }
  }

  @Override
  public Status scan(String table, String first, int records, Set<String> fields,
      Vector<HashMap<String, ByteIterator>> result) {
    try {
      Object keys = ask("ZRANGEBYSCORE", INDEX, score(first), "+inf", "LIMIT", "0",
          String.valueOf(records));
      for (Object key : (List<?>) keys) {
        HashMap<String, ByteIterator> record = new HashMap<>();
        hash(new String((byte[]) key), fields, record);
        if (record.isEmpty()) {
          return Status.NOT_FOUND;
        }
        result.add(record);
      }
      return result.isEmpty() ? Status.NOT_FOUND : Status.OK;
    } catch (IOException error) {
      return failed(error);
    }
  }

  @Override
  public Status update(String table, String key, Map<String, ByteIterator> values) {
    try {
      return write(key, values);
    } catch (IOException error) {
      return failed(error);
    }
  }

  @Override
  public Status insert(String table, String key, Map<String, ByteIterator> values) {
    try {
      Status written = write(key, values);
      ask("ZADD", INDEX, score(key), key);
      return written;
    } catch (IOException error) {
      return failed(error);
    }
  }

  @Override
  public Status delete(String table, String key) {
    return Status.NOT_IMPLEMENTED;
  }

  private Status write(String key, Map<String, ByteIterator> values) throws IOException {
    List<Object> words = new ArrayList<>(List.of("HMSET", key));
    values.forEach((name, value) -> {
      words.add(name);
      words.add(value.toArray());
    });
    return "OK".equals(ask(words.toArray())) ? Status.OK : Status.UNEXPECTED_STATE;
  }

  /** Adds the fields of a record that are there. */
  private void hash(String key, Set<String> fields, Map<String, ByteIterator> result)
      throws IOException {
    if (fields == null) {
      List<?> pairs = (List<?>) ask("HGETALL", key);
      for (int at = 0; at < pairs.size(); at += 2) {
        String name = new String((byte[]) pairs.get(at));
        result.put(name, new ByteArrayByteIterator((byte[]) pairs.get(at + 1)));
      }
      return;
    }
    List<String> names = List.copyOf(fields);
    List<Object> words = new ArrayList<>(List.of("HMGET", key));
    words.addAll(names);
    List<?> found = (List<?>) ask(words.toArray());
    for (int at = 0; at < names.size(); at++) {
      if (found.get(at) != null) {
        result.put(names.get(at), new ByteArrayByteIterator((byte[]) found.get(at)));
      }
    }
  }

  private static String score(String key) {
    return String.valueOf((double) key.hashCode());
  }

  private static Status failed(IOException error) {
    error.printStackTrace();
    return Status.ERROR;
  }

  /** Sends a command of texts and bytes, and returns its answer. */
  private Object ask(Object... words) throws IOException {
    requests.write(("*" + words.length + "\r\n").getBytes());
    for (Object word : words) {
      byte[] bytes = word instanceof byte[] already ? already : ((String) word).getBytes();
      requests.write(("$" + bytes.length + "\r\n").getBytes());
      requests.write(bytes);
      requests.write("\r\n".getBytes());
    }
    requests.flush();
    return answer();
  }

  /** Text of a status, a number, bytes, a list of answers, or null. */
  private Object answer() throws IOException {
    String head = line();
    String rest = head.substring(1);
    switch (head.charAt(0)) {
      case '+':
        return rest;
      case ':':
        return Long.valueOf(rest);
      case '$':
        int length = Integer.parseInt(rest);
        if (length < 0) {
          return null;
        }
        byte[] bytes = answers.readNBytes(length);
        line();
        return bytes;
      case '*':
        List<Object> all = new ArrayList<>();
        for (int left = Integer.parseInt(rest); left > 0; left--) {
          all.add(answer());
        }
        return all;
      default:
        throw new IOException(head);
    }
  }

  private String line() throws IOException {
    StringBuilder line = new StringBuilder();
    for (int next = answers.read(); next != '\n'; next = answers.read()) {
      if (next < 0) {
        throw new IOException("the server closed the connection");
      }
      line.append((char) next);
    }
    line.setLength(line.length() - 1);
    return line.toString();
  }
}
