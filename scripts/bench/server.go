package main

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/connect"
	"prescient/prescient/localserver"
	text "prescient/sql"
)

// engine is a kind of server to measure on.
type engine string

const (
	mariaDB       engine = "mariadb"
	mySQL         engine = "mysql"
	mysqlNoBinlog engine = "mysql-nobinlog"
)

func (e engine) flavour() localserver.Flavour {
	if e == mariaDB {
		return localserver.MariaDB
	}
	return localserver.MySQL
}

// server is what a section measures on.
type server struct {
	engine  engine
	flavour localserver.Flavour
	version string
	pid     int // 0 where it is not on this machine
	config  *mysql.Config
	own     *localserver.Server
}

// start starts a server with the settings of a real one, or connects to that of --dsn.
func (b *bench) start(ctx context.Context, on engine, args ...string) (*server, error) {
	if b.dsn != "" {
		return b.given(ctx, on)
	}
	flavour := on.flavour()
	// An index that is made when the rows are there gets pages as full as one that has grown.
	usual := []string{"--max-connections=500", "--innodb-buffer-pool-size=" + b.pool, "--innodb-fill-factor=70"}
	if on == mysqlNoBinlog {
		usual = append(usual, "--skip-log-bin")
	}
	if flavour == localserver.MariaDB {
		usual = append(usual, "--innodb-log-file-size=1G", "--performance-schema=OFF")
	} else {
		usual = append(usual, "--innodb-redo-log-capacity=1G")
	}
	args = append(usual, args...)
	own, err := localserver.Start(ctx, localserver.Options{Flavour: flavour, Durable: true, Args: args})
	if err != nil {
		return nil, err
	}
	config, err := mysql.ParseDSN(own.DSN(""))
	if err != nil {
		return nil, err
	}
	s := &server{engine: on, flavour: flavour, version: own.Version(), pid: own.Pid(), config: config, own: own}
	if slices.ContainsFunc(args, func(arg string) bool {
		return strings.HasPrefix(arg, "--skip-log-bin") || strings.HasPrefix(arg, "--disable-log-bin")
	}) {
		s.version += " without binlog"
	}
	return s, nil
}

// given is the server that --dsn names. On the same machine its process is
// found by the file in its data folder.
func (b *bench) given(ctx context.Context, on engine) (*server, error) {
	config, err := mysql.ParseDSN(b.dsn)
	if err != nil {
		return nil, fmt.Errorf("--dsn: %w", err)
	}
	s := &server{engine: on, flavour: on.flavour(), config: config}
	db, err := sql.Open("mysql", s.dsn(""))
	if err != nil {
		return nil, err
	}
	defer db.Close()
	var pidFile, dataDir string
	if err := db.QueryRowContext(ctx, "SELECT VERSION(), @@pid_file, @@datadir").Scan(&s.version, &pidFile, &dataDir); err != nil {
		return nil, fmt.Errorf("--dsn: %w", err)
	}
	if !filepath.IsAbs(pidFile) {
		pidFile = filepath.Join(dataDir, pidFile)
	}
	s.pid = readPid(pidFile)
	return s, nil
}

func (s *server) close() error {
	if s.own == nil {
		return nil
	}
	return s.own.Close()
}

func (s *server) dsn(database string) string {
	config := s.config.Clone()
	config.DBName = database
	return config.FormatDSN()
}

// place is a database of a section's own, with an installation in it.
type place struct {
	*server
	name   string
	db     *sqlx.DB // as a worker has it
	app    *sql.DB  // as an app has it
	filler *sql.DB  // to fill tables with
	client *client.Client
}

// install makes a database, anew or as it is there.
func (s *server) install(ctx context.Context, name string, resolution time.Duration, keep bool) (*place, error) {
	name = "bench_" + name
	admin, err := sql.Open("mysql", s.dsn(""))
	if err != nil {
		return nil, err
	}
	defer admin.Close()
	if !keep {
		if _, err := admin.ExecContext(ctx, "DROP DATABASE IF EXISTS "+name); err != nil {
			return nil, err
		}
	}
	if _, err := admin.ExecContext(ctx, "CREATE DATABASE IF NOT EXISTS "+name+" CHARACTER SET utf8mb4"); err != nil {
		return nil, err
	}
	for _, counter := range purgeCounters {
		// Without the right to, awaitCalm goes by the history list alone.
		_, _ = admin.ExecContext(ctx, "SET GLOBAL innodb_monitor_enable = '"+counter+"'")
	}
	p := &place{server: s, name: name}
	if p.app, err = sql.Open("mysql", s.dsn(name)); err != nil {
		return nil, err
	}
	p.app.SetMaxIdleConns(64)
	if _, err := text.Up(ctx, p.app, text.Schema{Resolution: resolution}); err != nil {
		return nil, err
	}
	if p.filler, err = sql.Open("mysql", s.fillerDSN(name)); err != nil {
		return nil, err
	}
	if p.db, err = connect.Open(s.dsn(name), 0); err != nil {
		return nil, err
	}
	p.client, err = client.New(ctx, p.app, client.Options{Guards: prescient.Guards{Horizon: 3650 * 24 * time.Hour}})
	return p, err
}

// fillerDSN is for what is not measured: an own server need not write it to its binlog.
func (s *server) fillerDSN(database string) string {
	config := s.config.Clone()
	config.DBName = database
	if s.own != nil {
		config.Params = maps.Clone(config.Params)
		if config.Params == nil {
			config.Params = make(map[string]string)
		}
		config.Params["sql_log_bin"] = "0"
	}
	return config.FormatDSN()
}

// exec is a statement that is not measured.
func (p *place) exec(ctx context.Context, query string, args ...any) (int, error) {
	result, err := p.filler.ExecContext(ctx, query, args...)
	if err != nil {
		return 0, fmt.Errorf("%.200s: %w", query, err)
	}
	n, err := result.RowsAffected()
	return int(n), err
}

// close disconnects; drop also drops the database.
func (p *place) close() { p.db.Close(); p.app.Close(); p.filler.Close() }

func (p *place) drop(ctx context.Context) error {
	_, err := p.exec(context.WithoutCancel(ctx), "DROP DATABASE "+p.name)
	p.close()
	return err
}
