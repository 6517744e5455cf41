// Package browser has tests alone: they look at the page and press its buttons in Chromium, as scripts/chromium unpacks it.
package browser
