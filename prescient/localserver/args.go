package localserver

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

func (s *Server) dataDir() string  { return filepath.Join(s.dir, "data") }
func (s *Server) logFile() string  { return filepath.Join(s.dir, "error.log") }
func (s *Server) pidFile() string  { return filepath.Join(s.dir, "server.pid") }
func (s *Server) sockFile() string { return filepath.Join(s.dir, "s.sock") }
func (s *Server) filesDir() string { return filepath.Join(s.dir, "files") }

// commonArgs are the arguments of every run of the server program.
// --no-defaults has to be the first. A server that starts removes all that
// looks like a temporary table in tmpdir, so that is not to be shared.
func (s *Server) commonArgs() []string {
	args := []string{"--no-defaults"}
	args = append(args, layoutOf(s.program).Args()...)
	if os.Geteuid() == 0 {
		args = append(args, "--user=root")
	}
	return append(args, "--datadir="+s.dataDir(), "--tmpdir="+s.dir)
}

// bootstrapArgs are the arguments with which a server makes its system tables.
// It need not be durable yet: it ends in order, or its work is thrown away.
func (s *Server) bootstrapArgs() []string {
	args := append(s.commonArgs(), "--innodb-flush-log-at-trx-commit=0", "--innodb-doublewrite=0")
	if s.program.Flavour == MySQL {
		args = append(args, "--initialize-insecure", "--skip-log-bin", "--innodb-redo-log-capacity=32M")
	} else {
		args = append(args, "--bootstrap", "--silent-startup", "--log-warnings=0",
			"--enforce-storage-engine=", "--max-allowed-packet=8M")
	}
	return append(args, s.lastingArgs()...)
}

// lastingArgs are those of Options.Args that are settled for good when the data
// folder is made.
func (s *Server) lastingArgs() []string {
	var args []string
	for _, arg := range s.options.Args {
		name, _, _ := strings.Cut(strings.ReplaceAll(arg, "_", "-"), "=")
		switch name {
		case "--lower-case-table-names", "--innodb-page-size", "--innodb-data-file-path", "--innodb-checksum-algorithm":
			args = append(args, arg)
		}
	}
	return args
}

// longestSocket is the longest path that a unix socket may have everywhere.
const longestSocket = 100

// socketArg is the socket's path as the server gets it. In a folder whose path
// is too long for a socket it is one below the server's own, the data folder.
func (s *Server) socketArg() string {
	if path := s.sockFile(); len(path) <= longestSocket {
		return path
	}
	return "s.sock"
}

// serveArgs are the arguments with which the server serves. The account is
// made by the statements in initFile before the server listens.
func (s *Server) serveArgs(initFile string) []string {
	args := append(s.commonArgs(),
		"--bind-address=127.0.0.1",
		fmt.Sprintf("--port=%d", s.port),
		"--socket="+s.socketArg(),
		"--pid-file="+s.pidFile(),
		"--skip-name-resolve",
		"--local-infile=0",
		"--secure-file-priv="+s.filesDir(),
		"--character-set-server=utf8mb4",
	)
	if initFile != "" {
		args = append(args, "--init-file="+initFile)
	}
	if s.program.Flavour == MySQL {
		args = append(args, "--mysqlx=OFF")
	}
	if s.options.Durable {
		args = append(args, "--innodb-flush-log-at-trx-commit=1", "--sync-binlog=1")
	} else {
		// With 0 in place of 2 it would be hardly faster, and a killed server
		// would lose the last second.
		args = append(args, "--innodb-flush-log-at-trx-commit=2", "--sync-binlog=0", "--innodb-doublewrite=0")
		if s.program.Flavour == MariaDB {
			args = append(args, "--performance-schema=OFF")
		}
	}
	return append(args, s.options.Args...)
}
