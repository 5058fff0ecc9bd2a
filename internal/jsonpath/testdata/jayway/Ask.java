import com.fasterxml.jackson.databind.ObjectMapper;
import com.jayway.jsonpath.Configuration;
import com.jayway.jsonpath.InvalidPathException;
import com.jayway.jsonpath.JsonPath;
import com.jayway.jsonpath.spi.json.JacksonJsonProvider;
import com.jayway.jsonpath.spi.mapper.JacksonMappingProvider;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/** Reads a document from the first line and a path from each other, and writes what the path gives. */
public class Ask {
  public static void main(String[] args) throws Exception {
    Configuration configuration = Configuration.builder()
        .jsonProvider(new JacksonJsonProvider()).mappingProvider(new JacksonMappingProvider()).build();
    ObjectMapper mapper = new ObjectMapper();
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
    Object document = mapper.readValue(in.readLine(), Object.class);
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      out.println(mapper.writeValueAsString(ask(configuration, document, mapper.readValue(line, String.class))));
    }
    out.flush();
  }

  private static Map<String, Object> ask(Configuration configuration, Object document, String text) {
    Map<String, Object> answer = new LinkedHashMap<>();
    JsonPath path;
    try {
      path = JsonPath.compile(text);
    } catch (InvalidPathException e) {
      answer.put("refused", e.getMessage());
      return answer;
    }
    answer.put("definite", path.isDefinite());
    try {
      answer.put("value", path.read(document, configuration));
    } catch (InvalidPathException e) {
      answer.put("failed", e.getMessage());
    }
    return answer;
  }
}
