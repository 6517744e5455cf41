// Package reslot changes the resolution of an installation: the DEFAULT and CHECK of the table, slot_config, and the slot of
// every pending row. It can be interrupted at any statement, and is then run again. Where a row from before the CHECKs has a time that is no day
// of the calendar, it changes nothing and says what takes the row away.
package reslot
