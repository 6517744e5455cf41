// Package changequeue consumes a table of changes.
package changequeue
