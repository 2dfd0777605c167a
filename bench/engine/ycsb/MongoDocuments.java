import com.mongodb.ConnectionString;
import com.mongodb.MongoException;
import com.mongodb.client.FindIterable;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.Vector;
import org.bson.Document;
import org.bson.types.Binary;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.Status;

/**
 * MongoDB as YCSB's own binding keeps it, by the same driver: a document for each record, its key
 * in `_id` and its fields as binary data. All threads share one client. Property: `mongodb.url`,
 * which names the database.
 */
public class MongoDocuments extends DB {
  private static MongoClient client;
  private static MongoCollection<Document> records;
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
    ConnectionString url = new ConnectionString(properties.getProperty("mongodb.url"));
    client = MongoClients.create(url);
    String table = properties.getProperty("table", "usertable");
    records = client.getDatabase(url.getDatabase()).getCollection(table);
  }

  private static synchronized void leave() {
    users--;
    if (users == 0) {
      client.close();
    }
  }

  @Override
  public Status read(String table, String key, Set<String> fields,
      Map<String, ByteIterator> result) {
    try {
      Document found = asked(records.find(new Document("_id", key)), fields).first();
      if (found == null) {
        return Status.NOT_FOUND;
      }
      fill(result, found);
      return Status.OK;
    } catch (MongoException error) {
      return failed(error);
    }
  }

  @Override
  public Status scan(String table, String first, int most, Set<String> fields,
      Vector<HashMap<String, ByteIterator>> result) {
    Document range = new Document("_id", new Document("$gte", first));
    try {
      FindIterable<Document> scan =
          records.find(range).sort(new Document("_id", 1)).limit(most);
      for (Document found : asked(scan, fields)) {
        HashMap<String, ByteIterator> record = new HashMap<>();
        fill(record, found);
        if (record.isEmpty()) {
          return Status.UNEXPECTED_STATE;
        }
        result.add(record);
      }
      return result.isEmpty() ? Status.NOT_FOUND : Status.OK;
    } catch (MongoException error) {
      return failed(error);
    }
  }

  @Override
  public Status update(String table, String key, Map<String, ByteIterator> values) {
    Document change = new Document("$set", fields(values));
    try {
      long found = records.updateOne(new Document("_id", key), change).getMatchedCount();
      return found == 0 ? Status.NOT_FOUND : Status.OK;
    } catch (MongoException error) {
      return failed(error);
    }
  }

  @Override
  public Status insert(String table, String key, Map<String, ByteIterator> values) {
    Document record = new Document("_id", key);
    record.putAll(fields(values));
    try {
      records.insertOne(record);
      return Status.OK;
    } catch (MongoException error) {
      return failed(error);
    }
  }

  @Override
  public Status delete(String table, String key) {
    return Status.NOT_IMPLEMENTED;
  }

  /** With the fields that are asked for; null asks for all. */
  private static FindIterable<Document> asked(FindIterable<Document> found, Set<String> fields) {
    if (fields == null) {
      return found;
    }
    Document names = new Document();
    fields.forEach(name -> names.put(name, 1));
    return found.projection(names);
  }

  private static Document fields(Map<String, ByteIterator> values) {
    Document fields = new Document();
    values.forEach((name, value) -> fields.put(name, value.toArray()));
    return fields;
  }

  private static void fill(Map<String, ByteIterator> result, Document found) {
    found.forEach((name, value) -> {
      if (value instanceof Binary data) {
        result.put(name, new ByteArrayByteIterator(data.getData()));
      }
    });
  }

  private static Status failed(MongoException error) {
    error.printStackTrace();
    return Status.ERROR;
  }
}
