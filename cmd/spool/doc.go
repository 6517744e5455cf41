// Package spool has the commands of slots in the file system.
package spool
