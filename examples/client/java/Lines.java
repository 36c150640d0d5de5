import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** What every adapter does: a line is read, a line is written. */
final class Lines {
    static final ObjectMapper JSON = new ObjectMapper();

    /** What a client cannot do, or not with one of these members. */
    static final class Unsupported extends Exception {}

    interface Operations {
        JsonNode answer(JsonNode ask) throws Exception;
    }

    static void serve(Operations operations) throws Exception {
        var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        var out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        for (var line = in.readLine(); line != null; line = in.readLine()) {
            JsonNode told;
            try {
                told = operations.answer(JSON.readTree(line));
            } catch (Unsupported none) {
                told = JSON.createObjectNode().put("unsupported", true);
            } catch (Exception error) {
                told = failure(error);
            }
            out.println(told);
        }
    }

    /** Refuses members that the adapter does not know. */
    static void only(JsonNode ask, String... members) throws Unsupported {
        var known = new ArrayList<>(List.of(members));
        known.add("do");
        for (var names = ask.fieldNames(); names.hasNext(); ) {
            if (!known.contains(names.next())) throw new Unsupported();
        }
    }

    /** The segments as one text, which the clients take. */
    static String joined(JsonNode ask) throws Unsupported {
        var segments = new ArrayList<String>();
        for (var segment : ask.get("path")) {
            if (segment.textValue().contains("/")) throw new Unsupported();
            segments.add(segment.textValue());
        }
        return String.join("/", segments);
    }

    static ObjectNode value(Object given) {
        return JSON.createObjectNode().set("value", JSON.valueToTree(given));
    }

    static ObjectNode undefined() {
        return JSON.createObjectNode().put("undefined", true);
    }

    /** An error as the client threw it, with its status where it tells one. */
    private static ObjectNode failure(Throwable error) {
        var told = JSON.createObjectNode();
        told.put("kind", error.getClass().getSimpleName()).put("message", String.valueOf(error.getMessage()));
        if (error instanceof com.contentgrid.opa.client.rest.http.HttpStatusException status) {
            told.put("status", status.statusCode());
        }
        return JSON.createObjectNode().set("error", told);
    }

    private Lines() {}
}
