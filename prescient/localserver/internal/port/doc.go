// Package port chooses ports for servers.
package port
