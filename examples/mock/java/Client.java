import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;

/** The client that is tested: asks whether a user may do something. */
final class Client {
    private static final HttpClient HTTP =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    static boolean isAllowed(String engine, String user) throws IOException, InterruptedException {
        var request = HttpRequest.newBuilder(URI.create(engine + "/v1/data/authz/allow"))
                .timeout(Duration.ofSeconds(1))
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString("{\"input\":{\"user\":\"" + user + "\"}}"))
                .build();
        var answer = HTTP.send(request, BodyHandlers.ofString());
        if (answer.statusCode() != 200) {
            throw new IOException("the engine answers " + answer.statusCode());
        }
        // With a JSON library this is shorter. Undefined is no result at all, and no permission.
        return switch (answer.body().strip()) {
            case "{\"result\":true}" -> true;
            case "{\"result\":false}", "{}" -> false;
            default -> throw new IOException("no decision: " + answer.body());
        };
    }
}
