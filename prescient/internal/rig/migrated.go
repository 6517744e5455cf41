package rig

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"slices"
	"sync"

	"github.com/go-sql-driver/mysql"

	text "prescient/sql"
)

// migrate makes the tables. The migrations are worked out once for each server, and noted; databases after that get the
// statements that were noted. To read the migrations anew takes more processor time than most tests do, under the race
// detector.
func (r *Rig) migrate(schema text.Schema) {
	r.T.Helper()
	config, err := mysql.ParseDSN(r.D.DSN)
	r.Must(err)
	noted := migrationsOf(server{config.Net, config.Addr, schema})
	noted.mu.Lock()
	if noted.statements == nil {
		defer noted.mu.Unlock()
		config.InterpolateParams = true
		db := sql.OpenDB(notingConnector{r.connector(config), noted})
		defer db.Close()
		_, err := text.Up(r.T.Context(), db, schema)
		if err != nil {
			noted.statements = nil
		}
		r.Must(err)
		return
	}
	statements := slices.Clone(noted.statements)
	noted.mu.Unlock()
	db := r.D.Open(r.T, "interpolateParams=true")
	defer db.Close()
	db.SetMaxOpenConns(1) // a migration may leave something to its next statement on the connection
	for _, s := range statements {
		_, err := db.ExecContext(r.T.Context(), s.query, s.args...)
		r.Must(err)
	}
}

func (r *Rig) connector(config *mysql.Config) driver.Connector {
	r.T.Helper()
	connector, err := mysql.NewConnector(config)
	r.Must(err)
	return connector
}

// server is one, and what tables of it are migrated to.
type server struct {
	network, address string
	schema           text.Schema
}

// migrations are the statements that made the tables, in their order; none before the first database.
type migrations struct {
	mu         sync.Mutex // held while they are noted
	statements []statement
}

type statement struct {
	query string
	args  []any
}

var (
	migratedMu sync.Mutex
	migrated   = make(map[server]*migrations)
)

func migrationsOf(s server) *migrations {
	migratedMu.Lock()
	defer migratedMu.Unlock()
	if migrated[s] == nil {
		migrated[s] = new(migrations)
	}
	return migrated[s]
}

// notingConnector makes connections that note what they execute.
type notingConnector struct {
	driver.Connector
	noted *migrations
}

func (c notingConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return notingConn{&hookedConn{conn, new(Hooks)}, c.noted}, nil
}

type notingConn struct {
	*hookedConn
	noted *migrations
}

func (c notingConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	result, err := c.hookedConn.ExecContext(ctx, query, args)
	if err == nil {
		s := statement{query: query}
		for _, a := range args {
			s.args = append(s.args, a.Value)
		}
		c.noted.statements = append(c.noted.statements, s)
	}
	return result, err
}
