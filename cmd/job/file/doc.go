// Package file is how jobs and shared steps stand in files: YAML, a list of them, or one a document (cmd/README.md shows one). It knows no database.
// A step that is a text is the shared step of this name. Other names are refused, values of another kind, and numbers that YAML reads as another one
// than is shown: 010, 0x3, 1_0.
package file
