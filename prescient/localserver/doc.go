// Package localserver runs a private MariaDB or MySQL in a temporary folder.
//
// It listens on 127.0.0.1 and a socket in its folder, reads no configuration file, and is gone, folder and all, after Close; on Linux it dies
// with its process. The only account is root, with a random password in the DSN. Without Options.Durable what it has committed outlives the
// server, but not the machine. After Kill, or a crash, Restart brings it back.
//
// Where neither PATH nor the cache folder has a server, ErrNotFound says what gets one.
package localserver
