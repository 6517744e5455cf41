package vitess

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"

	"prescient/prescient/localserver"
	"prescient/prescient/localserver/internal/folder"
	"prescient/prescient/localserver/internal/process"
)

// Keyspace is the name of a cluster's only one.
const Keyspace = "shop"

// user is the account of vtgate.
const user = "prescient"

// startTimeout bounds every start, whatever its context says.
const startTimeout = 3 * time.Minute

// Options say which cluster to start.
type Options struct {
	// Shards is how many there are, of ranges of one size, 256 at most. Default: 2.
	Shards int
	// VSchema is that of the keyspace, in JSON. Default: sharded, and without a table.
	VSchema string
	// Keyspaces are several, in the place of Keyspace with Shards and VSchema. All their shards share one MySQL.
	Keyspaces []KeyspaceOptions
	// ServerArgs, TabletArgs and GateArgs are further arguments of each MySQL, of each vttablet, and of vtgate.
	ServerArgs, TabletArgs, GateArgs []string
}

// KeyspaceOptions say what one of several keyspaces is: its shards and its VSchema are as those of Options.
type KeyspaceOptions struct {
	Name    string
	Shards  int
	VSchema string
}

// A Cluster is a private Vitess.
type Cluster struct {
	Shards []*Shard // of all keyspaces

	options  Options
	shared   *localserver.Server // the MySQL of all shards; nil where each has one
	programs map[string]string   // where each is, by its name
	folder   folder.Folder
	password string
	topology string           // the address of etcd
	tablets  int              // how many there have been
	gate     *process.Process // vtgate
	ports    []int            // of vtgate: that of its variables, and that of MySQL

	mu      sync.Mutex // guards what follows
	running []run
}

// A run is a program of the cluster that was started.
type run struct {
	*process.Process
	name string
}

// Start starts a cluster and returns when all its shards answer by vtgate. ctx bounds the start only; the cluster runs until Close or the end of
// the process.
func Start(ctx context.Context, options Options) (*Cluster, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	keyspaces := options.Keyspaces
	if keyspaces == nil {
		keyspaces = []KeyspaceOptions{{Keyspace, options.Shards, options.VSchema}}
	}
	programs, err := find()
	if err != nil {
		return nil, err
	}
	c := &Cluster{options: options, programs: programs, password: rand.Text()}
	for _, k := range keyspaces {
		count := cmp.Or(k.Shards, 2)
		if count < 1 || count > 256 {
			return nil, fmt.Errorf("vitess: %d shards; from 1 to 256 can be had", count)
		}
		for _, name := range shardNames(count) {
			c.Shards = append(c.Shards, c.newShard(k.Name, name))
		}
	}
	if err := c.startAll(ctx, keyspaces); err != nil {
		return nil, errors.Join(fmt.Errorf("vitess: starting a cluster: %w", err), c.Close())
	}
	return c, nil
}

func (c *Cluster) startAll(ctx context.Context, keyspaces []KeyspaceOptions) (err error) {
	if c.folder, err = folder.Make(""); err != nil {
		return err
	}
	if err := c.writeAccounts(); err != nil {
		return err
	}
	if err := c.startTopology(ctx); err != nil {
		return err
	}
	for _, k := range keyspaces {
		// What Vitess notes in a MySQL is told apart by the keyspace.
		if err := c.Control(ctx, "CreateKeyspace", "--durability-policy=none", "--sidecar-db-name=_vt_"+k.Name, k.Name); err != nil {
			return err
		}
	}
	if err := c.startShards(ctx, c.Shards); err != nil {
		return err
	}
	for _, k := range keyspaces {
		if err := c.Control(ctx, "RebuildKeyspaceGraph", k.Name); err != nil {
			return err
		}
		if err := c.Control(ctx, "ApplyVSchema", "--vschema="+cmp.Or(k.VSchema, `{"sharded": true}`), k.Name); err != nil {
			return err
		}
	}
	return c.startGate(ctx)
}

// atOnce takes steps at the same time.
func atOnce(ctx context.Context, steps []func(context.Context) error) error {
	errs := make([]error, len(steps))
	var all sync.WaitGroup
	for i, step := range steps {
		all.Go(func() { errs[i] = step(ctx) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// gateAccounts is the file with the account of vtgate, and replication that with the password of the replicator.
func (c *Cluster) gateAccounts() string { return filepath.Join(c.folder.Path, "accounts.json") }
func (c *Cluster) replication() string  { return filepath.Join(c.folder.Path, "replication.json") }

func (c *Cluster) writeAccounts() error {
	type login struct{ Password, UserData string }
	for file, content := range map[string]any{
		c.gateAccounts(): map[string][]login{user: {{Password: c.password, UserData: user}}},
		c.replication():  map[string][]string{replicator: {c.password}},
	} {
		text, err := json.Marshal(content)
		if err != nil {
			return err
		}
		if err := os.WriteFile(file, text, 0o600); err != nil {
			return fmt.Errorf("writing the accounts: %w", err)
		}
	}
	return nil
}

// startGate starts vtgate, which answers once it has reached each shard that takes writes. A second one has the ports of the first.
func (c *Cluster) startGate(ctx context.Context) (err error) {
	p := program{name: "vtgate", ports: 2,
		args: func(ports []int) []string {
			return append(append(c.topologyArgs(), "--cell="+cell, "--cells-to-watch="+cell, "--tablet-types-to-wait=PRIMARY",
				"--tablet-refresh-interval=500ms", // a minute otherwise, for which it does not know a tablet that was added
				fmt.Sprintf("--port=%d", ports[0]), "--bind-address=127.0.0.1",
				fmt.Sprintf("--mysql-server-port=%d", ports[1]), "--mysql-server-bind-address=127.0.0.1",
				"--mysql-auth-server-impl=static", "--mysql-auth-server-static-file="+c.gateAccounts()), c.options.GateArgs...)
		},
		answer: func(ctx context.Context, ports []int) error {
			for _, shard := range c.Shards {
				if shard.away {
					continue
				}
				if err := c.answers(ctx, ports[1], shard.target()); err != nil {
					return err
				}
			}
			return nil
		},
	}
	if c.gate == nil {
		c.gate, c.ports, err = c.serve(ctx, p)
	} else {
		c.gate, err = c.serveOn(ctx, p, c.ports)
	}
	return err
}

// KillGate ends vtgate at once: whoever is connected loses the connection, and whoever waits for the answer of a COMMIT does not get it.
func (c *Cluster) KillGate() { c.gate.Kill() }

// StartGate starts vtgate again after KillGate, where it was.
func (c *Cluster) StartGate(ctx context.Context) error {
	if err := c.startGate(ctx); err != nil {
		return fmt.Errorf("vitess: starting vtgate again: %w", err)
	}
	return nil
}

// answers is nil where a shard answers by vtgate on a port.
func (c *Cluster) answers(ctx context.Context, port int, target string) error {
	config := c.config(port, target)
	config.Logger = &mysql.NopLogger{}
	config.Timeout = 5 * time.Second
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return err
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	var one int
	return db.QueryRowContext(ctx, "SELECT 1 FROM dual").Scan(&one)
}

func (c *Cluster) config(port int, target string) *mysql.Config {
	config := mysql.NewConfig()
	config.User, config.Passwd, config.Net, config.Addr, config.DBName = user, c.password, "tcp", at(port), target
	return config
}

func (c *Cluster) dsn(target string) string { return c.config(c.ports[1], target).FormatDSN() }

// Gate returns the data source name of vtgate, with no keyspace.
func (c *Cluster) Gate() string { return c.dsn("") }

// DSN returns the data source name of the keyspace: vtgate sends a statement to the shards that have its rows.
func (c *Cluster) DSN() string { return c.dsn(Keyspace) }

// Pids are those of a program, vtgate, vttablet or etcd, which run now.
func (c *Cluster) Pids(program string) (pids []int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, run := range c.running {
		if run.name == program && !run.Gone() {
			pids = append(pids, run.Pid)
		}
	}
	return pids
}

// Close ends all of it and removes its folders. Closing again does nothing.
func (c *Cluster) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, run := range c.running {
		run.Kill() // nothing of it is kept
	}
	c.running = nil
	var err error
	for _, shard := range c.Shards {
		for _, tablet := range append([]*Tablet{shard.Tablet}, shard.Replicas...) {
			if tablet.Server != nil {
				tablet.Server.Kill()
				err = errors.Join(err, tablet.Server.Close())
			}
		}
	}
	if left := c.folder.Remove(); left != nil {
		err = errors.Join(err, fmt.Errorf("vitess: %w", left))
	}
	c.folder = folder.Folder{}
	return err
}
