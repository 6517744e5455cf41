// Package operate has the commands for those who look after tables and processes.
package operate
