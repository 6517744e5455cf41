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

	"prescient/prescient/localserver/internal/folder"
	"prescient/prescient/localserver/internal/process"
)

// bootstrap makes the data folder with the server's system tables in it.
func (i installation) bootstrap(ctx context.Context) error {
	if i.program.Flavour == MySQL {
		return i.bootstrapMySQL(ctx)
	}
	statements, err := systemTables(layoutOf(i.program).share)
	if err != nil {
		return err
	}
	return i.run(ctx, statements, i.bootstrapArgs())
}

// bootstrapMySQL copies the template if there is one. MySQL takes some three
// seconds to make its system tables, a copy takes a tenth of one.
func (i installation) bootstrapMySQL(ctx context.Context) error {
	template := i.template()
	if template != "" && folder.CopyData(i.folder.Data(), template) == nil {
		return nil
	}
	if err := os.RemoveAll(i.folder.Data()); err != nil {
		return fmt.Errorf("emptying the data folder: %w", err)
	}
	if err := i.run(ctx, nil, i.bootstrapArgs()); err != nil {
		return err
	}
	if template != "" {
		keepTemplate(template, i.folder.Data())
	}
	return nil
}

// run runs the server program on an empty data folder and the statements, to
// its end.
func (i installation) run(ctx context.Context, statements io.Reader, args []string) error {
	if err := os.Mkdir(i.folder.Data(), 0o700); err != nil {
		return fmt.Errorf("making the data folder: %w", err)
	}
	made, err := process.Start(process.Command{
		Program: i.program.Path, Args: args, Dir: i.folder.Path, Env: i.options.Env, Input: statements, Log: i.folder.Log(),
	})
	if err != nil {
		return err
	}
	select {
	case <-made.Exited():
	case <-ctx.Done():
		made.Kill()
		return fmt.Errorf("making the system tables: %w", ctx.Err())
	}
	if made.Err() != nil {
		return fmt.Errorf("making the system tables: %w%s", made.Err(), made.LogTail())
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
