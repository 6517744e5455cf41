package vitess

import (
	"context"
	"database/sql"
	"fmt"

	"prescient/prescient/localserver"
)

// A Shard is a part of the keyspace, with its one tablet.
type Shard struct {
	// Name is how Vitess calls it, by the range of its keyspace ids: -80.
	Name string
	// Server is its MySQL, in which the keyspace is the database vt_shop. It may be killed and restarted.
	Server  *localserver.Server
	cluster *Cluster
	tablet  int // its number
}

// DSN returns the data source name of the shard alone: statements come to it nearly as they are.
func (s *Shard) DSN() string { return s.cluster.dsn(Keyspace + ":" + s.Name) }

// shardNames divide the keyspace ids into so many ranges of one size.
func shardNames(count int) []string {
	bound := func(i int) string {
		if i == 0 || i == count {
			return ""
		}
		return fmt.Sprintf("%02x", i*256/count)
	}
	list := make([]string, count)
	for i := range list {
		list[i] = bound(i) + "-" + bound(i+1)
	}
	return list
}

// startServer starts the shard's MySQL with what Vitess asks of one, and the accounts of its vttablet.
func (s *Shard) startServer(ctx context.Context) (err error) {
	s.Server, err = localserver.Start(ctx, localserver.Options{Flavour: localserver.MySQL, Args: append([]string{
		fmt.Sprintf("--server-id=%d", s.tablet), "--gtid-mode=ON", "--enforce-gtid-consistency=ON", "--skip-replica-start", "--max-connections=500",
	}, s.cluster.options.ServerArgs...)})
	if err != nil {
		return err
	}
	if s.Server.Socket() == "" {
		return fmt.Errorf("the path of the temporary folder, %s, is too long for a socket, by which a vttablet gets into its MySQL", s.Server.Dir())
	}
	db, err := sql.Open("mysql", s.Server.DSN(""))
	if err != nil {
		return err
	}
	defer db.Close()
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	for _, statement := range accounts() {
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}

// accounts are the statements that make those of a vttablet, with the rights that Vitess gives them. They have no password, and so are for the
// socket only, in a folder of this user's. Each MySQL has its own: they are in no binlog.
func accounts() []string {
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
	return append(list, "GRANT GRANT OPTION ON *.* TO vt_dba@localhost")
}

// startTablet starts the shard's vttablet, and makes it the primary.
func (s *Shard) startTablet(ctx context.Context) error {
	alias := fmt.Sprintf("%s-%d", cell, s.tablet)
	_, err := s.cluster.serve(ctx, program{name: "vttablet", which: fmt.Sprintf("-%d", s.tablet), ports: 2,
		args: func(ports []int) []string {
			return append(append(s.cluster.topologyArgs(), "--tablet-path="+alias, "--tablet-hostname=127.0.0.1",
				"--init-keyspace="+Keyspace, "--init-shard="+s.Name, "--init-tablet-type=replica", "--db-socket="+s.Server.Socket(),
				fmt.Sprintf("--port=%d", ports[0]), "--bind-address=127.0.0.1", fmt.Sprintf("--grpc-port=%d", ports[1]), "--grpc-bind-address=127.0.0.1",
				"--service-map=grpc-queryservice,grpc-tabletmanager,grpc-updatestream"), s.cluster.options.TabletArgs...)
		},
		answer: func(ctx context.Context, ports []int) error { return says(ctx, ports[0], "/debug/vars") },
	})
	if err != nil {
		return err
	}
	return s.cluster.Control(ctx, "PlannedReparentShard", "--new-primary="+alias, Keyspace+"/"+s.Name)
}
