// Package page is the page of an installation, as an [http.Handler] for one's own server or for serve: what is due, what ran, what did not happen, and
// what can be done about it. All that it shows and does are operations of package ops, by the role of who looks: it has no rule and no statement of its own.
package page
