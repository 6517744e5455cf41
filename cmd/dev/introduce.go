package dev

import (
	"context"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"prescient/cmd/internal/output"
	"prescient/config"
)

// ready is what dev --json prints first.
type ready struct {
	At         time.Time `json:"at"`
	What       string    `json:"what"` // ready
	Server     string    `json:"server"`
	Folder     string    `json:"folder"` // with the server's log, until it goes
	DSN        string    `json:"dsn"`    // of github.com/go-sql-driver/mysql
	Page       string    `json:"page,omitempty"`
	Resolution string    `json:"resolution"`
	Insert     string    `json:"insert,omitempty"` // a first check
}

// introduce says what there is, and how to use it.
func (s *stage) introduce(ctx context.Context) error {
	at, err := mysql.ParseDSN(s.dsn)
	if err != nil {
		return fmt.Errorf("reading the DSN of the server: %w", err)
	}
	host, port, err := net.SplitHostPort(at.Addr)
	if err != nil {
		return fmt.Errorf("reading the address of the server: %w", err)
	}
	r := ready{At: time.Now().UTC(), What: "ready", Server: s.server.Version(), Folder: s.server.Dir(), DSN: s.dsn, Page: s.page, Resolution: s.flags.resolution.String(), Insert: s.firstCheck()}
	if s.told.json {
		if err := output.JSON(s.told.out, r); err != nil {
			return err
		}
		s.say()
		return ctx.Err()
	}
	lines := []string{
		fmt.Sprintf("%s dev: %s in %s, which goes when this ends; a slot comes every %s", s.prog.Name, r.Server, r.Folder, r.Resolution),
		fmt.Sprintf("  database  %s", r.DSN),
		fmt.Sprintf("            mysql -h %s -P %s -u %s -p%s %s", host, port, at.User, at.Passwd, at.DBName),
	}
	if r.Page != "" {
		lines = append(lines, "  page      "+r.Page)
	}
	if r.Insert != "" {
		lines = append(lines, "  a check   "+r.Insert)
	}
	for _, text := range lines {
		if err := output.Say(s.told.out, "%s", text); err != nil {
			return err
		}
	}
	s.say()
	return ctx.Err()
}

// firstCheck is a statement that inserts one; none in the dialect in which that is a long one.
func (s *stage) firstCheck() string {
	if s.now.Config.Dialect == config.DialectPlain {
		return ""
	}
	exec := "look"
	if names := s.now.Execs(); len(names) > 0 {
		exec = names[0]
	}
	return fmt.Sprintf("INSERT INTO %sfuture_job (entity_name, entity_key, job_exec, due_at) VALUES ('order', '1', '%s', UTC_TIMESTAMP(6));", s.prefix, exec)
}

// say says what was read.
func (s *stage) say() {
	from := "no configuration file"
	if s.now.Config.File != "" {
		from = s.now.Config.File
	}
	checks := "no checks: what is due waits for one"
	if names := s.now.Execs(); len(names) > 0 {
		checks = strings.Join(names, ", ")
	}
	s.told.line(line{What: kindRead, Says: from + ": " + checks})
}
