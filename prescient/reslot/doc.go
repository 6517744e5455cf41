// Package reslot changes the resolution of an installation: the DEFAULT and CHECK of the table, slot_config, and the slot of every pending
// row. Interrupted at any statement, it is run again. A row whose time is no day of the calendar stops it; the error says what to do.
package reslot
