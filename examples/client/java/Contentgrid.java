import com.contentgrid.opa.client.OpaClient;
import com.contentgrid.opa.client.api.DataApi.GetDataResponse;
import com.contentgrid.opa.client.api.PolicyApi.OpaPolicy;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/** The adapter of `com.contentgrid.opa-java-client:opa-async-java-client`. */
final class Contentgrid {
    private static OpaClient client;

    public static void main(String[] arguments) throws Exception {
        Lines.serve(Contentgrid::answer);
    }

    private static JsonNode answer(JsonNode ask) throws Exception {
        switch (ask.get("do").textValue()) {
            case "open" -> {
                // It has no setting for a token.
                Lines.only(ask, "api", "url", "timeout");
                if (!ask.get("api").textValue().equals("engine")) throw new Lines.Unsupported();
                client = OpaClient.builder().url(ask.get("url").textValue()).build();
                return Lines.value(Lines.JSON.createObjectNode().put("name", "opa-async-java-client (Xenit)").put("version", "0.5.1"));
            }
            case "query" -> {
                Lines.only(ask, "query");
                var found = given(client.query(ask.get("query").textValue())).getResult();
                return found == null ? Lines.undefined() : Lines.value(found);
            }
            case "get_data" -> {
                Lines.only(ask, "path");
                // What it hands over is the whole answer, in the form that it has for one.
                var found = given(client.getData(Lines.joined(ask), GetDataResponse.class));
                return Lines.value(found.getResult());
            }
            case "put_data" -> {
                Lines.only(ask, "path", "document");
                given(client.upsertData(Lines.joined(ask), ask.get("document")));
                return Lines.value(true);
            }
            case "put_policy" -> {
                Lines.only(ask, "id", "policy");
                given(client.upsertPolicy(ask.get("id").textValue(), ask.get("policy").textValue()));
                return Lines.value(true);
            }
            case "get_policy" -> {
                Lines.only(ask, "id");
                return Lines.value(given(client.getPolicy(ask.get("id").textValue())).getResult().getRaw());
            }
            case "list_policies" -> {
                Lines.only(ask);
                return Lines.value(given(client.listPolicies()).getResult().stream().map(OpaPolicy::getId).toList());
            }
            case "delete_policy" -> {
                Lines.only(ask, "id");
                given(client.deletePolicy(ask.get("id").textValue()));
                return Lines.value(true);
            }
            default -> throw new Lines.Unsupported();
        }
    }

    /** What a future gives, or the error that it ends with. */
    private static <T> T given(CompletableFuture<T> future) throws Exception {
        try {
            return future.get();
        } catch (ExecutionException error) {
            throw error.getCause() instanceof Exception cause ? cause : error;
        }
    }
}
