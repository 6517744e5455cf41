// Package units has the command that prints systemd units, or the lines of a crontab.
package units
