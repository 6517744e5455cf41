// Package reslot changes the resolution of an installation: the DEFAULT and CHECK of the table, slot_config, and the slot of
// every pending row. It can be interrupted at any statement, and is then run again.
package reslot
