// Package store is how statements reach the tables: the tables of an installation with their prefix and grid, statements
// that are tried again, the time by the database's clock, and the end of a check as history holds it.
package store
