// Package file is how schedules stand in files: YAML, a list of them, or one a document (cmd/README.md shows one), and JSON lines, with the same names
// ([Record]). Others, and values of another kind, are refused. A payload comes back byte for byte. It knows no database.
package file
