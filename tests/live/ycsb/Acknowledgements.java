import java.util.ArrayList;
import java.util.List;
import site.ycsb.generator.AcknowledgedCounterGenerator;

/** Has YCSB's counter of inserts do what a script says. */
final class Acknowledgements {
  private Acknowledgements() {
  }

  /**
   * The script with the counter's own numbers. Its lines are `begin N` (a counter that takes N
   * first), `take N` (N is inserted), `acknowledge N` (that insert is over) and `last N` (N is the
   * highest key that may be asked for).
   */
  static List<String> replayed(List<String> script) {
    List<String> told = new ArrayList<>();
    AcknowledgedCounterGenerator counter = null;
    for (String line : script) {
      String[] words = line.split(" ");
      long number = Long.parseLong(words[1]);
      switch (words[0]) {
        case "begin":
          counter = new AcknowledgedCounterGenerator(number);
          break;
        case "take":
          number = counter.nextValue();
          break;
        case "acknowledge":
          counter.acknowledge(number);
          break;
        case "last":
          number = counter.lastValue();
          break;
        default:
          throw new IllegalArgumentException(line);
      }
      told.add(words[0] + " " + number);
    }
    return told;
  }
}
