package stage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"

	"prescient/prescient/connect"
	"prescient/prescient/localserver"
	"prescient/prescient/localserver/vitess"
)

// Engine is a server, or a cluster of them, to run on.
type Engine struct {
	Name    string
	config  *mysql.Config // but for address and database
	hosts   []string
	Server  *localserver.Server  // nil where it was given, or is a cluster: then it is not killed
	Cluster *localserver.Cluster // nil where there is none, or it was given
	Vitess  *Vitess              // nil where it is none

	ClockFile string // the file that a server's clock goes by, where it can be set
	Disk      string // the folder of a server's own disk
}

// listed is a DSN with the hosts of a cluster, which the driver does not read: what comes before them, they, the rest.
var listed = regexp.MustCompile(`^((?:.*@)?[^@()]+\()([^()]+,[^()]+)(\)/[^/]*)$`)

// Given is an engine that somebody else started: dsn may list hosts.
func Given(name, dsn string) (Engine, error) {
	var hosts []string
	if parts := listed.FindStringSubmatch(dsn); parts != nil {
		hosts = strings.Split(parts[2], ",")
		dsn = parts[1] + hosts[0] + parts[3]
	}
	config, err := mysql.ParseDSN(dsn)
	if err != nil {
		return Engine{}, errors.New("the DSN cannot be parsed") // an error of the driver may quote it
	}
	if hosts == nil {
		hosts = []string{config.Addr}
	}
	return Engine{Name: name, config: config, hosts: hosts}, nil
}

// Start starts what is called mariadb, mariadb-11.8, mysql, galera, group-replication or vitess, set as real ones are: a commit is
// on disk when it returns.
func Start(ctx context.Context, name string) (Engine, error) {
	if name == VitessName {
		return startVitess(ctx)
	}
	options := localserver.Options{Durable: true, Args: []string{"--max-connections=300"}}
	if kind := localserver.Engine(name); kind == localserver.Galera || kind == localserver.GroupReplication {
		cluster, err := localserver.StartCluster(ctx, localserver.ClusterOptions{Engine: kind, Server: options})
		if err != nil {
			return Engine{}, err
		}
		e, err := Given(name, cluster.DSN(""))
		e.Cluster = cluster
		return e, err
	}
	return StartServer(ctx, name, options)
}

// StartServer starts a server of its own under a name that localserver.Named reads.
func StartServer(ctx context.Context, name string, options localserver.Options) (Engine, error) {
	named, err := localserver.Named(name)
	if err != nil {
		return Engine{}, err
	}
	options.Flavour, options.Version, options.Durable = named.Flavour, named.Version, true
	server, err := localserver.Start(ctx, options)
	if err != nil {
		return Engine{}, err
	}
	e, err := Given(name, server.DSN(""))
	e.Server = server
	return e, err
}

// Close stops what Start started.
func (e Engine) Close() (err error) {
	if e.Server != nil {
		err = e.Server.Close()
	}
	if e.Cluster != nil {
		err = errors.Join(err, e.Cluster.Close())
	}
	if e.Vitess != nil {
		err = errors.Join(err, e.Vitess.Close())
	}
	return err
}

// LocksNeighbours says whether the server is a MariaDB, where whoever moves a row locks the one after it in UNIQUE (job_key).
func (e Engine) LocksNeighbours() bool {
	return strings.HasPrefix(e.Name, string(localserver.MariaDB)) || e.Name == string(localserver.Galera)
}

// dsn names a database on all hosts, from the first-th on, in turn.
func (e Engine) dsn(database string, first int, change func(*mysql.Config)) string {
	if e.Vitess != nil {
		database = vitess.Keyspace // the only one
	}
	config := e.config.Clone()
	at := first % len(e.hosts)
	config.Addr = strings.Join(slices.Concat(e.hosts[at:], e.hosts[:at]), ",")
	config.DBName = database
	if change != nil {
		change(config)
	}
	return config.FormatDSN()
}

// admin does statements that no database is needed for.
func (e Engine) admin(ctx context.Context, statements ...string) error {
	db, err := open(e.dsn("information_schema", 0, nil))
	if err != nil {
		return err
	}
	defer db.Close()
	for _, statement := range statements {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%.40s: %w", statement, err)
		}
	}
	return nil
}

// open returns a pool as an app has it.
func open(dsn string) (*sql.DB, error) {
	connector, err := connect.NewConnector(dsn)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

// with adds parameters to a DSN.
func with(dsn, params string) string {
	switch {
	case params == "":
		return dsn
	case strings.Contains(dsn, "?"):
		return dsn + "&" + params
	}
	return dsn + "?" + params
}
