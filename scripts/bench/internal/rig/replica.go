package rig

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"

	"github.com/jmoiron/sqlx"

	"prescient/prescient/localserver"
)

// Replica is a second server that applies what another writes, as durable as that one. How it applies it is its flavour's
// default: MariaDB in one thread, MySQL in four that commit in the source's order.
type Replica struct {
	server *Server
	db     *sqlx.DB
	source *Server
	from   *sqlx.DB // at the source
	beats  int      // that were sent so far
}

// CanReplicate says whether the server is the run's own: the account of another need not be allowed to.
func (s *Server) CanReplicate() bool { return s.own != nil }

// StartReplica starts a replica that gets what is written from now on.
func (s *Server) StartReplica(ctx context.Context, b *Bench) (*Replica, error) {
	server, err := b.start(ctx, s.engine, "--server-id=2")
	if err != nil {
		return nil, err
	}
	r := &Replica{server: server, source: s}
	if r.db, err = sqlx.Open("mysql", server.DSN("")); err != nil {
		return nil, errors.Join(err, server.close())
	}
	if r.from, err = sqlx.Open("mysql", s.DSN("")); err == nil {
		err = r.follow(ctx)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("starting a replica: %w", err), r.Close())
	}
	return r, nil
}

// follow lets it replicate. Both servers are on the loopback device, with certificates that they made themselves.
func (r *Replica) follow(ctx context.Context) error {
	file, pos, err := r.source.endOfBinlog(ctx, r.from)
	if err != nil {
		return err
	}
	host, port, err := net.SplitHostPort(r.source.Config.Addr)
	if err != nil {
		return err
	}
	change, word, trust := "CHANGE REPLICATION SOURCE TO", "SOURCE", "GET_SOURCE_PUBLIC_KEY = 1"
	if r.source.Flavour == localserver.MariaDB {
		change, word, trust = "CHANGE MASTER TO", "MASTER", "MASTER_SSL_VERIFY_SERVER_CERT = 0"
	}
	for _, query := range []string{
		fmt.Sprintf("%[1]s %[2]s_HOST = '%[3]s', %[2]s_PORT = %[4]s, %[2]s_USER = '%[5]s', %[2]s_PASSWORD = '%[6]s', %[2]s_LOG_FILE = '%[7]s', %[2]s_LOG_POS = %[8]d, %[9]s",
			change, word, host, port, r.source.Config.User, r.source.Config.Passwd, file, pos, trust),
		"START REPLICA",
	} {
		if _, err := r.db.ExecContext(ctx, query); err != nil {
			return err
		}
	}
	return nil
}

// Await waits until the replica has what is written by now.
func (r *Replica) Await(ctx context.Context) error {
	file, pos, err := r.source.endOfBinlog(ctx, r.from)
	if err != nil {
		return err
	}
	wait := "SOURCE_POS_WAIT"
	if r.source.Flavour == localserver.MariaDB {
		wait = "MASTER_POS_WAIT"
	}
	var events sql.NullInt64 // NULL where it does not replicate, -1 where the time was over
	if err := r.db.QueryRowContext(ctx, "SELECT "+wait+"(?, ?, 300)", file, pos).Scan(&events); err != nil {
		return err
	}
	if !events.Valid || events.Int64 < 0 {
		return fmt.Errorf("the replica does not come to %s, %d: %w", file, pos, r.trouble(ctx))
	}
	return nil
}

// trouble is what the replica says of its errors.
func (r *Replica) trouble(ctx context.Context) error {
	var texts []string
	err := eachRow(ctx, r.db, "SHOW REPLICA STATUS", func(rows *sqlx.Rows) error {
		status := make(map[string]any)
		err := rows.MapScan(status)
		for _, name := range slices.Sorted(maps.Keys(status)) {
			if text, is := status[name].([]byte); is && len(text) > 0 && strings.HasSuffix(name, "_Error") {
				texts = append(texts, string(text))
			}
		}
		return err
	})
	return errors.Join(errors.New(strings.Join(texts, "; ")), err)
}

// Close stops it, and removes its folder.
func (r *Replica) Close() error {
	for _, db := range []*sqlx.DB{r.db, r.from} {
		if db != nil {
			db.Close()
		}
	}
	return r.server.close()
}
