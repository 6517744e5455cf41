// Package app is a rig with an app's client.
package app
