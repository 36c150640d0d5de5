import com.bisnode.opa.client.OpaClient;
import com.bisnode.opa.client.OpaClientException;
import com.bisnode.opa.client.data.OpaDocument;
import com.bisnode.opa.client.policy.OpaPolicy;
import com.bisnode.opa.client.query.QueryForDocumentRequest;
import com.fasterxml.jackson.databind.JsonNode;

/** The adapter of `com.bisnode.opa:opa-java-client`. */
final class Bisnode {
    private static OpaClient client;

    public static void main(String[] arguments) throws Exception {
        Lines.serve(Bisnode::answer);
    }

    private static JsonNode answer(JsonNode ask) throws Exception {
        switch (ask.get("do").textValue()) {
            case "open" -> {
                // It has no setting for a token.
                Lines.only(ask, "api", "url", "timeout");
                if (!ask.get("api").textValue().equals("engine")) throw new Lines.Unsupported();
                client = OpaClient.builder().opaConfiguration(ask.get("url").textValue()).build();
                return Lines.value(Lines.JSON.createObjectNode().put("name", "opa-java-client (Bisnode)").put("version", "0.4.4"));
            }
            case "decide" -> {
                Lines.only(ask, "path", "input");
                // Its input is no option: null is sent as null.
                var asked = new QueryForDocumentRequest(ask.get("input"), Lines.joined(ask));
                try {
                    return Lines.value((Object) client.queryForDocument(asked, Object.class));
                } catch (OpaClientException error) {
                    // Only the text tells that there was no value.
                    if (String.valueOf(error.getMessage()).startsWith("Result is empty")) return Lines.undefined();
                    throw error;
                }
            }
            case "put_data" -> {
                Lines.only(ask, "path", "document");
                client.createOrOverwriteDocument(new OpaDocument(Lines.joined(ask), ask.get("document").toString()));
                return Lines.value(true);
            }
            case "put_policy" -> {
                Lines.only(ask, "id", "policy");
                client.createOrUpdatePolicy(new OpaPolicy(ask.get("id").textValue(), ask.get("policy").textValue()));
                return Lines.value(true);
            }
            default -> throw new Lines.Unsupported();
        }
    }
}
