import com.google.gson.*;
import com.sun.net.httpserver.*;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.sql.*;
import java.time.Instant;
import java.util.*;
import java.util.concurrent.Executors;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** A shop that asks prescient to look whether its orders have shipped: place 42 19.90, postpone 42 3600, ship 42, look 42, or serve 8000. */
public class Shop {
    static final Map<String, String> env = System.getenv(); // SECRET is that of jobs.http and of the route of events

    interface Work { String in(Connection c) throws Exception; }

    static String transaction(Work work) throws Exception {
        String url = "jdbc:mariadb://" + env.get("DB_HOST") + ":" + env.get("DB_PORT") + "/" + env.get("DB_NAME") + "?allowPublicKeyRetrieval=true";
        for (int left = 9;; left--) {
            try (Connection c = DriverManager.getConnection(url, env.get("DB_USER"), env.get("DB_PASSWORD"))) { // closed, what does not commit is undone
                c.setAutoCommit(false);
                String answer = work.in(c);
                c.commit();
                return answer;
            } catch (SQLException e) { // a deadlock, or a row newer than the snapshot: from the beginning
                if (e.getErrorCode() != 1213 && e.getErrorCode() != 1020 || left == 0) throw e;
            }
        }
    }

    /** Sends a statement, and returns its rows, if it has some. Their times are read as text: a Timestamp would be in the zone of this process. */
    static ResultSet sql(Connection c, String text, Object... values) throws SQLException {
        PreparedStatement statement = c.prepareStatement(text);
        for (int i = 0; i < values.length; i++) statement.setObject(i + 1, values[i]);
        statement.execute();
        return statement.getResultSet();
    }

    static void place(Connection c, String order, String amount) throws SQLException { // the check is there if the order is
        sql(c, "INSERT INTO future_job (entity_name, entity_key, job_exec, due_at)"
            + " VALUES ('order', ?, 'order-unshipped', UTC_TIMESTAMP(6) + INTERVAL 3 HOUR)", order);
        sql(c, "INSERT INTO orders (id, amount) VALUES (?, ?)", order, amount);
    }

    static void postpone(Connection c, String order, String seconds) throws SQLException { // the server counts in UTC, whatever the zone of this process
        sql(c, "CALL put('order', ?, 'order-unshipped', '', UTC_TIMESTAMP(6) + INTERVAL ? SECOND, NULL, 'replace')", order, seconds);
    }

    static void ship(Connection c, String order) throws SQLException {
        sql(c, "UPDATE orders SET shipped = TRUE WHERE id = ?", order);
        sql(c, "CALL cancel('order', ?, 'order-unshipped')", order);
        sql(c, "CALL publish('orders.shipped', ?, ?, ?)", "order/" + order, "order-" + order + "-shipped", new Gson().toJson(Map.of("order", order)));
    }

    static void look(Connection c, String order) throws SQLException {
        for (ResultSet check = sql(c, "CALL pending('order', ?)", order); check.next();)
            System.out.println("pending " + check.getString("job_exec") + " " + check.getString("due_at").substring(0, 19));
        for (ResultSet check = sql(c, "CALL ended('order', ?)", order); check.next();)
            System.out.println("ended " + check.getString("job_exec") + " " + check.getString("outcome"));
    }

    static boolean once(Connection c, String consumer, String id) throws SQLException { // what is done after it in the transaction is done once for this id
        try {
            sql(c, "INSERT INTO event_seen (consumer, id, seen_at) VALUES (?, ?, UTC_TIMESTAMP(6))", consumer, id);
            return true;
        } catch (SQLException e) {
            if (e.getErrorCode() != 1062) throw e;
            return false; // it was done before
        }
    }

    static String check(Connection c, JsonObject job) throws SQLException { // null settles the matter; otherwise it says when to look again
        String order = job.get("entity_key").getAsString();
        if (!sql(c, "SELECT 1 FROM orders WHERE id = ? AND NOT shipped", order).next()) return "null";
        String id = order + " " + job.get("inserted_at") + " " + job.get("due_at") + " " + job.get("check_count"); // the header is not signed
        if (once(c, "order-unshipped", id)) sql(c, "INSERT INTO mail VALUES (?, 'is late')", order);
        return "{\"next_in\":\"1h\"}";
    }

    static String event(Connection c, String id, JsonObject shipped) throws SQLException {
        if (once(c, "mailer", id)) sql(c, "INSERT INTO mail VALUES (?, 'is on its way')", shipped.get("order").getAsString());
        return "null";
    }

    static byte[] mac(String before, byte[] body) throws Exception {
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(env.get("SECRET").getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
        mac.update(before.getBytes(StandardCharsets.UTF_8));
        return mac.doFinal(body);
    }

    static boolean signed(String seconds, String expected, String given) { // by somebody who has the secret, in the last minutes
        return seconds.matches("[0-9]{1,18}") && Math.abs(Instant.now().getEpochSecond() - Long.parseLong(seconds)) < 300
            && MessageDigest.isEqual(expected.getBytes(), given.getBytes());
    }

    static String header(HttpExchange call, String name) {
        return Objects.requireNonNullElse(call.getRequestHeaders().getFirst(name), "");
    }

    static void answer(HttpExchange call) throws Exception {
        byte[] body = call.getRequestBody().readAllBytes();
        boolean isCheck = call.getRequestURI().getPath().equals("/checks/order-unshipped");
        Map<String, String> of = new HashMap<>(Map.of("t", "", "v1", ""));
        for (String m : header(call, "X-Prescient-Signature").split(",")) of.put(m.replaceFirst("=.*", ""), m.replaceFirst("[^=]*=?", ""));
        String id = header(call, "webhook-id"), seconds = isCheck ? of.get("t") : header(call, "webhook-timestamp");
        boolean good = isCheck
            ? signed(seconds, HexFormat.of().formatHex(mac(seconds + ".", body)), of.get("v1"))
            : signed(seconds, "v1," + Base64.getEncoder().encodeToString(mac(id + "." + seconds + ".", body)), header(call, "webhook-signature"));
        String answer = "";
        if (good) {
            JsonObject json = JsonParser.parseString(new String(body, StandardCharsets.UTF_8)).getAsJsonObject();
            answer = transaction(c -> isCheck ? check(c, json) : event(c, id, json));
        }
        call.sendResponseHeaders(good ? 200 : 401, 0);
        call.getResponseBody().write(answer.getBytes());
        call.close();
    }

    public static void main(String[] given) throws Exception {
        if (env.getOrDefault("SECRET", "").isEmpty()) throw new IllegalStateException("SECRET is empty: anybody could sign");
        switch (given[0]) {
            case "place" -> transaction(c -> { place(c, given[1], given[2]); return null; });
            case "postpone" -> transaction(c -> { postpone(c, given[1], given[2]); return null; });
            case "ship" -> transaction(c -> { ship(c, given[1]); return null; });
            case "look" -> transaction(c -> { look(c, given[1]); return null; });
            default -> {
                HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(given[1])), 0);
                server.setExecutor(Executors.newCachedThreadPool());
                server.createContext("/", call -> {
                    try { answer(call); } catch (Exception e) { e.printStackTrace(); call.sendResponseHeaders(500, -1); } // it is called again
                });
                server.start();
            }
        }
    }
}
