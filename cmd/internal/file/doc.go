// Package file is how schedules, jobs, steps and rules stand in files: YAML, a list of them, or one a document (cmd/README.md shows each). Schedules
// stand in JSON lines, too, with the same names ([Record]). Other names are refused, values of another kind, and numbers that YAML reads as another one
// than is shown: 010, 0x3, 1_0. A payload comes back byte for byte. A step of a job that is a text is the shared step of this name. It knows no database.
package file
