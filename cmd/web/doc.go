// Package web has the commands by which others are let in over HTTP: serve, and token, which makes the tokens that serve asks for.
package web
