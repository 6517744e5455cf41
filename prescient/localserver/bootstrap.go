package localserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// bootstrap makes the data folder with the server's system tables in it.
func (s *Server) bootstrap(ctx context.Context) error {
	if s.program.Flavour == MySQL {
		return s.bootstrapMySQL(ctx)
	}
	statements, err := systemTables(layoutOf(s.program).share)
	if err != nil {
		return err
	}
	return s.run(ctx, statements, s.bootstrapArgs())
}

// bootstrapMySQL copies the template if there is one. MySQL takes some three
// seconds to make its system tables, a copy takes a tenth of one.
func (s *Server) bootstrapMySQL(ctx context.Context) error {
	template := s.template()
	if template != "" && copyFolder(s.dataDir(), template) == nil {
		return nil
	}
	if err := os.RemoveAll(s.dataDir()); err != nil {
		return fmt.Errorf("emptying the data folder: %w", err)
	}
	if err := s.run(ctx, nil, s.bootstrapArgs()); err != nil {
		return err
	}
	if template != "" {
		keepTemplate(template, s.dataDir())
	}
	return nil
}

// run runs the server program on an empty data folder and the statements, to
// its end.
func (s *Server) run(ctx context.Context, statements io.Reader, args []string) error {
	if err := os.Mkdir(s.dataDir(), 0o700); err != nil {
		return fmt.Errorf("making the data folder: %w", err)
	}
	process, err := s.spawn(args, statements)
	if err != nil {
		return err
	}
	select {
	case <-process.exited:
	case <-ctx.Done():
		process.kill()
		return fmt.Errorf("making the system tables: %w", ctx.Err())
	}
	if process.err != nil {
		return fmt.Errorf("making the system tables: %w%s", process.err, s.logTail())
	}
	return nil
}

// systemTables reads the SQL that mariadb-install-db feeds to the server, but
// for the help texts and the sys schema, which nobody needs here, and for the
// account of this host's name. The server wants a statement to end its line.
func systemTables(share string) (io.Reader, error) {
	if share == "" {
		return nil, errors.New("the folder share/mysql that belongs to the server program is missing")
	}
	var script bytes.Buffer
	script.WriteString("CREATE DATABASE mysql;\nUSE mysql;\nSET @auth_root_socket = NULL;\n")
	for _, name := range []string{
		"system_tables.sql", "performance_tables.sql", "system_tables_data.sql", "add_gis_sp_bootstrap.sql",
	} {
		text, err := readShared(share, name)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(text) + "\n") {
			if !strings.Contains(line, "@current_hostname") {
				script.WriteString(line)
			}
		}
	}
	return &script, nil
}

// readShared reads one file of system SQL under any name that releases of
// MariaDB have given it.
func readShared(share, name string) ([]byte, error) {
	for _, prefix := range []string{"mariadb_", "mysql_", "maria_"} {
		text, err := os.ReadFile(filepath.Join(share, prefix+name))
		if err == nil || !errors.Is(err, os.ErrNotExist) {
			return text, err
		}
	}
	return nil, fmt.Errorf("neither mariadb_%s nor mysql_%s is in %s", name, name, share)
}
