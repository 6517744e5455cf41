// Package private has a server that goes with its command, and the page without a login.
package private
