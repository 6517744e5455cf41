// Package web has the commands by which others are let in over HTTP: serve, and token and user, which say who may come in.
package web
