package vitess

import (
	"context"
	"database/sql"
	"fmt"

	"prescient/prescient/localserver"
)

// replicator is the account by which replicas get at the binlog of a primary.
const replicator = "vt_repl"

// A Tablet is a vttablet with its MySQL.
type Tablet struct {
	// Server is its MySQL, in which the keyspace is the database vt_shop. It may be killed and restarted.
	Server *localserver.Server
	shard  *Shard
	number int
}

func (t *Tablet) alias() string { return fmt.Sprintf("%s-%d", cell, t.number) }

// startServer starts its MySQL with what Vitess asks of one, and the accounts of its vttablet.
func (t *Tablet) startServer(ctx context.Context) (err error) {
	t.Server, err = localserver.Start(ctx, localserver.Options{Flavour: localserver.MySQL, Args: append([]string{
		fmt.Sprintf("--server-id=%d", t.number), "--gtid-mode=ON", "--enforce-gtid-consistency=ON", "--skip-replica-start", "--max-connections=500",
	}, t.shard.cluster.options.ServerArgs...)})
	if err != nil {
		return err
	}
	if t.Server.Socket() == "" {
		return fmt.Errorf("the path of the temporary folder, %s, is too long for a socket, by which a vttablet gets into its MySQL", t.Server.Dir())
	}
	db, err := sql.Open("mysql", t.Server.DSN(""))
	if err != nil {
		return err
	}
	defer db.Close()
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	for _, statement := range accounts(t.shard.cluster.password) {
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}

// accounts are the statements that make those of a vttablet, with the rights that Vitess gives them. They have no password, and so are for the
// socket only, in a folder of this user's; but for that of replicas, who come by the port. Each MySQL has its own: they are in no binlog.
func accounts(password string) []string {
	const (
		data = "SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, RELOAD, PROCESS, FILE, REFERENCES, INDEX, ALTER, SHOW DATABASES, CREATE TEMPORARY TABLES, " +
			"LOCK TABLES, EXECUTE, REPLICATION CLIENT, CREATE VIEW, SHOW VIEW, CREATE ROUTINE, ALTER ROUTINE, CREATE USER, EVENT, TRIGGER"
		follow = ", REPLICATION SLAVE"
	)
	list := []string{"SET sql_log_bin = 0"}
	for _, account := range []struct{ name, rights string }{
		{"vt_dba", "ALL"}, {"vt_app", data}, {"vt_appdebug", "SELECT, SHOW DATABASES, PROCESS"}, {"vt_allprivs", data + follow}, {"vt_filtered", data + follow},
	} {
		list = append(list, "CREATE USER "+account.name+"@localhost", "GRANT "+account.rights+" ON *.* TO "+account.name+"@localhost")
	}
	return append(list, "GRANT GRANT OPTION ON *.* TO vt_dba@localhost",
		"CREATE USER "+replicator+"@127.0.0.1 IDENTIFIED BY '"+password+"'", "GRANT REPLICATION SLAVE ON *.* TO "+replicator+"@127.0.0.1")
}

// startTablet starts its vttablet, as a replica.
func (t *Tablet) startTablet(ctx context.Context) error {
	_, _, err := t.shard.cluster.serve(ctx, program{name: "vttablet", which: fmt.Sprintf("-%d", t.number), ports: 2,
		args: func(ports []int) []string {
			return append(append(t.shard.cluster.topologyArgs(), "--tablet-path="+t.alias(), "--tablet-hostname=127.0.0.1",
				"--init-keyspace="+Keyspace, "--init-shard="+t.shard.Name, "--init-tablet-type=replica", "--db-socket="+t.Server.Socket(),
				"--db-credentials-file="+t.shard.cluster.replication(), "--db-repl-use-ssl=false",
				fmt.Sprintf("--port=%d", ports[0]), "--bind-address=127.0.0.1", fmt.Sprintf("--grpc-port=%d", ports[1]), "--grpc-bind-address=127.0.0.1",
				"--service-map=grpc-queryservice,grpc-tabletmanager,grpc-updatestream"), t.shard.cluster.options.TabletArgs...)
		},
		answer: func(ctx context.Context, ports []int) error { return says(ctx, ports[0], "/debug/vars") },
	})
	return err
}
