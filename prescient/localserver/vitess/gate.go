package vitess

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/go-sql-driver/mysql"
)

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
				if err := c.answers(ctx, ports[1], Keyspace+":"+shard.Name); err != nil {
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
