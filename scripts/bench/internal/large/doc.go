// Package large measures lists, answers, endpoints and deeds in bulk of an installation that has tens of millions of rows.
package large
