package localserver

import "errors"

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
