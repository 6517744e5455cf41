// Package duty has one process at a time do what only one is to do, such as summing up history. It takes a lease of a row of the table duty, and
// proves the lease's token in each transaction.
package duty
