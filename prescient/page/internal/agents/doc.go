// Package agents has the view of who works, and the deeds that have agents take nothing new, or work again.
package agents
