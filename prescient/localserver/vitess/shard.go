package vitess

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"prescient/prescient/localserver"
	"prescient/prescient/localserver/internal/process"
)

// A Shard is a part of the keyspace.
type Shard struct {
	// Name is how Vitess calls it, by the range of its keyspace ids: -80.
	Name string
	// Tablet is its first one, and the primary until Reparent.
	*Tablet
	// Replicas are those of AddReplica.
	Replicas []*Tablet
	cluster  *Cluster
	keyspace string
	away     bool // it takes no writes: it was divided, or is yet to take the place of one that is
}

// DSN returns the data source name of the shard alone: statements come to it nearly as they are.
func (s *Shard) DSN() string { return s.cluster.dsn(s.target()) }

// target is what a session is targeted at for the shard alone.
func (s *Shard) target() string { return s.keyspace + ":" + s.Name }

// Database is the name of its database in its MySQL.
func (s *Shard) Database() string {
	if s.cluster.shared == nil || s.Name == "-" {
		return "vt_" + s.keyspace
	}
	return "vt_" + s.keyspace + "_" + strings.ReplaceAll(s.Name, "-", "to") // another than that of the other shards
}

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

// newShard is a shard that is not started yet.
func (c *Cluster) newShard(keyspace, name string) *Shard {
	s := &Shard{Name: name, cluster: c, keyspace: keyspace}
	s.Tablet = s.newTablet()
	return s
}

func (s *Shard) newTablet() *Tablet {
	s.cluster.tablets++
	return &Tablet{shard: s, number: 100 + s.cluster.tablets}
}

// startShards starts shards at the same time, each with its first tablet as the primary.
func (c *Cluster) startShards(ctx context.Context, list []*Shard) (err error) {
	if c.options.Keyspaces != nil {
		return c.startOnOne(ctx, list)
	}
	var servers, tablets []func(context.Context) error
	for _, shard := range list {
		servers = append(servers, shard.startServer)
		tablets = append(tablets, func(ctx context.Context) error {
			if err := shard.startTablet(ctx); err != nil {
				return err
			}
			return shard.Reparent(ctx, shard.Tablet)
		})
	}
	if err := atOnce(ctx, servers); err != nil {
		return err
	}
	return atOnce(ctx, tablets)
}

// startOnOne starts shards of several keyspaces on one MySQL: a vttablet that starts, as a replica, has it refuse writes, and one that becomes the
// primary has it begin a binlog.
func (c *Cluster) startOnOne(ctx context.Context, list []*Shard) (err error) {
	if err := list[0].startServer(ctx); err != nil {
		return err
	}
	c.shared = list[0].Server
	var tablets []func(context.Context) error
	for _, shard := range list {
		shard.Server = c.shared
		tablets = append(tablets, shard.startTablet)
	}
	if err := atOnce(ctx, tablets); err != nil {
		return err
	}
	for _, shard := range list {
		if err := shard.Reparent(ctx, shard.Tablet); err != nil {
			return err
		}
	}
	return nil
}

// AddReplica starts a second tablet of the shard, or a further one, which follows its primary.
func (s *Shard) AddReplica(ctx context.Context) (*Tablet, error) {
	replica := s.newTablet()
	s.Replicas = append(s.Replicas, replica)
	if err := replica.startServer(ctx); err != nil {
		return nil, fmt.Errorf("vitess: %w", err)
	}
	if err := replica.startTablet(ctx); err != nil {
		return nil, fmt.Errorf("vitess: %w", err)
	}
	return replica, nil
}

// Reparent makes a tablet the primary, and the one before a replica.
func (s *Shard) Reparent(ctx context.Context, to *Tablet) error {
	return s.cluster.Control(ctx, "PlannedReparentShard", "--new-primary="+to.alias(), s.keyspace+"/"+s.Name)
}

// ReparentFromDead makes a tablet the primary in the place of one that was killed, and is not to come back. What that had not sent to it is lost.
func (s *Shard) ReparentFromDead(ctx context.Context, dead, to *Tablet) error {
	if err := s.cluster.Control(ctx, "EmergencyReparentShard", "--new-primary="+to.alias(), s.keyspace+"/"+s.Name); err != nil {
		return err
	}
	return s.cluster.Control(ctx, "DeleteTablets", dead.alias())
}

// replicator is the account by which replicas get at the binlog of a primary.
const replicator = "vt_repl"

// A Tablet is a vttablet with its MySQL.
type Tablet struct {
	// Server is its MySQL, in which the keyspace is the database of Shard.Database. It may be killed and restarted.
	Server *localserver.Server
	shard  *Shard
	number int
	run    *process.Process // the vttablet
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

// Kill ends the vttablet and its MySQL at once, as if their machine were gone.
func (t *Tablet) Kill() {
	t.run.Kill()
	t.Server.Kill()
}

// startTablet starts its vttablet, as a replica.
func (t *Tablet) startTablet(ctx context.Context) (err error) {
	t.run, _, err = t.shard.cluster.serve(ctx, program{name: "vttablet", which: fmt.Sprintf("-%d", t.number), ports: 2,
		args: func(ports []int) []string {
			return append(append(t.shard.cluster.topologyArgs(), "--tablet-path="+t.alias(), "--tablet-hostname=127.0.0.1",
				"--init-keyspace="+t.shard.keyspace, "--init-shard="+t.shard.Name, "--init-db-name-override="+t.shard.Database(), "--init-tablet-type=replica", "--db-socket="+t.Server.Socket(),
				"--db-credentials-file="+t.shard.cluster.replication(), "--db-repl-use-ssl=false",
				fmt.Sprintf("--port=%d", ports[0]), "--bind-address=127.0.0.1", fmt.Sprintf("--grpc-port=%d", ports[1]), "--grpc-bind-address=127.0.0.1",
				"--service-map=grpc-queryservice,grpc-tabletmanager,grpc-updatestream"), t.shard.cluster.options.TabletArgs...)
		},
		answer: func(ctx context.Context, ports []int) error { return says(ctx, ports[0], "/debug/vars") },
	})
	return err
}
