// Package checks has the commands for checks, a file each. They share target.go, times.go and listing.go; insert_read.go has the formats of files.
package checks
