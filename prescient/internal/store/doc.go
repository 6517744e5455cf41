// Package store is how statements reach the tables: their prefix and grid, statements that are tried again, the database's clock, and the end
// of a check as history holds it.
package store
