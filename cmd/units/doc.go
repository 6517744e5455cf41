// Package units has the command that prints what runs every slot on a machine: systemd units or the lines of a crontab.
package units
