// Package spool has slots in the file system, without a database: a folder for each slot, named yyyymmddhhmm in UTC, in which every file is executed
// once the slot has come. [Put] writes one, [Run] executes what is due.
package spool
