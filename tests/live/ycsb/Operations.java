import java.io.IOException;
import java.io.PrintWriter;
import java.io.Reader;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.StringJoiner;
import java.util.Vector;
import java.util.stream.Collectors;
import site.ycsb.ByteIterator;
import site.ycsb.Client;
import site.ycsb.DB;
import site.ycsb.Status;
import site.ycsb.WorkloadException;
import site.ycsb.measurements.Measurements;
import site.ycsb.workloads.CoreWorkload;

/**
 * Prints what YCSB's core workload does, in the form of `dunnage-engine operations`: a line for
 * each operation, with tabs between its type, its key, the records of a scan, what it reads (`*`:
 * all fields without their names), the fields that it writes, the lengths of their values and, of
 * a load phase, the values in hexadecimal.
 *
 * <p>For each `NAME.properties` of the directory that is named it leaves `NAME.operations`, and for
 * each `NAME.script` a `NAME.replayed`. All in one process, because Java starts slowly.
 */
public final class Operations {
  private Operations() {
  }

  public static void main(String[] arguments) throws IOException, WorkloadException {
    Measurements.setProperties(new Properties());
    Path directory = Path.of(arguments[0]);
    for (Path file : files(directory, ".properties")) {
      Properties properties = new Properties();
      try (Reader text = Files.newBufferedReader(file)) {
        properties.load(text);
      }
      Path to = beside(file, ".operations");
      try (PrintWriter out = new PrintWriter(Files.newBufferedWriter(to))) {
        carryOut(properties, out);
      }
    }
    for (Path file : files(directory, ".script")) {
      Files.write(beside(file, ".replayed"), Acknowledgements.replayed(Files.readAllLines(file)));
    }
  }

  private static List<Path> files(Path directory, String ending) throws IOException {
    try (DirectoryStream<Path> found = Files.newDirectoryStream(directory, "*" + ending)) {
      List<Path> files = new ArrayList<>();
      found.forEach(files::add);
      return files;
    }
  }

  private static Path beside(Path file, String ending) {
    String name = file.getFileName().toString();
    return file.resolveSibling(name.substring(0, name.lastIndexOf('.')) + ending);
  }

  /** As many operations as YCSB's client makes with one thread. */
  private static void carryOut(Properties properties, PrintWriter out) throws WorkloadException {
    boolean run = Boolean.parseBoolean(
        properties.getProperty(Client.DO_TRANSACTIONS_PROPERTY, "true"));
    String records = properties.getProperty(Client.RECORD_COUNT_PROPERTY);
    String count = run
        ? properties.getProperty(Client.OPERATION_COUNT_PROPERTY)
        : properties.getProperty(Client.INSERT_COUNT_PROPERTY, records);
    Recorder recorder = new Recorder(out, !run);
    CoreWorkload workload = new Joined(recorder);
    workload.init(properties);
    for (int left = Integer.parseInt(count); left > 0; left--) {
      if (run) {
        workload.doTransaction(recorder, null);
      } else {
        workload.doInsert(recorder, null);
      }
    }
  }

  /** Tells the recorder which read and which update belong together. */
  private static final class Joined extends CoreWorkload {
    private final Recorder recorder;

    Joined(Recorder recorder) {
      this.recorder = recorder;
    }

    @Override
    public void doTransactionReadModifyWrite(DB db) {
      recorder.joined = true;
      super.doTransactionReadModifyWrite(db);
      recorder.joined = false;
    }
  }

  /** A database that keeps nothing and prints what it is asked. */
  private static final class Recorder extends DB {
    private static final String NONE = "-";
    private static final Comparator<String> BY_NUMBER =
        Comparator.comparingInt(String::length).thenComparing(Comparator.naturalOrder());

    private final PrintWriter out;
    private final boolean values;
    /** Whether a read belongs to the update that follows. */
    private boolean joined;
    private String read = NONE;

    Recorder(PrintWriter out, boolean values) {
      this.out = out;
      this.values = values;
    }

    @Override
    public Status read(String table, String key, Set<String> fields,
        Map<String, ByteIterator> result) {
      read = asked(fields);
      return joined ? Status.OK : tell("read", key, NONE, read, Map.of());
    }

    @Override
    public Status scan(String table, String first, int records, Set<String> fields,
        Vector<HashMap<String, ByteIterator>> result) {
      return tell("scan", first, String.valueOf(records), asked(fields), Map.of());
    }

    @Override
    public Status update(String table, String key, Map<String, ByteIterator> written) {
      return joined
          ? tell("read-modify-write", key, NONE, read, written)
          : tell("update", key, NONE, NONE, written);
    }

    @Override
    public Status insert(String table, String key, Map<String, ByteIterator> written) {
      return tell("insert", key, NONE, NONE, written);
    }

    @Override
    public Status delete(String table, String key) {
      return Status.NOT_IMPLEMENTED;
    }

    private Status tell(String type, String key, String records, String reads,
        Map<String, ByteIterator> written) {
      List<String> names = written.keySet().stream().sorted(BY_NUMBER).toList();
      StringJoiner line = new StringJoiner("\t").add(type).add(key).add(records).add(reads);
      line.add(listed(names));
      line.add(listed(names.stream()
          .map(name -> String.valueOf(written.get(name).bytesLeft())).toList()));
      if (values) {
        line.add(listed(names.stream()
            .map(name -> HexFormat.of().formatHex(written.get(name).toArray())).toList()));
      }
      out.print(line + "\n");
      return Status.OK;
    }

    private static String asked(Set<String> fields) {
      return fields == null
          ? "*"
          : fields.stream().sorted(BY_NUMBER).collect(Collectors.joining(","));
    }

    private static String listed(Collection<String> items) {
      return items.isEmpty() ? NONE : String.join(",", items);
    }
  }
}
