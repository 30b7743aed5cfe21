import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import org.apache.activemq.artemis.core.config.Configuration;
import org.apache.activemq.artemis.core.config.impl.ConfigurationImpl;
import org.apache.activemq.artemis.core.server.JournalType;
import org.apache.activemq.artemis.core.server.embedded.EmbeddedActiveMQ;
import org.apache.activemq.artemis.core.settings.impl.AddressSettings;

/**
 * ActiveMQ Artemis with nothing but its STOMP acceptor, on loopback: ArtemisStomp PORT. Destinations that begin with
 * /queue/ give each message to one subscriber, those with /topic/ to every one. It has a journal, as brokers have by
 * default, in a folder of its own that goes with it: without one it never delivers a text of 51,200 characters or more.
 */
public final class ArtemisStomp {
  public static void main(String[] arguments) throws Exception {
    int port = Integer.parseInt(arguments[0]);
    Path folder = Files.createTempDirectory("wireproof-artemis-");
    String acceptor =
        "tcp://127.0.0.1:" + port + "?protocols=STOMP;anycastPrefix=/queue/;multicastPrefix=/topic/";
    Configuration configuration =
        new ConfigurationImpl()
            .setJournalType(JournalType.NIO)
            .setJournalSyncTransactional(false)
            .setJournalSyncNonTransactional(false)
            .setJournalFileSize(1 << 20)
            .setJournalMinFiles(2)
            .setSecurityEnabled(false)
            .setJMXManagementEnabled(false)
            .setJournalDirectory(folder.resolve("journal").toString())
            .setBindingsDirectory(folder.resolve("bindings").toString())
            .setLargeMessagesDirectory(folder.resolve("large").toString())
            .setPagingDirectory(folder.resolve("paging").toString())
            .addAcceptorConfiguration("stomp", acceptor)
            .addAddressSetting("#", new AddressSettings().setAutoCreateQueues(true).setAutoCreateAddresses(true));
    EmbeddedActiveMQ server = new EmbeddedActiveMQ();
    server.setConfiguration(configuration);
    Runtime.getRuntime().addShutdownHook(new Thread(() -> end(server, folder)));
    server.start();
    Thread.currentThread().join();
  }

  private static void end(EmbeddedActiveMQ server, Path folder) {
    try {
      server.stop();
      try (var files = Files.walk(folder)) {
        files.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach(File::delete);
      }
    } catch (Exception error) {
      System.err.println(error);
    }
  }
}
