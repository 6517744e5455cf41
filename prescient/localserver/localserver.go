package localserver

import (
	"database/sql"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"
)

// A Flavour says whose server a program is.
type Flavour string

const (
	Any     Flavour = ""        // whichever is found first
	MariaDB Flavour = "mariadb" // mariadbd
	MySQL   Flavour = "mysql"   // mysqld as Oracle makes it
)

// Options say which server program to run and how. The zero value runs
// whichever server is found first, fast and not durable.
type Options struct {
	// Program is the path of a server program. Empty: look for one.
	Program string

	// Dir is a folder to look for a server program in, and in its bin, sbin,
	// usr/bin, usr/sbin and the like. Empty: the folders of
	// PRESCIENT_SERVER_DIR, then PATH and the usual sbin folders, then what
	// scripts/mariadb, scripts/mysql97 and scripts/mariadb118 left in the
	// user's cache.
	Dir string

	// Flavour is the flavour to look for. Default: Any.
	Flavour Flavour

	// Version is the version to look for, or how it begins: 11.8 is also
	// 11.8.6. Default: any.
	Version string

	// Durable starts the server with the settings that a real one has: a
	// commit is on disk when it returns. Default: it is with the operating
	// system, which survives a Kill and costs no time.
	Durable bool

	// Args are further arguments of the server, such as --max-connections=500.
	// They come after all others, so that they win.
	Args []string

	// Env is added to the environment of the server program, such as
	// LD_PRELOAD=….
	Env []string

	// Parent is the folder in which the server makes its own, with its data.
	// Empty: the system's temporary folder.
	Parent string
}

// ErrNotFound is returned when there is no server program to run.
var ErrNotFound = errors.New("no MariaDB or MySQL server program found")

// ErrClosed is returned when a Server is used after Close.
var ErrClosed = errors.New("local server is closed")

// A Server is a private database server. Its methods may be called from
// several goroutines at once.
type Server struct {
	program  Program
	options  Options
	dir      string
	port     int
	password string
	unlock   func() // lets others remove the folder
	member   member // nil outside of a cluster

	mu      sync.Mutex // guards what follows; held while starting and stopping
	process *process   // nil when the server is down
	version string
	closed  bool
}

// DSN returns the data source name of a database on the server, in the form
// of github.com/go-sql-driver/mysql. The database need not exist before the
// name is used; an empty name selects none.
func (s *Server) DSN(database string) string {
	return s.config(database).FormatDSN()
}

// admin opens a pool on the server.
func (s *Server) admin() (*sql.DB, error) {
	config := s.config("")
	config.Logger = &mysql.NopLogger{}
	config.Timeout = 5 * time.Second
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, fmt.Errorf("preparing to connect: %w", err)
	}
	return sql.OpenDB(connector), nil
}

func (s *Server) config(database string) *mysql.Config {
	config := mysql.NewConfig()
	config.User = "root"
	config.Passwd = s.password
	config.Net = "tcp"
	config.Addr = s.Addr()
	config.DBName = database
	return config
}

// Addr returns the address that the server listens on, "127.0.0.1:port". It
// stays the same over a Restart.
func (s *Server) Addr() string {
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port))
}

// Socket returns the path of the server's unix socket, "" in a temporary folder
// whose path is too long for a socket.
func (s *Server) Socket() string {
	if path := s.socketArg(); filepath.IsAbs(path) {
		return path
	}
	return ""
}

// Flavour returns the server's flavour.
func (s *Server) Flavour() Flavour { return s.program.Flavour }

// Version returns what SELECT VERSION() says, such as 10.11.19-MariaDB-log.
func (s *Server) Version() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.version
}

// Dir returns the server's folder, which Close removes.
func (s *Server) Dir() string { return s.dir }

// Pid returns the server's process id, 0 when it is down.
func (s *Server) Pid() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == nil || s.process.gone() {
		return 0
	}
	return s.process.pid
}
