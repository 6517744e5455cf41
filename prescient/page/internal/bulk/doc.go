// Package bulk has the views and deeds of what is done to all checks that a filter matches: what it would be done to, how far it is, what came of it.
package bulk
