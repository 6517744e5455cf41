// Package stream writes the rows of an export to a reader, as the reader takes them: for the doors that speak HTTP.
package stream
