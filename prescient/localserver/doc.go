// Package localserver runs a private MariaDB or MySQL in a temporary folder.
//
// The server listens on 127.0.0.1 and on a socket in its folder, reads no
// configuration file, knows nothing of a server that the system may run, and
// is gone, folder and all, after Close. It dies with the process that started
// it where the operating system can do that (Linux).
//
//	server, err := localserver.Start(ctx, localserver.Options{})
//	if err != nil {
//		return err
//	}
//	defer server.Close()
//	db, err := sql.Open("mysql", server.DSN(""))
//
// The only account is root, with a random password that stands in the DSN and
// nowhere else: a port on the loopback device is open to every user of the
// machine.
//
// Without Options.Durable the server leaves the disk to the operating system.
// What it has committed outlives the server, but not the machine: right for a
// demonstration or a test and for nothing else.
//
// # When it fails
//
// Where there is no server, neither on PATH nor in the cache folder, the error
// is ErrNotFound and says what gets one. One that does not come up is killed
// and its folder removed; the end of its log stands in the error. A port that
// somebody else took meanwhile is tried again with another. After Kill, or a
// crash, the data are there, and Restart brings them back.
//
// # A start, file by file
//
// find.go finds a program and share.go its files; internal/folder makes the
// server's folder. These and the Options are an installation, a server at rest:
// args.go has its arguments, bootstrap.go and template.go make its data.
// start.go picks a port, runs the program by internal/process, and ready.go
// waits until the server answers to the account of account.go. A cluster is
// several servers, each with a member that adds arguments and joins the others.
// stop.go ends a server and removes its folder; the next start removes those
// that dead processes left behind.
package localserver
