package rig

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jmoiron/sqlx"

	"prescient/prescient/localserver"
)

// binlogEvent is an entry of a binlog.
type binlogEvent struct {
	pos, end   int
	kind, info string
}

// hasBinlog says whether the server writes one.
func (p *Place) hasBinlog(ctx context.Context) (has bool, err error) {
	return has, p.App.QueryRowContext(ctx, "SELECT @@log_bin").Scan(&has)
}

// NewBinlog lets the server begin a new file of its binlog, and returns the file's name; none where it writes no binlog.
func (p *Place) NewBinlog(ctx context.Context) (string, error) {
	if has, err := p.hasBinlog(ctx); err != nil || !has {
		return "", err
	}
	if _, err := p.App.ExecContext(ctx, "FLUSH BINARY LOGS"); err != nil {
		return "", err
	}
	file, _, err := p.endOfBinlog(ctx, p.DB)
	return file, err
}

// endOfBinlog is the file that the server writes, and how far it has come in it.
func (s *Server) endOfBinlog(ctx context.Context, db *sqlx.DB) (file string, pos int, err error) {
	query := "SHOW BINARY LOG STATUS"
	if s.Flavour == localserver.MariaDB {
		query = "SHOW MASTER STATUS"
	}
	var status struct {
		File     string `db:"File"`
		Position int    `db:"Position"`
	}
	err = db.Unsafe().QueryRowxContext(ctx, query).StructScan(&status)
	return status.File, status.Position, err
}

// InBinlog is how many bytes each transaction takes in the binlog, from a file on, that wrote to one of the place's tables.
func (p *Place) InBinlog(ctx context.Context, from, table string) ([]int, error) {
	var files []string
	if err := eachRow(ctx, p.DB, "SHOW BINARY LOGS", func(rows *sqlx.Rows) error {
		var log struct {
			Name string `db:"Log_name"`
		}
		err := rows.StructScan(&log)
		files = append(files, log.Name)
		return err
	}); err != nil {
		return nil, err
	}
	first := slices.Index(files, from)
	if first < 0 {
		return nil, fmt.Errorf("the binlog %s is not among %v", from, files)
	}
	var events []binlogEvent
	for _, file := range files[first:] {
		if err := eachRow(ctx, p.DB, "SHOW BINLOG EVENTS IN '"+file+"'", func(rows *sqlx.Rows) error {
			var e struct {
				Pos       int    `db:"Pos"`
				EventType string `db:"Event_type"`
				EndLogPos int    `db:"End_log_pos"`
				Info      string `db:"Info"`
			}
			err := rows.StructScan(&e)
			events = append(events, binlogEvent{e.Pos, e.EndLogPos, e.EventType, e.Info})
			return err
		}); err != nil {
			return nil, err
		}
	}
	return sizes(events, "("+p.Name+"."+table+")"), nil
}

// eachRow reads what a SHOW statement returns; columns that nobody asks for differ between servers.
func eachRow(ctx context.Context, db *sqlx.DB, query string, do func(rows *sqlx.Rows) error) error {
	rows, err := db.Unsafe().QueryxContext(ctx, query)
	if err != nil {
		return fmt.Errorf("%s: %w", query, err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := do(rows); err != nil {
			return fmt.Errorf("%s: %w", query, err)
		}
	}
	return rows.Err()
}

// sizes are the bytes of each transaction that wrote rows of a table. A transaction is in one file. It begins with its GTID,
// which all have, also where GTIDs are off, and ends with the entry of its commit.
func sizes(events []binlogEvent, table string) (list []int) {
	began, wrote := 0, false
	for _, e := range events {
		switch e.kind {
		case "Gtid", "Anonymous_Gtid":
			began, wrote = e.pos, false
		case "Table_map":
			wrote = wrote || strings.HasSuffix(e.info, table)
		case "Xid":
			if wrote {
				list = append(list, e.end-began)
			}
			wrote = false
		}
	}
	return list
}
