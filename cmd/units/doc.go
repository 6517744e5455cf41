// Package units has the commands that print files for other programs: units of systemd, the lines of a crontab, rules of Prometheus, where rows lie on Vitess.
package units
