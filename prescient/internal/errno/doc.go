// Package errno knows the errors of the servers: their numbers, and which of them pass by themselves.
package errno
