// Package whole is a rig with clients and workers.
package whole
