package localserver

import (
	"fmt"
	"os"
	"strings"

	"prescient/prescient/localserver/internal/folder"
)

// An installation is a server at rest: its program, its folder, and what else
// was asked for.
type installation struct {
	program Program
	folder  folder.Folder
	options Options
}

// commonArgs are the arguments of every run of the server program.
// --no-defaults has to be the first. A server that starts removes all that
// looks like a temporary table in tmpdir, so that is not to be shared.
func (i installation) commonArgs() []string {
	args := []string{"--no-defaults"}
	args = append(args, layoutOf(i.program).args()...)
	if os.Geteuid() == 0 {
		args = append(args, "--user=root")
	}
	return append(args, "--datadir="+i.folder.Data(), "--tmpdir="+i.folder.Path)
}

// bootstrapArgs are the arguments with which a server makes its system tables.
// It need not be durable yet: it ends in order, or its work is thrown away.
func (i installation) bootstrapArgs() []string {
	args := append(i.commonArgs(), "--innodb-flush-log-at-trx-commit=0", "--innodb-doublewrite=0")
	if i.program.Flavour == MySQL {
		args = append(args, "--initialize-insecure", "--skip-log-bin", "--innodb-redo-log-capacity=32M")
	} else {
		args = append(args, "--bootstrap", "--silent-startup", "--log-warnings=0",
			"--enforce-storage-engine=", "--max-allowed-packet=8M")
	}
	return append(args, i.lastingArgs()...)
}

// lastingArgs are those of Options.Args that are fixed for good when the data
// folder is made.
func (i installation) lastingArgs() []string {
	var args []string
	for _, arg := range i.options.Args {
		name, _, _ := strings.Cut(strings.ReplaceAll(arg, "_", "-"), "=")
		switch name {
		case "--lower-case-table-names", "--innodb-page-size", "--innodb-data-file-path", "--innodb-checksum-algorithm":
			args = append(args, arg)
		}
	}
	return args
}

// serveArgs are the arguments with which the server serves. The account is
// made by the statements in initFile before the server listens.
func (i installation) serveArgs(port int, initFile string) []string {
	args := append(i.commonArgs(),
		"--bind-address=127.0.0.1",
		fmt.Sprintf("--port=%d", port),
		"--socket="+i.folder.Socket(),
		"--pid-file="+i.folder.Pid(),
		"--skip-name-resolve",
		"--local-infile=0",
		"--secure-file-priv="+i.folder.Files(),
		"--character-set-server=utf8mb4",
	)
	if initFile != "" {
		args = append(args, "--init-file="+initFile)
	}
	if i.program.Flavour == MySQL {
		args = append(args, "--mysqlx=OFF")
	}
	if i.options.Durable {
		args = append(args, "--innodb-flush-log-at-trx-commit=1", "--sync-binlog=1")
	} else {
		// With 0 in place of 2 it would be hardly faster, and a killed server
		// would lose the last second.
		args = append(args, "--innodb-flush-log-at-trx-commit=2", "--sync-binlog=0", "--innodb-doublewrite=0")
		if i.program.Flavour == MariaDB {
			args = append(args, "--performance-schema=OFF")
		}
	}
	return append(args, i.options.Args...)
}
