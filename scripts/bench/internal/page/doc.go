// Package page keeps the results of a bench in a book, and writes the page about them.
package page
