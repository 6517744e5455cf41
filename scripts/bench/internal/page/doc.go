// Package page keeps the results of a bench in a book, and writes the page about them: a table and a chart for each
// section, and what is to be reached.
package page
