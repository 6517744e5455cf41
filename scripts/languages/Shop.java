import com.google.gson.Gson;
import com.google.gson.JsonParser;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
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

    interface Work<T> { T in(Connection c) throws Exception; }

    static <T> T transaction(Work<T> work) throws Exception {
        String url = "jdbc:mariadb://" + env.get("DB_HOST") + ":" + env.get("DB_PORT") + "/" + env.get("DB_NAME") + "?allowPublicKeyRetrieval=true";
        for (int left = 9;; left--) {
            try (Connection c = DriverManager.getConnection(url, env.get("DB_USER"), env.get("DB_PASSWORD"))) {
                c.setAutoCommit(false);
                try {
                    T answer = work.in(c);
                    c.commit();
                    return answer;
                } catch (SQLException e) { // a deadlock, or a row newer than the snapshot: from the beginning
                    c.rollback();
                    if (e.getErrorCode() != 1213 && e.getErrorCode() != 1020 || left == 0) throw e;
                }
            }
        }
    }

    /** Sends a statement, and returns its rows, if it has some: their columns as text, since as a Timestamp a time would be read in the zone of this process. */
    static List<Map<String, String>> sql(Connection c, String text, Object... values) throws SQLException {
        List<Map<String, String>> rows = new ArrayList<>();
        try (PreparedStatement s = c.prepareStatement(text)) {
            for (int i = 0; i < values.length; i++) s.setObject(i + 1, values[i]);
            if (!s.execute()) return rows;
            try (ResultSet all = s.getResultSet()) {
                while (all.next()) {
                    Map<String, String> row = new HashMap<>();
                    for (int i = 1; i <= all.getMetaData().getColumnCount(); i++) row.put(all.getMetaData().getColumnLabel(i), all.getString(i));
                    rows.add(row);
                }
            }
        }
        return rows;
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
        for (var check : sql(c, "CALL pending('order', ?)", order)) System.out.println("pending " + check.get("job_exec") + " " + check.get("due_at").substring(0, 19));
        for (var check : sql(c, "CALL ended('order', ?)", order)) System.out.println("ended " + check.get("job_exec") + " " + check.get("outcome"));
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

    static String check(Connection c, byte[] job) throws SQLException { // null settles the matter; otherwise it says when to look again
        String order = text(job, "entity_key"), id = order + " " + text(job, "inserted_at") + " " + text(job, "due_at") + " " + text(job, "check_count"); // the header is not signed
        if (sql(c, "SELECT 1 FROM orders WHERE id = ? AND NOT shipped", order).isEmpty()) return "null";
        if (once(c, "order-unshipped", id)) sql(c, "INSERT INTO mail VALUES (?, 'is late')", order);
        return "{\"next_in\":\"1h\"}";
    }

    static String event(Connection c, String id, String order) throws SQLException {
        if (once(c, "mailer", id)) sql(c, "INSERT INTO mail VALUES (?, 'is on its way')", order);
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

    static String text(byte[] json, String name) {
        return JsonParser.parseString(new String(json, StandardCharsets.UTF_8)).getAsJsonObject().get(name).getAsString();
    }

    static String header(HttpExchange call, String name) {
        return Objects.requireNonNullElse(call.getRequestHeaders().getFirst(name), "");
    }

    static void answer(HttpExchange call) throws Exception {
        byte[] body = call.getRequestBody().readAllBytes();
        boolean isCheck = call.getRequestURI().getPath().equals("/checks/order-unshipped"), good;
        String id = header(call, "webhook-id");
        if (isCheck) {
            Map<String, String> of = new HashMap<>();
            for (String m : header(call, "X-Prescient-Signature").split(",")) of.put(m.replaceFirst("=.*", ""), m.replaceFirst("[^=]*=?", ""));
            String seconds = of.getOrDefault("t", "");
            good = signed(seconds, HexFormat.of().formatHex(mac(seconds + ".", body)), of.getOrDefault("v1", ""));
        } else {
            String seconds = header(call, "webhook-timestamp");
            good = signed(seconds, "v1," + Base64.getEncoder().encodeToString(mac(id + "." + seconds + ".", body)), header(call, "webhook-signature"));
        }
        String answer = !good ? "" : transaction(c -> isCheck ? check(c, body) : event(c, id, text(body, "order")));
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
