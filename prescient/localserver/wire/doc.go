// Package wire stands between a worker and its server, at the level of MySQL's protocol: a network for the driver
// (user:password@tcp4(host:port)/database, in a process that registers [Plan.Dial] for it) whose connections see every statement as text before it goes out and every
// answer before it comes back. By rule they end or freeze the process there, close the connection, answer with an error
// of the server's own, delay, or rewrite the statement.
//
// So a worker under test is the command as it is: nothing in the product knows of this.
package wire
