import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;
import java.util.regex.Pattern;

/**
 * javac -d classes *.java && java -cp classes ClientTest. With JUnit, {@code main} is @BeforeAll
 * and @AfterAll, and the rest are tests.
 */
final class ClientTest {
    private static final HttpClient HTTP = HttpClient.newHttpClient();
    private static String engine;
    private static String admin;

    public static void main(String[] arguments) throws Exception {
        var program = System.getenv().getOrDefault("CONFORMANCE", "conformance");
        var mock = new ProcessBuilder(program, "mock", "--exit-on-stdin-close", "../policies")
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try {
            var line = new BufferedReader(new InputStreamReader(mock.getInputStream())).readLine();
            engine = address(line, "engine");
            admin = address(line, "admin");
            aDecisionIsAskedForAsTheDocumentSays();
            undefinedIsNoPermission();
            whatIsBrokenIsAnError();
        } finally {
            mock.destroy();
        }
        System.out.println("all tests passed");
    }

    private static void aDecisionIsAskedForAsTheDocumentSays() throws Exception {
        ask("POST", "/reset");
        check(Client.isAllowed(engine, "ann"), "ann is allowed");
        var received = ask("GET", "/requests?method=POST&path=/v1/data/authz/allow");
        check(received.contains("\"json\":{\"input\":{\"user\":\"ann\"}}"), received);
    }

    private static void undefinedIsNoPermission() throws Exception {
        ask("POST", "/reset");
        check(!Client.isAllowed(engine, "bob"), "bob is not allowed");
        ask("PUT", "/faults/undefined");
        check(!Client.isAllowed(engine, "ann"), "undefined is no permission");
    }

    private static void whatIsBrokenIsAnError() throws Exception {
        for (var fault : List.of("internal-error", "broken-json", "cut-body", "close", "hang")) {
            ask("POST", "/reset");
            ask("PUT", "/faults/" + fault);
            var failed = false;
            try {
                Client.isAllowed(engine, "ann");
            } catch (java.io.IOException expected) {
                failed = true;
            }
            check(failed, fault + " is an error");
        }
    }

    private static String ask(String method, String path) throws Exception {
        var request = HttpRequest.newBuilder(URI.create(admin + path))
                .method(method, BodyPublishers.noBody())
                .build();
        var answer = HTTP.send(request, BodyHandlers.ofString());
        check(answer.statusCode() < 300, method + " " + path + ": " + answer.body());
        return answer.body();
    }

    private static String address(String line, String server) {
        var found = Pattern.compile("\"" + server + "\":\"([^\"]*)\"").matcher(String.valueOf(line));
        check(found.find(), "the mock did not start: " + line);
        return found.group(1);
    }

    private static void check(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }
}
