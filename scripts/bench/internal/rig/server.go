package rig

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
	"prescient/sql/migrate"

	"prescient/scripts/bench/internal/page"
)

func flavourOf(e page.Engine) localserver.Flavour {
	if e == page.MariaDB {
		return localserver.MariaDB
	}
	return localserver.MySQL
}

// Server is what a section measures on.
type Server struct {
	engine  page.Engine
	Flavour localserver.Flavour
	version string
	Pid     int // 0 where it is not on this machine
	Config  *mysql.Config
	own     *localserver.Server
}

// start starts a server with the settings of a real one, or connects to that of --dsn.
func (b *Bench) start(ctx context.Context, on page.Engine, args ...string) (*Server, error) {
	if b.DSN != "" {
		return b.given(ctx, on)
	}
	args = append(b.usualArgs(on), args...)
	own, err := localserver.Start(ctx, localserver.Options{Flavour: flavourOf(on), Durable: true, Args: args})
	if err != nil {
		return nil, err
	}
	config, err := mysql.ParseDSN(own.DSN(""))
	if err != nil {
		return nil, err
	}
	s := &Server{engine: on, Flavour: flavourOf(on), version: own.Version(), Pid: own.Pid(), Config: config, own: own}
	if slices.ContainsFunc(args, func(arg string) bool {
		return strings.HasPrefix(arg, "--skip-log-bin") || strings.HasPrefix(arg, "--disable-log-bin")
	}) {
		s.version += " without binlog"
	}
	return s, nil
}

// usualArgs are the settings of a real server.
func (b *Bench) usualArgs(on page.Engine) []string {
	// An index that is made when the rows are there gets pages as full as one that has grown.
	usual := []string{"--max-connections=500", "--innodb-buffer-pool-size=" + b.Pool, "--innodb-fill-factor=70"}
	if on == page.MySQLNoBinlog {
		usual = append(usual, "--skip-log-bin")
	}
	if flavourOf(on) == localserver.MariaDB {
		return append(usual, "--innodb-log-file-size=1G", "--performance-schema=OFF")
	}
	return append(usual, "--innodb-redo-log-capacity=1G")
}

// DurableArgs are the arguments of a server, of which somebody else starts some, with the settings of the bench's own.
func (b *Bench) DurableArgs(on page.Engine) []string {
	return slices.Concat([]string{"--innodb-flush-log-at-trx-commit=1", "--sync-binlog=1", "--innodb-doublewrite=1"}, b.usualArgs(on), b.More)
}

// ServerOf is a MySQL that somebody else has started, who also ends it.
func ServerOf(own *localserver.Server) (*Server, error) {
	config, err := mysql.ParseDSN(own.DSN(""))
	if err != nil {
		return nil, err
	}
	return &Server{engine: page.MySQL, Flavour: localserver.MySQL, version: own.Version(), Pid: own.Pid(), Config: config, own: own}, nil
}

// given is the server that --dsn names. On the same machine its process is
// found by the file in its data folder.
func (b *Bench) given(ctx context.Context, on page.Engine) (*Server, error) {
	config, err := mysql.ParseDSN(b.DSN)
	if err != nil {
		return nil, fmt.Errorf("--dsn: %w", err)
	}
	s := &Server{engine: on, Flavour: flavourOf(on), Config: config}
	db, err := sql.Open("mysql", s.DSN(""))
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
	s.Pid = readPid(pidFile)
	return s, nil
}

func (s *Server) close() error {
	if s.own == nil {
		return nil
	}
	return s.own.Close()
}

// DSN names a database.
func (s *Server) DSN(database string) string {
	config := s.Config.Clone()
	config.DBName = database
	return config.FormatDSN()
}

// Place is a database of a section's own, with an installation in it.
type Place struct {
	*Server
	Name   string
	DB     *sqlx.DB // as a worker has it
	App    *sql.DB  // as an app has it
	filler *sql.DB  // to fill tables with
	Client *client.Client
}

// Install makes a database, anew or as it is there.
func (s *Server) Install(ctx context.Context, name string, resolution time.Duration, keep bool) (*Place, error) {
	name = "bench_" + name
	admin, err := sql.Open("mysql", s.DSN(""))
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
	app, err := sql.Open("mysql", s.DSN(name))
	if err != nil {
		return nil, err
	}
	defer app.Close()
	if _, err := migrate.Up(ctx, app, migrate.Schema{Resolution: resolution}); err != nil {
		return nil, err
	}
	return s.Open(ctx, name)
}

// Open is the place of an installation that is there.
func (s *Server) Open(ctx context.Context, name string) (p *Place, err error) {
	p = &Place{Server: s, Name: name}
	if p.App, err = sql.Open("mysql", s.DSN(name)); err != nil {
		return nil, err
	}
	p.App.SetMaxIdleConns(64)
	for _, counter := range purgeCounters {
		// Without the right to, AwaitCalm goes by the history list alone.
		_, _ = p.App.ExecContext(ctx, "SET GLOBAL innodb_monitor_enable = '"+counter+"'")
	}
	if p.filler, err = sql.Open("mysql", s.UnloggedDSN(name)); err != nil {
		return nil, err
	}
	if p.DB, err = connect.Open(s.DSN(name), 0); err != nil {
		return nil, err
	}
	p.Client, err = client.New(ctx, p.App, client.Options{Guards: prescient.Guards{Horizon: 3650 * 24 * time.Hour}})
	return p, err
}

// UnloggedDSN names a database for what an own server does not write to its binlog, such as all that is not measured.
func (s *Server) UnloggedDSN(database string) string {
	config := s.Config.Clone()
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

// FillThroughBinlog lets the binlog have what Exec does from now on, for a replica.
func (p *Place) FillThroughBinlog() (err error) {
	p.filler.Close()
	p.filler, err = sql.Open("mysql", p.DSN(p.Name))
	return err
}

// Exec is a statement that is not measured.
func (p *Place) Exec(ctx context.Context, query string, args ...any) (int, error) {
	result, err := p.filler.ExecContext(ctx, query, args...)
	if err != nil {
		return 0, fmt.Errorf("%.200s: %w", query, err)
	}
	n, err := result.RowsAffected()
	return int(n), err
}

// Close disconnects.
func (p *Place) Close() { p.DB.Close(); p.App.Close(); p.filler.Close() }

// Drop drops the database and disconnects.
func (p *Place) Drop(ctx context.Context) error {
	_, err := p.Exec(context.WithoutCancel(ctx), "DROP DATABASE "+p.Name)
	p.Close()
	return err
}

// purgeCounters tell of rows that purge has gone through; one large transaction is one entry in the history list.
var purgeCounters = []string{"purge_del_mark_records", "purge_upd_exist_or_extern_records"}
