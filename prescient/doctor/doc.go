// Package doctor looks for what is wrong with an installation. Each thing that it looks at has a check, which reads a bounded
// number of rows, and gives findings that say what to do.
package doctor
