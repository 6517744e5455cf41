// Package now has the first view: how the installation is now, what is under way, and what became and becomes of the slots around now.
package now
