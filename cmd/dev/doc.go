// Package dev has the command for who develops an app: a private server, and a line for what goes out.
package dev
