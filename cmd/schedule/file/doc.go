// Package file is how schedules stand in files: YAML and JSON lines, with the same names in both. It reads and writes them, and says
// what tells the schedule of a file from one that is stored. It knows no database.
//
// YAML is a list of schedules, or one a document; JSON lines have an object a line:
//
//	# schedules.yaml
//	- id: digest/42
//	  crontab: 0 9 * * mon-fri
//	  zone: Europe/Berlin
//	  exec: send-digest
//	  owner: customer/42
//
//	{"id":"digest/42","crontab":"0 9 * * mon-fri","zone":"Europe/Berlin","exec":"send-digest","owner":"customer/42"}
//
// What a name stands for is said at [Record]. Other names, and values of another kind, are refused. A schedule that was written and is
// read again is the same, byte for byte of its payload.
package file
